"""The lines of the wire: requests, answers, and which lines are neither.

Pure: knows JSON and the contract's errors, nothing of channels, processes or time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from sharedkv_conformance.contract.errors import CapacityWait, ContractError, Reason, Rejected

WIRE_VERSION = 1
HELLO, OPEN, CLOSE, SHUTDOWN = "hello", "open", "close", "shutdown"
READ_VARIABLE, WRITE_VARIABLE = "SHAREDKV_WIRE_IN", "SHAREDKV_WIRE_OUT"
LONGEST_SHOWN = 160

Encoder = Callable[[Any], str]


def encoder(default: Callable[[Any], Any]) -> Encoder:
    """Return what writes JSON without spaces; `default` says what stands for a value that JSON does not know."""
    return json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=default).encode


_dumps = encoder(repr)


class _Repeated(ValueError):
    """A key of an object stands twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; readers do not agree on what one with a repeated key says."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Repeated
    return found


_decoder = json.JSONDecoder()
_strict = json.JSONDecoder(object_pairs_hook=_unique)


class Kind(StrEnum):
    """The ways in which a request is answered."""

    OK = "ok"
    ERR = "err"
    UNSUPPORTED = "unsupported"
    ERROR = "error"


_FIELDS: Mapping[str, frozenset[str]] = {
    "Rejected": frozenset({"error", "reason", "detail"}),
    "CapacityWait": frozenset({"error", "required", "available", "deficit"}),
}
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


class Answer(NamedTuple):
    """What was said to one request; a tuple, since one is made for every call."""

    id: int
    kind: Kind
    value: Any


def shortened(line: bytes) -> str:
    """Return a line as a person may read it, no longer than a screen."""
    text = repr(line.decode("utf-8", "backslashreplace"))
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}... ({len(line)} bytes)"


def line_of(message: Mapping[str, Any], encode: Encoder = _dumps) -> bytes:
    """Return a message as a line; a value that JSON cannot hold crosses as its text, which no operation wants."""
    return encode(message).encode("utf-8", "backslashreplace") + b"\n"


def request_line(number: int, op: str, args: Mapping[str, Any] | None = None, session: int | None = None) -> bytes:
    """Return a request as a line; put together by hand, for most have no arguments."""
    of_session = "" if session is None else f',"session":{session}'
    with_args = "" if args is None else f',"args":{_dumps(args) if args else "{}"}'
    return f'{{"id":{number}{of_session},"op":{_dumps(op)}{with_args}}}\n'.encode("utf-8", "backslashreplace")


def parsed(line: bytes) -> Any:
    """Return the JSON value of a line; raises `Unreadable`."""
    try:
        text = line.decode("utf-8")
        try:
            value, end = _decoder.raw_decode(text)
        except ValueError:
            return _strict.decode(text)  # where white space comes first
        if end < len(text) and text[end:].strip(" \t\r\n"):
            return _strict.decode(text)
        return value if text.count(":") == _num_keys(value) else _strict.decode(text)
    except _Repeated as error:
        raise Unreadable("no key of an object twice", line) from error
    except (ValueError, RecursionError) as error:
        raise Unreadable("a line of JSON in UTF-8", line) from error


def _num_keys(value: Any) -> int:
    """Return the number of keys of an object and of those in it; there are as many colons in its text, or more.

    Where there are no more, none of the keys stands twice: most lines need not be looked at more closely.
    """
    if type(value) is not dict:
        return 0
    num_keys = len(value)
    for inner in value.values():
        if type(inner) is dict:
            num_keys += len(inner)
    return num_keys


def answer_of(line: bytes) -> Answer:
    """Return the answer that a line holds; raises `Unreadable`."""
    data = parsed(line)
    if type(data) is dict and len(data) == 2 and "ok" in data and type(data.get("id")) is int:  # noqa: PLR2004
        return Answer(data["id"], Kind.OK, data["ok"])
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
    if unknown := fields.keys() - _FIELDS.get(name if isinstance(name, str) else "", fields.keys()):
        return Remote("protocol", f"the error {name} has no field {min(unknown)!r}")
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
