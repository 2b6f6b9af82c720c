"""Evidence of one RFC: what the self-test showed, and on which sources.

Knows the format of `<directory>/<RFC>.json`: canonical JSON without times, counts or versions, so that equal results
give equal bytes. Knows nothing of how evidence is judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any  # JSON is Any until it is checked

from govctl.places import Place, Text
from govctl.problems import ProblemKind, Problems

DIGEST_KINDS = ("statements", "suite", "model", "mutants", "reference")
_KEYS = {"evidence", "rfc", "implementation", "checks", "mutants", "digests"}


@dataclass(frozen=True, kw_only=True)
class MutantEvidence:
    """Which checks killed a mutant."""

    kills: str
    killed_by: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The evidence of one RFC."""

    rfc: str
    implementation: str
    checks: Mapping[str, str]
    mutants: Mapping[str, MutantEvidence]
    digests: Mapping[str, str]

    def canonical(self) -> str:
        """Return the text of the file."""
        data = {
            "evidence": 1,
            "rfc": self.rfc,
            "implementation": self.implementation,
            "checks": dict(self.checks),
            "mutants": {
                slug: {"kills": mutant.kills, "killed_by": sorted(mutant.killed_by)}
                for slug, mutant in self.mutants.items()
            },
            "digests": dict(self.digests),
        }
        return json.dumps(data, indent=2, sort_keys=True) + "\n"


@dataclass(frozen=True, kw_only=True)
class EvidenceFile:
    """Evidence and the text that it was read from."""

    evidence: Evidence
    source: Text

    def place_of(self, key: str) -> Place:
        """Return where a key first stands; the beginning of the file when it does not."""
        match = re.search(rf"{re.escape(json.dumps(key))}\s*:", self.source.text)
        return self.source.place(match.start() if match else 0)


def load_json(text: str) -> Any:
    """Parse JSON; raise ValueError for whatever is wrong with it, nesting without end included."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def parse_evidence(source: Text, rfc: str, problems: Problems) -> EvidenceFile | None:
    """Return the evidence of an RFC; None, and a problem, when the file is not what govctl writes."""
    try:
        data = load_json(source.text)
    except ValueError as error:
        reason: str | None = f"is not JSON: {error}"
    else:
        reason = _fault(data, rfc)
    if reason is None:
        evidence = _built(data)
        if evidence.canonical() == source.text:
            return EvidenceFile(evidence=evidence, source=source)
        reason = "is not in canonical form: it was edited by hand"
    problems.add(
        ProblemKind.EVIDENCE,
        Place(file=source.file),
        reason,
        "write it again with govctl evidence --write",
        subject=rfc,
    )
    return None


def _built(data: dict[str, Any]) -> Evidence:
    mutants = {
        slug: MutantEvidence(kills=mutant["kills"], killed_by=tuple(mutant["killed_by"]))
        for slug, mutant in data["mutants"].items()
    }
    return Evidence(
        rfc=data["rfc"],
        implementation=data["implementation"],
        checks=data["checks"],
        mutants=mutants,
        digests=data["digests"],
    )


def _fault(data: Any, rfc: str) -> str | None:
    """Say what is wrong with the shape of evidence, or nothing."""
    return next((reason for is_wrong, reason in _faults(data, rfc) if is_wrong), None)


def _faults(data: Any, rfc: str) -> Iterator[tuple[bool, str]]:
    """Yield each test in turn with its reason; a later one relies on the earlier ones."""
    is_whole = isinstance(data, dict) and set(data) == _KEYS
    yield not is_whole, f"is not a table with exactly the keys {', '.join(sorted(_KEYS))}"
    yield data["evidence"] != 1, f"is of version {data['evidence']!r}; this govctl reads version 1"
    yield data["rfc"] != rfc, f"names {data['rfc']!r}, not {rfc} as the file does"
    yield not isinstance(data["implementation"], str), "has an implementation that is not a string"
    for key in ("checks", "digests"):
        yield not _is_text_map(data[key]), f"has {key} that do not map strings to strings"
    yield set(data["digests"]) != set(DIGEST_KINDS), f"has not exactly the digests {', '.join(DIGEST_KINDS)}"
    are_mutants = isinstance(data["mutants"], dict) and all(_is_mutant(mutant) for mutant in data["mutants"].values())
    yield not are_mutants, "has mutants that are not tables of kills and killed_by"


def _is_text_map(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _is_mutant(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"kills", "killed_by"}
        and isinstance(value["kills"], str)
        and isinstance(value["killed_by"], list)
        and all(isinstance(slug, str) for slug in value["killed_by"])
    )
