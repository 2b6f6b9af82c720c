"""Traces: the calls and answers that led to a violation, one JSON object a line, replayable without hypothesis.

A value that an earlier answer produced is written as a path, `{"$": [call, field, index]}`, so that the trace can be
replayed on an implementation that hands out other pages. The form is a promise: `schema/trace.schema.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sharedkv_conformance.codec import Malformed, decode, encode, encode_error
from sharedkv_conformance.contract.operation import Operation
from sharedkv_conformance.contract.operations import OPERATION_BY_NAME
from sharedkv_conformance.step import Answer, Call, Ok

TRACE_VERSION = 1
OPEN = "session.open"


class TraceError(ValueError):
    """A trace file cannot be read."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(line, problem)
        self.line = line
        self.problem = problem

    def __str__(self) -> str:
        return f"line {self.line}: {self.problem}"


@dataclass(frozen=True, kw_only=True)
class TraceHeader:
    """What a trace is about: which law of which statement, in which geometry, on how many ranks."""

    statement: str
    law: str
    facet: str
    config: Mapping[str, Any]
    ranks: int = 1
    check: str = ""


@dataclass(frozen=True, kw_only=True)
class TracedCall:
    """One call as written: arguments in JSON form, with paths in place of values that answers produced.

    `answer` is what was answered when the trace was made, `{"ok": value}` or `{"err": error}`, empty where it has none.
    """

    call: int
    op: str
    args: Mapping[str, Any]
    rank: int = 0
    answer: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, kw_only=True)
class Trace:
    """A whole trace: header, calls in order, and the violations that it ended in."""

    header: TraceHeader
    calls: tuple[TracedCall, ...]
    violations: tuple[str, ...]


@dataclass
class References:
    """Where values that answers produced came from, for one session. Writes paths and resolves them."""

    answers: dict[int, Any] = field(default_factory=dict)
    origins: dict[tuple[str, int], list[Any]] = field(default_factory=dict)

    def learn(self, number: int, operation: Operation, value: Any) -> None:
        """Remember an answer and the values that it produced.

        What a probe shows again keeps its first path: that call is needed anyway where a history is made shorter.
        """
        self.answers[number] = encode(value)
        for where, kind in operation.produces.items():
            for found in _found(kind, value, where.split(".") if where else (), (number,)):
                key = found.kind, found.value
                if operation.facet != "probe" or key not in self.origins:
                    self.origins[key] = list(found.path)

    def write(self, operation: Operation, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments in JSON form, with paths for values that an answer produced."""
        written = {}
        for name, value in args.items():
            kind = _kind(operation, name, args)
            if kind is None:
                written[name] = encode(value)
            elif isinstance(value, tuple | list):
                written[name] = [self._path(kind, item) for item in value]
            else:
                written[name] = self._path(kind, value)
        return written

    def _path(self, kind: str, value: int) -> Any:
        origin = self.origins.get((kind, value))
        return {"$": list(origin)} if origin is not None else value

    def resolve(self, data: Any) -> Any:
        """Return the arguments with each path replaced by what this session answered there.

        Raises:
            LookupError: the path leads nowhere, for example since the call was answered with an error here.

        """
        if isinstance(data, Mapping):
            if set(data) == {"$"}:
                return self._follow(data["$"])
            return {key: self.resolve(value) for key, value in data.items()}
        if isinstance(data, list):
            return [self.resolve(value) for value in data]
        return data

    def _follow(self, path: Sequence[Any]) -> Any:
        value: Any = self.answers
        if not isinstance(path, list):
            raise LookupError(path)  # noqa: TRY004 - a path that is none leads nowhere
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                raise LookupError(path) from None
        return value


@dataclass(frozen=True, kw_only=True)
class _Produced:
    """One value that an answer produced: of which kind it is, and the path that leads to it."""

    kind: str
    value: Any
    path: tuple[Any, ...]


def _found(kind: str, value: Any, fields: Sequence[str], path: tuple[Any, ...]) -> Iterator[_Produced]:
    """Yield the values below an answer or a part of it, along `fields`; tuples on the way are gone through.

    Values of a tuple in a tuple are those of a lane each; their kind then names the lane. So does a kind `slot:rank`
    with the field of that name, beside the value.
    """
    if isinstance(value, tuple):
        inner = not fields and isinstance(path[-1], int) and len(path) > 1
        for index, item in enumerate(value):
            yield from _found(f"{kind}:{path[-1]}" if inner else kind, item, fields, (*path, index))
    elif fields:
        first, *rest = fields
        base, _, beside = kind.partition(":")
        of_item = f"{base}:{getattr(value, beside)}" if beside and not rest else kind
        yield from _found(of_item, getattr(value, first), rest, (*path, first))
    else:
        yield _Produced(kind=kind, value=value, path=path)


def _kind(operation: Operation, name: str, args: Mapping[str, Any]) -> str | None:
    """Return the kind of the values that a parameter takes, with the lane or rank in it where they are one's."""
    kind, _, lane = operation.takes.get(name, "").partition(":")
    return f"{kind}:{args[lane]}" if lane else kind or None


def answer_line(answer: Answer) -> dict[str, Any]:
    """Return the part of a call's line that holds its answer."""
    return {"ok": encode(answer.value)} if isinstance(answer, Ok) else {"err": encode_error(answer.error)}


def header_line(header: TraceHeader) -> dict[str, Any]:
    """Return the first line of a trace."""
    line: dict[str, Any] = {"trace": TRACE_VERSION, "statement": header.statement, "law": header.law}
    if header.check:
        line["check"] = header.check
    line |= {"facet": header.facet, "config": dict(header.config)}
    return line | ({"ranks": header.ranks} if header.ranks != 1 else {})


def render(lines: Iterable[Mapping[str, Any]]) -> str:
    """Return lines as a trace file's text."""
    return "".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n" for line in lines)


def read_trace(path: Path) -> Trace:
    """Read a trace file.

    Raises:
        TraceError: a line is not what the form allows, with its number.
        OSError: the file cannot be read.

    """
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise TraceError(1, f"not UTF-8 text: {error.reason} at byte {error.start}") from error
    return parse_trace(text)


def parse_trace(text: str) -> Trace:
    """Parse the text of a trace file; raises `TraceError`."""
    lines = [(number, _object(number, line)) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise TraceError(1, "the file is empty; a trace begins with a header line")
    header = _header(*lines[0])
    calls = tuple(_call(number, line) for number, line in lines[1:] if "violation" not in line)
    _check_order(calls, [number for number, line in lines[1:] if "violation" not in line], header.ranks)
    violations = tuple(str(line["violation"]) for _, line in lines[1:] if "violation" in line)
    return Trace(header=header, calls=calls, violations=violations)


def _object(number: int, line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TraceError(number, f"not a JSON object: {error}") from error
    if not isinstance(data, dict):
        raise TraceError(number, f"wanted a JSON object, found {type(data).__name__}")
    return data


def _header(number: int, line: dict[str, Any]) -> TraceHeader:
    if line.get("trace") != TRACE_VERSION or isinstance(line.get("trace"), bool):
        raise TraceError(number, f"wanted a header with trace version {TRACE_VERSION}, found {line.get('trace')!r}")
    for key in ("statement", "law", "facet"):
        if not isinstance(line.get(key), str):
            raise TraceError(number, f"the header wants a string {key!r}, found {line.get(key)!r}")
    ranks = line.get("ranks", 1)
    if type(ranks) is not int or not 1 <= ranks <= 64:  # noqa: PLR2004 - more ranks than any CP group has
        raise TraceError(number, f"ranks: wanted 1 to 64, found {ranks!r}")
    if not isinstance(line.get("config"), dict):
        raise TraceError(number, f"the header wants an object 'config', found {line.get('config')!r}")
    return TraceHeader(
        statement=line["statement"],
        law=line["law"],
        facet=line["facet"],
        config=line["config"],
        ranks=ranks,
        check=str(line.get("check", "")),
    )


def _call(number: int, line: dict[str, Any]) -> TracedCall:
    op, args, call, rank = line.get("op"), line.get("args", {}), line.get("call"), line.get("rank", 0)
    if op != OPEN and (not isinstance(op, str) or op not in OPERATION_BY_NAME):
        raise TraceError(number, f"unknown operation {op!r}")
    if not isinstance(args, dict):
        raise TraceError(number, f"args: wanted an object, found {args!r}")
    if type(call) is not int or type(rank) is not int:
        raise TraceError(number, f"call and rank: wanted integers, found {call!r} and {rank!r}")
    answer = {key: value for key, value in line.items() if key in ("ok", "err")}
    return TracedCall(call=call, op=op, args=args, rank=rank, answer=answer)


def _check_order(calls: Sequence[TracedCall], numbers: Sequence[int], ranks: int) -> None:
    for index, (traced, number) in enumerate(zip(calls, numbers, strict=True)):
        if traced.call != index:
            raise TraceError(number, f"wanted call {index} here, found call {traced.call}")
        if not 0 <= traced.rank < ranks:
            raise TraceError(number, f"rank: wanted 0 to {ranks - 1}, found {traced.rank}")


def resolved_call(traced: TracedCall, references: References) -> Call:
    """Return the call that a line asks for on a session with these answers.

    Raises:
        LookupError: a path leads nowhere.
        Malformed: an argument does not have the shape that the operation wants.

    """
    operation = OPERATION_BY_NAME[traced.op]
    data = references.resolve(dict(traced.args))
    if set(data) != set(operation.parameters):
        raise Malformed(traced.op, f"the arguments {sorted(operation.parameters)}", sorted(data))
    return Call(
        op=traced.op,
        args={name: decode(kind, data[name], f"{traced.op}.{name}") for name, kind in operation.parameters.items()},
    )
