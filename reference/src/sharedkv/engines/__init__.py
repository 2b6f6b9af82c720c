"""Transfer engines: what moves bytes of pages from one process to memory of another.

`engine` says what every engine does; `memory`, `nixl` and `mooncake` each make one. The libraries behind the last two
are imported when an engine is made.
"""
