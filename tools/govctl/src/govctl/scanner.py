"""Read laws, checks, mutants and benign variants from Python source without importing it.

Knows the decorators and the pytest marks that keep a check from running. Knows nothing of which ids exist.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from govctl import grammar
from govctl.marks import BadMark, Mark, MarkKind
from govctl.places import Place
from govctl.problems import ProblemKind, Problems

_DECORATORS = frozenset(MarkKind)
_MAY_HOLD_MARKS = re.compile(
    r"^[ \t]*@[\w.]*\b(?:law|check|mutant|benign)\b|import.*\b(?:law|check|mutant|benign)\s+as\b", re.MULTILINE
)
_SKIPS = frozenset({"skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure"})
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class _BadMarkError(Exception):
    """A decorator that cannot be read, with the node to point at."""

    def __init__(self, node: ast.AST, reason: str, *, is_literal: bool = True) -> None:
        super().__init__(node, reason, is_literal)
        self.node = node
        self.reason = reason
        self.is_literal = is_literal


@dataclass(frozen=True, kw_only=True)
class Scan:
    """Everything that was read from the sources."""

    marks: list[Mark] = field(default_factory=list)
    bad_marks: list[BadMark] = field(default_factory=list)


def scan_source(file: str, text: str, scan: Scan, problems: Problems) -> None:
    """Add the marks of one file to the scan; a file that is not Python is a problem."""
    if not _MAY_HOLD_MARKS.search(text):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the compiler says of strings in a file that we only read
            module = ast.parse(text)
    except SyntaxError as error:
        place = Place(file=file, line=max(1, error.lineno or 1), column=max(1, error.offset or 1))
        problems.add(ProblemKind.PYTHON_SYNTAX, place, f"is not Python: {error.msg}", "mend the syntax at this place")
    except (ValueError, RecursionError, MemoryError) as error:  # NUL, or nesting without end
        problems.add(ProblemKind.PYTHON_SYNTAX, Place(file=file), f"is not Python: {error}", "make it plain Python")
    else:
        try:
            _FileScan(file, text, scan).visit(module, _skip_of_module(module))
        except RecursionError:
            problems.add(ProblemKind.PYTHON_SYNTAX, Place(file=file), "is nested too deeply to be read", "nest less")


def _skip_of_module(module: ast.Module) -> str:
    for node in module.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "pytestmark" for t in node.targets):
            items = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
            return next((skip for skip in map(_skip, items) if skip), "")
    return ""


def _skip(decorator: ast.expr) -> str:
    """Return the name of a mark that keeps a test from running, or nothing."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = ast.unparse(target) if isinstance(target, ast.Name | ast.Attribute) else ""
    return name if name.rpartition(".")[2] in _SKIPS else ""


class _FileScan:
    """One walk over the definitions of one file."""

    def __init__(self, file: str, text: str, scan: Scan) -> None:
        self._file = file
        self._lines = text.split("\n")
        self._scan = scan

    def visit(self, node: ast.AST, skipped_by: str) -> None:
        """Read the marks below a node; what skips a class or a module skips all that is in it."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ImportFrom):
                self._aliases(child)
            if isinstance(child, _Definition):
                skip = skipped_by or next((skip for skip in map(_skip, child.decorator_list) if skip), "")
                self._decorators(child, skip)
                self.visit(child, skip)
            elif isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                self.visit(child, skipped_by)

    def _aliases(self, node: ast.ImportFrom) -> None:
        for name in node.names:
            if name.name in _DECORATORS and name.asname not in {None, name.name}:
                reason = f"{name.name} is imported under another name, {name.asname}, and its marks would be lost"
                self._bad(_BadMarkError(name, reason), f"import of {name.name}")

    def _decorators(self, definition: _Definition, skip: str) -> None:
        for decorator in definition.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = (
                target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
            )
            if name not in _DECORATORS:
                continue
            label = f"{name} on {definition.name}"
            if not isinstance(decorator, ast.Call):
                self._bad(_BadMarkError(decorator, "has no arguments"), label)
                continue
            try:
                self._scan.marks.append(self._mark(MarkKind(name), decorator, definition.name, skip))
            except _BadMarkError as error:
                self._bad(error, label)

    def _bad(self, error: _BadMarkError, label: str) -> None:
        place = self._place(error.node)
        self._scan.bad_marks.append(BadMark(place=place, label=label, reason=error.reason, is_literal=error.is_literal))

    def _place(self, node: ast.AST) -> Place:
        line = getattr(node, "lineno", 1)
        offset = getattr(node, "col_offset", 0)
        before = self._lines[line - 1].encode()[:offset] if line <= len(self._lines) else b""
        return Place(file=self._file, line=line, column=len(before.decode(errors="replace")) + 1)

    def _mark(self, kind: MarkKind, call: ast.Call, function: str, skip: str) -> Mark:
        keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        if len(keywords) != len(call.keywords):
            raise _BadMarkError(call, "hides keywords behind **", is_literal=False)
        positional = [_literal(argument) for argument in call.args]
        slug, ids, also = _parts(kind, call, positional, keywords)
        for identifier in (*ids, *also):
            if not grammar.is_statement_id(identifier):
                raise _BadMarkError(call, f"{identifier!r} is no statement id, such as RFC-0001:C-NAME#S1")
        return Mark(
            kind=kind,
            slug=slug,
            statements=ids,
            function=function,
            place=self._place(call),
            also=also,
            depends_on=_literals(keywords.get("depends_on")),
            skipped_by=skip if kind is MarkKind.CHECK else "",
        )


def _parts(
    kind: MarkKind, call: ast.Call, positional: list[str], keywords: dict[str, ast.expr]
) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """Return slug, statements and further statements with reasons, as each decorator spells them."""
    if kind is MarkKind.LAW:
        if len(positional) != 1:
            raise _BadMarkError(call, "takes exactly one statement id before its keywords")
        return "", tuple(positional), {}
    if not positional or not grammar.is_slug(positional[0]):
        named = repr(positional[0]) if positional else "nothing"
        raise _BadMarkError(call, f"begins with {named}, not with a slug such as allocation.owner-lane")
    if kind is MarkKind.CHECK:
        slug, *ids = positional
        if not ids:
            raise _BadMarkError(call, "names no statement after its slug")
        return slug, tuple(ids), {}
    if len(positional) > 1:
        raise _BadMarkError(call, "takes one slug before its keywords")
    if kind is MarkKind.BENIGN:
        return positional[0], (), _reasons(keywords.get("declines"))
    if "kills" not in keywords:
        raise _BadMarkError(call, "has no kills: the statement whose check must kill it")
    return positional[0], (_literal(keywords["kills"]),), _reasons(keywords.get("also"))


def _literal(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise _BadMarkError(node, f"{ast.unparse(node)[:60]} is not a string literal", is_literal=False)


def _literals(node: ast.expr | None) -> tuple[str, ...]:
    if node is None:
        return ()
    if not isinstance(node, ast.Tuple | ast.List):
        raise _BadMarkError(node, f"{ast.unparse(node)[:60]} is not a tuple of string literals", is_literal=False)
    return tuple(_literal(element) for element in node.elts)


def _reasons(node: ast.expr | None) -> dict[str, str]:
    return dict(_pairs(node)) if node is not None else {}


def _pairs(node: ast.expr) -> Iterator[tuple[str, str]]:
    if not isinstance(node, ast.Dict):
        raise _BadMarkError(node, f"{ast.unparse(node)[:60]} is not a dict of literals", is_literal=False)
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise _BadMarkError(node, "hides ids behind **", is_literal=False)
        yield _literal(key), _literal(value)
