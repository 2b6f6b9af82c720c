"""Writes the trace of each failure to a file of its own, named for the check."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.trace import render


def write_traces(results: Mapping[str, CheckResult], folder: Path, keep: Collection[Path] = ()) -> Mapping[str, Path]:
    """Write the traces of a run and return where each stands; traces of earlier runs in these names are removed.

    Files of `keep` belong to somebody: they are neither written nor removed.
    """
    written: dict[str, Path] = {}
    for slug, result in results.items():
        path = folder / f"{slug}.jsonl"
        if path.resolve() in keep:
            written |= {slug: path} if result.trace else {}
        elif result.trace:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(trace_text(result).encode("utf-8", "backslashreplace"))
            written[slug] = path
        else:
            path.unlink(missing_ok=True)
    return written


def trace_text(result: CheckResult) -> str:
    """Return the text of a result's trace; its header names the check."""
    header, *lines = result.trace
    return render([{**header, "check": result.check}, *lines])


def shown_path(path: Path, folder: Path) -> str:
    """Return a path as a report may hold it: relative to the folder of the run, else its name alone."""
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return path.name
