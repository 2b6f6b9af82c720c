"""Written histories of what is offered beside a dense view: other batches, odd queries, static rows, late prefixes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sharedkv_conformance.contract.reuse import RankTopK
from sharedkv_conformance.draws.reuse import attending, composed, selecting
from sharedkv_conformance.draws.reuse_scripts import FRESH, SEVERAL, TINY, Script, several_prefixes
from sharedkv_conformance.model.reuse_state import Batch
from sharedkv_conformance.step import Call


def batches_of_one_epoch(script: Script) -> None:
    """Offer batches under the epoch of another that differ from it in one place, in its later requests alone."""
    several_prefixes(script)
    for other in _other_batches(SEVERAL):
        for layer in (0, 1):
            script.attempt(composed(script.state, layer, 2, other, "valid"))
    script.compose(2, SEVERAL, layer=1)


def _other_batches(batch: Batch) -> Iterator[Batch]:
    first, second, third = batch
    turned = (second.table[1], second.table[0], *second.table[2:])
    yield first, replace(second, table=turned), third
    yield first, second, replace(third, table=(6, *third.table[1:]))
    yield first, second, replace(third, table=(third.table[0], 13, *third.table[2:]))
    yield first, second, replace(third, prefix_tokens=0, extend_tokens=third.prefix_tokens + third.extend_tokens)
    yield first, replace(second, request="other"), third


def odd_questions(script: Script) -> None:
    """Put queries of every kind that is wrong to a batch that has dummy rows, and those that are right."""
    script.plan(TINY)
    script.compose(1, TINY)
    script.show()
    for domain in ("valid", "compute"):
        for asked in (selecting(script.state, 0, domain, 2), attending(script.state, 0, domain, 2, 1)):
            for odd in _odd_queries(asked):
                script.attempt(odd)
            script.attempt(asked)


def _odd_queries(call: Call) -> Iterator[Call]:
    first, *others = call.queries
    row_bytes, weight_bytes = len(first.query) // first.rows, len(first.weights) // first.rows
    more = replace(first, query=first.query + bytes(row_bytes), weights=first.weights + bytes(weight_bytes))
    for odd in (
        replace(more, rows=first.rows + 1),
        more,
        replace(first, query=first.query[:-1]),
        replace(first, weights=first.weights + bytes(4)),
        replace(first, domain="dense"),
    ):
        yield replace(call, args={**call.args, "queries": (odd, *others)})
    yield replace(call, args={**call.args, "queries": tuple(replace(given, domain="static") for given in call.queries)})
    yield replace(call, args={**call.args, "queries": tuple(others)})


def static_rows(script: Script) -> None:
    """Compose static rows without any padding, and with padding on some ranks alone."""
    for epoch, batch in enumerate((TINY, FRESH), start=1):
        script.plan(batch)
        script.compose(epoch, batch, domain="static")
        bare, padded = (composed(script.state, 1, epoch, batch, "static", padding) for padding in (0, 1))
        script.issue(replace(bare, args={**bare.args, "rows": (bare.rows[0], *padded.rows[1:])}))
        script.show()
        script.show(1)


def nothing_selected(script: Script) -> None:
    """Attend with rows that selected nothing between rows that did."""
    several_prefixes(script)
    call = attending(script.state, 0, "valid", 2, 1)
    indices = tuple(
        RankTopK(indices=tuple((-1, -1) if row % 3 == 1 else chosen for row, chosen in enumerate(given.indices)))
        for given in call.indices
    )
    script.issue(replace(call, args={**call.args, "indices": indices}))


def late_prefixes(script: Script) -> None:
    """Write what a later batch has for its prefixes while writes are late, and compose without waiting for them."""
    script.compose(1, FRESH)
    script.issue(Call(op="probe.inject", args={"fault": "late_writes"}))
    script.write()
    script.compose(2, SEVERAL)
    script.show()
