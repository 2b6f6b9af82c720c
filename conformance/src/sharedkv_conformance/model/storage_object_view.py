"""The objects that a store shows, held against those that have to be there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from sharedkv_conformance.contract.probe import StoredObject
from sharedkv_conformance.model.host_tier_tree_view import Difference
from sharedkv_conformance.model.storage_objects import Stored

Named = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class DueObjects:
    """What a store has to show, by the keys of the model.

    `names` has the model's key for each key that was given. Objects of `unsure` keys may be there or not; `saved` are
    the keys of which a save was acknowledged just now.
    """

    whole: Mapping[Named, Stored]
    parts: Sequence[str]
    names: Mapping[str, str]
    unsure: AbstractSet[str]
    saved: AbstractSet[str]

    def differences(self, shown: Sequence[StoredObject]) -> Mapping[str, tuple[Difference, ...]]:
        """Return in what the objects differ: `strange`, else `missing`; `extra`, `rewritten`, `lane`, `writer`."""
        there = {(self.names[each.key], each.part): each for each in shown if self._is_named(each)}
        strange = self._strange(shown)
        found = {
            "strange": strange,
            "missing": [] if strange else self._missing(there),
            "extra": [
                f"part {part} of page {key[:8]} is there, and nobody had to write it"
                for key, part in there
                if (key, part) not in self.whole and key not in self.unsure
            ],
            "rewritten": self._rewritten(there),
            **self._ours(there),
        }
        return {name: tuple(Difference((), text) for text in told) for name, told in found.items() if told}

    def _is_named(self, each: StoredObject) -> bool:
        return each.key in self.names and each.part in self.parts

    def _strange(self, shown: Sequence[StoredObject]) -> list[str]:
        """Return objects that are no part of a page, where every key that may be there is known."""
        known = set(self.names.values())
        if not all(key in known for key, _ in self.whole):
            return []
        return [f"{each.key!r}, part {each.part!r}, is no part of a page" for each in shown if not self._is_named(each)]

    def _missing(self, there: Mapping[Named, StoredObject]) -> list[str]:
        known = set(self.names.values())
        return [
            f"part {part} of page {key[:8]} is not there"
            for key, part in self.whole
            if (key, part) not in there and key in known and key not in self.unsure
        ]

    def _rewritten(self, there: Mapping[Named, StoredObject]) -> list[str]:
        return [
            f"part {each.part} has lane {each.lane}, and was stored on lane {self.whole[name].lane} before"
            for name, each in there.items()
            if name in self.whole
            and (each.lane, each.writer) != (self.whole[name].lane, self.whole[name].writer)
            and name[0] not in self.saved | self.unsure
        ]

    def _ours(self, there: Mapping[Named, StoredObject]) -> Mapping[str, list[str]]:
        """Return what is wrong with the objects of the save that was acknowledged just now."""
        ours = [
            (each, self.whole[name])
            for name, each in there.items()
            if name in self.whole and name[0] in self.saved - self.unsure
        ]
        return {
            "lane": [
                f"part {each.part} is kept with lane {each.lane}, its host page lies on lane {stored.lane}"
                for each, stored in ours
                if each.lane != stored.lane
            ],
            "writer": [
                f"part {each.part} of a page of lane {stored.lane} was written by rank {each.writer}"
                for each, stored in ours
                if each.lane == stored.lane and each.writer != stored.writer
            ],
        }
