"""What `make gpu` runs on a machine with a GPU: the tests of the kernels, then their speed beside that of a copy.

Needs torch, Triton, numpy, pytest and hypothesis, the source tree, and no network. Imports nothing else.
"""
