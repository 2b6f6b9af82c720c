"""Wrong, and odd but right, variants of copies: which bytes they move, and what is submitted."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.copies import CopiesModel, Pairs, source_of
from sharedkv_conformance.model.host_memory import page_bytes
from sharedkv_conformance.model.pool import buffers_of, row_spans


def turned(pairs: Pairs) -> Pairs:
    """Return the pages of a copy with the host pages of each lane in the reverse of their order."""
    hosts = {lane: iter([host for own, _, host in pairs if own == lane][::-1]) for lane, _, _ in pairs}
    return [(lane, page, next(hosts[lane])) for lane, page, _ in pairs]


# -- bytes of backups ------------------------------------------------------------------------------------------------


@mutant("copies.index-not-backed-up", kills="RFC-0009:C-BYTES#S1")
class IndexNotBackedUp(CopiesModel):
    """Backs up the latents and leaves their index rows behind."""

    def backed_up_buffers(self) -> Sequence[str]:
        return [buffer for buffer in super().backed_up_buffers() if buffer != "index"]


@mutant("copies.values-not-backed-up", kills="RFC-0009:C-BYTES#S1")
class ValuesNotBackedUp(CopiesModel):
    """Counts the bytes of the keys as those of a page."""

    def backed_up_buffers(self) -> Sequence[str]:
        return [buffer for buffer in super().backed_up_buffers() if buffer != "value"]


@mutant("copies.draft-not-backed-up", kills="RFC-0009:C-BYTES#S1")
class DraftNotBackedUp(CopiesModel):
    """Backs up the layers of the target alone."""

    def copy_out(self, layer: int, pairs: Pairs) -> None:
        if source_of(self.config, layer) == "target":
            super().copy_out(layer, pairs)


@mutant("copies.logical-page-copied", kills="RFC-0009:C-BYTES#S1")
class LogicalPageCopied(CopiesModel):
    """Takes the number of a logical page for that of the page on its lane, where there is such a one."""

    def device_page(self, lane: int, layer: int, buffer: str, page: int) -> bytes:
        last = self.geometry.logical(lane, self.geometry.lane_pages)
        return super().device_page(lane, layer, buffer, min(self.geometry.logical(lane, page), last))


@mutant("copies.first-row-of-a-page", kills="RFC-0009:C-BYTES#S1")
class FirstRowOfAPage(CopiesModel):
    """Copies as many bytes of a page as its first row has."""

    def device_page(self, lane: int, layer: int, buffer: str, page: int) -> bytes:
        data = super().device_page(lane, layer, buffer, page)
        row = sum(length for _, length in row_spans(self.pool, self.geometry.page_size, buffer, 0))
        return data[:row] + bytes(len(data) - row)


@mutant("copies.pages-of-two-tokens", kills="RFC-0009:C-BYTES#S1")
class PagesOfTwoTokens(CopiesModel):
    """Copies two rows of each page, however many it has."""

    def device_page(self, lane: int, layer: int, buffer: str, page: int) -> bytes:
        data = super().device_page(lane, layer, buffer, page)
        copied = bytearray(len(data))
        for row in (0, 1):
            for start, length in row_spans(self.pool, self.geometry.page_size, buffer, row):
                copied[start : start + length] = data[start : start + length]
        return bytes(copied)


@mutant("copies.lane-zero-copied", kills="RFC-0009:C-BYTES#S1")
class LaneZeroCopied(CopiesModel):
    """Lets the first rank copy for all, as if each rank had every page."""

    def device_page(self, lane: int, layer: int, buffer: str, page: int) -> bytes:
        return super().device_page(0, layer, buffer, page)


@mutant("copies.tail-turned-round", kills="RFC-0009:C-BYTES#S3")
class TailTurnedRound(CopiesModel):
    """Takes the host pages of a lane in the reverse of their order where no layer was told."""

    def submit_rest(self, layer: int, pairs: Pairs) -> None:
        is_told = any(self.submitted.get(pair) for pair in pairs)
        super().submit_rest(layer, pairs if is_told else turned(pairs))


@mutant("copies.tail-of-the-target", kills="RFC-0009:C-BYTES#S3")
class TailOfTheTarget(CopiesModel):
    """Copies the layers of the target alone where none was told."""

    def backup_layers(self, pairs: Pairs) -> Sequence[int]:
        is_told = any(self.submitted.get(pair) for pair in pairs)
        return super().backup_layers(pairs) if is_told else range(self.pool.layers)


# -- bytes of loads --------------------------------------------------------------------------------------------------


@mutant("copies.index-not-loaded", kills="RFC-0009:C-BYTES#S2")
class IndexNotLoaded(CopiesModel):
    """Loads the latents without their index rows."""

    def loaded_buffers(self) -> Sequence[str]:
        return [buffer for buffer in super().loaded_buffers() if buffer != "index"]


@mutant("copies.draft-not-loaded", kills="RFC-0009:C-BYTES#S2")
class DraftNotLoaded(CopiesModel):
    """Loads the layers of the target alone; the draft guesses worse after a hit."""

    def copy_in(self, layer: int, pairs: Pairs) -> None:
        if source_of(self.config, layer) == "target":
            super().copy_in(layer, pairs)


@mutant("copies.load-turned-round", kills="RFC-0009:C-BYTES#S2")
class LoadTurnedRound(CopiesModel):
    """Reads the host pages of a lane in the reverse of their order."""

    def copy_in(self, layer: int, pairs: Pairs) -> None:
        super().copy_in(layer, turned(pairs))


@mutant("copies.last-byte-of-a-page", kills="RFC-0009:C-BYTES#S2")
class LastByteOfAPage(CopiesModel):
    """Loads whole words of 16 bytes less one where a page ends."""

    def put_device_page(self, lane: int, layer: int, buffer: str, page: int, data: bytes) -> None:
        size = page_bytes(self.pool, self.geometry.page_size, buffer)
        old = self.device_page(lane, layer, buffer, page)
        super().put_device_page(lane, layer, buffer, page, data[: size - 1] + old[size - 1 :])


# -- layers ----------------------------------------------------------------------------------------------------------


@mutant(
    "copies.calls-counted",
    kills="RFC-0009:C-LAYERS#S4",
    also={
        "RFC-0009:C-LAYERS#S2": "The layer that ended is not the one that is submitted.",
        "RFC-0009:C-LAYERS#S3": "A layer that ends again counts as another one.",
    },
)
class CallsCounted(CopiesModel):
    """Counts the calls of a hook and takes the count for the number of the layer."""

    calls = 0

    def layer_end(self, layer: int) -> None:
        self.refuse_layer(layer)
        self.calls += 1
        super().layer_end((self.calls - 1) % self.pool.all_layers)


@mutant("copies.told-is-all", kills="RFC-0009:C-LAYERS#S4")
class ToldIsAll(CopiesModel):
    """Takes a backup for complete when any layer was told."""

    def backup_layers(self, pairs: Pairs) -> Sequence[int]:
        return () if any(self.submitted.get(pair) for pair in pairs) else super().backup_layers(pairs)


@mutant("copies.set-for-each-page", kills="RFC-0009:C-LAYERS#S1")
class SetForEachPage(CopiesModel):
    """Makes a set of descriptors for each page of a layer."""

    def submit_told(self, layer: int, pairs: Pairs) -> None:
        for pair in pairs:
            super().submit_told(layer, [pair])


@mutant("copies.hooks-ignored", kills="RFC-0009:C-LAYERS#S2")
class HooksIgnored(CopiesModel):
    """Submits nothing behind the layers, and everything at the insert."""

    def due(self, layer: int, pairs: Pairs) -> Pairs:
        return pairs

    def layer_end(self, layer: int) -> None:
        self.refuse_layer(layer)


@mutant("copies.second-request-forgotten", kills="RFC-0009:C-LAYERS#S2")
class SecondRequestForgotten(CopiesModel):
    """Submits a layer once, also where a request got its reservation after that."""

    def due(self, layer: int, pairs: Pairs) -> Pairs:
        due = super().due(layer, pairs)
        return due if len(due) == len(pairs) else ()

    def backup(self, copy: int, request: str, pairs: Pairs) -> None:
        told = {pair: self.submitted.pop(pair, []) for pair in pairs}
        for pair, layers in told.items():
            self.submitted[pair] = [layer for layer in layers if all(layer in own for own in told.values())]
        super().backup(copy, request, pairs)


@mutant("copies.submitted-again", kills="RFC-0009:C-LAYERS#S3")
class SubmittedAgain(CopiesModel):
    """Submits a layer each time that it is told."""

    def due(self, layer: int, pairs: Pairs) -> Pairs:
        return pairs


@mutant("copies.idle-forward-submitted", kills="RFC-0009:C-LAYERS#S3")
class IdleForwardSubmitted(CopiesModel):
    """Submits an empty set of descriptors where no request has a reservation."""

    def layer_end(self, layer: int) -> None:
        super().layer_end(layer)
        if not tuple(self.reserved()):
            self.submit_backup(layer, ())


@mutant("copies.layers-of-the-target", kills="RFC-0009:C-LAYERS#S5")
class LayersOfTheTarget(CopiesModel):
    """Takes any layer from 0 on."""

    def layer_end(self, layer: int) -> None:
        if layer in range(self.pool.all_layers) or layer < 0:
            super().layer_end(layer)


@mutant("copies.draft-cannot-be-told", kills="RFC-0009:C-LAYERS#S5")
class DraftCannotBeTold(CopiesModel):
    """Refuses the end of a layer of the draft."""

    def refuse_layer(self, layer: int) -> None:
        super().refuse_layer(layer if layer < self.pool.layers else -1)


@mutant("copies.last-layer-first", kills="RFC-0009:C-LAYERS#S6")
class LastLayerFirst(CopiesModel):
    """Loads the draft and the last layers first."""

    def load_layers(self) -> Sequence[int]:
        return super().load_layers()[::-1]


@mutant("copies.load-by-page", kills="RFC-0009:C-LAYERS#S6")
class LoadByPage(CopiesModel):
    """Makes a set of descriptors for each page of a load."""

    def submit_load(self, layer: int, pairs: Pairs) -> None:
        for pair in pairs:
            super().submit_load(layer, [pair])


# -- odd but right ---------------------------------------------------------------------------------------------------


@benign("copies.values-first")
class ValuesFirst(CopiesModel):
    """Copies the buffers of a page in another order, and its pages from the last on."""

    def copy_out(self, layer: int, pairs: Pairs) -> None:
        super().copy_out(layer, pairs[::-1])

    def backed_up_buffers(self) -> Sequence[str]:
        return buffers_of(self.pool)[::-1]

    def loaded_buffers(self) -> Sequence[str]:
        return buffers_of(self.pool)[::-1]


@benign("copies.all-at-the-end-too")
class AllAtTheEndToo(CopiesModel):
    """Copies every layer once more at the insert, whatever was told."""

    def backup(self, copy: int, request: str, pairs: Pairs) -> None:
        self.forget(pairs)
        super().backup(copy, request, pairs)


@benign("copies.cancel-waits-for-all")
class CancelWaitsForAll(CopiesModel):
    """Waits for every backup when a reservation is given up, whether it had begun or not."""

    def abandoned(self, request: str, pairs: Pairs) -> None:
        self.plane.settle_backups()
        super().abandoned(request, pairs)
