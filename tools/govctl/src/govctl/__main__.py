"""Run the command line as `python -m govctl`."""

import sys

from govctl.cli import main

sys.exit(main())
