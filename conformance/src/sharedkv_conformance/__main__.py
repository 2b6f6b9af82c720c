"""`python -m sharedkv_conformance` is `kvconform`."""

import sys

from sharedkv_conformance.cli import main

sys.exit(main())
