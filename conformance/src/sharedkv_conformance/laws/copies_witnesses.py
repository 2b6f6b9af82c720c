"""The witnesses of copies: what must have happened before a law's silence proves anything."""

from __future__ import annotations

from sharedkv_conformance.laws.copies_calls import COPIES, EVICT, EVICT_HOST, POLL
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.copies_state import (
    DENSE,
    EVENTS,
    HOST_POOL,
    LAYER_END,
    LEASE_READ,
    LOAD_BACK,
    READ,
    Cell,
    CopiesState,
)
from sharedkv_conformance.model.host_tier_copies import LOAD, InFlight
from sharedkv_conformance.model.pool import buffers_of
from sharedkv_conformance.step import Answer, Call, Ok

# -- bytes on the host -----------------------------------------------------------------------------------------------


def _copies(before: CopiesState, told: str) -> bool:
    return not before.diverged and any(found == told for *_, found in before.host_copies())


@witness(on=HOST_POOL)
def host_copies_looked_at(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Host copies were looked at whose layers were told one after another."""
    return _copies(before, "told")


@witness(on=HOST_POOL)
def host_copies_of_the_index_looked_at(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Host copies were looked at that have an index."""
    return _copies(before, "told") and "index" in buffers_of(before.pool)


@witness(on=HOST_POOL)
def host_copies_of_the_draft_looked_at(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Host copies of a layer of the draft were looked at."""
    return _copies(before, "told") and call.layer >= before.pool.layers


@witness(on=HOST_POOL)
def tail_backups_looked_at(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Host copies were looked at of which no layer was told, after others that were told."""
    return before.is_copied and _copies(before, "rest")


@witness(on=HOST_POOL)
def odd_backups_looked_at(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Host copies were looked at of which layers were not told, or told in another order."""
    return before.is_copied and _copies(before, "odd")


@witness(on=HOST_POOL)
def backups_of_late_rows_looked_at(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Host copies were looked at of rows that were late when they were inserted."""
    paths = [path for path, *_ in before.host_copies()] if before.is_copied and not before.diverged else []
    return any("late_writes" in before.under.get(path, ()) for path in paths)


@witness(on=HOST_POOL)
def host_copies_outlived_their_pages(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Host copies of late backups were looked at whose device pages have other rows by now."""
    if before.diverged or not before.is_copied or not before.is_late("late_backups"):
        return False
    buffer = buffers_of(before.pool)[0]
    for path, *_ in before.host_copies():
        cell = Cell(before.origin[path] * before.config.page_size, call.layer, buffer)
        if before.rows.get(cell) not in (None, *before.content.get((path, call.layer, buffer), ())):
            return True
    return False


@witness(on=HOST_POOL)
def backups_of_victims_looked_at(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Host copies were looked at that were made when their device pages were evicted."""
    return before.config.host.write == "write_back" and tail_backups_looked_at.occurred(before, call, answer)


@witness(on=HOST_POOL)
def host_copies_of_victims_outlived_their_pages(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Late host copies of victims were looked at whose device pages have other rows by now."""
    is_back = before.config.host.write == "write_back"
    return is_back and host_copies_outlived_their_pages.occurred(before, call, answer)


@witness(on=HOST_POOL)
def host_copies_after_a_cancel_looked_at(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Host copies were looked at after a reservation was cancelled of which layers were submitted late."""
    return _is_given_up(before) and not before.has_freed


@witness(on=HOST_POOL)
def host_copies_after_a_freed_insert_looked_at(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Host copies were looked at after an insert gave a reservation up of which layers were submitted late."""
    return _is_given_up(before) and before.has_freed


def _is_given_up(before: CopiesState) -> bool:
    is_seen = any(True for _ in before.host_copies()) if not before.diverged else False
    return before.is_copied and is_seen and bool(before.abandoned) and before.is_late("late_backups")


@witness(on=HOST_POOL)
def host_copies_after_a_reset_looked_at(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Host copies were looked at that were made after a reset under which a backup was late."""
    is_known = before.is_copied and not before.diverged
    return is_known and before.was_reset_under_backups and any(True for _ in before.host_copies())


# -- bytes on the device ---------------------------------------------------------------------------------------------


@witness(on=READ)
def loaded_rows_read(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Rows were read that were loaded back to where others had stood."""
    return not before.diverged and before.is_fresh(call)


@witness(on=READ)
def loaded_index_rows_read(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Index rows were read that were loaded back to where others had stood."""
    return not before.diverged and call.buffer == "index" and before.is_fresh(call)


@witness(on=READ)
def loaded_draft_rows_read(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Rows of the draft were read that were loaded back to where others had stood."""
    return not before.diverged and call.layer >= before.pool.layers and before.is_fresh(call)


@witness(on=READ)
def loaded_rows_of_a_twin_read(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Rows were read that were loaded back, where the host had a prefix that differs from theirs within pages alone."""
    size, own = before.config.page_size, before.page_paths()
    paths = {path for location in call.locations if (path := own.get(location // size))}
    twins = {path for path in before.paths_on_host() if any(_are_twins(path, other, size) for other in paths)}
    return loaded_rows_read.occurred(before, call, answer) and bool(twins)


def _are_twins(path: tuple[int, ...], other: tuple[int, ...], size: int) -> bool:
    return path != other and path[::size] == other[::size]


@witness(on=READ)
def rows_loaded_after_late_writes(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Rows were read that were loaded back to where late rows were still to be written."""
    return loaded_rows_read.occurred(before, call, answer) and before.is_loaded and before.is_late("late_writes")


@witness(on=READ)
def late_loads_read(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Rows were read whose load was late."""
    return loaded_rows_read.occurred(before, call, answer) and before.is_loaded and before.is_late("late_loads")


@witness(on=READ)
def late_loads_of_the_index_read(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Index rows were read whose load was late."""
    return call.buffer == "index" and late_loads_read.occurred(before, call, answer)


@witness(on=READ)
def late_loads_of_the_draft_read(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Rows of the draft were read whose load was late."""
    return call.layer >= before.pool.layers and late_loads_read.occurred(before, call, answer)


@witness(on=READ)
def second_of_two_late_loads_read(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Rows were read whose load was late, and was submitted while an earlier one was in flight, which still is."""
    loads = _loads_in_flight(before)
    return late_loads_read.occurred(before, call, answer) and bool(set(loads[1:]) & _loads_of(before, call))


@witness(on=READ)
def late_load_read_after_an_older_was_acknowledged(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Rows were read whose load was late and in flight, after one that was submitted earlier was acknowledged."""
    own = _loads_of(before, call) & set(_loads_in_flight(before))
    return late_loads_read.occurred(before, call, answer) and bool(own & before.outlived)


@witness(on=READ)
def late_load_read_after_its_acknowledgement(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Rows of a layer of the target behind the first were read whose late load had been acknowledged unread."""
    is_over = not _loads_of(before, call) & set(_loads_in_flight(before))
    is_later = 0 < call.layer < before.pool.layers
    return late_loads_read.occurred(before, call, answer) and is_over and is_later and before.is_unread


def _loads_in_flight(before: CopiesState) -> list[int]:
    return [own.number for own in _in_flight(before) if own.kind == LOAD]


def _loads_of(before: CopiesState, call: Call) -> set[int]:
    size = before.config.page_size
    return {before.loaded_by.get(location // size, -1) for location in call.locations}


@witness(on=DENSE)
def dense_view_of_late_loads(before: CopiesState, call: Call, answer: Answer) -> bool:
    """A dense view was read of pages whose load was late."""
    batch = before.views.get((call.layer, call.epoch), ())
    return _is_late_batch(before, batch)


@witness(on=LEASE_READ)
def dense_prefix_of_late_loads(before: CopiesState, call: Call, answer: Answer) -> bool:
    """A dense prefix was read of pages whose load was late."""
    return _is_late_batch(before, before.leases.get(call.lease, (0, ()))[1])


@witness(on=LEASE_READ)
def dense_prefix_loaded_since_its_start(before: CopiesState, call: Call, answer: Answer) -> bool:
    """A dense prefix was read into whose pages other rows were loaded between its start and its consume."""
    batch = before.leases.get(call.lease, (0, ()))[1]
    pages = {page for request in batch for page in request.table} & before.reloaded.get(call.lease, set())
    cells = [cell for cell in before.former if cell.location // before.config.page_size in pages]
    is_other = any(before.former[cell] != before.rows.get(cell) for cell in cells)
    return _is_late_batch(before, batch) and is_other


def _is_late_batch(before: CopiesState, batch: tuple[object, ...]) -> bool:
    pages = {page for request in batch for page in getattr(request, "table", ())}
    return not before.diverged and before.is_loaded and before.is_late("late_loads") and bool(pages & before.loaded)


@witness(on=READ)
def pages_read_after_a_reset(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Rows were read that were written after a reset under which a load was late."""
    return before.was_reset and before.is_loaded and not before.diverged and before.is_late("late_loads")


# -- submissions -----------------------------------------------------------------------------------------------------


@witness(on=EVENTS)
def layer_told_for_several(before: CopiesState, call: Call, answer: Answer) -> bool:
    """A layer ended that was due for several requests."""
    return any(due > 1 for _, due in before.told_since)


@witness(on=EVENTS)
def layer_told_for_one(before: CopiesState, call: Call, answer: Answer) -> bool:
    """A layer ended that was due for a request."""
    return any(due == 1 for _, due in before.told_since)


@witness(on=EVENTS)
def layer_told_again(before: CopiesState, call: Call, answer: Answer) -> bool:
    """A layer ended while requests had reservations, and it was due for none of them."""
    return any(due == 0 for _, due in before.told_since) and bool(before.model.reservations)


def _told_after(before: CopiesState, op: str) -> bool:
    return op in before.given_up_by and any(due == 0 for _, due in before.told_since)


@witness(on=EVENTS)
def layer_told_after_a_cancel(before: CopiesState, call: Call, answer: Answer) -> bool:
    """A layer ended that was due for nobody, after a reservation was cancelled that had no layer yet."""
    return _told_after(before, "host_tier.cancel")


@witness(on=EVENTS)
def layer_told_after_a_freed_insert(before: CopiesState, call: Call, answer: Answer) -> bool:
    """A layer ended that was due for nobody, after an insert gave a reservation up that had no layer yet."""
    return _told_after(before, "host_tier.insert")


@witness(on=EVENTS)
def layer_told_after_a_reset(before: CopiesState, call: Call, answer: Answer) -> bool:
    """A layer ended that was due for nobody, after a reset ended a reservation that had no layer yet."""
    return _told_after(before, "host_tier.reset")


@witness(on=LAYER_END)
def layer_outside_told(before: CopiesState, call: Call, answer: Answer) -> bool:
    """A layer was told that is not there."""
    return call.layer not in range(before.pool.all_layers)


@witness(on=EVENTS)
def load_of_several_layers(before: CopiesState, call: Call, answer: Answer) -> bool:
    """A load of several layers was submitted."""
    return before.loads_since == 1 and before.pool.all_layers > 1


# -- acknowledgements ------------------------------------------------------------------------------------------------


@witness(on=POLL)
def polled_with_an_unfinished_draft(before: CopiesState, call: Call, answer: Answer) -> bool:
    """A poll was made while a copy was finished for the target, and not for the draft."""
    return any(own.left.get("draft") and not own.left["target"] for own in before.model.ledger.copies.values())


@witness(on=POLL)
def polled_with_an_unfinished_rank(before: CopiesState, call: Call, answer: Answer) -> bool:
    """A poll was made while a source of a copy was finished on some ranks alone."""
    ranks = before.config.cp_size
    return any(0 < len(left) < ranks for own in before.model.ledger.copies.values() for left in own.left.values())


@witness(on=COPIES)
def one_source_finished(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Copies were shown of which one source was finished, and the other not."""
    return any(len([1 for left in own.left.values() if left]) == 1 < len(own.left) for own in _in_flight(before))


@witness(on=COPIES)
def one_rank_finished(before: CopiesState, call: Call, answer: Answer) -> bool:
    """Copies were shown of which a source was finished on some ranks alone."""
    ranks = before.config.cp_size
    return any(0 < len(left) < ranks for own in _in_flight(before) for left in own.left.values())


def _in_flight(before: CopiesState) -> list[InFlight]:
    return list(before.model.ledger.copies.values())


# -- lifetimes -------------------------------------------------------------------------------------------------------


@witness(on=EVICT)
def evicted_under_backups(before: CopiesState, call: Call, answer: Answer) -> bool:
    """An eviction was asked for of all pages of the device while a backup was in flight."""
    nodes = before.model.tree.nodes.values()
    return any(node.backups and node.pages for node in nodes) and min(call.deficit) >= before.geometry.lane_pages


@witness(on=EVICT)
def evicted_under_loads(before: CopiesState, call: Call, answer: Answer) -> bool:
    """An eviction was asked for of all pages of the device while a load was in flight."""
    nodes = before.model.tree.nodes.values()
    return any(node.loads for node in nodes) and min(call.deficit) >= before.geometry.lane_pages


@witness(on=EVICT_HOST)
def host_evicted_under_loads(before: CopiesState, call: Call, answer: Answer) -> bool:
    """An eviction was asked for of all pages of the host while a load was in flight, and no backup."""
    nodes = before.model.tree.nodes.values()
    is_alone = any(node.loads for node in nodes) and not any(node.backups for node in nodes)
    return is_alone and min(call.deficit) >= before.config.host_pages


@witness(on=EVICT_HOST)
def host_evicted_under_backups(before: CopiesState, call: Call, answer: Answer) -> bool:
    """An eviction was asked for of all pages of the host while a backup was in flight, and no load."""
    nodes = before.model.tree.nodes.values()
    is_alone = any(node.backups for node in nodes) and not any(node.loads for node in nodes)
    return is_alone and min(call.deficit) >= before.config.host_pages


@witness(on=LOAD_BACK)
def split_backup_loaded(before: CopiesState, call: Call, answer: Answer) -> bool:
    """A prefix was loaded back whose node was split while its backup was in flight."""
    is_split = any(tuple(call.tokens[: len(path)]) == path for path in before.split)
    expected = before.step(call, answer).expected if not before.diverged else None
    return is_split and isinstance(expected, Ok) and bool(expected.value.pages)
