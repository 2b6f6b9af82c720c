"""The rows that the benchmark moves: equal whoever moves them, and slots that are what their kind says."""

import pytest
import torch

from benchmarks import rows
from benchmarks.errors import DisagreementError
from benchmarks.rows import PAGE_SIZE, PAGES, SINGLES, Shape, require_agreement


def small_shape() -> Shape:
    return Shape.of(24, pool_rows=8 * PAGE_SIZE, num_rows=2 * PAGE_SIZE)


def test_both_kinds_of_slots_name_rows_once() -> None:
    for slots in small_shape().slots.values():
        assert len(set(slots.tolist())) == 2 * PAGE_SIZE


def test_pages_are_whole_and_single_rows_are_not_in_order() -> None:
    slots = small_shape().slots
    pages = slots[PAGES].view(-1, PAGE_SIZE)

    assert torch.equal(pages - pages[:, :1], torch.arange(PAGE_SIZE).expand_as(pages))
    assert not torch.equal(slots[SINGLES], slots[SINGLES].sort().values)


def test_equal_variants_agree() -> None:
    shape = small_shape()

    for slots in shape.slots.values():
        require_agreement(shape, slots)


def test_a_variant_that_writes_elsewhere_is_no_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    def write_next_to_it(buffer: torch.Tensor, given: torch.Tensor, slots: torch.Tensor) -> None:
        buffer.index_copy_(0, (slots + 1) % len(buffer), given)

    monkeypatch.setattr(rows, "write_rows", write_next_to_it)
    shape = small_shape()
    with pytest.raises(DisagreementError, match="gathered by reference"):
        require_agreement(shape, shape.slots[SINGLES])


def test_every_variant_is_timed_on_writes_and_gathers() -> None:
    timed = [name.partition(", ") for name in small_shape().operations()]
    writes, gathers = ([rest for operation, _, rest in timed if operation == wanted] for wanted in ("write", "gather"))

    assert writes == gathers
    assert len(writes) == 1 + 2 * 2
