"""Holds every message of a connection, in both directions, against the published form.

Knows which request an answer belongs to. Needs jsonschema; changes nothing of what is said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import jsonschema

from sharedkv_conformance.wire.messages import Unreadable, parsed, shortened

MOST_PROBLEMS = 20


class Watcher:
    """Sees lines and keeps what is wrong with them, at most a screen of it."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.sent = 0
        self.received = 0
        self._schema = json.loads(files("sharedkv_conformance").joinpath("schemas/wire.schema.json").read_text("utf-8"))
        self._validators: dict[str, Any] = {}
        self._asked: dict[int, str] = {}

    def __call__(self, line: bytes) -> None:
        """Judge one line."""
        try:
            message = parsed(line)
        except Unreadable as error:
            self._note(f"received: {error}")
            return
        if isinstance(message, dict) and "op" in message:
            self._request(message)
        else:
            self._answer(message, line)

    def _request(self, message: dict[str, Any]) -> None:
        self.sent += 1
        op = str(message["op"])
        self._asked[message["id"]] = op
        for problem in self._problems(f"request.{op}", message):
            self._note(f"sent {op}: {problem}")

    def _answer(self, message: Any, line: bytes) -> None:
        self.received += 1
        number = message.get("id") if isinstance(message, dict) else None
        op = self._asked.pop(number, None) if type(number) is int else None
        if op is None:
            self._note(f"received what no request is waiting for: {shortened(line)}")
            return
        for problem in self._problems(f"answer.{op}", message):
            self._note(f"received for {op}: {problem}")
        if "error" in message:
            self._note(f"received for {op}: {json.dumps(message['error'])}")

    def _problems(self, name: str, message: Any) -> Iterator[str]:
        if name not in self._validators:
            form = {"$ref": f"#/definitions/{name}", "definitions": self._schema["definitions"]}
            self._validators[name] = jsonschema.Draft7Validator(form)
        for error in self._validators[name].iter_errors(message):
            yield _told(error)

    def _note(self, problem: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)


def _told(error: Any) -> str:
    """Return the part of an error that helps: where several forms are possible, the nearest one's."""
    best = jsonschema.exceptions.best_match([error]) or error
    where = ".".join(map(str, best.absolute_path))
    return f"{where + ': ' if where else ''}{best.message[:200]}"
