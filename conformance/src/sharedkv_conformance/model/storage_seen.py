"""The keys that a history was given: what stands behind each, and which key a page has."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.storage import StorageNamespace
from sharedkv_conformance.model.storage_keys import Identity, StorageKeys, identity, is_ambiguous, prefixes

Page = tuple[Identity, tuple[int, ...]]


class SeenKeys:
    """Keys by page and pages by key; a page is a namespace with all tokens up to its end."""

    def __init__(self) -> None:
        self.key_of: dict[Page, str] = {}
        self.page_of: dict[str, Page] = {}
        self._namespaces: dict[Identity, StorageNamespace] = {}

    def keys(self, namespace: StorageNamespace, tokens: Sequence[int]) -> list[str | None]:
        """Return the keys of the pages of tokens, None where nobody asked."""
        return [self.key_of.get((identity(namespace), prefix)) for prefix in prefixes(namespace, tokens)]

    def knows(self, namespace: StorageNamespace, tokens: Sequence[int]) -> bool:
        """Say whether the keys of all pages of tokens are known."""
        return None not in self.keys(namespace, tokens)

    def learn(self, namespace: StorageNamespace, tokens: Sequence[int], keys: Sequence[str]) -> None:
        """Remember an answer as it is; where it contradicts an earlier one, the earlier one stays.

        Keys of a namespace that is none are not remembered.
        """
        if is_ambiguous(namespace.fields):
            return
        self._namespaces[identity(namespace)] = namespace
        for prefix, key in zip(prefixes(namespace, tokens), keys, strict=False):
            page = (identity(namespace), prefix)
            self.key_of.setdefault(page, key)
            self.page_of.setdefault(key, page)

    def model_keys(self) -> dict[str, str]:
        """Return the key of the model for each key that was given."""
        return {key: self._model_key(page) for key, page in self.page_of.items()}

    def model_key(self, key: str) -> str:
        """Return the key of the model for one that was given; one that nobody was given stands for itself."""
        return self._model_key(self.page_of[key]) if key in self.page_of else key

    def _model_key(self, page: Page) -> str:
        return StorageKeys().keys(self._namespaces[page[0]], page[1])[-1]
