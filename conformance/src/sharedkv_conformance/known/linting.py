"""What is wrong with known failures, as far as it shows without a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from difflib import get_close_matches

from sharedkv_conformance.known.entry import KnownFailure, KnownFailures
from sharedkv_conformance.trace import TraceError, parse_trace


def known_problems(known: KnownFailures, slugs: Sequence[str], today: date) -> Iterator[str]:
    """Yield entries that match no check of the catalogue, and those whose day has passed."""
    for number, entry in enumerate(known.entries, 1):
        where = f"entry {number} ({entry.check})"
        if entry.check not in slugs:
            close = get_close_matches(entry.check, slugs, 1)
            yield f"{where}: no check of that name{f'; did you mean {close[0]}?' if close else ''}"
        if entry.expires is not None and entry.expires < today:
            yield f"{where}: expired on {entry.expires}; see {entry.issue}"


def trace_problems(known: KnownFailures, read: Callable[[str], str | None]) -> Iterator[str]:
    """Yield entries whose trace is missing, is none, or is about another check; `read` returns None for no file."""
    for number, entry in enumerate(known.entries, 1):
        if entry.trace and (problem := _trace_problem(entry, read(entry.trace))):
            yield f"entry {number} ({entry.check}): trace {entry.trace}: {problem}"


def _trace_problem(entry: KnownFailure, text: str | None) -> str:
    if text is None:
        return "no such file"
    try:
        trace = parse_trace(text)
    except TraceError as error:
        return str(error)
    if trace.header.check and trace.header.check != entry.check:
        return f"is about {trace.header.check}"
    return ""
