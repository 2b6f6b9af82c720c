"""Values of the contract as JSON and back, and the shape of an answer as the contract wants it.

Types are read from the table of operations. An implementation may vendor the contract, so dataclasses and errors
are recognised by the names of their fields and of their class, never by identity.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from sharedkv_conformance.contract.errors import CapacityWait, ContractError, Reason, Rejected, Unsupported

_MISSING = object()
_NUMBERS = frozenset({int})
LARGEST = 1 << 63


class Malformed(ValueError):
    """A value is not of the shape that was wanted."""

    def __init__(self, where: str, wanted: str, found: object) -> None:
        super().__init__(where, wanted, found)
        self.where = where
        self.wanted = wanted
        self.found = found

    def __str__(self) -> str:
        return f"{self.where}: wanted {self.wanted}, found {shown(self.found)}"


def shown(value: object) -> str:
    """Return a value as a person can take it in: a line's worth of its representation."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."  # noqa: PLR2004 - a line's worth


def encode(value: Any, of_bytes: Callable[[bytes], Any] = bytes.hex) -> Any:  # noqa: PLR0911 - one line a kind
    """Return the JSON form of a contract value; `of_bytes` says what stands for bytes."""
    kind: Any = type(value)
    if kind is int or kind is str:
        return value
    if isinstance(value, tuple | list):
        return list(value) if {*map(type, value)} <= _NUMBERS else [encode(item, of_bytes) for item in value]
    if (names := _names(kind)) is not None:
        return {name: encode(getattr(value, name), of_bytes) for name in names}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, bytes):
        return of_bytes(value)
    if isinstance(value, Mapping):
        return {key: encode(item, of_bytes) for key, item in sorted(value.items())}
    return value


def one_level(value: Any, of_bytes: Callable[[bytes], Any] = bytes.hex) -> Any:
    """Return what stands for a value that JSON does not know, its parts as they are; the text of a strange one."""
    kind: Any = type(value)
    if (names := _names(kind)) is not None:
        return {name: getattr(value, name) for name in names}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, bytes):
        return of_bytes(value)
    return dict(sorted(value.items())) if isinstance(value, Mapping) else repr(value)


@cache
def _names(kind: Any) -> tuple[str, ...] | None:
    """Return the fields of a record, and None for a type that is none."""
    return tuple(f.name for f in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None


def decode(wanted: Any, data: Any, where: str = "value") -> Any:  # noqa: PLR0911 - one line a kind
    """Return the contract value that `data` holds, from JSON or from an object with the same fields.

    Raises:
        Malformed: the data does not have the shape of `wanted`.

    """
    if wanted in (None, NoneType):
        return _exactly(data, NoneType, "nothing", where)
    if dataclasses.is_dataclass(wanted):
        return _decode_record(wanted, data, where)
    if get_origin(wanted) is tuple:
        return _decode_tuple(get_args(wanted)[0], data, where)
    if wanted is bool:
        return _exactly(data, bool, "true or false", where)
    if wanted is int:
        return _integer(data, where)
    if wanted is bytes:
        return _decode_bytes(data, where)
    if wanted is str:
        return str(data) if isinstance(data, str) else _exactly(data, str, "a string", where)
    message = f"the contract has no values of type {wanted!r}"
    raise TypeError(message)


def _exactly(data: Any, kind: type, wanted: str, where: str) -> Any:
    if type(data) is not kind:
        raise Malformed(where, wanted, data)
    return data


def _decode_bytes(data: Any, where: str) -> bytes:
    try:
        return bytes.fromhex(data) if isinstance(data, str) else bytes(_exactly(data, bytes, "bytes", where))
    except ValueError:
        raise Malformed(where, "bytes as hex digits", data) from None


def _integer(data: Any, where: str) -> int:
    number: int = _exactly(data, int, "an integer", where)
    if not -LARGEST <= number < LARGEST:
        raise Malformed(where, "an integer of 64 bits", f"one of {number.bit_length()} bits")
    return number


def _decode_tuple(item: Any, data: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(data, tuple | list):
        raise Malformed(where, "a sequence", data)
    if item is int and all(type(value) is int and -LARGEST <= value < LARGEST for value in data):
        return tuple(data)
    return tuple(decode(item, value, f"{where}[{index}]") for index, value in enumerate(data))


def _decode_record(wanted: Any, data: Any, where: str) -> Any:
    found = dict(_fields_of(wanted, data, where))
    if isinstance(data, Mapping) and (unknown := sorted(set(data) - set(_hints(wanted)))):
        raise Malformed(where, f"no field {unknown[0]!r} in {wanted.__name__}", data)
    return wanted(**found)


def _fields_of(wanted: Any, data: Any, where: str) -> Iterator[tuple[str, Any]]:
    for name, hint, optional in _hints(wanted).values():
        value = data.get(name, _MISSING) if isinstance(data, Mapping) else getattr(data, name, _MISSING)
        if value is not _MISSING:
            yield name, decode(hint, value, f"{where}.{name}")
        elif not optional:
            raise Malformed(where, f"{wanted.__name__} with a field {name!r}", data)


@cache
def _hints(wanted: Any) -> dict[str, tuple[str, Any, bool]]:
    hints = get_type_hints(wanted)
    return {
        f.name: (
            f.name,
            hints[f.name],
            f.default is not dataclasses.MISSING or f.default_factory is not dataclasses.MISSING,
        )
        for f in dataclasses.fields(wanted)
    }


def encode_error(error: ContractError) -> dict[str, Any]:
    """Return the JSON form of a contract error, `{"error": class, fields...}`."""
    if isinstance(error, Rejected):
        return {"error": "Rejected", "reason": str(error.reason), "detail": error.detail}
    if isinstance(error, CapacityWait):
        return {
            "error": "CapacityWait",
            "required": list(error.required),
            "available": list(error.available),
            "deficit": list(error.deficit),
        }
    if isinstance(error, Unsupported):
        return {"error": "Unsupported", "feature": error.feature}
    message = f"no wire form for {type(error).__name__}"
    raise TypeError(message)


def recognise_error(error: BaseException, where: str) -> ContractError | None:
    """Return the contract error that an exception is, by the name of its class, or None when it is another kind.

    Raises:
        Malformed: the class has a contract name, but its fields are not the contract's.

    """
    names = {cls.__name__ for cls in type(error).__mro__}
    if "Rejected" in names:
        reason = getattr(error, "reason", None)
        if not isinstance(reason, str) or str(reason) not in set(Reason):
            raise Malformed(f"{where}.reason", "one of the contract's reasons", reason)
        return Rejected(Reason(str(reason)), str(getattr(error, "detail", "")))
    if "CapacityWait" in names:
        counts = {
            name: _decode_tuple(int, getattr(error, name, None), f"{where}.{name}")
            for name in ("required", "available", "deficit")
        }
        return CapacityWait(**counts)
    if "Unsupported" in names:
        return Unsupported(str(getattr(error, "feature", "")))
    return None
