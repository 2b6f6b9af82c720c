"""Wrong, and odd but right, variants of storage: what is written of a page, by whom, and what counts as a hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.host_tier_copies import SAVE, sources_of
from sharedkv_conformance.model.host_tier_tree import Node
from sharedkv_conformance.model.storage import StorageModel
from sharedkv_conformance.model.storage_keys import digest_of
from sharedkv_conformance.model.storage_objects import KV
from sharedkv_conformance.model.storage_saves import BackedUpPage


@mutant("storage.copy-of-nothing", kills="RFC-0010:C-OBJECTS#S1")
class CopyOfNothing(StorageModel):
    """Submits a copy also where every page is stored."""

    def save(self, tokens: Sequence[int]) -> int:
        number = super().save(tokens)
        if number < 0 and any(self.backed_up(tokens)):
            number = self.tier.number_copy()
            self.tier.ledger.submit(number, SAVE, sources_of(self.config), 0)
        return number


@mutant("storage.saved-once", kills="RFC-0010:C-OBJECTS#S1")
class SavedOnce(StorageModel):
    """Takes a prefix of which the first page is stored for stored."""

    def save(self, tokens: Sequence[int]) -> int:
        return -1 if self.query(tokens) else super().save(tokens)


@mutant("storage.rank-zero-alone-writes", kills="RFC-0010:C-OBJECTS#S2")
class RankZeroAloneWrites(StorageModel):
    """Lets rank 0 write, as where all ranks hold the same: the pages of every other lane are never there."""

    def write(self, page: BackedUpPage) -> None:
        if page.host[0] == 0:
            super().write(page)


@mutant("storage.index-not-written", kills="RFC-0010:C-OBJECTS#S2")
class IndexNotWritten(StorageModel):
    """Writes no index rows."""

    def parts_to_write(self, page: BackedUpPage) -> tuple[str, ...]:
        return tuple(part for part in super().parts_to_write(page) if part != "index")


@mutant("storage.draft-not-written", kills="RFC-0010:C-OBJECTS#S2")
class DraftNotWritten(StorageModel):
    """Writes nothing of the draft."""

    def parts_to_write(self, page: BackedUpPage) -> tuple[str, ...]:
        return tuple(part for part in super().parts_to_write(page) if part != "draft")


@mutant("storage.last-page-not-written", kills="RFC-0010:C-OBJECTS#S2")
class LastPageNotWritten(StorageModel):
    """Leaves the last of several pages out."""

    def save(self, tokens: Sequence[int]) -> int:
        pages = [page.key for page in self.backed_up(tokens) if self.is_to_write(page)]
        self.left_out = pages[-1] if len(pages) > 1 else ""
        return super().save(tokens)

    def write(self, page: BackedUpPage) -> None:
        if page.key != self.left_out:
            super().write(page)


@mutant("storage.lane-of-the-position", kills="RFC-0010:C-OBJECTS#S3")
class LaneOfThePosition(StorageModel):
    """Keeps the lane that a page has where every prefix begins on lane 0."""

    def save(self, tokens: Sequence[int]) -> int:
        self.positions = {key: at for at, key in enumerate(self.own_keys(tokens))}
        return super().save(tokens)

    def lane_kept(self, page: BackedUpPage) -> int:
        return self.positions[page.key] % self.config.cp_size


@mutant("storage.no-lane-kept", kills="RFC-0010:C-OBJECTS#S3")
class NoLaneKept(StorageModel):
    """Keeps lane 0 with every object."""

    def lane_kept(self, page: BackedUpPage) -> int:
        del page
        return 0


@mutant("storage.rank-zero-writes-all", kills="RFC-0010:C-OBJECTS#S4")
class RankZeroWritesAll(StorageModel):
    """Lets rank 0 write the pages of every lane from its own memory."""

    def writer(self, page: BackedUpPage) -> int:
        del page
        return 0


@mutant("storage.draft-by-rank-zero", kills="RFC-0010:C-OBJECTS#S4")
class DraftByRankZero(StorageModel):
    """Lets rank 0 write the draft, which it thinks is the same everywhere."""

    def write(self, page: BackedUpPage) -> None:
        super().write(page)
        for part in self.parts:
            found = self.store.find(page.key, part)
            if part == "draft" and found is not None:
                self.store.put(page.key, part, replace(found, writer=0))


@mutant("storage.written-without-fields", kills="RFC-0010:C-OBJECTS#S5")
class WrittenWithoutFields(StorageModel):
    """Makes the keys of what it writes in a way of its own that knows no fields."""

    def key_written(self, page: BackedUpPage) -> str:
        return digest_of(page.key) if self.config.storage.fields else page.key


@mutant("storage.key-of-the-next-page", kills="RFC-0010:C-OBJECTS#S5")
class KeyOfTheNextPage(StorageModel):
    """Writes pages of lane 1 under a key of their own."""

    def key_written(self, page: BackedUpPage) -> str:
        return digest_of(page.key) if page.host[0] == 1 else page.key


@mutant("storage.pending-pages-written", kills="RFC-0010:C-OBJECTS#S6")
class PendingPagesWritten(StorageModel):
    """Writes also what is behind the pages that are backed up and has host pages whose backup is in flight."""

    def may_be_saved(self, node: Node) -> bool:
        above = list(self.tier.tree.above(node))
        return super().may_be_saved(node) or (bool(node.host) and any(map(super().may_be_saved, above)))

    def save(self, tokens: Sequence[int]) -> int:
        ready = [node for node, _ in self.tier.tree.walk(tokens) if self.tier.is_backed_up(node)]
        unsaved = any(map(self.is_to_write, super().backed_up(self.tier.tree.path(ready[-1])))) if ready else False
        return super().save(tokens) if unsaved else -1


@mutant("storage.stored-pages-written", kills="RFC-0010:C-OBJECTS#S6")
class StoredPagesWritten(StorageModel):
    """Writes every page of a prefix once more where one of them is not stored."""

    def save(self, tokens: Sequence[int]) -> int:
        pages = list(self.backed_up(tokens))
        number = super().save(tokens)
        for page in pages if number >= 0 else ():
            self.write(page)
        return number


@mutant("storage.ambiguous-session-opened", kills="RFC-0010:C-OBJECTS#S7")
class AmbiguousSessionOpened(StorageModel):
    """Opens a session whose namespace has a field twice."""

    @classmethod
    def refuse_config(cls, config: OpenConfig) -> None:
        del config


class OwnQuery(StorageModel):
    """Counts hits in a way of its own; saves and fetches look as they should."""

    def query(self, tokens: Sequence[int]) -> int:
        keys = self.own_keys(tokens)
        return next((at for at, key in enumerate(keys) if not self.counts(key)), len(keys))

    def counts(self, key: str) -> bool:
        """Say whether a page counts as a hit."""
        return self.is_stored(key)

    def is_spoiled(self, key: str) -> bool:
        """Say whether an object of a page is there and not whole."""
        found = [self.store.find(key, part) for part in self.parts]
        return any(stored is not None and stored.fault for stored in found)


@mutant("storage.hit-of-kv", kills="RFC-0010:C-HITS#S1")
class HitOfKv(OwnQuery):
    """Looks at the first part of a page alone."""

    def counts(self, key: str) -> bool:
        return self.is_whole(key, KV) and not self.is_spoiled(key)


@mutant("storage.hit-without-draft", kills="RFC-0010:C-HITS#S1")
class HitWithoutDraft(OwnQuery):
    """Does without the draft: it makes no wrong tokens, only fewer."""

    def counts(self, key: str) -> bool:
        needed = [part for part in self.parts if part != "draft"]
        return all(self.is_whole(key, part) for part in needed) and not self.is_spoiled(key)


@mutant("storage.hit-of-any-part", kills="RFC-0010:C-HITS#S1")
class HitOfAnyPart(OwnQuery):
    """Counts a page of which one part is there, and nothing is spoiled."""

    def counts(self, key: str) -> bool:
        return any(self.store.find(key, part) for part in self.parts) and not self.is_spoiled(key)


class Trusting(OwnQuery):
    """Trusts objects that were spoiled in one way."""

    trusted = ""

    def counts(self, key: str) -> bool:
        found = [self.store.find(key, part) for part in self.parts]
        return all(stored is not None and stored.fault in ("", self.trusted) for stored in found)


@mutant("storage.short-object-trusted", kills="RFC-0010:C-HITS#S2")
class ShortObjectTrusted(Trusting):
    """Looks whether an object is there, not how long it is."""

    trusted = "truncated"


@mutant("storage.altered-object-trusted", kills="RFC-0010:C-HITS#S2")
class AlteredObjectTrusted(Trusting):
    """Looks how long an object is, not what is in it."""

    trusted = "flipped"


@mutant("storage.foreign-object-trusted", kills="RFC-0010:C-HITS#S2")
class ForeignObjectTrusted(Trusting):
    """Looks whether an object is whole, not whose it is."""

    trusted = "foreign"


@mutant("storage.hit-of-one-lane", kills="RFC-0010:C-HITS#S3")
class HitOfOneLane(OwnQuery):
    """Ends a hit at the first page that does not lie on lane 0."""

    def counts(self, key: str) -> bool:
        return super().counts(key) and self.lane_of(key) == 0


@mutant("storage.hit-of-all-or-nothing", kills="RFC-0010:C-HITS#S3")
class HitOfAllOrNothing(OwnQuery):
    """Counts nothing where not all of the prefix is stored."""

    def query(self, tokens: Sequence[int]) -> int:
        found = super().query(tokens)
        return found if found == len(self.own_keys(tokens)) else 0


@mutant("storage.store-of-the-session", kills="RFC-0010:C-HITS#S4")
class StoreOfTheSession(OwnQuery):
    """Finds what the session wrote itself and nothing else."""

    def write(self, page: BackedUpPage) -> None:
        super().write(page)
        self.written = {*getattr(self, "written", ()), page.key}

    def counts(self, key: str) -> bool:
        return super().counts(key) and (not self.config.storage.store or key in getattr(self, "written", ()))


@mutant("storage.found-by-tokens", kills="RFC-0010:C-HITS#S4")
class FoundByTokens(OwnQuery):
    """Finds pages by their tokens, whatever namespace they were stored for."""

    def save(self, tokens: Sequence[int]) -> int:
        keys = self.own_keys(tokens)
        named = vars(self.store).setdefault("named", {})
        named |= {tuple(tokens[: at * self.config.page_size]): key for at, key in enumerate(keys, 1)}
        return super().save(tokens)

    def query(self, tokens: Sequence[int]) -> int:
        named = vars(self.store).get("named", {})
        ends = range(self.config.page_size, len(tokens) + 1, self.config.page_size)
        found = [self.counts(named.get(tuple(tokens[:end]), "")) for end in ends]
        return found.index(False) if False in found else len(found)


@mutant("storage.ranks-count-for-themselves", kills="RFC-0010:C-RANKS#S1")
class RanksCountForThemselves(OwnQuery):
    """Lets rank 0 ask for all lanes, and every other rank count up to the first page that is not its own."""

    def counts(self, key: str) -> bool:
        return super().counts(key) and self.config.rank in (0, self.lane_of(key))


@mutant("storage.quota-of-rank-zero", kills="RFC-0010:C-RANKS#S1")
class QuotaOfRankZero(StorageModel):
    """Lets rank 0 alone look at the quota."""

    def declines(self, pages: int) -> bool:
        return super().declines(pages) if self.config.rank == 0 else self.is_too_small(pages)


@benign("storage.objects-late")
class ObjectsLate(StorageModel):
    """Writes the objects of a save when it is acknowledged, not before."""

    def save(self, tokens: Sequence[int]) -> int:
        shown, self.store = self.store, self.store.twin()
        number = super().save(tokens)
        self.late = {
            **getattr(self, "late", {}),
            number: {name: stored for name, stored in self.store.objects.items() if shown.find(*name) is not stored},
        }
        self.store = shown
        return number

    def acknowledged(self, copy: int) -> None:
        super().acknowledged(copy)
        for (key, part), stored in getattr(self, "late", {}).pop(copy, {}).items():
            self.store.put(key, part, stored)


@benign("storage.short-keys")
class ShortKeys(StorageModel):
    """Has keys of half the length, with a mark before them."""

    def link(self, before: str, tokens: Sequence[int]) -> str:
        return "page-" + super().link(before, tokens)[:32]
