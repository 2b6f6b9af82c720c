"""The checks of `reuse` that concern its cost: gathers, collectives, and paths that are left."""

from __future__ import annotations

from collections.abc import Callable

from sharedkv_conformance.draws.reuse_scripts import Script, config, several_prefixes, without_kernels
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.reuse_probes import (
    a_batch_without_prefixes_gathers_nothing,
    a_missing_kernel_is_told,
    a_prefix_is_gathered_once,
    collectives_do_not_grow_with_the_batch,
    no_token_is_carried_twice,
    several_requests_keep_the_path,
    spans_are_exact,
)
from sharedkv_conformance.marks import Law, check


def _written(histories: Histories, script: Callable[[Script], None], laws: list[Law]) -> None:
    """Run a written history."""
    opened = config()
    with histories.written("reuse", opened, laws=laws) as call:
        script(Script(call, opened))


@check(
    "reuse.one-gather",
    "RFC-0004:C-MATERIALIZATION#S1",
    witnesses=("prefix_gathered", "composed_again"),
    needs=("direct_write", "probe.events"),
)
def test_a_prefix_is_gathered_once(histories: Histories) -> None:
    """Each segment, or each reader, gathers the same bytes again."""
    laws = [a_prefix_is_gathered_once]
    histories.run("reuse", laws=laws)
    _written(histories, several_prefixes, laws)


@check(
    "reuse.no-gather",
    "RFC-0004:C-MATERIALIZATION#S2",
    witnesses=("all_tokens_new", "prefix_gathered"),
    needs=("direct_write", "probe.events"),
)
def test_a_batch_without_prefixes_gathers_nothing(histories: Histories) -> None:
    """Rows that are at hand are written, waited for and read back."""
    laws = [a_batch_without_prefixes_gathers_nothing]
    histories.run("reuse", laws=laws)
    _written(histories, several_prefixes, laws)


@check(
    "reuse.several-requests",
    "RFC-0004:C-MATERIALIZATION#S3",
    witnesses=("several_requests_keep_the_fast_path", "view_of_one_request"),
    needs=("probe.events",),
)
def test_several_requests_keep_the_path(histories: Histories) -> None:
    """Reuse is off whenever there is more than one request, which is always."""
    histories.run("reuse", laws=[several_requests_keep_the_path])


@check(
    "reuse.collectives",
    "RFC-0004:C-COLLECTIVES#S1",
    witnesses=("collectives_of_several_prefixes",),
    needs=("direct_write", "probe.collectives"),
)
def test_collectives_do_not_grow_with_the_batch(histories: Histories) -> None:
    """Every request adds the latency of a collective to every layer."""
    laws = [collectives_do_not_grow_with_the_batch]
    histories.run("reuse", laws=laws)
    _written(histories, several_prefixes, laws)


@check(
    "reuse.exact-spans",
    "RFC-0004:C-COLLECTIVES#S2",
    witnesses=("collectives_of_several_prefixes",),
    needs=("direct_write", "probe.collectives"),
)
def test_spans_are_exact(histories: Histories) -> None:
    """One span over all prefixes carries the new rows between them before they are there."""
    laws = [spans_are_exact]
    histories.run("reuse", laws=laws)
    _written(histories, several_prefixes, laws)


@check(
    "reuse.carried-once",
    "RFC-0004:C-COLLECTIVES#S3",
    witnesses=("collectives_of_several_prefixes",),
    needs=("direct_write", "probe.collectives"),
)
def test_no_token_is_carried_twice(histories: Histories) -> None:
    """A prefix that is summed again is multiplied by the number of ranks."""
    laws = [no_token_is_carried_twice]
    histories.run("reuse", laws=laws)
    _written(histories, several_prefixes, laws)


@check(
    "reuse.missing-kernels",
    "RFC-0004:C-FALLBACK#S1",
    witnesses=("answered_without_kernels",),
    needs=("direct_write", "probe.events", "probe.inject"),
)
def test_a_missing_kernel_is_told(histories: Histories) -> None:
    """A server runs ten times slower for months, and says nothing."""
    laws = [a_missing_kernel_is_told]
    histories.run("reuse", laws=laws)
    _written(histories, without_kernels, laws)
