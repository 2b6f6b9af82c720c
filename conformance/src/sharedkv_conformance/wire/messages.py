"""The lines of the wire: requests, answers, and which lines are neither.

Pure: knows JSON and the contract's errors, nothing of channels, processes or time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sharedkv_conformance.contract.errors import CapacityWait, ContractError, Reason, Rejected

WIRE_VERSION = 1
HELLO, OPEN, CLOSE, SHUTDOWN = "hello", "open", "close", "shutdown"
READ_VARIABLE, WRITE_VARIABLE = "SHAREDKV_WIRE_IN", "SHAREDKV_WIRE_OUT"
LONGEST_SHOWN = 160

_dumps = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=repr).encode
_decoder = json.JSONDecoder()


class Kind(StrEnum):
    """The ways in which a request is answered."""

    OK = "ok"
    ERR = "err"
    UNSUPPORTED = "unsupported"
    ERROR = "error"


_KINDS: Mapping[frozenset[str], Kind] = {frozenset({"id", str(kind)}): kind for kind in Kind}


class Unreadable(ValueError):
    """A line is no message of the wire."""

    def __init__(self, wanted: str, line: bytes) -> None:
        super().__init__(wanted, line)
        self.wanted = wanted
        self.line = line

    def __str__(self) -> str:
        return f"wanted {self.wanted}, found {shortened(self.line)}"


class Remote(Exception):
    """The other end answered that it failed outside the contract: by a fault of its own, or since it was misused."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said to one request."""

    id: int
    kind: Kind
    value: Any


def shortened(line: bytes) -> str:
    """Return a line as a person may read it, no longer than a screen."""
    text = repr(line.decode("utf-8", "backslashreplace"))
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}... ({len(line)} bytes)"


def line_of(message: Mapping[str, Any]) -> bytes:
    """Return a message as a line; a value that JSON cannot hold crosses as its text, which no operation wants."""
    return _dumps(message).encode("utf-8", "backslashreplace") + b"\n"


def request_line(number: int, op: str, args: Mapping[str, Any] | None = None, session: int | None = None) -> bytes:
    """Return a request as a line."""
    message: dict[str, Any] = {"id": number}
    if session is not None:
        message["session"] = session
    message["op"] = op
    if args is not None:
        message["args"] = args
    return line_of(message)


def parsed(line: bytes) -> Any:
    """Return the JSON value of a line; raises `Unreadable`."""
    try:
        return _decoder.decode(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Unreadable("a line of JSON in UTF-8", line) from error


def answer_of(line: bytes) -> Answer:
    """Return the answer that a line holds; raises `Unreadable`."""
    data = parsed(line)
    kind = _KINDS.get(frozenset(data)) if isinstance(data, dict) else None
    if kind is None:
        raise Unreadable("an object with 'id' and one of 'ok', 'err', 'unsupported' and 'error'", line)
    if type(data["id"]) is not int:
        raise Unreadable("an integer as 'id'", line)
    if kind is Kind.UNSUPPORTED and not isinstance(data["unsupported"], str):
        raise Unreadable("the name of a feature as 'unsupported'", line)
    if kind in (Kind.ERR, Kind.ERROR) and not isinstance(data[kind], dict):
        raise Unreadable(f"an object as '{kind}'", line)
    return Answer(data["id"], kind, data[kind])


def contract_error(fields: Mapping[str, Any]) -> ContractError | Remote:
    """Return the error that an `err` holds; fields of a wrong shape stay as they are, for the suite to judge."""
    name = fields.get("error")
    if name == "Rejected":
        reason = fields.get("reason")
        known = isinstance(reason, str) and reason in set(Reason)
        return Rejected(Reason(reason) if known else reason, str(fields.get("detail", "")))  # type: ignore[arg-type]
    if name == "CapacityWait":
        wait = CapacityWait((), (), ())
        for count in ("required", "available", "deficit"):
            setattr(wait, count, fields.get(count))
        return wait
    return Remote("unknown error", f"{name!r} is none of the contract's")
