"""Number the sentences of a clause in prose form.

Knows how sentences find their permanent numbers again: by digest, then by position between neighbours that were
found, else the next free number. Knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Sequence

from govctl.lock import Entry


def number_sentences(digests: Sequence[str], locked: Sequence[Entry]) -> list[int]:
    """Return a number for each sentence, given the locked entries of its clause in order."""
    numbers = [int(entry.id.rpartition("#S")[2]) for entry in locked]
    if list(digests) == [entry.digest for entry in locked if not entry.is_withdrawn] and len(digests) == len(locked):
        return numbers  # nothing moved: so it is for nearly every clause
    taken = _by_digest(digests, locked)
    _by_position(taken, len(digests), [index for index, entry in enumerate(locked) if not entry.is_withdrawn])
    free = max(numbers, default=0) + 1
    result = []
    for index in range(len(digests)):
        if index in taken:
            result.append(numbers[taken[index]])
        else:
            result.append(free)
            free += 1
    return result


def _by_digest(digests: Sequence[str], locked: Sequence[Entry]) -> dict[int, int]:
    """Map sentences to the locked entries with the same digest, each entry once."""
    taken: dict[int, int] = {}
    for index, digest in enumerate(digests):
        used = set(taken.values())
        same = (at for at, entry in enumerate(locked) if entry.digest == digest and at not in used)
        found = next(same, None)
        if found is not None:
            taken[index] = found
    return taken


def _by_position(taken: dict[int, int], count: int, candidates: Sequence[int]) -> None:
    """Give a sentence that matches nothing the unused entry right after that of the sentence before it."""
    previous = -1
    for index in range(count):
        if index not in taken:
            later = [taken[other] for other in range(index + 1, count) if other in taken and taken[other] > previous]
            limit = min(later, default=None)
            used = set(taken.values())
            gap = (at for at in candidates if at > previous and at not in used and (limit is None or at < limit))
            found = next(gap, None)
            if found is None:
                continue
            taken[index] = found
        previous = taken[index]
