"""Public cases: faults that others have reported, in our own words.

Knows the format of the case file and the address behind a link such as `owner/project#12`. Knows nothing of checks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import tomli

_KEYS = ("id", "title", "link", "summary", "restated")
_THREAD = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*)/([A-Za-z0-9._-]+)#([1-9][0-9]*)")


class CasesError(Exception):
    """The case file cannot be used."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(file, reason)
        self.file = file
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.file} is no file of cases: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case; `restated` is the smallest scenario in the words of the specification."""

    id: str
    title: str
    link: str
    summary: str
    restated: str = ""

    @property
    def address(self) -> str:
        """Return the address of the public thread, or nothing when the link names none."""
        match = _THREAD.fullmatch(self.link)
        return f"https://github.com/{match[1]}/{match[2]}/issues/{match[3]}" if match else ""


def parse_cases(file: str, text: str) -> dict[str, Case]:
    """Return the cases of a file by their ids; raise CasesError when it holds anything else."""
    try:
        tables = tomli.loads(text)["cases"]
        return {table["id"]: Case(**{key: str(table[key]) for key in _KEYS if key in table}) for table in tables}
    except tomli.TOMLDecodeError as error:
        raise CasesError(file, f"is not TOML: {error}") from error
    except (KeyError, TypeError) as error:
        raise CasesError(file, f"wants [[cases]] with id, title, link, summary and restated; {error}") from error
