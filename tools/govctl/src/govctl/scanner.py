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
# Each begins with plain characters: so a search skips to the next one of them.
_MARK = re.compile(r"@[\w.]*\b(?:law|check|mutant|benign)\b")
_RENAMED = re.compile(r"import.*\b(?:law|check|mutant|benign)\s+as\b")
_HEADER = re.compile(r"^@[^\n]*\n(?:(?:[ \t)\]}@#][^\n]*)?\n)*?(async[ \t]+def|def|class)[ \t]+\w+", re.MULTILINE)
_QUOTES_IN_COMMENT = re.compile(r"""#[^\n]*(?:"{3}|'{3})""")
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
_SKIPS = frozenset({"skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure"})
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


_PLAIN = re.compile(
    r"@(?:\w+\.)*(law|check)\(\s*((?:\"[^\"\\\n]*\"\s*,\s*)*\"[^\"\\\n]*\")\s*,?\s*\)\n"
    r"(?:async[ \t]+def|def|class)[ \t]+(\w+)"
)
_QUOTED = re.compile('"([^"]*)"')


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
    candidates = _candidates(text)
    if not candidates:
        return
    headers = _headers(text, candidates)
    plain, source = _plain_marks(file, text, headers) if headers else ([], text)
    found = Scan(marks=plain, bad_marks=[])
    if source.strip():
        _scan_tree(file, text, source, found, problems)
    scan.marks.extend(sorted(found.marks, key=lambda mark: mark.place))
    scan.bad_marks.extend(found.bad_marks)


def _candidates(text: str) -> list[int]:
    """Return where a mark may stand, or where one may be given another name."""
    marks = [match.start() for match in _MARK.finditer(text)]
    found = [at for at in marks if not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t")]
    return sorted([*found, *(match.start() for match in _RENAMED.finditer(text))])


def _scan_tree(file: str, text: str, source: str, scan: Scan, problems: Problems) -> None:
    """Add the marks of the source, whose lines are those of the text, by parsing it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the compiler says of strings in a file that we only read
            module = ast.parse(source)
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


def _headers(text: str, candidates: list[int]) -> list[re.Match[str]]:
    """Return the decorated headers that hold marks: a body costs more to parse than all else. Nothing in any doubt.

    Doubt is: a mark whose header is not found at the margin, a module that is skipped as a whole, quotes that might
    hide where a string ends.
    """
    if "pytestmark" in text or _may_hide_quotes(text):
        return []
    headers: list[re.Match[str]] = []
    at = 0
    waiting = candidates[::-1]
    for match in _HEADER.finditer(text):
        start, end = match.span()
        if not start <= waiting[-1] < end:
            continue
        if _is_open(text[at:start]) or _is_open(match.group()):
            return []
        headers.append(match)
        at = end
        while waiting and waiting[-1] < end:
            waiting.pop()
        if not waiting:
            return headers
    return []


def _may_hide_quotes(text: str) -> bool:
    """Say whether three quotes may stand in another string or in a comment."""
    return '\'"""' in text or "\"'''" in text or _QUOTES_IN_COMMENT.search(text) is not None


def _plain_marks(file: str, text: str, headers: list[re.Match[str]]) -> tuple[list[Mark], str]:
    """Return the marks that hold nothing but string literals, and the source of the other headers on their lines."""
    marks: list[Mark] = []
    parts: list[str] = []
    at, line = 0, 1
    for header in headers:
        start, end = header.span()
        before = text.count("\n", at, start)
        line += before
        mark = _plain_mark(header.group(), Place(file=file, line=line, column=2))
        inside = text.count("\n", start, end)
        if mark is None:
            stub = ": ..." if header.group(1) == "class" else "(): ..."
            parts += ["\n" * before, header.group(), stub]
        else:
            marks.append(mark)
            parts.append("\n" * (before + inside))
        at = end
        line += inside
    return marks, "".join(parts)


def _plain_mark(header: str, place: Place) -> Mark | None:
    """Return the mark of a header with one decorator and literals alone; nothing when it needs a closer look."""
    match = _PLAIN.fullmatch(header)
    if match is None:
        return None
    kind, literals, function = match.groups()
    words = _QUOTED.findall(literals)
    slug = words.pop(0) if kind == "check" else ""
    is_whole = grammar.is_slug(slug) and bool(words) if slug else len(words) == 1 and kind == "law"
    if not is_whole or not all(map(grammar.is_statement_id, words)):
        return None
    return Mark(kind=MarkKind(kind), slug=slug, statements=tuple(words), function=function, place=place)


def _is_open(text: str) -> bool:
    """Say whether a string of several lines begins in the text and does not end in it."""
    return text.count('"""') % 2 == 1 or text.count("'''") % 2 == 1


def _skip_of_module(module: ast.Module) -> str:
    for node in module.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "pytestmark" for t in node.targets):
            items = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
            return next((skip for skip in map(_skip, items) if skip), "")
    return ""


def _skip(decorator: ast.expr) -> str:
    """Return the name of a mark that keeps a test from running, or nothing."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(target) if _last_name(target) in _SKIPS else ""


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _blocks_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements, handlers and cases right below a node, whatever kind of statement it is."""
    for name in _BLOCKS:
        found = getattr(node, name, ())
        if isinstance(found, list):
            yield from found


class _FileScan:
    """One walk over the definitions of one file."""

    def __init__(self, file: str, text: str, scan: Scan) -> None:
        self._file = file
        self._lines = text.split("\n")
        self._scan = scan

    def visit(self, node: ast.AST, skipped_by: str) -> None:
        """Read the marks below a node; what skips a class or a module skips all that is in it."""
        for child in _blocks_of(node):
            if isinstance(child, ast.ImportFrom):
                self._aliases(child)
            if isinstance(child, _Definition):
                skip = skipped_by or next((skip for skip in map(_skip, child.decorator_list) if skip), "")
                self._decorators(child, skip)
                self.visit(child, skip)
            else:
                self.visit(child, skipped_by)

    def _aliases(self, node: ast.ImportFrom) -> None:
        for name in node.names:
            if name.name in _DECORATORS and name.asname not in {None, name.name}:
                reason = f"{name.name} is imported under another name, {name.asname}, and its marks would be lost"
                self._bad(_BadMarkError(name, reason), f"import of {name.name}")

    def _decorators(self, definition: _Definition, skip: str) -> None:
        for decorator in definition.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = _last_name(target)
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
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        column = offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))
        return Place(file=self._file, line=line, column=column + 1)

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
