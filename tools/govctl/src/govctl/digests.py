"""Digests of sentences, sources and the catalogue.

Knows what is digested and in which order. Knows nothing of where the parts come from.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from hashlib import sha256


def sentence_digest(sentence: str) -> str:
    """Digest a sentence by its NFC text with white space collapsed, so that a line break changes nothing."""
    return collapsed_digest(" ".join(sentence.split()))


def collapsed_digest(sentence: str) -> str:
    """Digest a sentence whose white space is collapsed already; NFC brings forth no white space."""
    composed = sentence if sentence.isascii() else unicodedata.normalize("NFC", sentence)
    return sha256(composed.encode()).hexdigest()


def sources_digest(sources: Iterable[tuple[str, bytes]]) -> str:
    """Digest files by relative path and content; line ends count as LF."""
    digest = sha256()
    for path, content in sorted(sources):
        for part in (path.encode(), content.replace(b"\r\n", b"\n")):
            digest.update(part + b"\0")
    return digest.hexdigest()


def statements_digest(statements: Iterable[tuple[str, str]]) -> str:
    """Digest pairs of statement id and sentence digest."""
    return sha256("".join(f"{name} {digest}\n" for name, digest in sorted(statements)).encode()).hexdigest()


def catalogue_digest(triples: Iterable[tuple[str, str, str]]) -> str:
    """Digest triples of statement id, sentence digest and check slug."""
    return sha256("".join(f"{' '.join(triple)}\n" for triple in sorted(triples)).encode()).hexdigest()
