"""How an implementation is lost in the middle of a check: it crashed, hangs, or what it says cannot be read.

A value that whoever speaks with a program raises and whoever runs a check turns into a status. Knows nothing of
processes and channels.
"""

from __future__ import annotations

from sharedkv_conformance.status import Status


class Loss(Exception):
    """The implementation cannot be asked anything more; `tail` is the end of what it logged."""

    def __init__(self, status: Status, problem: str, tail: str = "") -> None:
        super().__init__(status, problem, tail)
        self.status = status
        self.problem = problem
        self.tail = tail

    def __str__(self) -> str:
        return f"{self.problem}; the end of its log:\n{self.tail}" if self.tail else self.problem
