"""Written histories of dense views: what draws reach too rarely to rely on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Protocol

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.contract.reuse import ReuseRequest
from sharedkv_conformance.draws.reuse import attending, composed, persisted, plan, selecting
from sharedkv_conformance.model import reuse_batch
from sharedkv_conformance.model.pool import buffers_of
from sharedkv_conformance.model.reuse_state import Batch, ReuseState
from sharedkv_conformance.step import Answer, Call, Ok


class Issuer(Protocol):
    """Issues calls of a written history."""

    def __call__(self, op: str, **args: Any) -> Any:
        """Issue one call and return its value."""

    def attempt(self, op: str, **args: Any) -> Answer:
        """Issue one call and return its answer, whatever it is."""


def config(layout: str = "mla_bf16", cp_size: int = 2) -> OpenConfig:
    """Return a geometry of pages of four tokens, with two heads of each kind."""
    return OpenConfig(
        cp_size=cp_size, page_size=4, pages=8 * cp_size, pool=PoolConfig(layout=layout, heads=2, index_heads=2)
    )


class Script:
    """A written history that knows what it has done, so that the next call can be made from it."""

    def __init__(self, call: Issuer, opened: OpenConfig) -> None:
        self.call = call
        self.state = ReuseState(opened)

    def issue(self, made: Call) -> Any:
        """Issue a call that has to be answered."""
        value = self.call(made.op, **made.args)
        self.state.adopt(made, Ok(value))
        return value

    def attempt(self, made: Call) -> None:
        """Issue a call that may be refused."""
        self.state.adopt(made, self.call.attempt(made.op, **made.args))

    def compose(self, epoch: int, batch: Batch, layer: int = 0, domain: str = "valid", padding: int = 0) -> None:
        """Compose a layer from rows that say what requests of this epoch say."""
        self.issue(composed(self.state, layer, epoch, batch, domain, padding))

    def plan(self, batch: Batch) -> None:
        """Ask for the plan of a batch."""
        self.issue(replace(plan(self.state), args={"batch": reuse_batch.lengths(batch), "static_multiple": 1}))

    def show(self, layer: int = 0) -> None:
        """Show every buffer of a layer."""
        for buffer in buffers_of(self.state.pool):
            self.issue(self.looking(layer, buffer))

    def looking(self, layer: int, buffer: str) -> Call:
        """Return the call that shows a buffer."""
        return Call(op="reuse.dense", args={"layer": layer, "epoch": self.state.epoch, "buffer": buffer})

    def write(self, layer: int = 0) -> None:
        """Write the new tokens of the present batch."""
        self.issue(persisted(self.state, layer))

    def select(self, count: int, domain: str = "valid", layer: int = 0) -> None:
        """Ask for a selection."""
        self.issue(selecting(self.state, layer, domain, count))

    def attend(self, count: int, domain: str = "valid", layer: int = 0, seed: int = 2) -> None:
        """Ask for attention."""
        self.issue(attending(self.state, layer, domain, count, seed))

    def read(self, pages: Iterable[int], buffer: str, layer: int = 0) -> None:
        """Read whole pages from the pool."""
        size = self.state.geometry.page_size
        locations = tuple(page * size + offset for page in pages for offset in range(size))
        self.issue(Call(op="direct_write.read", args={"layer": layer, "buffer": buffer, "locations": locations}))


def request(name: str, prefix: int, extend: int, *table: int) -> ReuseRequest:
    """Return one request of a batch."""
    return ReuseRequest(request=name, prefix_tokens=prefix, extend_tokens=extend, table=table)


# Of the geometry above with two ranks: odd pages lie on lane 0, even ones on lane 1; owners of new pages are 0 1 1 0.
FRESH = (request("a", 0, 16, 1, 2, 4, 3), request("b", 0, 5, 5, 6))
SEVERAL = (
    request("a", 12, 5, 4, 1, 6, 7, 8),
    request("b", 8, 9, 3, 2, 9, 10, 12, 5, 6),
    request("c", 4, 1, 5, 11, 1, 2),
)
ALONE = (request("a", 0, 16, 1, 2, 4, 3),)
AGAIN = (request("a", 8, 8, 1, 2, 5, 6),)
TINY = (request("a", 0, 3, 1), request("b", 0, 2, 5))


def several_prefixes(script: Script) -> None:
    """Write two requests, then compose three with prefixes out of their pages, tables of several widths."""
    script.compose(1, FRESH)
    script.write()
    script.compose(2, SEVERAL)
    script.show()


def read_back(script: Script) -> None:
    """Compose, show and write a batch with prefixes, and read every page of it from the pool."""
    several_prefixes(script)
    script.write()
    for of_request in SEVERAL:
        for buffer in buffers_of(script.state.pool):
            script.read(reuse_batch.own_pages(script.state.geometry, of_request), buffer)


def two_passes(script: Script) -> None:
    """Compute a request whole, write it, and compute its second half again behind the first; epochs say the same."""
    script.compose(1, ALONE)
    _read_by_rows(script)
    script.write()
    script.compose(6, AGAIN)
    _read_by_rows(script)


def _read_by_rows(script: Script) -> None:
    script.show()
    script.select(3)
    script.attend(3)


def tiny_extends(script: Script) -> None:
    """Compose, select and attend for a batch that leaves ranks without a token, from rows of each domain."""
    script.plan(TINY)
    script.compose(1, TINY)
    script.compose(1, TINY, layer=1, domain="compute")
    script.show(1)
    for domain in ("valid", "compute"):
        script.select(2, domain, layer=1)
        script.attend(2, domain, layer=1)
    script.compose(2, TINY, domain="static", padding=2)
    script.show()


def without_an_index(script: Script) -> None:
    """Compose keys and values, and ask for a selection and for attention."""
    script.compose(1, ALONE)
    script.attempt(selecting(script.state, 0, "valid", 2))
    script.attempt(attending(script.state, 0, "valid", 2, 1))


def absent_views(script: Script) -> None:
    """Look at a layer that nobody composed, at an epoch that is replaced, and at one that is there."""
    script.compose(1, ALONE)
    script.compose(2, ALONE)
    for layer, epoch in ((1, 2), (0, 1), (0, 3)):
        for buffer in buffers_of(script.state.pool):
            script.attempt(Call(op="reuse.dense", args={"layer": layer, "epoch": epoch, "buffer": buffer}))
    script.show()


def selections(script: Script) -> None:
    """Select for several requests with prefixes, few tokens and all, and attend to them."""
    several_prefixes(script)
    for count in (2, 40):
        script.select(count)
    for count in (2, 3):
        script.attend(count)


def without_kernels(script: Script) -> None:
    """Take the kernels away, and go on."""
    script.compose(1, FRESH)
    script.write()
    script.issue(Call(op="probe.inject", args={"fault": "no_kernels"}))
    script.attempt(composed(script.state, 0, 2, SEVERAL, "valid"))
    if script.state.epoch == 2:  # noqa: PLR2004 - it was not refused
        for buffer in buffers_of(script.state.pool):
            script.attempt(script.looking(0, buffer))
        script.attempt(selecting(script.state, 0, "valid", 2))
        script.attempt(attending(script.state, 0, "valid", 2, 1))


def refused_batches(script: Script) -> None:
    """Offer every kind of batch that has no view, and go on with the one that has."""
    several_prefixes(script)
    call = composed(script.state, 0, 3, SEVERAL, "valid")
    first, *others = SEVERAL
    for odd in (
        replace(first, prefix_tokens=6),
        replace(first, prefix_tokens=-4),
        replace(first, extend_tokens=0),
        replace(first, table=first.table[:4]),
        replace(first, table=(0, *first.table[1:])),
        replace(first, table=(*first.table[:4], 17)),
    ):
        script.attempt(Call(op=call.op, args={**call.args, "batch": (odd, *others)}))
    script.attempt(Call(op=call.op, args={**call.args, "batch": ()}))
    script.show()
