"""The specification as Markdown pages: what was read becomes a mapping of file names to bytes, then a folder.

Knows the tree, its sources and the pages. Knows nothing of the generator that makes a site of them.
"""
