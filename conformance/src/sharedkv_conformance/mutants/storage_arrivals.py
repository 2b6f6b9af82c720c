"""Wrong variants of how fetches come in: what is known of their plan, what has arrived, and when they are done."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.storage import FetchStatus
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.storage import StorageModel
from sharedkv_conformance.model.storage_fetches import BEST_EFFORT, POLICIES, TIMEOUT, Fetch, PlannedPage


@mutant("storage.plan-known-at-once", kills="RFC-0010:C-FETCH#S7")
class PlanKnownAtOnce(StorageModel):
    """Says what is planned before any rank has looked."""

    def num_planned(self, fetch: Fetch) -> int:
        return len(fetch.plan)


@mutant("storage.plan-of-one-rank", kills="RFC-0010:C-FETCH#S7")
class PlanOfOneRank(StorageModel):
    """Takes the plan for known when one rank has looked."""

    def num_planned(self, fetch: Fetch) -> int:
        return 0 if len(fetch.unlooked) == self.config.cp_size else len(fetch.plan)


@mutant("storage.plan-of-all-tokens", kills="RFC-0010:C-FETCH#S7")
class PlanOfAllTokens(StorageModel):
    """Says that all pages of the prefix are planned, the tree's among them."""

    def check(self, fetch: int) -> FetchStatus:
        found = super().check(fetch)
        pages = len(self.known(fetch).tokens) // self.config.page_size
        planned = pages if found.planned else 0
        return FetchStatus(planned=planned, arrived=found.arrived, is_done=found.is_done)


class OwnCount(StorageModel):
    """Says in a way of its own how much has arrived; publishes as it should."""

    def check(self, fetch: int) -> FetchStatus:
        found, own = super().check(fetch), self.known(fetch)
        counted = min(self.num_planned(own), self.count(own))
        return FetchStatus(planned=found.planned, arrived=counted, is_done=found.is_done)

    def count(self, fetch: Fetch) -> int:
        """Count the arrived pages of a fetch."""
        return min(fetch.arrived.values())


@mutant("storage.arrived-in-one-part", kills="RFC-0010:C-FETCH#S8")
class ArrivedInOnePart(OwnCount):
    """Counts the pages that have arrived in any part, as far as they can be read in all."""

    def count(self, fetch: Fetch) -> int:
        least, most = min(fetch.arrived.values()), max(fetch.arrived.values())
        while least < most and all(self.is_readable(fetch.plan[least], part) for part in self.parts):
            least += 1
        return least


@mutant("storage.arrived-when-complete", kills="RFC-0010:C-FETCH#S8")
class ArrivedWhenComplete(OwnCount):
    """Counts nothing before all of the plan has arrived."""

    def count(self, fetch: Fetch) -> int:
        found = super().count(fetch)
        return found if found == len(fetch.plan) else 0


class Unread(StorageModel):
    """Lets objects arrive that were spoiled in one way after the plan was made."""

    trusted: tuple[str, ...] = ()

    def is_readable(self, page: PlannedPage, part: str) -> bool:
        found = self.store.find(page.key, part)
        if found is None:
            return "lost" in self.trusted
        return found.lane == page.lane and (not found.fault or found.fault in self.trusted)


@mutant("storage.moved-object-arrives", kills="RFC-0010:C-FETCH#S9")
class MovedObjectArrives(StorageModel):
    """Takes an object that was written anew on another lane since the plan was made."""

    def is_readable(self, page: PlannedPage, part: str) -> bool:
        return self.is_whole(page.key, part)


@mutant("storage.lost-object-arrives", kills="RFC-0010:C-FETCH#S9")
class LostObjectArrives(Unread):
    """Counts the read of an object that is not there any more."""

    trusted = ("lost",)


@mutant("storage.short-object-arrives", kills="RFC-0010:C-FETCH#S9")
class ShortObjectArrives(Unread):
    """Takes what there is of an object that was cut short."""

    trusted = ("truncated",)


@mutant("storage.altered-object-arrives", kills="RFC-0010:C-FETCH#S9")
class AlteredObjectArrives(Unread):
    """Looks at the checksum of an object when it plans, and not when it reads."""

    trusted = ("flipped", "foreign")


@mutant("storage.best-effort-waits", kills="RFC-0010:C-FETCH#S10")
class BestEffortWaits(StorageModel):
    """Lets a fetch of best effort end when it is complete."""

    def may_end(self, fetch: Fetch, planned: int, arrived: int) -> bool:
        return (
            self.is_complete(planned, arrived)
            if fetch.policy == BEST_EFFORT
            else super().may_end(fetch, planned, arrived)
        )


@mutant("storage.best-effort-waits-for-the-plan", kills="RFC-0010:C-FETCH#S10")
class BestEffortWaitsForThePlan(StorageModel):
    """Lets a fetch of best effort end when its plan is known."""

    def may_end(self, fetch: Fetch, planned: int, arrived: int) -> bool:
        return super().may_end(fetch, planned, arrived) and (fetch.policy != BEST_EFFORT or planned > 0)


@mutant("storage.complete-without-a-plan", kills="RFC-0010:C-FETCH#S11")
class CompleteWithoutAPlan(StorageModel):
    """Takes a fetch that is to wait for complete while nothing is planned yet: nothing of nothing has arrived."""

    def may_end(self, fetch: Fetch, planned: int, arrived: int) -> bool:
        return super().may_end(fetch, planned, arrived) or (fetch.policy == "wait_complete" and arrived == planned)


@mutant("storage.complete-in-part", kills="RFC-0010:C-FETCH#S11")
class CompleteInPart(StorageModel):
    """Lets a fetch that is to wait end when one page has arrived."""

    def may_end(self, fetch: Fetch, planned: int, arrived: int) -> bool:
        return super().may_end(fetch, planned, arrived) or (fetch.policy == "wait_complete" and arrived > 0)


@mutant("storage.never-complete", kills="RFC-0010:C-FETCH#S11")
class NeverComplete(StorageModel):
    """Waits for a page more than is planned."""

    def may_end(self, fetch: Fetch, planned: int, arrived: int) -> bool:
        return super().may_end(fetch, planned, arrived) and fetch.policy != "wait_complete"


@mutant("storage.time-out-for-all", kills="RFC-0010:C-FETCH#S11")
class TimeOutForAll(StorageModel):
    """Lets every fetch end when its time is over."""

    def may_end(self, fetch: Fetch, planned: int, arrived: int) -> bool:
        return super().may_end(fetch, planned, arrived) or self.is_over(fetch)


@mutant("storage.time-of-the-session", kills="RFC-0010:C-FETCH#S12")
class TimeOfTheSession(StorageModel):
    """Counts the time of a fetch from the opening of the session."""

    def is_over(self, fetch: Fetch) -> bool:
        return self.clock >= fetch.timeout


@mutant("storage.time-out-of-a-known-plan", kills="RFC-0010:C-FETCH#S12")
class TimeOutOfAKnownPlan(StorageModel):
    """Waits beyond the timeout where the plan is not known yet."""

    def is_over(self, fetch: Fetch) -> bool:
        return super().is_over(fetch) and not fetch.unlooked


@mutant("storage.no-time-out", kills="RFC-0010:C-FETCH#S12")
class NoTimeOut(StorageModel):
    """Waits for a fetch with a timeout until it is complete."""

    def is_over(self, fetch: Fetch) -> bool:
        del fetch
        return False


@mutant("storage.time-out-must-pass", kills="RFC-0010:C-FETCH#S12")
class TimeOutMustPass(StorageModel):
    """Lets a fetch with a timeout end only when that is over, complete or not."""

    def may_end(self, fetch: Fetch, planned: int, arrived: int) -> bool:
        return self.is_over(fetch) if fetch.policy == TIMEOUT else super().may_end(fetch, planned, arrived)


@mutant("storage.policies-are-hints", kills="RFC-0010:C-FETCH#S13")
class PoliciesAreHints(StorageModel):
    """Takes a policy that it does not know for best effort."""

    def fetch(self, tokens: Sequence[int], policy: str, timeout: int) -> int:
        return super().fetch(tokens, policy if policy in POLICIES else BEST_EFFORT, timeout)


@mutant("storage.ended-twice", kills="RFC-0010:C-FETCH#S13")
class EndedTwice(StorageModel):
    """Ends a fetch that has ended once more, and says that nothing was published."""

    def end(self, fetch: int) -> int:
        return super().end(fetch) if fetch in self.fetches else 0


@benign("storage.numbers-far-apart")
class NumbersFarApart(StorageModel):
    """Numbers fetches far away from copies."""

    def begin_fetch(self, fetch: Fetch) -> int:
        self.tier.next_copy += 1000
        return super().begin_fetch(fetch)
