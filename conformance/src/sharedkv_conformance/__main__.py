"""`python -m sharedkv_conformance` is `kvconform`."""

import sys

from sharedkv_conformance.cli import main

code = main()
# Where an interruption left an `exec` of text, a module ends by SIGINT although it was caught; the next one forgets it.
exec("")  # noqa: S102 - nothing
sys.exit(code)
