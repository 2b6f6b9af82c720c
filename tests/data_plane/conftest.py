"""One torch thread: a second one waits a scheduler tick for each operation on a busy machine, and fork loses it."""

import torch

torch.set_num_threads(1)
