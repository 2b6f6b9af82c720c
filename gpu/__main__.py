"""Start the command line: `python -m gpu`."""

from __future__ import annotations

from gpu.cli import main

raise SystemExit(main())
