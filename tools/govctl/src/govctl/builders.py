"""Build RFCs, clauses and settings from valid documents.

Knows the keys of the files and the two forms of a clause. Knows nothing of the file system.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any  # a validated document: the schema is its type

from govctl import prose
from govctl.config import SOURCE_KINDS, Config, Facet, Reserved, Site, Suppression
from govctl.digests import collapsed_digest
from govctl.lock import Lock
from govctl.numbering import number_sentences
from govctl.specification import Change, Clause, Exclusion, Rfc, Section, Statement
from govctl.toml_places import Path, TomlText
from govctl.toml_reader import TomlDocument

_TEXT = ("content", "text")


def build_config(document: TomlDocument) -> Config:
    """Return the settings of a valid `govctl.toml`."""
    data = document.data
    facets = (
        Facet(word=word, rfc=table["rfc"], sources={kind: tuple(table.get(kind, ())) for kind in SOURCE_KINDS})
        for word, table in sorted(data.get("facets", {}).items())
    )
    defaults = Config(document=document.text)
    return Config(
        document=document.text,
        name=data["project"]["name"],
        checks=tuple(data.get("sources", {}).get("checks", ())),
        facets=tuple(facets),
        evidence_directory=data.get("evidence", {}).get("directory", defaults.evidence_directory).rstrip("/"),
        catalogue_file=data.get("catalogue", {}).get("file", ""),
        site=_site(data.get("site", {})),
        severity=data.get("severity", {}),
        suppressions=tuple(Suppression(**table) for table in data.get("suppress", ())),
    )


def _site(table: dict[str, Any]) -> Site:
    return Site(
        pages=table.get("pages", "").rstrip("/"),
        examples=table.get("examples", "").rstrip("/"),
        cases=table.get("cases", ""),
        contract=tuple(table.get("contract", ())),
        reserved=tuple(Reserved(**reserved) for reserved in table.get("reserved", ())),
    )


def build_rfc(document: TomlDocument, file_name: str) -> Rfc:
    """Return the RFC of a valid file; the file's name is its stem."""
    meta = document.data["govctl"]
    return Rfc(
        id=meta["id"],
        file_name=file_name,
        title=meta["title"],
        version=meta["version"],
        status=meta["status"],
        phase=meta["phase"],
        facet=meta.get("facet", ""),
        created=meta["created"],
        updated=meta.get("updated", ""),
        refs=tuple(meta.get("refs", ())),
        backlog=tuple(meta.get("backlog", ())),
        sections=tuple(
            Section(title=section["title"], clauses=tuple(section.get("clauses", ())))
            for section in document.data["sections"]
        ),
        changelog=tuple(
            Change(version=change["version"], date=change["date"], texts=tuple(_texts(change)))
            for change in document.data.get("changelog", ())
        ),
        document=document.text,
    )


def _texts(change: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    yield ("notes",), change["notes"]
    for key in ("added", "changed", "deprecated", "removed", "fixed"):
        for index, text in enumerate(change.get(key, ())):
            yield (key, index), text


def build_clause(document: TomlDocument, rfc: str, file_name: str, lock: Lock) -> Clause:
    """Return the clause of a valid file in the folder of an RFC; the lock numbers the sentences of prose."""
    meta, content = document.data["govctl"], document.data["content"]
    identifier = f"{rfc}:{meta['id']}"
    has_statements = bool(content.get("statements"))
    if has_statements:
        statements = tuple(_written(document, identifier))
    elif meta["kind"] == "normative":
        statements = tuple(_found(document.text, identifier, content["text"], lock))
    else:
        statements = ()
    return Clause(
        id=identifier,
        name=meta["id"],
        rfc=rfc,
        file_name=file_name,
        title=meta["title"],
        kind=meta["kind"],
        status=meta.get("status", "active"),
        text=content["text"],
        rationale=content.get("rationale", ""),
        has_statements=has_statements,
        statements=statements,
        document=document.text,
        since=meta.get("since", ""),
        superseded_by=meta.get("superseded_by", ""),
        tags=tuple(meta.get("tags", ())),
    )


def _written(document: TomlDocument, clause: str) -> Iterator[Statement]:
    for index, table in enumerate(document.data["content"]["statements"]):
        yield _statement(document.text, clause, index, table)


def _statement(text: TomlText, clause: str, index: int, table: dict[str, Any]) -> Statement:
    sentence = prose.collapse(table["text"])
    excluded = table.get("excluded")
    return Statement(
        id=f"{clause}#{table['id']}",
        text=sentence,
        digest=collapsed_digest(sentence),
        keywords=prose.keywords(sentence),
        document=text,
        path=("content", "statements", index, "text"),
        needle=sentence,
        since=table.get("since", ""),
        origin=tuple(table.get("origin", ())),
        features=tuple(table.get("features", ())),
        excluded=Exclusion(kind=excluded["class"], reason=excluded["reason"]) if excluded else None,
    )


def _found(document: TomlText, clause: str, text: str, lock: Lock) -> Iterator[Statement]:
    sentences = prose.normative_sentences(text)
    if not sentences:
        return
    digests = [collapsed_digest(sentence.text) for sentence in sentences]
    numbers = number_sentences(digests, lock.of_clause(clause))
    for number, digest, sentence in zip(numbers, digests, sentences, strict=True):
        yield Statement(
            id=f"{clause}#S{number}",
            text=sentence.text,
            digest=digest,
            keywords=sentence.keywords,
            document=document,
            path=_TEXT,
            needle=sentence.needle,
        )
