# ruff: noqa: ANN401 - JSON values are of any type

"""What a program says in another shape than the wire has is told as a fault of its adapter, and never taken."""

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sharedkv_conformance.contract import CapacityWait, OpenConfig, Rejected
from sharedkv_conformance.loss import Loss
from sharedkv_conformance.wire.client import Budgets
from sharedkv_conformance.wire.implementation import WireImplementation
from sharedkv_conformance.wire.messages import Remote, Unreadable, contract_error, parsed
from sharedkv_conformance.wire.names import wire_implementation
from tests.wire.programs import HASTY, PATIENT, is_running, process_id, rogue

ECHO = "import sys\nfor answer in sys.argv[1:]: sys.stdin.readline(); print(answer, flush=True)"
CONFIG = OpenConfig(cp_size=2, page_size=4, pages=8)
DESCRIPTION = {"name": "it", "version": "1", "features": ["planning"]}


@contextmanager
def answering(*answers: Any) -> Iterator[WireImplementation]:
    """Give a program that answers with these values, whatever it is asked."""
    lines = [json.dumps({"id": number, "ok": answer}) for number, answer in enumerate(answers, 1)]
    name = "stdio:" + shlex.join([sys.executable, "-c", ECHO, *lines])
    implementation = wire_implementation(name, folder=Path(), budgets=Budgets())
    try:
        yield implementation
    finally:
        implementation.close()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"wire": True, "description": DESCRIPTION}, "it speaks wire version True"),
        ({"wire": 1.0, "description": DESCRIPTION}, "it speaks wire version 1.0"),
        ({"wire": 1, "description": {**DESCRIPTION, "extra": 1}}, "its description has a key .* 'extra'"),
        ({"wire": 1, "description": DESCRIPTION, "extra": 1}, "it did not say hello"),
    ],
)
def test_a_hello_of_another_shape_is_none(said: Any, told: str) -> None:
    with answering(said) as implementation, pytest.raises(Loss, match=told):
        implementation.describe()


def test_a_close_that_answers_something_is_a_fault_of_the_adapter() -> None:
    with answering({"wire": 1, "description": DESCRIPTION}, {"session": 1}, {"x": 1}) as implementation:
        session = implementation.open(CONFIG)
        with pytest.raises(Remote, match="protocol: the answer to close: wanted null"):
            session.close()


REPEATED = (
    b'{"id":1,"id":2,"ok":null}',
    b'{"id":1,"ok":{"pages":[1],"pages":[2]}}',
    b'{"id" : 1, "ok" : {"pages" : [1], "pages" : [2]}}',
    b'{"id":1,"ok":[{"a":{"b":1,"b":1}}]}',
    b' {"id":1,"id":1}',
    b'[{"a":1,"\\u0061":1}]',
)


@pytest.mark.parametrize("line", REPEATED)
def test_a_key_that_stands_twice_makes_a_line_unreadable(line: bytes) -> None:
    with pytest.raises(Unreadable, match="no key of an object twice"):
        parsed(line)


@pytest.mark.parametrize(
    "fields",
    [
        {"error": "Rejected", "reason": "extend_empty", "retry": True},
        {"error": "CapacityWait", "required": [], "available": [], "deficit": [], "pages": 1},
    ],
)
def test_an_error_with_a_field_that_the_contract_has_not_is_a_fault_of_the_adapter(fields: dict[str, Any]) -> None:
    found = contract_error(fields)
    *_, extra = fields
    del fields[extra]

    assert str(found) == f"protocol: the error {fields['error']} has no field {extra!r}"
    assert isinstance(contract_error(fields), Rejected | CapacityWait)


@pytest.mark.parametrize(
    ("way", "budgets", "told"),
    [
        ("right", PATIENT, ""),
        ("sour", PATIENT, "wanted exit code 0; it exited with code 5"),
        ("stay", HASTY, "it answered, and within 0.2 s it did not end; it still ran and was killed"),
    ],
)
def test_how_a_program_ends_when_it_is_asked_to_is_told(way: str, budgets: Budgets, told: str) -> None:
    with rogue(way, budgets=budgets) as implementation:
        process = process_id(implementation)

        assert implementation.shut_down() == told
        assert not is_running(process)


def test_a_program_that_hangs_when_it_is_asked_to_end_is_told_and_ended() -> None:
    with rogue("hang", 1, HASTY) as implementation:
        process = process_id(implementation)

        assert implementation.shut_down().startswith("no answer to shutdown within 0.2 s")
        assert not is_running(process)
