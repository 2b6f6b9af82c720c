"""Runs the suite under plain pytest, on the implementation that `--kvconform-impl` names.

    pytest -p sharedkv_conformance.plugin --kvconform-impl NAME --pyargs sharedkv_conformance.suite

Statuses become what pytest has: a broken law, an exception outside the contract and a vacuous property are failures;
a check whose features are not claimed is skipped and says what is missing. Reports are the runner's business.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from sharedkv_conformance.catalogue import load_witnesses
from sharedkv_conformance.description import Described, DescriptionError, described
from sharedkv_conformance.effort import GATE
from sharedkv_conformance.execution import inapplicable
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.history import Escaped, Gone, Violation
from sharedkv_conformance.marks import Check
from sharedkv_conformance.naming import NamingError, implementation_named
from sharedkv_conformance.trace import render

IMPLEMENTATION = pytest.StashKey[Described]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the implementation."""
    parser.getgroup("kvconform").addoption(
        "--kvconform-impl",
        metavar="NAME",
        help="the implementation to check: module:factory, path/file.py:factory, an installed name, or 'model'",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Open the implementation once for the session."""
    name = config.getoption("--kvconform-impl")
    if name is None:
        return
    try:
        config.stash[IMPLEMENTATION] = described(implementation_named(name, folder=Path.cwd()))
    except (NamingError, DescriptionError) as error:
        raise pytest.UsageError(str(error)) from error


@pytest.fixture
def histories(request: pytest.FixtureRequest) -> Histories:
    """Run histories of the named implementation for the check that asks."""
    implementation = request.config.stash.get(IMPLEMENTATION, None)
    if implementation is None:
        raise pytest.UsageError("name the implementation to check: --kvconform-impl NAME")
    check = _check(request.node)
    if (result := inapplicable(check, implementation.description)) is not None:
        pytest.skip(result.message)
    witnesses = load_witnesses()
    return Histories(implementation, GATE, [witnesses[name] for name in check.witnesses])


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Show the trace of a failure, and fail a property whose trigger never occurred."""
    try:
        outcome = yield
    except (Violation, Escaped, Gone) as error:
        pyfuncitem.add_report_section("call", "trace", render(error.trace))
        raise
    used = pyfuncitem.funcargs.get("histories")
    if isinstance(used, Histories):
        silent = [name for name in _check(pyfuncitem).witnesses if not used.raised[name]]
        if silent or not used.examples:
            pytest.fail(f"vacuous: {', '.join(silent) or 'no history was run'} never occurred", pytrace=False)
    return outcome


def _check(item: pytest.Item) -> Check:
    found = vars(getattr(item, "function", object)).get("kvconform_check")
    if not isinstance(found, Check):
        raise pytest.UsageError(f"{item.name} uses histories and is no check: it lacks the mark @check")
    return found
