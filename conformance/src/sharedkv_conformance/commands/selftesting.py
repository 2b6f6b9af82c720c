"""`kvconform selftest`: the suite put to the test, in as many processes as there are cores."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from sharedkv_conformance.catalogue import Catalogue, load_catalogue
from sharedkv_conformance.commands.terminal import Terminal, opened
from sharedkv_conformance.console import Paint, table
from sharedkv_conformance.exits import Exit
from sharedkv_conformance.naming import MODEL, implementation_named
from sharedkv_conformance.parity import parity_names
from sharedkv_conformance.progress import progress_on
from sharedkv_conformance.report import render_json
from sharedkv_conformance.selftest import Selftest, Task, perform, selftest, selftest_form
from sharedkv_conformance.status import Status


def selftest_command(options: Namespace, terminal: Terminal) -> Exit:
    """Test the suite and say what is wrong with it."""
    name = options.impl or MODEL
    description = opened(name, terminal, options.time_scale).description
    catalogue = load_catalogue()
    done = selftest(
        catalogue,
        name,
        description,
        full=options.full,
        parity=parity_names(catalogue),
        performing=partial(_perform_elsewhere, str(terminal.folder)),
        mapper=partial(_in_processes, terminal),
    )
    if options.output is not None:
        terminal.write_file(options.output, render_json(selftest_form(done, catalogue)))
    terminal.say(_lines(done, catalogue, terminal.paint))
    return Exit.UNEXPECTED if done.problems else Exit.AS_EXPECTED


def _in_processes(terminal: Terminal, perform_one: Callable[[Task], Any], planned: Sequence[Task]) -> Iterable[Any]:
    """Yield the result of each task in order; processes are spawned, so that none inherits what this one has open."""
    progress = progress_on(terminal.err, terminal.columns)
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for number, (task, found) in enumerate(zip(planned, pool.map(perform_one, planned), strict=True), 1):
            progress.show(f"[{number}/{len(planned)}] {task.kind} {task.name}")
            yield found
    progress.show("")


def _perform_elsewhere(folder: str, task: Task) -> Any:
    return perform(task, catalogue=_catalogue(), resolve=partial(implementation_named, folder=Path(folder)))


@cache
def _catalogue() -> Catalogue:
    """Return the catalogue of this process, collected once."""
    return load_catalogue()


def _lines(done: Selftest, catalogue: Catalogue, paint: Paint) -> Iterator[str]:
    rows = [(trial.slug, trial.kills, ", ".join(trial.killed_by) or "SURVIVES") for trial in done.mutants]
    yield from table(("mutant", "breaks", "killed by"), rows)
    yield ""
    for trial in done.benign:
        yield f"{paint.status(trial.status, 5)} {trial.slug} (benign)"
    for dishonest in done.pathological:
        counts = ", ".join(f"{count} {status}" for status, count in dishonest.statuses.items())
        word = Status.FAIL if dishonest.problems else Status.PASS
        yield f"{paint.status(word, 5)} {dishonest.name} is {dishonest.conformance}: {counts}"
    compared = sum(trial.compared for trial in done.parity)
    failing = sum(trial.failing for trial in done.parity)
    word = Status.FAIL if any(trial.problems for trial in done.parity) else Status.PASS
    sides = f"{len(done.parity)} implementations in process and over the wire"
    yield f"{paint.status(word, 5)} parity: {sides}, {compared} checks compared, {failing} of them failing"
    yield ""
    passed = sum(result.status is Status.PASS for result in done.results.values())
    yield (
        f"{done.implementation.name}: {passed} of {len(done.results)} checks pass, none vacuous"
        if passed == len(done.results)
        else f"{done.implementation.name}: {passed} of {len(done.results)} checks pass"
    )
    killed = f"{done.killed} of {len(done.mutants)} mutants killed by their statement"
    yield f"{killed}; each breaks {done.mean_also:.2f} others on average; catalogue {catalogue.digest[:12]}"
    for problem in done.problems:
        yield f"{paint.status(Status.FAIL)} {problem}"
    yield f"{len(done.problems)} problems" if done.problems else "the suite tests what it says"
