"""`kvconform run`: every selected check on one implementation, a report, and the traces of failures."""

from __future__ import annotations

import os
import secrets
import shlex
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sharedkv_conformance.catalogue import Catalogue, load_catalogue
from sharedkv_conformance.commands.executing import Job, executor_for
from sharedkv_conformance.commands.known import known_for_run, today, traces_of
from sharedkv_conformance.commands.terminal import Terminal, opened, refuse_overwriting
from sharedkv_conformance.console import BOLD, claim_lines, failure_lines, result_lines
from sharedkv_conformance.description import Described
from sharedkv_conformance.effort import DEEP, EFFORTS, LARGEST_SEED, Effort
from sharedkv_conformance.exits import CommandError, Exit
from sharedkv_conformance.forms.adapter import broken_adapter
from sharedkv_conformance.known.conditions import applying, facts
from sharedkv_conformance.known.entry import Expectation, KnownError, KnownFailure, KnownFailures
from sharedkv_conformance.known.expectation import Expectations
from sharedkv_conformance.markdown import render_markdown
from sharedkv_conformance.profiles import Profile, ProfileError, load_profiles, profile_named
from sharedkv_conformance.progress import Hints, Several, progress_on
from sharedkv_conformance.redaction import redaction_for
from sharedkv_conformance.refusals import with_refusals
from sharedkv_conformance.report import (
    Circumstances,
    effort_form,
    implementation_form,
    platform,
    render_json,
    report_of,
    seed_note,
    versions,
)
from sharedkv_conformance.report_form import CheckForm, ImplementationForm, ReportForm
from sharedkv_conformance.runner import Progress, Run, run
from sharedkv_conformance.selection import Selection, SelectionError
from sharedkv_conformance.status import Status, importance
from sharedkv_conformance.stream import Stream
from sharedkv_conformance.traces import shown_path, write_traces
from sharedkv_conformance.verdict import EXPECTED_STATUSES, Conformance
from sharedkv_conformance.wire.interruption import INTERRUPTION


def run_command(options: Namespace, terminal: Terminal) -> Exit:
    """Run the suite and say what was found."""
    catalogue = load_catalogue()
    selection = _selection(options, catalogue)
    profile = _profile(options.profile, catalogue)
    implementation = opened(options.impl, terminal, options.time_scale)
    effort = _effort(options, terminal)
    circumstances = _circumstances(options, catalogue, implementation, effort, selection, terminal)
    job = _job(options, effort, circumstances, terminal)
    _refuse_shared_files(options, circumstances, terminal)
    if options.output is not None:
        terminal.remove_file(options.output)
    with ExitStack() as stack:
        shown: list[Progress] = [progress_on(terminal.err, terminal.columns), Hints(terminal.note)]
        stream = _stream(options, catalogue, circumstances, terminal, stack)
        if stream is not None:
            stream.begin(implementation.description, selection)
            shown.append(stream)
        executor = stack.enter_context(executor_for(job, options.jobs, implementation, catalogue, selection))
        finished = run(
            catalogue,
            executor,
            selection=selection,
            progress=Several(tuple(shown)),
            clock=time.perf_counter,
            profile=profile,
        )
        if not selection.is_filtered:
            finished = replace(finished, claims=with_refusals(finished.claims, implementation, catalogue, effort))
        traces = _write_traces(finished, options, circumstances, terminal)
        report = report_of(finished, catalogue, circumstances)
        INTERRUPTION.check()
        if stream is not None:
            stream.end(report)
    if options.output is not None:
        terminal.write_file(options.output, render_json(report))
    terminal.say(_shown(options, finished, catalogue, report, traces, terminal))
    as_expected = _is_as_expected(finished, catalogue, report)
    return exit_code(finished, strict=options.strict, enforce=options.enforce, as_expected=as_expected)


def _refuse_shared_files(options: Namespace, circumstances: Circumstances, terminal: Terminal) -> None:
    """Refuse to write over what is read, or over what is written: raises `CommandError` before anything is touched."""
    entries = circumstances.known.entries if circumstances.known else ()
    read = {f"--known {options.known}": options.known} if options.known else {}
    read |= {f"the trace of {e.check}": options.known.parent / e.trace for e in entries if e.trace}
    written = {f"--{name} {path}": path for name in ("output", "stream") if (path := getattr(options, name))}
    refuse_overwriting(read, written, terminal)


def _effort(options: Namespace, terminal: Terminal) -> Effort:
    """Return the effort that is asked for; the deep one draws from a seed that is told."""
    effort = EFFORTS[options.effort]
    if options.seed is None and effort is not DEEP:
        return effort
    seed = secrets.randbelow(LARGEST_SEED + 1) if options.seed is None else options.seed
    terminal.note(f"seed {seed}; the same again: --effort {effort.name} --seed {seed}")
    return effort.seeded(seed)


def _circumstances(
    options: Namespace,
    catalogue: Catalogue,
    implementation: Described,
    effort: Effort,
    selection: Selection,
    terminal: Terminal,
) -> Circumstances:
    slugs = [check.slug for check in catalogue.checks]
    known = None if options.known is None else known_for_run(options.known, slugs, terminal)
    redaction = redaction_for(os.environ)
    return Circumstances(
        effort=effort_form(effort),
        seed=seed_note(effort),
        strict=options.strict,
        started=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        traces={
            slug: shown_path(terminal.folder / options.trace_dir / f"{slug}.jsonl", terminal.folder) for slug in slugs
        },
        known=known,
        expectations=Expectations(
            entries=_applying(known, implementation_form(implementation.description, redaction), effort, options),
            today=today(),
            filtered=selection.is_filtered,
        ),
        redaction=redaction,
    )


def _applying(
    known: KnownFailures | None, implementation: ImplementationForm, effort: Effort, options: Namespace
) -> dict[str, KnownFailure]:
    if known is None:
        return {}
    here = facts(
        name=implementation["name"],
        version=implementation["version"],
        environment=implementation["environment"],
        effort=effort.name,
        versions=versions(),
        platform=platform(),
    )
    try:
        return applying(known.entries, here)
    except KnownError as error:
        raise CommandError(Exit.UNEXPECTED, f"{options.known}: {error}") from error


def _job(options: Namespace, effort: Effort, circumstances: Circumstances, terminal: Terminal) -> Job:
    entries = circumstances.expectations.entries
    applying_here = KnownFailures(entries=tuple(entries.values()))
    slugs = frozenset(entries)
    return Job(
        implementation=options.impl,
        folder=terminal.folder,
        effort=effort,
        time_scale=options.time_scale,
        known=slugs,
        traces=traces_of(applying_here, slugs, options.known, terminal) if options.known else {},
    )


def _stream(
    options: Namespace, catalogue: Catalogue, circumstances: Circumstances, terminal: Terminal, stack: ExitStack
) -> Stream | None:
    """Return the stream that was asked for; each line is on its way before the next check begins."""
    if options.stream is None:
        return None
    path = terminal.folder / options.stream
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
    except OSError as error:
        raise CommandError(Exit.USAGE, f"cannot write {options.stream}: {error.strerror}") from error

    def write(line: str) -> None:
        file.write(line)
        file.flush()

    return Stream(catalogue, circumstances, write)


def exit_code(finished: Run, *, strict: bool, enforce: bool, as_expected: bool) -> Exit:
    """Return what a run means: our own fault first, then the verdict where it is enforced, then what was expected."""
    statuses = {result.status for result in finished.results.values()}
    if Status.HARNESS_ERROR in statuses or not finished.has_executed:
        return Exit.HARNESS
    verdict = finished.profile.strict if strict else finished.profile.conformance
    if enforce and verdict is not Conformance.CONFORMANT:
        return Exit.NOT_CONFORMANT
    return Exit.AS_EXPECTED if as_expected else Exit.UNEXPECTED


def _is_as_expected(finished: Run, catalogue: Catalogue, report: ReportForm) -> bool:
    """Say whether every check ended as expected, and every claim; one that a known failure belies is expected."""
    if any(check["expectation"] != Expectation.AS_EXPECTED for check in report["checks"]):
        return False
    fine = {Status.PASS, Status.INAPPLICABLE, Status.NOT_RUN}
    belied = {
        feature
        for check in catalogue.checks
        if finished.results[check.slug].status not in fine
        for feature in check.required_features
    }
    return replace(finished.claims, not_met=tuple(f for f in finished.claims.not_met if f not in belied)).hold


def _selection(options: Namespace, catalogue: Catalogue) -> Selection:
    selection = Selection(
        checks=(*options.check, *(f"*{text}*" for text in options.containing)),
        statements=tuple(options.statement),
        clauses=tuple(options.clause),
        facets=tuple(options.facet),
    )
    try:
        return selection.checked(catalogue)
    except SelectionError as error:
        raise CommandError(Exit.USAGE, str(error)) from error


def _profile(name: str, catalogue: Catalogue) -> Profile:
    try:
        return profile_named(name, catalogue.specification, load_profiles())
    except ProfileError as error:
        raise CommandError(Exit.USAGE, f"--profile: {'; '.join(error.problems)}") from error


def _write_traces(
    finished: Run, options: Namespace, circumstances: Circumstances, terminal: Terminal
) -> Mapping[str, Path]:
    folder: Path = options.trace_dir
    listed = [entry.trace for entry in circumstances.known.entries if entry.trace] if circumstances.known else []
    keep = {(terminal.folder / options.known.parent / name).resolve() for name in listed}
    try:
        written = write_traces(finished.results, terminal.folder / folder, keep)
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
        yield from _text(options, finished, catalogue, report, traces, terminal)


def _text(
    options: Namespace,
    finished: Run,
    catalogue: Catalogue,
    report: ReportForm,
    traces: Mapping[str, Path],
    terminal: Terminal,
) -> Iterator[str]:
    yield from result_lines(catalogue, finished.results, terminal.paint)
    known = {check["check"]: check for check in report["checks"] if check["known"] is not None}
    broken = broken_adapter(report)
    if broken is not None:
        yield from ("", terminal.paint(str(broken), BOLD))
    repeated = broken.checks[1:] if broken is not None else ()
    for result in sorted(finished.results.values(), key=lambda result: importance(result.status)):
        is_known = result.check in known and known[result.check]["expectation"] == Expectation.AS_EXPECTED
        if is_known or result.check in repeated or result.status in (*EXPECTED_STATUSES, Status.NOT_RUN):
            continue
        trace = str(traces.get(result.check, ""))
        yield ""
        replay = f"kvconform replay {trace} --impl {shlex.quote(options.impl)}"
        yield from failure_lines(catalogue, result, trace, replay, terminal.paint)
    if repeated:
        yield from ("", f"broken adapter, told above, as well: {', '.join(repeated)}")
    if known:
        yield ""
        yield from (_known_line(check) for check in known.values())
    yield from claim_lines(finished.claims, terminal.paint)
    yield ""
    yield f"{finished.description.name} {finished.description.version}: {headline(finished, options.strict)}"


def headline(finished: Run, strict: bool) -> str:  # noqa: FBT001 - the option of the command
    """Return the verdict in one line, with what a filter left out."""
    left_out = sum(result.status is Status.NOT_RUN for result in finished.results.values())
    line = finished.profile.headline(strict=strict)
    return f"{line}, {left_out} checks not selected" if left_out else line


def _known_line(check: CheckForm) -> str:
    """Return how a check stands to what is known of it."""
    entry = check["known"]
    listed = f"listed as {entry['expect']}, {entry['issue']}" if entry else ""
    return f"known failure, {check['expectation']}: {check['check']} ended with {check['status']} ({listed})"
