"""The meter of bookkeeping work.

Knows how many elements of allocator state the current call has read or written: runs, state bytes, bitmap words,
entries of an order. Does not know what they mean, nor the time they take.
"""

from __future__ import annotations


class CostMeter:
    """One counter, shared by every structure of one allocator and set back by it at the start of each call."""

    __slots__ = ("touched",)

    def __init__(self) -> None:
        self.touched = 0
