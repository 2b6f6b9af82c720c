"""The laws of bytes under copies: what a host copy and a page that was loaded back have, and what they waited for.

A row that differs is one law's: which one depends on what was late, on how its layer came to the host, and on whether
what stood there before was found. Where copies go wrong with nothing late the laws of order and readers say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sharedkv_conformance.marks import law
from sharedkv_conformance.model.copies_state import DENSE, HOST_POOL, LEASE_READ, READ, CopiesState, WrongRow
from sharedkv_conformance.step import Answer, Call

FEW = 3


def _few(rows: Iterable[WrongRow]) -> Iterator[str]:
    for count, row in enumerate(rows):
        if count < FEW:
            yield str(row)


def _on_host(before: CopiesState, call: Call, answer: Answer, told: str) -> Iterator[WrongRow]:
    """Yield the wrong rows of host copies with nothing late on their way."""
    if not before.is_late("late_writes", "late_backups"):
        yield from (row for row in before.wrong(call, answer) if row.told == told)


@law("RFC-0009:C-BYTES#S1", on=HOST_POOL)
def a_host_copy_has_the_bytes_of_its_page(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """Latents and index rows, keys and values, of the target and of the draft, each page on its own lane."""
    yield from _few(_on_host(before, call, answer, "told"))


@law("RFC-0009:C-BYTES#S2", on=READ)
def a_loaded_page_has_the_bytes_of_its_host_copy(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """Once to the host and back changes no byte of any buffer."""
    rows = [row for row in before.wrong(call, answer) if row.is_loaded]
    late = before.is_late("late_writes", "late_loads")
    yield from _few(row for row in rows if not (late and row.is_former))


@law("RFC-0009:C-BYTES#S3", on=HOST_POOL)
def a_backup_at_the_end_leaves_the_same_bytes(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """One copy of all layers after the forward is as good as one a layer behind it."""
    if before.is_copied:
        yield from _few(_on_host(before, call, answer, "rest"))


@law("RFC-0009:C-LAYERS#S4", on=HOST_POOL)
def layers_without_a_hook_are_copied(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """What the hooks did not tell is copied at the insert, under its own name."""
    if before.is_copied:
        yield from _few(_on_host(before, call, answer, "odd"))


@law("RFC-0009:C-ORDER#S1", on=HOST_POOL)
def a_backup_waits_for_the_writes_of_its_layer(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """Who copies when the row is enqueued copies what stood there before."""
    if before.is_copied and before.is_late("late_writes") and not before.is_late("late_backups"):
        yield from _few(before.wrong(call, answer))


@law("RFC-0009:C-ORDER#S2", on=READ)
def a_load_is_not_overtaken_by_writes(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """The last writes of a request that ended come before the load that reuses its pages."""
    if before.is_loaded and before.is_late("late_writes") and not before.is_late("late_loads"):
        yield from _few(row for row in before.wrong(call, answer) if row.is_loaded and row.is_former)


# -- readers ---------------------------------------------------------------------------------------------------------


def _unwaited(before: CopiesState, call: Call, answer: Answer) -> list[WrongRow]:
    if before.is_loaded and before.is_late("late_loads"):
        return [row for row in before.wrong(call, answer) if row.is_loaded and row.is_former]
    return []


@law("RFC-0009:C-READERS#S1", on=READ)
def every_read_waits_for_the_load_of_its_layer(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """Whichever buffer it reads, of whichever layer, and however many loads there are."""
    yield from _few(row for row in _unwaited(before, call, answer) if not row.is_acknowledged)


@law("RFC-0009:C-READERS#S2", on=DENSE)
def a_dense_view_waits_for_loads(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """A gather is a reader like any other."""
    yield from _few(_unwaited(before, call, answer))


@law("RFC-0009:C-READERS#S3", on=LEASE_READ)
def a_dense_prefix_waits_for_loads(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """What is made ahead is made of rows that are there."""
    yield from _few(_unwaited(before, call, answer))


# -- what comes late -------------------------------------------------------------------------------------------------


@law("RFC-0009:C-ACKNOWLEDGEMENT#S3", on=HOST_POOL)
def what_is_acknowledged_is_on_the_host(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """The device page may have other rows since."""
    is_known = before.is_copied and not before.abandoned and not before.was_reset_under_backups
    if is_known and before.is_late("late_backups"):
        yield from _few(before.wrong(call, answer))


@law("RFC-0009:C-ACKNOWLEDGEMENT#S4", on=READ)
def what_is_acknowledged_is_on_the_device(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """Nobody waits for a load that counts as done."""
    yield from _few(row for row in _unwaited(before, call, answer) if row.is_acknowledged)


@law("RFC-0009:C-LIFETIME#S4", on=HOST_POOL)
def what_was_given_up_changes_nobody_elses_copy(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """A copy for a request that was cancelled does not land in the pages of the next one."""
    is_known = before.is_copied and before.abandoned and not before.was_reset_under_backups
    if is_known and before.is_late("late_backups"):
        yield from _few(before.wrong(call, answer))


@law("RFC-0009:C-LIFETIME#S5", on=(READ, HOST_POOL))
def nothing_of_before_a_reset_comes_after_it(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """A copy that nobody waits for any more must not run into the pages of whoever has them now."""
    if call.op == READ and before.is_loaded and before.was_reset:
        yield from _few(row for row in before.wrong(call, answer) if not row.is_loaded)
    if call.op == HOST_POOL and before.is_copied and before.was_reset_under_backups:
        yield from _few(before.wrong(call, answer) if before.is_late("late_backups") else ())
