"""The published form of the wire, made from the table of operations: `schema/wire.schema.json`.

One definition a message: `request.<op>` and `answer.<op>`. Knows JSON Schema and the contract; validates nothing.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.operations import OPERATIONS
from sharedkv_conformance.wire.messages import CLOSE, HELLO, OPEN, SHUTDOWN, WIRE_VERSION
from sharedkv_conformance.wire.words import WORDS

Schema = dict[str, Any]

_SCALARS: Mapping[Any, str] = {int: "integer", bool: "boolean", str: "string", NoneType: "null", None: "null"}
_TITLE, _DESCRIPTION = "title", "description"


def wire_schema() -> Schema:
    """Return the whole schema: any message, with a definition for each."""
    operations = {operation.name: operation for operation in OPERATIONS}
    requests = {
        HELLO: _request(HELLO, _hello_args()),
        OPEN: _request(OPEN, _object({"config": _titled("OpenConfig", _shape(OpenConfig), "The geometry.")})),
        CLOSE: _request(CLOSE, None, in_session=True),
        SHUTDOWN: _request(SHUTDOWN, None),
    }
    answers = {HELLO: _hello_ok(), OPEN: _object({"session": _number("Session")}), CLOSE: None, SHUTDOWN: None}
    oks = {name: _shape(kind) if kind else {"type": "null"} for name, kind in answers.items()} | {
        name: _shape(operation.result) for name, operation in operations.items()
    }
    requests |= {
        name: _request(
            name,
            _object({key: _argument(name, key, kind) for key, kind in operation.parameters.items()}),
            in_session=True,
        )
        for name, operation in operations.items()
    }
    definitions = {
        "bulk": _bulk(),
        **{kind.__name__: _record(kind) for kind in _records()},
        **_other_answers(),
        **{f"request.{name}": form for name, form in requests.items()},
        **{f"answer.{name}": _answer(name, form) for name, form in oks.items()},
    }
    messages = [name for name in definitions if name.startswith(("request.", "answer."))]
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        _TITLE: "Wire message",
        _DESCRIPTION: (
            f"One line of the wire, version {WIRE_VERSION}: a request of the suite or the answer of an implementation. "
            "An answer is matched to its request by id; the definition answer.<op> says what it may hold."
        ),
        "anyOf": [{"$ref": f"#/definitions/{name}"} for name in messages],
        "definitions": definitions,
    }


def schema_text() -> str:
    """Return the schema as the text of its file."""
    return json.dumps(wire_schema(), indent=2, ensure_ascii=False) + "\n"


def _request(op: str, args: Schema | None, *, in_session: bool = False) -> Schema:
    keys: Schema = {"id": _number("Id", "Chosen by the suite; the answer repeats it.")}
    if in_session:
        keys["session"] = _number("Session", "The session that open answered with.")
    keys["op"] = {_TITLE: "Operation", _DESCRIPTION: "What is asked.", "const": op}
    if args is not None:
        keys["args"] = {**args, _TITLE: "Arguments", _DESCRIPTION: "The arguments by name."}
    return {_TITLE: f"Request {op}", _DESCRIPTION: f"Asks for {op}.", **_object(keys)}


def _answer(op: str, ok: Schema) -> Schema:
    keys = {"id": _number("Id", "The id of the request."), "ok": _titled("Result", ok, f"What {op} returned.")}
    result = {_TITLE: f"Result of {op}", _DESCRIPTION: f"What {op} returned.", **_object(keys)}
    others = [{"$ref": f"#/definitions/{name}"} for name in _other_answers()]
    return {_TITLE: f"Answer to {op}", _DESCRIPTION: f"The ways to answer {op}.", "anyOf": [result, *others]}


def _other_answers() -> dict[str, Schema]:
    """Return what may be answered to any request in place of a result."""
    number = _number("Id", "The id of the request.")
    unreadable = {**number, "type": ["integer", "null"], _DESCRIPTION: "The id, or null where it could not be read."}
    unsupported = _string("Unsupported", "The feature that is not claimed.")
    forms = {
        "err": (number, _titled("Error of the contract", _err(), "The call was refused, and nothing changed.")),
        "unsupported": (number, unsupported),
        "error": (unreadable, _titled("Failure", _error(), "A fault, and no answer of the implementation.")),
    }
    return {
        key: {_TITLE: form[_TITLE], _DESCRIPTION: form[_DESCRIPTION], **_object({"id": identity, key: form})}
        for key, (identity, form) in forms.items()
    }


def _records() -> list[Any]:
    """Return every record that crosses the wire, in the order in which it is met."""
    found: dict[Any, None] = {}
    waiting = [
        OpenConfig,
        *(kind for operation in OPERATIONS for kind in (*operation.parameters.values(), operation.result)),
    ]
    while waiting:
        kind = waiting.pop(0)
        waiting += get_args(kind)
        if dataclasses.is_dataclass(kind) and kind not in found:
            found[kind] = None
            waiting += get_type_hints(kind).values()
    return list(found)


def _argument(op: str, name: str, kind: Any) -> Schema:
    title, description = WORDS.get(f"{op}.{name}") or WORDS[name]
    return _titled(title, _shape(kind), description)


def _shape(kind: Any) -> Schema:
    """Return the JSON form of a type of the contract; a schema stays as it is."""
    if isinstance(kind, dict):
        return kind
    if dataclasses.is_dataclass(kind):
        return {"$ref": f"#/definitions/{kind.__name__}"}  # type: ignore[union-attr]
    if get_origin(kind) is tuple:
        return {"type": "array", "items": _titled("Item", _shape(get_args(kind)[0]), "One of them.")}
    if kind is bytes:
        digits = _string("Hex digits", "Two for each byte.", pattern="^([0-9a-f]{2})*$")
        return {"anyOf": [digits, {"$ref": "#/definitions/bulk"}]}
    return {"type": _SCALARS[kind]}


def _record(kind: Any) -> Schema:
    hints = get_type_hints(kind)
    name = kind.__name__
    keys = {
        field.name: _titled(
            WORDS[f"{name}.{field.name}"][0], _shape(hints[field.name]), WORDS[f"{name}.{field.name}"][1]
        )
        for field in dataclasses.fields(kind)
    }
    optional = {
        field.name
        for field in dataclasses.fields(kind)
        if field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
    }
    about = (kind.__doc__ or "").strip().partition("\n")[0]
    return {_TITLE: name, _DESCRIPTION: about, **_object(keys, optional)}


def _object(keys: Schema, optional: set[str] | frozenset[str] = frozenset()) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [key for key in keys if key not in optional],
        "properties": keys,
    }


def _titled(title: str, form: Schema, description: str) -> Schema:
    if "$ref" in form:  # draft 7 ignores what stands beside a reference
        return {_TITLE: title, _DESCRIPTION: description, "allOf": [form]}
    return {**form, _TITLE: title, _DESCRIPTION: description}


def _number(title: str, description: str = "A number that the answering end chose.") -> Schema:
    return {_TITLE: title, _DESCRIPTION: description, "type": "integer"}


def _string(title: str, description: str, **more: Any) -> Schema:
    return {_TITLE: title, _DESCRIPTION: description, "type": "string", **more}


def _counts(title: str, description: str) -> Schema:
    item = {_TITLE: "Pages", _DESCRIPTION: "Pages of one lane.", "type": "integer"}
    return {_TITLE: title, _DESCRIPTION: description, "type": "array", "items": item}


def _hello_args() -> Schema:
    file = _object(
        {
            "path": _string("Path", "A file that the suite made; it is gone when the suite is."),
            "bytes": _number("Bytes", "Its size: the first half is for arguments, the second for answers."),
        }
    )
    version = _number("Version", "A version of the wire.")
    versions: Schema = {"type": "array", "items": version}
    return _object(
        {
            "wire": _titled("Wire versions", versions, "The versions of the wire that the suite speaks."),
            "contract": _string("Contract", "The version of the contract that the suite knows."),
            "bulk": _titled("Bulk file", file, "Where bytes may be put that would not fit a line well."),
        },
        {"bulk"},
    )


def _hello_ok() -> Schema:
    word = _string("Feature", "A facet, an optional feature or a probe.")
    limit = _number("Limit", "The largest that the suite may ask for.")
    text = _string("Value", "Free text.")
    features = {"type": "array", "items": word}
    description = _object(
        {
            "name": _string("Name", "What the implementation is called."),
            "version": _string("Version", "Its version."),
            "features": _titled("Features", features, "What it claims."),
            "limits": _titled("Limits", {"type": "object", "additionalProperties": limit}, "Bounds by name."),
            "environment": _titled("Environment", {"type": "object", "additionalProperties": text}, "For the report."),
        },
        {"limits", "environment"},
    )
    return _object(
        {
            "wire": {
                _TITLE: "Wire version",
                _DESCRIPTION: "The version that is spoken from now on.",
                "const": WIRE_VERSION,
            },
            "description": _titled("Description", description, "What the implementation says of itself."),
        }
    )


def _err() -> Schema:
    rejected = _object(
        {
            "error": {_TITLE: "Error", _DESCRIPTION: "The call is invalid as it stands.", "const": "Rejected"},
            "reason": _string("Reason", "Why, as a word that is compared.", enum=sorted(Reason)),
            "detail": _string("Detail", "Why, for people."),
        },
        {"detail"},
    )
    wait = _object(
        {
            "error": {_TITLE: "Error", _DESCRIPTION: "The pool is short now.", "const": "CapacityWait"},
            "required": _counts("Required", "What the call needs, by lane."),
            "available": _counts("Available", "What is free or evictable, by lane."),
            "deficit": _counts("Deficit", "What is missing, by lane."),
        }
    )
    forms = (("Rejected", "An invalid call.", rejected), ("CapacityWait", "A call to repeat later.", wait))
    described = [_titled(title, form, description) for title, description, form in forms]
    return {_TITLE: "Error of the contract", _DESCRIPTION: "An answer that is no result.", "anyOf": described}


def _error() -> Schema:
    kinds = ["protocol", "exception"]
    keys = {
        "kind": _string(
            "Kind", "protocol: a fault of who asks or of the adapter. exception: one of the engine.", enum=kinds
        ),
        "message": _string("Message", "For people."),
    }
    return {_TITLE: "Failure", _DESCRIPTION: "A fault that the contract does not know.", **_object(keys)}


def _bulk() -> Schema:
    keys = {"offset": _number("Offset", "The first byte."), "length": _number("Length", "How many bytes.")}
    inner = _titled("Bytes of the bulk file", _object(keys), "Where the bytes are.")
    return {_TITLE: "Bulk", _DESCRIPTION: "Stands for bytes in the bulk file.", **_object({"bulk": inner})}
