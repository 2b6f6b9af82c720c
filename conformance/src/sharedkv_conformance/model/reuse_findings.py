"""How a dense view that was shown differs from the right one, sorted by kind, so that each law speaks of its own.

old        an earlier view, or that of another layer
length     not as many rows as the view has tokens
unequal    ranks have different views
stale      a row of a page that stands behind the pages of a request
cast       an index row with the right scale and another key
order      the prefix rows of the batch, and each of them once, in another order
prefix     a prefix row that is none of these
current    a new row that is none of these
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sharedkv_conformance.contract.pool import INDEX_VALUES, PoolConfig
from sharedkv_conformance.model import reuse_batch
from sharedkv_conformance.model.latent_rows import latent_fault
from sharedkv_conformance.model.pool import stored_row
from sharedkv_conformance.model.reuse_state import Expected, KnownView, ReuseState, Row

Found = Mapping[str, str]
"""For each kind of difference where it is."""


def dense_findings(state: ReuseState, layer: int, buffer: str, shown: Sequence[bytes]) -> Found:
    """Compare the view of a layer as the ranks show it with what it has to be."""
    view = state.views.get(layer)
    if view is None or view.expected is None or buffer not in view.expected:
        return {}
    size, expected = state.row_bytes(buffer), view.expected[buffer]
    rows = [_cut(data, size) for data in shown]
    if len(shown) == state.config.cp_size and all(_is(state.pool, buffer, found, expected.rows) for found in rows):
        return {} if len(set(shown)) == 1 else {"unequal": "ranks hold different bytes"}
    if _is_old(state, layer, buffer, rows):
        return {"old": f"{buffer}: the view of another layer or of an earlier epoch"}
    if len(shown) != state.config.cp_size or any(len(data) != size * len(expected.rows) for data in shown):
        return {
            "length": f"{buffer}: {[len(data) for data in shown]} bytes by rank, a view of {len(expected.rows)} rows"
        }
    if len(set(shown)) > 1:
        return {"unequal": _first_difference(buffer, rows)}
    return _of_rows(state.pool, buffer, view, expected, rows[0])


def _of_rows(pool: PoolConfig, buffer: str, view: KnownView, expected: Expected, rows: Sequence[bytes]) -> Found:
    """Return the differences of a view that all ranks have alike."""
    wrong = [at for at, row in enumerate(expected.rows) if not same(pool, buffer, rows[at], row)]
    cast = [at for at in wrong if _is_cast(buffer, rows[at], expected.rows[at])]
    other = [at for at in wrong if at not in cast]
    stale = [at for at in other if any(known_as(pool, buffer, rows[at], row) for row in expected.stale.get(at, ()))]
    found = {"cast": cast}
    if other and stale == other:
        return _told(buffer, {**found, "stale": stale})
    prefix = {at for span in reuse_batch.prefix_spans(view.batch) for at in range(span.start, span.end)}
    misplaced = [at for at in other if at in prefix]
    found["current"] = [at for at in other if at not in prefix]
    is_order = _permuted(
        pool, buffer, [rows[at] for at in sorted(prefix)], [expected.rows[at] for at in sorted(prefix)]
    )
    return _told(buffer, {**found, ("order" if is_order else "prefix"): misplaced})


def same(pool: PoolConfig, buffer: str, found: bytes, computed: Row) -> bool:
    """Say whether a stored row is that of a computed one, or zero bytes where nothing was ever written."""
    if computed is None:
        return not any(found)
    if found == stored_row(pool, buffer, computed):
        return True
    return buffer == "latent" and pool.layout == "mla_fp8" and not latent_fault(computed, found)


def known_as(pool: PoolConfig, buffer: str, found: bytes, computed: Row) -> bool:
    """Say whether a stored row comes from a computed one; an index row is known by its scale, whatever its key."""
    if buffer == "index" and computed is not None:
        return found[INDEX_VALUES:] == computed[INDEX_VALUES:]
    return same(pool, buffer, found, computed)


def _is_cast(buffer: str, found: bytes, computed: Row) -> bool:
    return buffer == "index" and computed is not None and found[INDEX_VALUES:] == computed[INDEX_VALUES:]


def _permuted(pool: PoolConfig, buffer: str, found: Sequence[bytes], wanted: Sequence[Row]) -> bool:
    left = list(wanted)
    for row in found:
        match = next((at for at, other in enumerate(left) if known_as(pool, buffer, row, other)), None)
        if match is None:
            return False
        left.pop(match)
    return not left


def _is(pool: PoolConfig, buffer: str, found: Sequence[bytes], wanted: Sequence[Row]) -> bool:
    return len(found) == len(wanted) and all(same(pool, buffer, a, b) for a, b in zip(found, wanted, strict=True))


def _is_old(state: ReuseState, layer: int, buffer: str, rows: Sequence[Sequence[bytes]]) -> bool:
    """Say whether every rank shows one and the same other view."""
    others = [*state.past, *(view for at, view in state.views.items() if at != layer)]
    known = [view.expected[buffer].rows for view in others if view.expected]
    return any(all(_is(state.pool, buffer, found, wanted) for found in rows) for wanted in known)


def _cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def _first_difference(buffer: str, rows: Sequence[Sequence[bytes]]) -> str:
    at = next(at for at, found in enumerate(zip(*rows, strict=True)) if len(set(found)) > 1)
    return f"{buffer}, row {at}: {', '.join(found[at][:8].hex() for found in rows)} by rank"


def _told(buffer: str, found: Mapping[str, Iterable[int]]) -> Found:
    return {kind: f"{buffer}: rows {sorted(rows)}" for kind, rows in found.items() if rows}
