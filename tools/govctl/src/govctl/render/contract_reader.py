"""The contract as its docstrings tell it: modules, values with fields, protocols with methods, errors, enumerations.

Knows Python by its syntax tree and imports nothing of what it reads. Knows nothing of pages.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Member:
    """A field, a method or a value of an enumeration, spelled as in the source."""

    name: str
    signature: str
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class ContractClass:
    """One public class; `kind` is value, protocol, enumeration, error or class."""

    name: str
    kind: str
    text: str
    members: tuple[Member, ...]


@dataclass(frozen=True, kw_only=True)
class ContractModule:
    """One module that has public classes."""

    name: str
    file: str
    text: str
    classes: tuple[ContractClass, ...]


def contract_module(file: str, text: str) -> ContractModule | None:
    """Return what a module of the contract offers; nothing when it is not Python or offers no class."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = [node for node in module.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    if not nodes:
        return None
    name = file.rpartition("/")[2].removesuffix(".py")
    return ContractModule(name=name, file=file, text=_docstring(module), classes=tuple(map(_class, nodes)))


def _class(node: ast.ClassDef) -> ContractClass:
    return ContractClass(name=node.name, kind=_kind(node), text=_docstring(node), members=tuple(_members(node)))


def _kind(node: ast.ClassDef) -> str:
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    if "Protocol" in bases:
        return "protocol"
    if any(base.endswith("Enum") for base in bases):
        return "enumeration"
    if any(base.endswith(("Error", "Exception")) for base in bases):
        return "error"
    return "value" if any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list) else "class"


def _members(node: ast.ClassDef) -> Iterator[Member]:
    for part in node.body:
        match part:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value) if name[0] != "_":
                default = "" if value is None else f" = {ast.unparse(value)}"
                yield Member(name=name, signature=f"{name}: {ast.unparse(annotation)}{default}")
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name[0] != "_":
                yield Member(name=name, signature=f"{name} = {ast.unparse(value)}")
            case ast.FunctionDef(name=name) if name[0] != "_" or name == "__init__":
                yield _method(part)


def _method(node: ast.FunctionDef) -> Member:
    result = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    if any(ast.unparse(decorator) == "property" for decorator in node.decorator_list):
        signature = f"{node.name}: {result.removeprefix(' -> ')}"
    else:
        arguments = ast.unparse(node.args).removeprefix("self, ").removeprefix("self")
        signature = f"{node.name}({arguments}){result}"
    return Member(name=node.name, signature=signature, text=_docstring(node))


def _docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> str:
    return inspect.cleandoc(ast.get_docstring(node) or "")
