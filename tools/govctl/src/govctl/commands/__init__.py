"""Bodies of the commands, each imported only when it runs.

Knows what a command reads, prints and returns. Knows nothing of how arguments are parsed.
"""
