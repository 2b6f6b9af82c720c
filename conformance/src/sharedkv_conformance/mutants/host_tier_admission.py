"""Wrong, and odd but right, variants of admission: who is given host pages, who gives way, what is given back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sharedkv_conformance.contract.errors import CapacityWait, Rejected
from sharedkv_conformance.contract.host_tier import BackupRequest, HostAdmission
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_refusals import admit_refusals
from sharedkv_conformance.model.host_tier_tree import HostPage, Node


@mutant("host_tier.partial-page-reserved", kills="RFC-0006:C-ADMISSION#S1")
class PartialPageReserved(HostTierModel):
    """Reserves a host page for a page that is not full too, where one is free."""

    def reserve(self, request: BackupRequest) -> int:
        count = super().reserve(request)
        rest = request.pages[count:]
        if not count or not rest or not self._is_free(rest[0]):
            return count
        self.reservations[request.request][rest[0]] = self.take_host(self.lanes_of(rest[:1]))[0]
        return count + 1

    def _is_free(self, page: int) -> bool:
        return self.lanes[self.geometry.lane(page)].num_free > 0


@mutant("host_tier.reserved-on-the-first-lane", kills="RFC-0006:C-ADMISSION#S2")
class ReservedOnTheFirstLane(HostTierModel):
    """Takes the last host page of a batch from the first lane, where one is left."""

    def admit(self, batch: Sequence[BackupRequest]) -> HostAdmission:
        given = super().admit(batch)
        served = [request.request for request, count in zip(batch, given.reserved, strict=True) if count]
        if served and self.lanes[0].num_free:
            reserved = self.reservations[served[-1]]
            page, (lane, number) = list(reserved.items())[-1]
            self.lanes[lane].give([number])
            reserved[page] = (0, self.take(0, 1)[0])
        return given


@mutant("host_tier.eviction-a-request", kills="RFC-0006:C-ADMISSION#S3")
class EvictionARequest(HostTierModel):
    """Makes room for one request of a batch after the other."""

    def make_room_for(self, batch: Sequence[BackupRequest]) -> None:
        if not self._could_fit(batch):
            return
        held = []
        for request in batch:
            if self.make_host_fit(self.admission_need([request])):
                held += self.take_host(self.lanes_of(self.full_pages(request)))
        self.give_host(held)

    def _could_fit(self, batch: Sequence[BackupRequest]) -> bool:
        need = self.admission_need(batch)
        plan = self.planner.plan_load_back(self.tree.on_host(), self.host_shortage(need, self.free()))
        return not any(plan.remaining)


@mutant("host_tier.room-decided-by-the-sum", kills="RFC-0006:C-ADMISSION#S3")
class RoomDecidedByTheSum(HostTierModel):
    """Makes no room for a batch where fewer host pages are needed in all than are free in all."""

    def make_room_for(self, batch: Sequence[BackupRequest]) -> None:
        if sum(self.admission_need(batch)) > sum(self.free()):
            super().make_room_for(batch)


@mutant("host_tier.whole-need-evicted", kills="RFC-0006:C-ADMISSION#S3")
class WholeNeedEvicted(HostTierModel):
    """Evicts what a batch needs of a lane that is short, and not what the lane lacks, where there is as much."""

    def make_room_for(self, batch: Sequence[BackupRequest]) -> None:
        need, free = self.admission_need(batch), self.free()
        if not self.fits(need):
            whole = tuple(want if want > have else 0 for want, have in zip(need, free, strict=True))
            plan = self.planner.plan_load_back(self.tree.on_host(), whole)
            if not any(plan.remaining):
                self.carry_out_on_host(plan)
        super().make_room_for(batch)


@mutant("host_tier.evicts-as-far-as-it-goes", kills="RFC-0006:C-ADMISSION#S4")
class EvictsAsFarAsItGoes(HostTierModel):
    """Evicts for a batch what can go, also where that is not enough."""

    def make_room_for(self, batch: Sequence[BackupRequest]) -> None:
        need = self.admission_need(batch)
        if not self.make_host_fit(need):
            self.carry_out_on_host(self.planner.plan(self.tree.on_host(), self.host_shortage(need, self.free())))


@mutant("host_tier.last-request-first", kills="RFC-0006:C-ADMISSION#S5")
class LastRequestFirst(HostTierModel):
    """Serves the requests of a batch that does not fit from the last one on."""

    def admit(self, batch: Sequence[BackupRequest]) -> HostAdmission:
        given = super().admit(batch)
        if self._is_served(batch, given):
            return given
        for request in batch:
            self.give_host(self.reservations.pop(request.request, {}).values())
        reserved = [self.reserve(request) for request in reversed(batch)]
        return HostAdmission(reserved=tuple(reversed(reserved)), evicted=given.evicted)

    def _is_served(self, batch: Sequence[BackupRequest], given: HostAdmission) -> bool:
        return given.reserved == tuple(len(self.full_pages(request)) for request in batch)


@mutant("host_tier.part-of-a-request", kills="RFC-0006:C-ADMISSION#S5")
class PartOfARequest(HostTierModel):
    """Gives a request the host pages of those lanes that have enough."""

    def reserve(self, request: BackupRequest) -> int:
        need, free = self.admission_need([request]), self.free()
        if self.fits(need):
            return super().reserve(request)
        pages = [page for page in self.full_pages(request) if need[self.geometry.lane(page)] <= free[self._lane(page)]]
        if pages:
            self.reservations[request.request] = dict(zip(pages, self.take_host(self.lanes_of(pages)), strict=True))
        return len(pages)

    def _lane(self, page: int) -> int:
        return self.geometry.lane(page)


@mutant("host_tier.admission-waits", kills="RFC-0006:C-ADMISSION#S5")
class AdmissionWaits(HostTierModel):
    """Answers a batch that does not fit with a capacity wait."""

    def make_room_for(self, batch: Sequence[BackupRequest]) -> None:
        need = self.admission_need(batch)
        if not self.make_host_fit(need):
            free = self.free()
            raise CapacityWait(required=need, available=free, deficit=self.host_shortage(need, free))


@mutant("host_tier.one-request-a-batch", kills="RFC-0006:C-ADMISSION#S6")
class OneRequestABatch(HostTierModel):
    """Serves one request of a batch that fits and leaves the others to the next one."""

    def admit(self, batch: Sequence[BackupRequest]) -> HostAdmission:
        need = self.admission_need(batch)
        given = super().admit(batch)
        if sum(map(bool, given.reserved)) < 2 or any(map(bool, given.evicted)) or not any(need):  # noqa: PLR2004
            return given
        first = given.reserved.index(next(filter(None, given.reserved)))
        if any(len(self.full_pages(r)) != count for r, count in zip(batch, given.reserved, strict=True)):
            return given
        for request in batch[first + 1 :]:
            self.give_host(self.reservations.pop(request.request, {}).values())
        return HostAdmission(
            reserved=tuple(count if at <= first else 0 for at, count in enumerate(given.reserved)),
            evicted=given.evicted,
        )


@mutant("host_tier.cancel-of-a-batch", kills="RFC-0006:C-ADMISSION#S7")
class CancelOfABatch(HostTierModel):
    """Gives back what every request has when one is cancelled, and forgets it at that."""

    def cancel(self, request: str) -> None:
        super().cancel(request)
        for other in list(self.reservations):
            self.give_reserved(other, self.reservations[other])
            self.reservations[other] = {}


@mutant("host_tier.cancel-of-the-first-page", kills="RFC-0006:C-ADMISSION#S7")
class CancelOfTheFirstPage(HostTierModel):
    """Gives one host page of a cancelled request back and loses the others."""

    def cancel(self, request: str) -> None:
        reserved = self.reservations.get(request, {})
        self.reservations[request] = dict(list(reserved.items())[:1])
        if not reserved:
            del self.reservations[request]
        super().cancel(request)


@mutant("host_tier.rest-of-a-reservation-lost", kills="RFC-0006:C-ADMISSION#S8")
class RestOfAReservationLost(HostTierModel):
    """Forgets what an insert does not take of the reservation of its request."""

    def use_reservation(
        self, request: str, way: Sequence[Node], new: Sequence[int], reserved: Mapping[int, HostPage]
    ) -> list[int]:
        taken = {page: host for page, host in reserved.items() if page in new}
        return super().use_reservation(request, way, new, taken)


@mutant("host_tier.reservation-taken-below-a-gap", kills="RFC-0006:C-ADMISSION#S8")
class ReservationTakenBelowAGap(HostTierModel):
    """Gives the new node its reservation also where its parent has no host pages."""

    def takes_reservation(self, way: Sequence[Node], new: Sequence[int], reserved: Mapping[int, HostPage]) -> bool:
        return super().takes_reservation(way[-1:], new, reserved)


@mutant("host_tier.reservation-never-taken", kills="RFC-0006:C-ADMISSION#S8")
class ReservationNeverTaken(HostTierModel):
    """Gives every reservation back at the insert, and leaves the backup to the write policy."""

    def takes_reservation(self, way: Sequence[Node], new: Sequence[int], reserved: Mapping[int, HostPage]) -> bool:
        return False


@mutant("host_tier.reservation-replaced", kills="RFC-0006:C-ADMISSION#S9")
class ReservationReplaced(HostTierModel):
    """Lets a request that has a reservation make another one."""

    def check_admit(self, batch: Sequence[BackupRequest]) -> None:
        again = {own.request for own in batch}
        others = {request: pages for request, pages in self.reservations.items() if request not in again}
        for reason in sorted(admit_refusals(self.geometry, self.allocation.pages, self.tree, batch, others)):
            raise Rejected(reason)


@mutant(
    "host_tier.unknown-cancel-ignored",
    kills="RFC-0006:C-ADMISSION#S9",
    also={"RFC-0006:C-RESET#S3": "a reservation that a reset has ended is one that is unknown"},
)
class UnknownCancelIgnored(HostTierModel):
    """Takes a cancel of a request without a reservation for done."""

    def cancel(self, request: str) -> None:
        if request in self.reservations:
            super().cancel(request)


@mutant("host_tier.reserved-up-to-the-fault", kills="RFC-0006:C-ADMISSION#S9")
class ReservedUpToTheFault(HostTierModel):
    """Reserves for the requests of a batch before one that has to be refused."""

    def check_admit(self, batch: Sequence[BackupRequest]) -> None:
        try:
            super().check_admit(batch)
        except Rejected:
            for request in batch[:-1]:
                if not self._is_bad([request]) and request.request not in self.reservations:
                    self.reserve(request)
            raise

    def _is_bad(self, batch: Sequence[BackupRequest]) -> bool:
        pool, tree = self.allocation.pages, self.tree
        return bool(admit_refusals(self.geometry, pool, tree, batch, self.reservations))


@benign("host_tier.numbers-with-gaps")
class NumbersWithGaps(HostTierModel):
    """Numbers copies with gaps, and locks from 100 on."""

    def number_copy(self) -> int:
        self.next_copy += 3
        return self.next_copy

    def number_lock(self) -> int:
        return super().number_lock() + 100
