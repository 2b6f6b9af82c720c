"""Load a tree from a folder.

Knows the layout: `gov/govctl.toml`, `gov/rfc/<RFC>.toml`, `gov/clauses/<RFC>/<CLAUSE>.toml`, `gov/statements.lock`,
evidence and sources where the settings say. Whatever is wrong becomes a problem in the tree; nothing is raised for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from govctl import grammar
from govctl.builders import build_clause, build_config, build_rfc
from govctl.config import Config, Facet
from govctl.digests import sources_digest
from govctl.evidence import EvidenceFile, parse_evidence
from govctl.files import glob_files, list_folder, read_bytes, read_text
from govctl.lock import LOCK_FILE, Lock, parse_lock
from govctl.places import Place, Text
from govctl.problems import ProblemKind, Problems
from govctl.scanner import Scan, scan_source
from govctl.specification import Clause, Rfc
from govctl.toml_places import TomlText
from govctl.toml_reader import read_document
from govctl.tree import FacetSources, Tree

CONFIG_FILE = "gov/govctl.toml"
RFC_FOLDER = "gov/rfc"
CLAUSE_FOLDER = "gov/clauses"


class NoTreeError(Exception):
    """No folder here or above holds a tree."""

    def __init__(self, start: Path) -> None:
        super().__init__(start)
        self.start = start

    def __str__(self) -> str:
        return f"no {CONFIG_FILE} here or in a folder above"


def find_root(start: Path) -> Path:
    """Return the nearest folder, upwards from `start`, that holds `gov/govctl.toml`."""
    here = start.resolve()
    for folder in (here, *here.parents):
        if (folder / CONFIG_FILE).exists():
            return folder
    raise NoTreeError(start)


def load_tree(root: Path | str, *, today: str = "") -> Tree:
    """Load the tree whose root is this folder; `today` is the date that ends suppressions, none when it is empty."""
    return _Loader(root=Path(root), today=today).tree()


@dataclass(frozen=True, kw_only=True)
class _Loader:
    root: Path
    today: str = ""
    problems: Problems = field(default_factory=Problems)
    broken: set[str] = field(default_factory=set)

    def tree(self) -> Tree:
        config, is_config_broken = self._config()
        lock, is_lock_broken = self._lock()
        rfcs = tuple(self._rfcs())
        clauses = tuple(self._clauses(lock))
        scan, are_sources_broken = self._marks(config)
        evidence, broken_evidence = self._evidence(config, rfcs)
        return Tree(
            config=config,
            is_config_broken=is_config_broken,
            are_sources_broken=are_sources_broken,
            is_lock_broken=is_lock_broken,
            rfcs=rfcs,
            clauses=clauses,
            broken=frozenset(self.broken),
            marks=tuple(scan.marks),
            bad_marks=tuple(scan.bad_marks),
            lock=lock,
            evidence=evidence,
            broken_evidence=broken_evidence,
            sources={facet.rfc: self._sources(facet, config) for facet in config.facets},
            catalogue_text=self._catalogue(config),
            problems=tuple(self.problems.found),
            today=self.today,
        )

    def _config(self) -> tuple[Config, bool]:
        document = read_document(self.root, CONFIG_FILE, "config", self.problems)
        if document is None:
            return Config(document=TomlText(file=CONFIG_FILE, text="")), True
        return build_config(document), False

    def _lock(self) -> tuple[Lock, bool]:
        if not (self.root / LOCK_FILE).exists():
            return Lock(), False
        before = len(self.problems.found)
        text = read_text(self.root, LOCK_FILE, self.problems)
        lock = Lock() if text is None else parse_lock(text, self.problems)
        return lock, len(self.problems.found) > before

    def _rfcs(self) -> Iterator[Rfc]:
        for name, _ in list_folder(self.root, RFC_FOLDER, self.problems):
            stem, file = name.removesuffix(".toml"), f"{RFC_FOLDER}/{name}"
            if not name.endswith(".toml") or not grammar.is_rfc_id(stem):
                self._stray(file, "an RFC file is named by its id, such as RFC-0001.toml")
                continue
            document = read_document(self.root, file, "rfc", self.problems)
            if document is None:
                self.broken.add(stem)
            else:
                yield build_rfc(document, stem)

    def _clauses(self, lock: Lock) -> Iterator[Clause]:
        for folder, is_folder in list_folder(self.root, CLAUSE_FOLDER, self.problems):
            if not is_folder or not grammar.is_rfc_id(folder):
                self._stray(f"{CLAUSE_FOLDER}/{folder}", "clauses stand in a folder named by the id of their RFC")
                continue
            yield from self._clauses_of(folder, lock)

    def _clauses_of(self, rfc: str, lock: Lock) -> Iterator[Clause]:
        folder = f"{CLAUSE_FOLDER}/{rfc}"
        for name, _ in list_folder(self.root, folder, self.problems):
            stem, file = name.removesuffix(".toml"), f"{folder}/{name}"
            if not name.endswith(".toml") or not grammar.is_clause_name(stem):
                self._stray(file, "a clause file is named by its clause, such as C-SUMMARY.toml")
                continue
            document = read_document(self.root, file, "clause", self.problems)
            if document is None:
                self.broken.add(f"{rfc}:{stem}")
            else:
                yield build_clause(document, rfc, stem, lock)

    def _stray(self, file: str, mend: str) -> None:
        self.problems.add(ProblemKind.STRAY, Place(file=file), "does not belong here", mend)

    def _marks(self, config: Config) -> tuple[Scan, bool]:
        scan = Scan()
        matches = glob_files(self.root, config.checks)
        self._empty_globs(config, ("sources", "checks"), matches)
        before = len(self.problems.found)
        for file in sorted({file for files in matches.values() for file in files}):
            text = read_text(self.root, file, self.problems)
            if text is not None:
                scan_source(file, text, scan, self.problems)
        return scan, len(self.problems.found) > before

    def _empty_globs(self, config: Config, path: tuple[str, ...], matches: dict[str, list[str]]) -> None:
        for index, (pattern, files) in enumerate(matches.items()):
            if not files:
                place = config.document.value_place((*path, index))
                message = f"the glob {pattern} matches no file"
                subject = f"{'.'.join(path)} {pattern}"
                self.problems.add(ProblemKind.EMPTY_GLOB, place, message, "mend or remove the glob", subject=subject)

    def _evidence(self, config: Config, rfcs: tuple[Rfc, ...]) -> tuple[dict[str, EvidenceFile], frozenset[str]]:
        found: dict[str, EvidenceFile] = {}
        broken = set()
        for rfc in rfcs:
            file = config.evidence_file(rfc.id)
            if not (self.root / file).exists():
                continue
            text = read_text(self.root, file, self.problems)
            parsed = None if text is None else parse_evidence(Text(file=file, text=text), rfc.id, self.problems)
            if parsed is None:
                broken.add(rfc.id)
            else:
                found[rfc.id] = parsed
        return found, frozenset(broken)

    def _catalogue(self, config: Config) -> str | None:
        file = config.catalogue_file
        return read_text(self.root, file, self.problems) if file and (self.root / file).exists() else None

    def _sources(self, facet: Facet, config: Config) -> FacetSources:
        files: dict[str, tuple[str, ...]] = {}
        digests: dict[str, str] = {}
        for kind, patterns in facet.sources.items():
            matches = glob_files(self.root, patterns)
            self._empty_globs(config, ("facets", facet.word, kind), matches)
            files[kind] = tuple(sorted({file for found in matches.values() for file in found}))
            contents = ((file, read_bytes(self.root, file, self.problems)) for file in files[kind])
            digests[kind] = sources_digest((file, content) for file, content in contents if content is not None)
        return FacetSources(files=files, digests=digests)
