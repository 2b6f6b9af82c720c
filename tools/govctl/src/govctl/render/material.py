"""Everything that the pages show, gathered before the first page is written.

Knows which files beside the tree are read for pages: sources of marks, cases, contract, examples, hand-written pages.
The only part of the renderer that reads files. Knows nothing of layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from govctl import grammar
from govctl.coverage import RfcCoverage, StatementCoverage, coverage
from govctl.files import glob_files, read_bytes, read_text
from govctl.marks import Mark, MarkKind
from govctl.problems import Problems
from govctl.render.cases import Case, parse_cases
from govctl.render.code_reader import NO_CODE, Code, code_by_line
from govctl.render.contract_reader import ContractModule, contract_module
from govctl.render.examples import Example, read_examples
from govctl.tree import Tree

_PROVING = (MarkKind.LAW, MarkKind.CHECK)


@dataclass(frozen=True, kw_only=True)
class Material:
    """A tree and what its pages show beside it; `code` is by file and line of a mark."""

    tree: Tree
    code: Mapping[tuple[str, int], Code] = field(default_factory=dict)
    cases: Mapping[str, Case] = field(default_factory=dict)
    contract: tuple[ContractModule, ...] = ()
    examples: Mapping[str, Example] = field(default_factory=dict)
    written: Mapping[str, bytes] = field(default_factory=dict)

    @cached_property
    def coverage(self) -> tuple[RfcCoverage, ...]:
        """Return the coverage of every RFC that is not deprecated."""
        return coverage(self.tree)

    @cached_property
    def covered(self) -> dict[str, StatementCoverage]:
        """Map ids to the coverage of statements that still demand something."""
        return {covered.statement.id: covered for rfc in self.coverage for covered in rfc.statements}

    @cached_property
    def checks(self) -> dict[str, Mark]:
        """Map slugs to checks; of two with one slug, the last."""
        return {check.slug: check for check in self.tree.checks}

    def code_of(self, mark: Mark) -> Code:
        """Return the code of a mark."""
        return self.code.get((mark.place.file, mark.place.line), NO_CODE)

    def word_of(self, mark: Mark) -> str:
        """Return the word under which a mark is shown: that of its slug, of a law that of its RFC's facet."""
        if mark.slug:
            return mark.slug.partition(".")[0]
        rfc = grammar.rfc_of(mark.statements[0])
        facet = self.tree.config.facet_of(rfc)
        return facet.word if facet else rfc.lower()

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Return the words that have marks, in the order of their RFCs and then by name."""
        order = {facet.word: facet.rfc for facet in self.tree.config.facets}
        return tuple(sorted({self.word_of(mark) for mark in self.tree.marks}, key=lambda w: (order.get(w, "~"), w)))

    def proving(self, word: str) -> list[Mark]:
        """Return the laws and checks of a word, in the order of the sources."""
        return self._marks(word, is_proving=True)

    def wrong(self, word: str) -> list[Mark]:
        """Return the mutants and benign variants of a word, in the order of the sources."""
        return self._marks(word, is_proving=False)

    def _marks(self, word: str, *, is_proving: bool) -> list[Mark]:
        return [m for m in self.tree.marks if (m.kind in _PROVING) is is_proving and self.word_of(m) == word]

    def killers_of(self, mutant: Mark) -> tuple[str, ...]:
        """Return the slugs of the checks that killed a mutant in the evidence."""
        found = self.tree.evidence.get(grammar.rfc_of(mutant.statements[0]))
        shown = found.evidence.mutants.get(mutant.slug) if found else None
        return shown.killed_by if shown else ()


def gather(root: Path, tree: Tree) -> Material:
    """Read what the settings name; what is not there is not shown."""
    site = tree.config.site
    return Material(
        tree=tree,
        code={
            (file, line): code
            for file in sorted({mark.place.file for mark in tree.marks})
            for line, code in code_by_line(_text(root, file)).items()
        },
        cases=parse_cases(site.cases, _text(root, site.cases)) if site.cases else {},
        contract=tuple(_contract(root, site.contract)),
        examples=read_examples(root, site.examples) if site.examples else {},
        written=_written(root, site.pages) if site.pages else {},
    )


def _text(root: Path, file: str) -> str:
    return read_text(root, file, Problems()) or ""


def _contract(root: Path, patterns: tuple[str, ...]) -> list[ContractModule]:
    files = sorted({file for found in glob_files(root, patterns).values() for file in found})
    modules = (contract_module(file, _text(root, file)) for file in files)
    return [module for module in modules if module is not None]


def _written(root: Path, folder: str) -> dict[str, bytes]:
    pattern = f"{folder}/**"
    contents = {file: read_bytes(root, file, Problems()) for file in glob_files(root, [pattern])[pattern]}
    return {file.removeprefix(f"{folder}/"): content for file, content in contents.items() if content is not None}
