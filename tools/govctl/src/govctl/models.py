"""The models from which the JSON Schemas are generated.

Knows every key of the three kinds of files, with a title and a description. Imported by `govctl schema` and by tests
alone: pydantic costs more than a whole check.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from govctl import grammar


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def _text(pattern: str) -> StringConstraints:
    return StringConstraints(pattern=f"^{pattern}$")


NonEmpty = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
Line = Annotated[str, _text(r"[^\n]*\S[^\n]*")]
RfcId = Annotated[str, _text(grammar.RFC)]
AnyId = Annotated[str, _text(grammar.ANY_ID)]
ClauseName = Annotated[str, _text(grammar.CLAUSE_NAME)]
ClauseReference = Annotated[str, _text(grammar.CLAUSE_REFERENCE)]
StatementName = Annotated[str, _text(grammar.STATEMENT_NAME)]
FacetWord = Annotated[str, _text(grammar.FACET)]
Feature = Annotated[str, _text(grammar.FEATURE)]
Row = Annotated[str, _text(grammar.ROW)]
RowRange = Annotated[str, _text(grammar.ROW_RANGE)]
Version = Annotated[str, _text(grammar.VERSION)]
Date = Annotated[str, _text(grammar.DATE)]
Tag = Annotated[str, _text(grammar.TAG)]
CodeOrName = Annotated[str, _text(grammar.CODE_OR_NAME)]
Glob = Annotated[str, _text(r"[^/\\\n][^\\\n]*")]
Tags = Annotated[list[Tag], Field(title="Tags", description="Words under which the site lists it.")]


class Exclusion(_Table):
    """Why a statement has no check, decided when it is written."""

    kind: Literal["unobservable", "subjective", "covered-by", "superseded", "debt"] = Field(
        alias="class", title="Class", description="Kind of the reason; debt is counted apart."
    )
    reason: Line = Field(title="Reason", description="One sentence that a reader can dispute.")


class Statement(_Table):
    """One normative sentence."""

    id: StatementName = Field(title="Id", description="Permanent number in the clause: never renumbered, never reused.")
    text: NonEmpty = Field(title="Sentence", description="One sentence with one upper-case BCP 14 keyword.")
    since: Version | None = Field(None, title="Since", description="Version of the RFC that brought the statement.")
    origin: list[Row] = Field([], title="Origin", description="Rows of the backlog that it comes from.")
    features: list[Feature] = Field(
        [], title="Features", description="It applies only where these features are claimed."
    )
    excluded: Exclusion | None = Field(None, title="Excluded", description="Class and reason, if no check can show it.")


class ClauseMeta(_Table):
    """What a clause is."""

    id: ClauseName = Field(title="Id", description="Name of the clause in its RFC; equal to the file's name.")
    title: Line = Field(title="Title", description="A few words.")
    kind: Literal["normative", "informative"] = Field(
        title="Kind", description="Only a normative clause holds statements."
    )
    status: Literal["active", "deprecated", "superseded"] = Field(
        "active", title="Status", description="A withdrawn clause stays as a file."
    )
    since: Version | None = Field(None, title="Since", description="Version of the RFC that brought the clause.")
    superseded_by: ClauseReference | None = Field(
        None, title="Superseded by", description="Clause that took its place; only with status superseded."
    )
    tags: Tags = []


class ClauseContent(_Table):
    """What a clause says."""

    text: NonEmpty = Field(
        title="Text", description="Markdown. With statements: context only, without keywords. Without: the statements."
    )
    rationale: NonEmpty | None = Field(None, title="Rationale", description="Markdown; why it is so.")
    statements: list[Statement] = Field([], title="Statements", description="The normative sentences, in order.")


class ClauseFile(_Table):
    """One clause of an RFC."""

    govctl: ClauseMeta = Field(title="Metadata", description="What the clause is.")
    content: ClauseContent = Field(title="Content", description="What the clause says.")


class RfcMeta(_Table):
    """What an RFC is."""

    id: RfcId = Field(title="Id", description="Equal to the file's name.")
    title: Line = Field(title="Title", description="A few words.")
    version: Version = Field(title="Version", description="Semantic version; the newest entry of the changelog.")
    status: Literal["draft", "normative", "deprecated"] = Field(title="Status", description="How far it binds.")
    phase: Literal["spec", "impl", "test", "stable"] = Field(
        title="Phase", description="How far it is proven; evidence is the gate."
    )
    facet: FacetWord | None = Field(None, title="Facet", description="The capability's word; a table of govctl.toml.")
    created: Date = Field(title="Created", description="Date, quoted or not: 2026-06-03.")
    updated: Date | None = Field(None, title="Updated", description="Date, quoted or not: 2026-06-03.")
    refs: list[AnyId] = Field([], title="References", description="Ids that the RFC builds upon.")
    tags: Tags = []
    backlog: list[RowRange] = Field(
        [], title="Backlog", description="Rows, or ranges such as W2-01..W2-43, that statements must name as origin."
    )


class Section(_Table):
    """One section of an RFC."""

    title: Line = Field(title="Title", description="Heading.")
    clauses: list[ClauseName] = Field([], title="Clauses", description="Names of clauses in reading order.")


class Change(_Table):
    """One version of an RFC."""

    version: Version = Field(title="Version", description="Semantic version.")
    date: Date = Field(title="Date", description="Date, quoted or not: 2026-06-03.")
    notes: NonEmpty = Field(title="Notes", description="What the version is about.")
    added: list[NonEmpty] = Field([], title="Added", description="What is new.")
    changed: list[NonEmpty] = Field([], title="Changed", description="What has another meaning.")
    deprecated: list[NonEmpty] = Field([], title="Deprecated", description="What will go.")
    removed: list[NonEmpty] = Field([], title="Removed", description="What is gone.")
    fixed: list[NonEmpty] = Field([], title="Fixed", description="What was wrong.")


class RfcFile(_Table):
    """One RFC."""

    govctl: RfcMeta = Field(title="Metadata", description="What the RFC is.")
    sections: list[Section] = Field(title="Sections", description="The order in which the clauses are read.")
    changelog: list[Change] = Field([], title="Changelog", description="Newest version first.")


class Project(_Table):
    """The project that the tree belongs to."""

    name: Line = Field(title="Name", description="Shown in reports.")


class Sources(_Table):
    """Where marks are found."""

    checks: list[Glob] = Field(
        [], title="Checks", description="Globs of the Python files that hold laws, checks, mutants and benign variants."
    )


class Facet(_Table):
    """One capability: its RFC and its sources, whose digests are part of the evidence."""

    rfc: RfcId = Field(title="RFC", description="The RFC that describes it.")
    suite: list[Glob] = Field([], title="Suite", description="Globs of the checks and laws.")
    model: list[Glob] = Field([], title="Model", description="Globs of the executable specification.")
    mutants: list[Glob] = Field([], title="Mutants", description="Globs of the wrong and the benign variants.")
    reference: list[Glob] = Field([], title="Reference", description="Globs of the reference implementation.")


class Evidence(_Table):
    """Where evidence is kept."""

    directory: Glob = Field("evidence/conformance", title="Directory", description="Folder of one file per RFC.")


class Suppression(_Table):
    """A known finding that is borne for a while; it names an id or a path."""

    code: CodeOrName = Field(title="Code", description="The rule, by its code or name.")
    id: NonEmpty | None = Field(None, title="Id", description="Of what is about this id, slug, or an id below it.")
    path: Glob | None = Field(None, title="Path", description="Of what stands in the files of this glob.")
    reason: Line = Field(title="Reason", description="One sentence that a reader can dispute.")
    until: Date = Field(title="Until", description="The last day, quoted or not: 2026-12-31.")


class Catalogue(_Table):
    """Where the statements are written for those who have no `gov/`."""

    file: Glob = Field(title="File", description="The JSON file that `govctl catalogue --write` writes.")


class Reserved(_Table):
    """A number that a capability has, whether its RFC is written or not."""

    rfc: RfcId = Field(title="RFC", description="The number that is kept.")
    facet: FacetWord = Field(title="Facet", description="The capability's word.")
    covers: Line = Field(title="Covers", description="What the RFC is about, in a few words.")


class Site(_Table):
    """What the pages show beside the specification."""

    pages: Glob | None = Field(None, title="Pages", description="Folder of hand-written pages and their assets.")
    examples: Glob | None = Field(None, title="Examples", description="Folder of a valid and an invalid tree a code.")
    cases: Glob | None = Field(None, title="Cases", description="TOML file of the public cases that checks name.")
    contract: list[Glob] = Field([], title="Contract", description="Globs of the Python modules of the contract.")
    reserved: list[Reserved] = Field([], title="Reserved", description="The numbers that are kept, in order.")


class ConfigFile(_Table):
    """Settings of a tree of specifications."""

    project: Project = Field(title="Project", description="The project that the tree belongs to.")
    sources: Sources = Field(Sources(), title="Sources", description="Where marks are found.")
    facets: dict[FacetWord, Facet] = Field({}, title="Facets", description="One table a capability, named by its word.")
    evidence: Evidence = Field(Evidence(), title="Evidence", description="Where evidence is kept.")
    catalogue: Catalogue | None = Field(
        None, title="Catalogue", description="Where the statements are written for those who have no `gov/`."
    )
    site: Site | None = Field(None, title="Site", description="What `govctl render` shows beside the specification.")
    severity: dict[CodeOrName, Literal["error", "warning", "note", "off"]] = Field(
        {}, title="Severity", description="Another severity for a rule, by its code or name."
    )
    suppress: list[Suppression] = Field(
        [], title="Suppressions", description="Known findings, each with a reason and an end; none may be unused."
    )


MODELS: dict[str, type[BaseModel]] = {"clause": ClauseFile, "config": ConfigFile, "rfc": RfcFile}
