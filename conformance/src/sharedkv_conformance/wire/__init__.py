"""The wire: the contract as JSON lines, so that an implementation may be any program that runs or is started.

`messages` knows the lines, `channels` how they travel, `process` the programs and `lifeline` what ends them when we are
killed, `client` and `implementation` our end, `server` the other one, `bulk` large values, `schema` and `watch` the
published form and who holds both ends to it.
"""
