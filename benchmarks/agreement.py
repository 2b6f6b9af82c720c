"""Whether two allocators gave equal answers to one batch.

The lengths, owners, lanes and locations of a right answer are fixed; which page of a lane is given is free, and is
compared only where both choose by the same order.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.errors import DisagreementError
from benchmarks.workload import Answer
from sharedkv.allocation import ExtendRequest
from sharedkv.geometry import Geometry


def require_agreement(
    geometry: Geometry, batch: Sequence[ExtendRequest], one: Answer, other: Answer, *, equal_pages: bool
) -> None:
    """Raise unless both answers are right and equal as far as they have to be."""
    _require_equal("owners of the two variants", list(one.owners), list(other.owners))
    for answer in (one, other):
        lanes = [geometry.lane(page) for page in answer.pages]
        _require_equal("lanes of the pages", list(answer.owners), lanes)
        _require_equal("distinct pages", len(answer.pages), len(set(answer.pages)))
        _require_equal("token locations", expected_locations(geometry, batch, answer.pages), answer.locations.tolist())
    if equal_pages:
        _require_equal("pages of the two variants", list(one.pages), list(other.pages))
        _require_equal("locations of the two variants", one.locations.tolist(), other.locations.tolist())


def expected_locations(geometry: Geometry, batch: Sequence[ExtendRequest], pages: Sequence[int]) -> list[int]:
    """Return the location of each new token, one after another."""
    size = geometry.page_size
    locations = []
    first = 0
    for request in batch:
        locations += [pages[first + token // size] * size + token % size for token in range(request.extend_tokens)]
        first += -(-request.extend_tokens // size)
    return locations


def _require_equal(what: str, wanted: object, found: object) -> None:
    if wanted != found:
        raise DisagreementError(what, wanted, found)
