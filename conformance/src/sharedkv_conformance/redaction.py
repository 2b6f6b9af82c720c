"""Takes out of texts what nobody should publish by accident: absolute paths, and what looks like a secret.

Reads no environment: values that are secret are handed in. Taking out twice changes nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Whole words of a name: tokens that are counted, tokenizers and authors are no secrets.
_WORDS = r"(?:token|secret|passwd|password|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|auth)"
SECRET_NAME = re.compile(rf"(?:^|[_.-]){_WORDS}(?:[_.-]|$)", re.IGNORECASE)
_SECRET_WORD = re.compile(rf"(?:^|[_-]){_WORDS}(?:[_-]|$)", re.IGNORECASE)
SHORTEST_SECRET = 6
HIDDEN = "[redacted]"

# Tried once a word, and nothing is given back: the time grows with the text and not with its square.
_NAME = re.compile(r"(?<![\w-])(?P<name>[\w-]++)[\"']?\s*+[=:]\s*+")
_VALUE = re.compile(r"\"[^\"]*\"|'[^']*'|[^\s,;\"']+")
_BEARER = re.compile(r"(?P<word>\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{6,}", re.IGNORECASE)
_USER_IN_URL = re.compile(r"(?<![a-z0-9+.-])(?P<scheme>[a-z0-9+.-]++://)[^\s/@]+@", re.IGNORECASE)
_FILE_URL = re.compile(r"\bfile:/+(?:[^\s\"'<>]*/)?", re.IGNORECASE)
# A path begins where no word, path or address goes on, and ends at a blank or at what closes a quotation.
_POSIX = re.compile(r"(?<![\w./~-])~?/(?!/)(?:[^\s/\"'`<>()\[\]{},;:|]+/)*(?P<name>[^\s/\"'`<>()\[\]{},;:|]+)/?")
_WINDOWS = re.compile(r"(?<![\w])[A-Za-z]:[\\/](?:[^\s\\/\"'<>|:*?]+[\\/])*(?P<name>[^\s\\/\"'<>|:*?]*)")


@dataclass(frozen=True, kw_only=True)
class Redaction:
    """What is taken out; `secrets` are values that are hidden wherever they occur."""

    secrets: tuple[str, ...] = ()

    def __call__(self, text: str) -> str:
        """Return a text without secrets, and with the last name alone of each absolute path."""
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        text = _USER_IN_URL.sub(rf"\g<scheme>{HIDDEN}@", text)
        text = _without_values(_BEARER.sub(rf"\g<word>{HIDDEN}", text))
        text = _WINDOWS.sub(r".../\g<name>", _FILE_URL.sub(".../", text))
        return _POSIX.sub(r".../\g<name>", text)

    def deep(self, data: Any) -> Any:
        """Return JSON values in which every text is redacted; names of fields are left as they are."""
        if isinstance(data, str):
            return self(data)
        if isinstance(data, Mapping):
            return {key: self(value) if isinstance(value, str) else self.deep(value) for key, value in data.items()}
        if isinstance(data, list | tuple):
            return [self.deep(value) for value in data]
        return data

    def named(self, data: Mapping[str, str]) -> dict[str, str]:
        """Return named values; those whose name is one of a secret are hidden."""
        return {key: HIDDEN if SECRET_NAME.search(key) else self(value) for key, value in data.items()}


def _without_values(text: str) -> str:
    """Return a text in which whatever is assigned to the name of a secret is hidden."""
    parts: list[str] = []
    end = 0
    for found in _NAME.finditer(text):
        if found.start() < end or not _SECRET_WORD.search(found["name"]):
            continue
        if value := _VALUE.match(text, found.end()):
            parts += (text[end : found.end()], HIDDEN)
            end = value.end()
    return "".join((*parts, text[end:]))


def redaction_for(environment: Mapping[str, str]) -> Redaction:
    """Return the redaction of a process: the values of variables whose name is one of a secret, the longest first."""
    secrets = {
        value
        for name, value in environment.items()
        if SECRET_NAME.search(name) and len(value) >= SHORTEST_SECRET and "/" not in value
    }
    return Redaction(secrets=tuple(sorted(secrets, key=lambda value: (-len(value), value))))
