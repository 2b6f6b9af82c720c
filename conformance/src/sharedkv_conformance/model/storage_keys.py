"""The keys of stored pages: a chain of digests over the namespace and all tokens up to the end of a page."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.storage import StorageNamespace

Identity = tuple[object, ...]


def is_ambiguous(fields: Sequence[tuple[str, str]]) -> bool:
    """Say whether a field is named twice."""
    return len({name for name, _ in fields}) < len(fields)


def session_namespace(config: OpenConfig) -> StorageNamespace:
    """Return the namespace of the objects of a session."""
    return StorageNamespace(
        model=config.storage.model,
        layout=config.pool.layout,
        layers=config.pool.layers,
        draft_layers=config.pool.draft_layers,
        page_size=config.page_size,
        cp_size=config.cp_size,
        fields=config.storage.fields,
    )


def identity(namespace: StorageNamespace) -> Identity:
    """Return what has to be equal for two namespaces to be one: every field with its name, in no order."""
    return (*(value for name, value in vars(namespace).items() if name != "fields"), frozenset(namespace.fields))


def prefixes(namespace: StorageNamespace, tokens: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the tokens up to the end of each whole page."""
    size = namespace.page_size
    return [tuple(tokens[: end * size]) for end in range(1, len(tokens) // size + 1)]


class StorageKeys:
    """Makes keys, one small decision a method."""

    def keys(self, namespace: StorageNamespace, tokens: Sequence[int]) -> tuple[str, ...]:
        """Check, then chain the digests of the pages."""
        self.check_namespace(namespace)
        digest, keys = self.seed(namespace), []
        for start in range(0, self.num_tokens(namespace, tokens), namespace.page_size):
            digest = self.link(digest, tokens[start : start + namespace.page_size])
            keys.append(digest)
        return tuple(keys)

    def check_namespace(self, namespace: StorageNamespace) -> None:
        """Refuse a field that is named twice."""
        if is_ambiguous(namespace.fields):
            raise Rejected(Reason.NAMESPACE_INVALID, f"a field of {namespace.fields} is named twice")

    def num_tokens(self, namespace: StorageNamespace, tokens: Sequence[int]) -> int:
        """Count the tokens of whole pages."""
        return len(tokens) // namespace.page_size * namespace.page_size

    def seed(self, namespace: StorageNamespace) -> str:
        """Return the digest that the chain of a namespace begins with."""
        return digest_of(self.text(namespace))

    def text(self, namespace: StorageNamespace) -> str:
        """Write a namespace so that no other is written alike: every text is quoted."""
        named = {name: value for name, value in vars(namespace).items() if name != "fields"}
        return repr([*named.items(), *sorted(namespace.fields)])

    def link(self, before: str, tokens: Sequence[int]) -> str:
        """Return the digest of a page behind the one of the page before."""
        return digest_of(f"{before} {list(tokens)}")


def digest_of(text: str) -> str:
    """Return a digest that no other text has."""
    return sha256(text.encode()).hexdigest()
