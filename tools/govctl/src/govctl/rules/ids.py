"""Family 03, first part: ids of files, and which file stands where.

Knows ids, file names and sections. Knows nothing of references in text or source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from govctl.findings import Diagnostic, Related
from govctl.toml_places import Path, TomlText
from govctl.tree import Tree

_Home = tuple[str, TomlText, Path]
_ID: Path = ("govctl", "id")


def ids_equal_file_names(tree: Tree) -> Iterator[Diagnostic]:
    """The id of an RFC or a clause is the name of its file."""
    named = [(item.id, item.id, item.file_name, item.document) for item in tree.rfcs]
    named += [(item.id, item.name, item.file_name, item.document) for item in tree.clauses]
    for identifier, name, file_name, document in named:
        if name != file_name:
            yield Diagnostic(
                place=document.value_place(_ID),
                subject=identifier,
                message=f"id {name} stands in a file named {file_name}.toml",
                mend=f"name the file {name}.toml, or give the id its old value: ids are permanent",
            )


def ids_are_unique(tree: Tree) -> Iterator[Diagnostic]:
    """No two RFCs, clauses or statements have one id."""
    written = [clause for clause in tree.clauses if clause.has_statements]
    ids = [rfc.id for rfc in tree.rfcs] + [clause.id for clause in tree.clauses]
    ids += [statement.id for clause in written for statement in clause.statements]
    if len(set(ids)) < len(ids):  # else there is no need to know where each of them stands
        yield from _twice(_homes(tree))


def _homes(tree: Tree) -> list[_Home]:
    homes: list[_Home] = [(rfc.id, rfc.document, _ID) for rfc in tree.rfcs]
    for clause in tree.clauses:
        homes.append((clause.id, clause.document, _ID))
        if clause.has_statements:
            homes.extend(
                (statement.id, clause.document, ("content", "statements", index, "id"))
                for index, statement in enumerate(clause.statements)
            )
    return homes


def _twice(homes: Iterable[_Home]) -> Iterator[Diagnostic]:
    first: dict[str, _Home] = {}
    for home in homes:
        identifier, document, path = home
        _, other_document, other_path = first.setdefault(identifier, home)
        if (other_document, other_path) != (document, path):
            yield Diagnostic(
                place=document.value_place(path),
                subject=identifier,
                message=f"{identifier} is defined twice",
                mend="give the newer one an id of its own that was never used",
                related=(Related(place=other_document.value_place(other_path), note="the other definition"),),
            )


def listed_clauses_exist(tree: Tree) -> Iterator[Diagnostic]:
    """Every clause that a section lists has a file."""
    for rfc in tree.rfcs:
        for index, section in enumerate(rfc.sections):
            for position, name in enumerate(section.clauses):
                identifier = f"{rfc.id}:{name}"
                if not tree.knows(identifier):
                    yield Diagnostic(
                        place=rfc.document.value_place(("sections", index, "clauses", position)),
                        subject=identifier,
                        message=f"section {section.title} lists {name}, which has no file",
                        mend=f"write gov/clauses/{rfc.id}/{name}.toml; a withdrawn clause stays as a file",
                    )


def clauses_are_listed(tree: Tree) -> Iterator[Diagnostic]:
    """Every clause stands in a section of its RFC."""
    listed = {f"{rfc.id}:{name}" for rfc in tree.rfcs for section in rfc.sections for name in section.clauses}
    for clause in tree.clauses:
        if clause.id not in listed and clause.rfc in tree.rfc_by_id:
            yield Diagnostic(
                place=clause.document.value_place(_ID),
                subject=clause.id,
                message=f"{clause.name} stands in no section of {clause.rfc}",
                mend=f"list {clause.name} in a section of gov/rfc/{clause.rfc}.toml",
            )


def clauses_are_listed_once(tree: Tree) -> Iterator[Diagnostic]:
    """No clause stands in two places of its RFC."""
    for rfc in tree.rfcs:
        seen: dict[str, Path] = {}
        for index, section in enumerate(rfc.sections):
            for position, name in enumerate(section.clauses):
                path: Path = ("sections", index, "clauses", position)
                if name in seen:
                    yield Diagnostic(
                        place=rfc.document.value_place(path),
                        subject=f"{rfc.id}:{name}",
                        message=f"{name} is listed twice",
                        mend="keep one of the two places",
                        related=(Related(place=rfc.document.value_place(seen[name]), note="the other place"),),
                    )
                seen.setdefault(name, path)


def clause_folders_have_an_rfc(tree: Tree) -> Iterator[Diagnostic]:
    """Every folder of clauses belongs to an RFC."""
    for clause in tree.clauses:
        if not tree.knows(clause.rfc):
            yield Diagnostic(
                place=clause.document.value_place(_ID),
                subject=clause.id,
                message=f"{clause.name} belongs to {clause.rfc}, which has no file",
                mend=f"write gov/rfc/{clause.rfc}.toml or move the clause",
            )


def facets_and_rfcs_agree(tree: Tree) -> Iterator[Diagnostic]:
    """An RFC's facet and the facet's RFC in the settings name one another."""
    words = {facet.word: facet for facet in tree.config.facets}
    for facet in tree.config.facets:
        if not tree.knows(facet.rfc):
            yield Diagnostic(
                place=tree.config.document.value_place(("facets", facet.word, "rfc")),
                subject=f"facet {facet.word}",
                message=f"facet {facet.word} belongs to {facet.rfc}, which has no file",
                mend="name the RFC that describes the facet",
            )
    for rfc in tree.rfcs:
        expected = words[rfc.facet].rfc if rfc.facet in words else rfc.id
        configured = tree.config.facet_of(rfc.id)
        if expected == rfc.id and (configured is None or configured.word == rfc.facet):
            continue
        yield Diagnostic(
            place=rfc.document.value_place(("govctl", "facet")),
            subject=rfc.id,
            message=f"{rfc.id} has the facet {rfc.facet or '(none)'}, but gov/govctl.toml says otherwise",
            mend="use one word in both places",
        )
