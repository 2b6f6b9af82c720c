"""`kvconform run`: every selected check on one implementation, a report, and the traces of failures."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from sharedkv_conformance.catalogue import Catalogue, load_catalogue
from sharedkv_conformance.commands.terminal import Terminal, opened
from sharedkv_conformance.console import failure_lines, result_lines
from sharedkv_conformance.effort import GATE
from sharedkv_conformance.exits import CommandError, Exit
from sharedkv_conformance.markdown import render_markdown
from sharedkv_conformance.progress import progress_on
from sharedkv_conformance.report import Circumstances, render_json, report_of
from sharedkv_conformance.report_form import EffortForm, ReportForm
from sharedkv_conformance.runner import InProcess, Run, run
from sharedkv_conformance.selection import Selection, SelectionError
from sharedkv_conformance.status import Status
from sharedkv_conformance.traces import shown_path, write_traces
from sharedkv_conformance.verdict import EXPECTED_STATUSES, Conformance


def run_command(options: Namespace, terminal: Terminal) -> Exit:
    """Run the suite and say what was found."""
    catalogue = load_catalogue()
    selection = _selection(options, catalogue)
    implementation = opened(options.impl, terminal)
    started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    finished = run(
        catalogue,
        InProcess(implementation, GATE, catalogue),
        selection=selection,
        progress=progress_on(terminal.err, terminal.columns),
        clock=time.perf_counter,
    )
    traces = _write_traces(finished, options.trace_dir, terminal)
    circumstances = Circumstances(
        effort=EffortForm(**asdict(GATE)),  # type: ignore[typeddict-item]
        strict=options.strict,
        started=started,
        traces={slug: shown_path(terminal.folder / path, terminal.folder) for slug, path in traces.items()},
    )
    report = report_of(finished, catalogue, circumstances)
    if options.output is not None:
        terminal.write_file(options.output, render_json(report))
    terminal.say(_shown(options, finished, catalogue, report, traces, terminal))
    return exit_code(finished, strict=options.strict, enforce=options.enforce)


def exit_code(finished: Run, *, strict: bool, enforce: bool) -> Exit:
    """Return what a run means: our own fault first, then the verdict where it is enforced, then each result."""
    statuses = {result.status for result in finished.results.values()}
    if Status.HARNESS_ERROR in statuses or not finished.has_executed:
        return Exit.HARNESS
    verdict = finished.profile.strict if strict else finished.profile.conformance
    if enforce and verdict is not Conformance.CONFORMANT:
        return Exit.NOT_CONFORMANT
    if statuses - EXPECTED_STATUSES - {Status.NOT_RUN}:
        return Exit.UNEXPECTED
    return Exit.AS_EXPECTED


def _selection(options: Namespace, catalogue: Catalogue) -> Selection:
    selection = Selection(
        checks=tuple(options.check),
        statements=tuple(options.statement),
        clauses=tuple(options.clause),
        facets=tuple(options.facet),
    )
    try:
        return selection.checked(catalogue)
    except SelectionError as error:
        raise CommandError(Exit.USAGE, str(error)) from error


def _write_traces(finished: Run, folder: Path, terminal: Terminal) -> Mapping[str, Path]:
    try:
        written = write_traces(finished.results, terminal.folder / folder)
    except OSError as error:
        raise CommandError(Exit.USAGE, f"cannot write traces to {folder}: {error.strerror}") from error
    return {slug: folder / path.name for slug, path in written.items()}


def _shown(
    options: Namespace,
    finished: Run,
    catalogue: Catalogue,
    report: ReportForm,
    traces: Mapping[str, Path],
    terminal: Terminal,
) -> Iterator[str]:
    if options.format == "json":
        yield render_json(report).rstrip("\n")
    elif options.format == "md":
        yield render_markdown(report).rstrip("\n")
    else:
        yield from _text(options, finished, catalogue, traces, terminal)


def _text(
    options: Namespace, finished: Run, catalogue: Catalogue, traces: Mapping[str, Path], terminal: Terminal
) -> Iterator[str]:
    yield from result_lines(catalogue, finished.results, terminal.paint)
    for slug, result in finished.results.items():
        if result.status in EXPECTED_STATUSES or result.status is Status.NOT_RUN:
            continue
        trace = str(traces.get(slug, ""))
        yield ""
        replay = f"kvconform replay {trace} --impl {options.impl}"
        yield from failure_lines(catalogue, result, trace, replay, terminal.paint)
    yield ""
    yield f"{finished.description.name} {finished.description.version}: {headline(finished, options.strict)}"


def headline(finished: Run, strict: bool) -> str:  # noqa: FBT001 - the option of the command
    """Return the verdict in one line, with what a filter left out."""
    left_out = sum(result.status is Status.NOT_RUN for result in finished.results.values())
    line = finished.profile.headline(strict=strict)
    return f"{line}, {left_out} checks not selected" if left_out else line
