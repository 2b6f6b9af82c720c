"""The benchmark `suite`: what the conformance suite costs on the reference, by process, by call and by kill.

For information: there is no goal. The reference is named, as a user names it.
"""

from __future__ import annotations

from time import process_time

from benchmarks.counting import CountedImplementation
from benchmarks.errors import DisagreementError
from benchmarks.programs import timed
from benchmarks.result import Cell, Column, Result, Table
from benchmarks.settings import Settings
from sharedkv_conformance.catalogue import Catalogue, load_catalogue
from sharedkv_conformance.naming import implementation_named
from sharedkv_conformance.status import Status
from sharedkv_conformance.trials import trial_of_implementation, trial_of_mutant

NAME = "suite"
IMPLEMENTATION = "sharedkv_adapter:cpu"
RUNS = 3
QUICK_MUTANTS = 10
US_PER_S = 1e6
NS_PER_S = 1e9
ABOUT = (
    f"All checks on `{IMPLEMENTATION}` at the effort of the gate. The time of a call is all that the suite does for "
    "it: draw it, issue it, judge the answer by every law; the implementation's share is timed apart. A kill is one "
    "wrong variant of the model run against the checks of its statement until one fails."
)

COLUMNS = (Column(name="what"), Column(name="value"), Column(name="unit"))


def measure(settings: Settings) -> Result:
    """Time a whole run, then its calls and the kills inside this process."""
    catalogue = load_catalogue()
    runs = 1 if settings.quick else RUNS
    settings.progress.step(f"{NAME}: kvconform run")
    whole = timed("sharedkv_conformance", "run", "--impl", IMPLEMENTATION, folder=settings.root, runs=runs)
    settings.progress.step(f"{NAME}: calls")
    call_rows = _calls(settings, catalogue)
    settings.progress.step(f"{NAME}: kills")
    rows: tuple[tuple[Cell, ...], ...] = (
        (f"`kvconform run`, whole process, median of {runs}", whole.median, "s"),
        ("its processor time", whole.median_processor, "s"),
        ("checks", len(catalogue.checks), ""),
        *call_rows,
        *_kills(settings, catalogue),
    )
    return Result(
        name=NAME,
        title="The conformance suite on the reference",
        about=ABOUT,
        tables=(
            Table(title="Processor time of one process, unless it says whole process", columns=COLUMNS, rows=rows),
        ),
    )


def _calls(settings: Settings, catalogue: Catalogue) -> list[tuple[Cell, ...]]:
    """Time every check in this process; each has to pass."""
    implementation = CountedImplementation(implementation_named(IMPLEMENTATION, folder=settings.root))
    start = process_time()
    results = trial_of_implementation(catalogue, implementation)
    took = process_time() - start
    for slug, result in results.items():
        if result.status is not Status.PASS:
            raise DisagreementError(f"check {slug}", Status.PASS, result.status)
    return [
        ("all checks, in process", took, "s"),
        ("calls to the implementation", implementation.calls, ""),
        ("time of a call", took / implementation.calls * US_PER_S, "us"),
        ("of it in the implementation", implementation.inside_ns / implementation.calls / 1_000, "us"),
        ("calls a second", implementation.calls / took, "1/s"),
    ]


def _kills(settings: Settings, catalogue: Catalogue) -> list[tuple[Cell, ...]]:
    """Time mutants in the order of the catalogue; each has to die."""
    mutants = catalogue.mutants[:QUICK_MUTANTS] if settings.quick else catalogue.mutants
    start = process_time()
    trials = [trial_of_mutant(catalogue, mutant, full=False) for mutant in mutants]
    took = process_time() - start
    for trial in trials:
        if not trial.killed_by:
            raise DisagreementError(f"mutant {trial.slug}", "killed", "alive")
    return [("mutants killed", len(trials), ""), ("kills a second", len(trials) / took, "1/s")]
