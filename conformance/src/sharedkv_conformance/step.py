"""One step of a history: a call and its answer. Errors of the contract are answers too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sharedkv_conformance.codec import encode_error
from sharedkv_conformance.contract.errors import ContractError, Unsupported


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call of the contract by its name in the table of operations."""

    op: str
    args: Mapping[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        """Read an argument as an attribute: `call.batch`, `call.pages`."""
        try:
            return self.args[name]
        except KeyError:
            message = f"{self.op} has no argument {name!r}"
            raise AttributeError(message) from None


@dataclass(frozen=True)
class Ok:
    """The call returned this value."""

    value: Any


@dataclass(frozen=True, eq=False)
class Err:
    """The call raised this contract error."""

    error: ContractError

    def __eq__(self, other: object) -> bool:
        """Compare kind and fields, never the text meant for people."""
        return isinstance(other, Err) and _comparable(self.error) == _comparable(other.error)

    def __hash__(self) -> int:
        """Hash what is compared."""
        return hash(repr(_comparable(self.error)))


Answer = Ok | Err


def is_unsupported(answer: Answer) -> bool:
    """Say whether the call is one that the implementation does not have."""
    return isinstance(answer, Err) and isinstance(answer.error, Unsupported)


def _comparable(error: ContractError) -> dict[str, Any]:
    return {key: value for key, value in encode_error(error).items() if key != "detail"}
