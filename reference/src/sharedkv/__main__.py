"""`python -m sharedkv` is the command `sharedkv`."""

import sys

from sharedkv.cli import main

if __name__ == "__main__":
    sys.exit(main())
