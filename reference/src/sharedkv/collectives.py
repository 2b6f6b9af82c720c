"""What ranks exchange: sums of disjoint bytes, gathers, and the least of counts; every exchange is noted.

Knows ranks and tensors. Does not know pages, requests or what the bytes mean.

A process plays one rank (`DistributedGroup`) or all of them in lockstep (`LocalGroup`). So a call takes one tensor for
each rank that this process plays and answers with one for each. Both give the same bits.

A sum of bytes is a merge only where at most one rank is not zero: x + 0 + ... + 0 keeps the bits of x, whatever they
mean. That holds for integers of any width, not for floats (-0.0, NaN), so bytes are summed as integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.distributed as dist

ALL_REDUCE = "all_reduce"
ALL_GATHER = "all_gather"


@dataclass(frozen=True, kw_only=True)
class Purpose:
    """What an exchange is for: the layer, its buffer, and the token spans (start, end) of the dense view it carries."""

    layer: int
    buffer: str
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One exchange that took place: `kind` is `all_reduce` or `all_gather`."""

    kind: str
    purpose: Purpose


ACKNOWLEDGED = Purpose(layer=-1, buffer="acknowledged")
"""How many copies of each kind every rank has finished."""

OnExchange = Callable[[Exchange], None]


def _ignore(_exchange: Exchange) -> None:
    pass


class Group(Protocol):
    """The ranks that share a cache, as one process sees them."""

    @property
    def size(self) -> int:
        """Count the ranks."""

    @property
    def ranks(self) -> tuple[int, ...]:
        """Return the ranks that this process plays, ascending."""

    def all_reduce_sum(self, contributions: Sequence[torch.Tensor], purpose: Purpose) -> None:
        """Put the sum over all ranks into each contribution, in place.

        Contributions are uint8, of equal shape on all ranks and contiguous; each byte is zero on all ranks but one.
        """

    def all_gather(self, contributions: Sequence[torch.Tensor], purpose: Purpose) -> list[torch.Tensor]:
        """Return, for each rank played, the contributions of all ranks in rank order: (ranks, *shape).

        Contributions are uint8, of equal shape on all ranks and contiguous.
        """

    def all_reduce_min(self, contributions: Sequence[torch.Tensor], purpose: Purpose) -> None:
        """Put the least of each number over all ranks into each contribution, in place.

        Contributions are int64 of shape (n,), n alike on all ranks.
        """


class LocalGroup:
    """All ranks in one process, in lockstep. `on_exchange` hears of every exchange, once."""

    def __init__(self, size: int, on_exchange: OnExchange = _ignore) -> None:
        self.size = size
        self.ranks = tuple(range(size))
        self._on_exchange = on_exchange

    def all_reduce_sum(self, contributions: Sequence[torch.Tensor], purpose: Purpose) -> None:
        """Put the sum over all ranks into each contribution, in place."""
        self._on_exchange(Exchange(kind=ALL_REDUCE, purpose=purpose))
        integers = [as_integers(contribution) for contribution in contributions]
        total = integers[0].clone()
        for contribution in integers[1:]:
            total += contribution
        for contribution in integers:
            contribution.copy_(total)

    def all_gather(self, contributions: Sequence[torch.Tensor], purpose: Purpose) -> list[torch.Tensor]:
        """Return the contributions of all ranks in rank order, for each rank."""
        self._on_exchange(Exchange(kind=ALL_GATHER, purpose=purpose))
        gathered = torch.stack(list(contributions))
        return [gathered] * self.size

    def all_reduce_min(self, contributions: Sequence[torch.Tensor], purpose: Purpose) -> None:
        """Put the least of each number over all ranks into each contribution, in place."""
        self._on_exchange(Exchange(kind=ALL_REDUCE, purpose=purpose))
        least = torch.stack(list(contributions)).amin(0)
        for contribution in contributions:
            contribution.copy_(least)


class DistributedGroup:
    """One rank of a `torch.distributed` process group: gloo on the CPU, NCCL on GPUs.

    The process group must exist. `on_exchange` hears of every exchange of this rank.
    """

    def __init__(self, group: dist.ProcessGroup | None = None, on_exchange: OnExchange = _ignore) -> None:
        self._group = group
        self.size = dist.get_world_size(group)
        self.ranks = (dist.get_rank(group),)
        self._on_exchange = on_exchange

    def all_reduce_sum(self, contributions: Sequence[torch.Tensor], purpose: Purpose) -> None:
        """Put the sum over all ranks into this rank's contribution, in place."""
        (contribution,) = contributions
        self._on_exchange(Exchange(kind=ALL_REDUCE, purpose=purpose))
        dist.all_reduce(as_integers(contribution), op=dist.ReduceOp.SUM, group=self._group)

    def all_gather(self, contributions: Sequence[torch.Tensor], purpose: Purpose) -> list[torch.Tensor]:
        """Return the contributions of all ranks in rank order, to this rank."""
        (contribution,) = contributions
        self._on_exchange(Exchange(kind=ALL_GATHER, purpose=purpose))
        gathered = contribution.new_empty((self.size, *contribution.shape))
        dist.all_gather(list(gathered.unbind()), contribution, group=self._group)
        return [gathered]

    def all_reduce_min(self, contributions: Sequence[torch.Tensor], purpose: Purpose) -> None:
        """Put the least of each number over all ranks into this rank's contribution, in place."""
        (contribution,) = contributions
        self._on_exchange(Exchange(kind=ALL_REDUCE, purpose=purpose))
        dist.all_reduce(contribution, op=dist.ReduceOp.MIN, group=self._group)


class GroupAgreement:
    """What the ranks of a group have in common, one reduction a question."""

    def __init__(self, group: Group, device: torch.device | str = "cpu") -> None:
        self._group = group
        self._device = device

    def least(self, counts: Sequence[Sequence[int]]) -> tuple[int, ...]:
        """Return the least of each count over all ranks, from one row for each rank that this process plays."""
        contributions = [torch.tensor(row, dtype=torch.int64, device=self._device) for row in counts]
        self._group.all_reduce_min(contributions, ACKNOWLEDGED)
        return tuple(contributions[0].tolist())


def as_integers(data: torch.Tensor) -> torch.Tensor:
    """View contiguous bytes as the widest integers that fit, flat; shares storage."""
    flat = data.view(-1)
    for dtype in (torch.int64, torch.int32):
        width = dtype.itemsize
        if flat.numel() % width == 0 and flat.storage_offset() % width == 0:
            return flat.view(dtype)
    return flat
