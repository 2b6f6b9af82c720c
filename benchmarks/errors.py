"""What makes a benchmark worthless: answers that differ, counts that break a bound, a program that fails.

A goal that is missed is a result and no error.
"""

from __future__ import annotations


class BenchmarkError(Exception):
    """A benchmark that cannot be quoted, whatever time it took."""


class DisagreementError(BenchmarkError):
    """Two variants that were to be compared did not do the same."""

    def __init__(self, what: str, wanted: object, found: object) -> None:
        super().__init__(what, wanted, found)
        self.what = what
        self.wanted = wanted
        self.found = found

    def __str__(self) -> str:
        return f"{self.what}: wanted {self.wanted}, found {self.found}"


class GrowthError(BenchmarkError):
    """The touched elements grew faster than the bound."""

    def __init__(self, pages: int, touched: float, allowed: float) -> None:
        super().__init__(pages, touched, allowed)
        self.pages = pages
        self.touched = touched
        self.allowed = allowed

    def __str__(self) -> str:
        return f"{self.touched:.1f} elements touched with {self.pages} pages, at most {self.allowed:.1f} allowed"


class CommandFailedError(BenchmarkError):
    """A measured program did not end as it should."""

    def __init__(self, command: str, code: int, output: str) -> None:
        super().__init__(command, code, output)
        self.command = command
        self.code = code
        self.output = output

    def __str__(self) -> str:
        return f"`{self.command}` ended with {self.code}:\n{self.output}"


class MissingPackageError(BenchmarkError):
    """A benchmark needs a package that is not installed."""

    def __init__(self, benchmark: str, package: str) -> None:
        super().__init__(benchmark, package)
        self.benchmark = benchmark
        self.package = package

    def __str__(self) -> str:
        return f"{self.benchmark}: needs {self.package}, which is not installed"


class RecordError(BenchmarkError):
    """A file of results does not have the form of one."""

    def __init__(self, name: str, wrong: str) -> None:
        super().__init__(name, wrong)
        self.name = name
        self.wrong = wrong

    def __str__(self) -> str:
        return f"{self.name}: {self.wrong}"
