"""Rules: pure generators of diagnostics over a loaded tree, one module a family, one table of codes.

Knows what must hold. Knows nothing of files being read or findings being shown.
"""
