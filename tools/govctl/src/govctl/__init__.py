"""Check a tree of specifications: text, checks and evidence must agree.

Knows the public names of the library. Knows nothing of the command line.
"""

from govctl.loader import load_tree
from govctl.rules.run import run_rules

__all__ = ["load_tree", "run_rules"]
