"""Wrong variants of contexts: what is registered, what is declined, and what becomes of a registration."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.overlap import OverlapContext
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import Chunk, PrefillRoom

# -- what is registered and what is not ------------------------------------------------------------------------------


@mutant("overlap.one-context-a-room", kills="RFC-0013:C-CONTEXTS#S1")
class OneContextARoom(SendingModel):
    """Declines a chunk while another of its room is registered."""

    def declines(self, chunk: Chunk) -> bool:
        return super().declines(chunk) or bool(self.contexts_of(chunk.room))


@mutant("overlap.last-chunk-alone", kills="RFC-0013:C-CONTEXTS#S1")
class LastChunkAlone(SendingModel):
    """Registers only chunks that end a request."""

    def declines(self, chunk: Chunk) -> bool:
        return super().declines(chunk) or not chunk.is_last


@mutant("overlap.first-chunk-alone", kills="RFC-0013:C-CONTEXTS#S1")
class FirstChunkAlone(SendingModel):
    """Takes a chunk behind one that was sent for one behind a gap."""

    def declines(self, chunk: Chunk) -> bool:
        return super().declines(chunk) or bool(chunk.room.sent)


@mutant("overlap.finished-once-a-destination", kills="RFC-0013:C-CONTEXTS#S2")
class FinishedOnceADestination(SendingModel):
    """Registers chunks for several destinations, and finishes a context for each, whosever it is."""

    def declines(self, chunk: Chunk) -> bool:
        destinations = chunk.room.destinations
        chunk.room.destinations = destinations[:1]
        found = super().declines(chunk)
        chunk.room.destinations = destinations
        return found

    def begun(self, asked: Chunk) -> Chunk:
        found = super().begun(asked)
        if found is not asked:
            del self.contexts_open[: len(found.room.destinations) - 1]
        return found


@mutant("overlap.empty-chunk-registered", kills="RFC-0013:C-CONTEXTS#S2")
class EmptyChunkRegistered(SendingModel):
    """Says of a chunk without pages that its layers will be sent early."""

    def register(self, room: int, pages: Sequence[int], first_position: int, is_last: bool) -> bool:  # noqa: FBT001
        return super().register(room, pages, first_position, is_last) or (not pages and not self.is_off())


@mutant("overlap.registered-behind-a-gap", kills="RFC-0013:C-CONTEXTS#S2")
class RegisteredBehindAGap(SendingModel):
    """Registers a chunk wherever it begins."""

    def follows(self, asked: Chunk, before: Sequence[Chunk]) -> bool:
        return super().follows(asked, before) or before is not asked.room.sent


@mutant("overlap.registered-although-ended", kills="RFC-0013:C-CONTEXTS#S2")
class RegisteredAlthoughEnded(SendingModel):
    """Registers chunks of rooms that have failed."""

    def declines(self, chunk: Chunk) -> bool:
        reason, chunk.room.reason = chunk.room.reason, ""
        found = super().declines(chunk)
        chunk.room.reason = reason
        return found


@mutant("overlap.other-pages-are-welcome", kills="RFC-0013:C-CONTEXTS#S2")
class OtherPagesAreWelcome(SendingModel):
    """Says yes to a chunk that is registered, whatever its pages are now."""

    def register_again(self, known: Chunk, pages: tuple[int, ...], *, is_last: bool) -> bool:
        super().register_again(known, pages, is_last=is_last)
        return True


@mutant("overlap.unknown-room-raises", kills="RFC-0013:C-CONTEXTS#S3")
class UnknownRoomRaises(SendingModel):
    """Refuses to register a chunk of a room that it does not know."""

    def register(self, room: int, pages: Sequence[int], first_position: int, is_last: bool) -> bool:  # noqa: FBT001
        self.required(room)
        return super().register(room, pages, first_position, is_last)


@mutant("overlap.pages-are-checked", kills="RFC-0013:C-CONTEXTS#S3")
class PagesAreChecked(SendingModel):
    """Refuses pages that a send would refuse, where the scheduler only wanted to know."""

    def would_be_refused(self, chunk: Chunk) -> bool:
        for reason in sorted(self.page_faults(chunk.pages)):
            raise Rejected(reason)
        return super().would_be_refused(chunk)


@mutant("overlap.truth-of-the-pages", kills="RFC-0013:C-CONTEXTS#S3")
class TruthOfThePages(SendingModel):
    """Asks pages for their truth where it wants their number, and falls over several."""

    def declines(self, chunk: Chunk) -> bool:
        if len(chunk.pages) > 1:
            raise Rejected(Reason.PAGE_COUNTS_DIFFER)
        return super().declines(chunk)


@mutant("overlap.silent-fallback", kills="RFC-0013:C-CONTEXTS#S4")
class SilentFallback(SendingModel):
    """Declines without leaving an event."""

    def tell(self, kind: str, reason: str, layer: int = -1) -> None:
        if reason != "overlap_declined":
            super().tell(kind, reason, layer)


@mutant("overlap.loud-when-off", kills="RFC-0013:C-CONTEXTS#S4")
class LoudWhenOff(SendingModel):
    """Calls it a fallback where overlap is off."""

    def register(self, room: int, pages: Sequence[int], first_position: int, is_last: bool) -> bool:  # noqa: FBT001
        if self.is_off():
            self.tell("fallback", "overlap_declined")
        return super().register(room, pages, first_position, is_last)


@mutant("overlap.loud-again", kills="RFC-0013:C-CONTEXTS#S4")
class LoudAgain(SendingModel):
    """Calls it a fallback where a chunk is registered for the second time."""

    def register_again(self, known: Chunk, pages: tuple[int, ...], *, is_last: bool) -> bool:
        if (known.pages, known.is_last) == (pages, is_last):
            self.tell("fallback", "overlap_declined")
        return super().register_again(known, pages, is_last=is_last)


# -- what becomes of a registration ----------------------------------------------------------------------------------


@mutant("overlap.registration-overwritten", kills="RFC-0013:C-CONTEXTS#S5")
class RegistrationOverwritten(SendingModel):
    """Builds the context anew at each look at the batch, and forgets what was told and submitted."""

    def register_again(self, known: Chunk, pages: tuple[int, ...], *, is_last: bool) -> bool:
        found = super().register_again(known, pages, is_last=is_last)
        if found:
            known.told, known.assigned = set(), set()
        return found


@mutant("overlap.registration-gets-other-pages", kills="RFC-0013:C-CONTEXTS#S5")
class RegistrationGetsOtherPages(SendingModel):
    """Declines other pages for a chunk, drops the context all the same."""

    def register_again(self, known: Chunk, pages: tuple[int, ...], *, is_last: bool) -> bool:
        found = super().register_again(known, pages, is_last=is_last)
        if not found:
            self.contexts_open.remove(known)
        return found


@mutant("overlap.registered-twice", kills="RFC-0013:C-CONTEXTS#S5")
class RegisteredTwice(SendingModel):
    """Keeps a context for each time that a chunk was registered."""

    def register_again(self, known: Chunk, pages: tuple[int, ...], *, is_last: bool) -> bool:
        found = super().register_again(known, pages, is_last=is_last)
        if found:
            self.contexts_open.append(Chunk(room=known.room, first=known.first, pages=pages, is_last=is_last))
        return found


@mutant("overlap.next-chunk-overwrites", kills="RFC-0013:C-CONTEXTS#S6")
class NextChunkOverwrites(SendingModel):
    """Knows contexts by the room alone, so that a chunk takes the place of the one before it."""

    def register(self, room: int, pages: Sequence[int], first_position: int, is_last: bool) -> bool:  # noqa: FBT001
        before = list(self.contexts_open)
        found = super().register(room, pages, first_position, is_last)
        if len(self.contexts_open) > len(before):
            self.contexts_open = [each for each in self.contexts_open if each not in before or each.room.room != room]
        return found


@mutant("overlap.newest-first", kills="RFC-0013:C-CONTEXTS#S6")
class NewestFirst(SendingModel):
    """Keeps contexts in a stack."""

    def contexts(self) -> tuple[OverlapContext, ...]:
        return tuple(reversed(super().contexts()))


@mutant("overlap.context-of-a-rank-without-pages", kills="RFC-0013:C-CONTEXTS#S6")
class ContextOfARankWithoutPages(SendingModel):
    """Keeps a context on every rank, and waits there for layers that it does not have."""

    def ranks_with_pages(self, context: Chunk) -> list[int]:
        del context
        return list(range(self.config.cp_size))


@mutant("overlap.other-pages-are-sent", kills="RFC-0013:C-CONTEXTS#S7")
class OtherPagesAreSent(SendingModel):
    """Sends the pages that are named, whatever was registered."""

    def send_faults(self, asked: Chunk) -> frozenset[Reason]:
        return super().send_faults(asked) - {Reason.CONTEXT_DIFFERS}


@mutant("overlap.other-end-is-sent", kills="RFC-0013:C-CONTEXTS#S7")
class OtherEndIsSent(SendingModel):
    """Compares the pages of a chunk with its context, and not whether it is the last."""

    def send_faults(self, asked: Chunk) -> frozenset[Reason]:
        context = self.context_of(asked.room, asked.first)
        is_same = context is not None and context.pages == asked.pages
        return super().send_faults(asked) - (frozenset({Reason.CONTEXT_DIFFERS}) if is_same else frozenset())


@mutant("overlap.context-does-not-pin", kills="RFC-0013:C-CONTEXTS#S8")
class ContextDoesNotPin(SendingModel):
    """Pins pages when they are submitted, not when they are registered."""

    def context_pins(self, chunk: Chunk) -> bool:
        del chunk
        return False


@mutant("overlap.first-context-pins", kills="RFC-0013:C-CONTEXTS#S8")
class FirstContextPins(SendingModel):
    """Pins the pages of the chunk of a room that is sent next, not of those behind it."""

    def context_pins(self, chunk: Chunk) -> bool:
        return self.is_next(chunk.room, chunk)

    def is_next(self, room: PrefillRoom, chunk: Chunk) -> bool:
        """Say whether a chunk follows on what was sent."""
        return self.contexts_of(room)[:1] == [chunk]
