"""The oracle of long histories finds each thing that must not happen to a page of decode."""

from __future__ import annotations

import numpy as np
import pytest

from tests.transfer.page_ledger import STAMP, Claim, Hold, PageBrokenError, PageLedger, Pool, stamp

BUFFER = 1


@pytest.fixture
def ledger() -> PageLedger:
    """Pages of which request 1 has 2 and 3, and request 2 has 4."""
    made = PageLedger(Pool(2, 5, STAMP.size))
    made.reserved(1, [2, 3], [])
    made.reserved(2, [4], [])
    return made


def write(ledger: PageLedger, page: int, claim: Claim) -> None:
    """Let bytes of a request land in a page."""
    ledger.pool.fill(page, BUFFER, claim)
    ledger.landed(ledger.pool.buffer_address(BUFFER) + page * STAMP.size, STAMP.size)


def test_its_own_bytes_are_welcome_also_in_quarantine(ledger: PageLedger) -> None:
    write(ledger, 3, Claim(serial=1, position=1))
    ledger.closed(1)
    write(ledger, 2, Claim(serial=1, position=0))
    ledger.require_accounted()

    assert (ledger.count(Hold.OPEN), ledger.count(Hold.QUARANTINED)) == (1, 2)


@pytest.mark.parametrize(
    ("page", "claim", "what"),
    [
        (4, Claim(serial=1, position=0), "wanted request 2, position 0"),
        (3, Claim(serial=1, position=0), "wanted request 1, position 1"),
        (5, Claim(serial=1, position=0), "is nobody's, and was written: request 1"),
    ],
)
def test_bytes_in_the_wrong_page_are_found(ledger: PageLedger, page: int, claim: Claim, what: str) -> None:
    with pytest.raises(PageBrokenError, match=what):
        write(ledger, page, claim)


def test_bytes_after_the_last_writer_was_done_are_found(ledger: PageLedger) -> None:
    ledger.closed(2)
    ledger.freed(2)
    with pytest.raises(PageBrokenError, match="nobody's"):
        write(ledger, 4, Claim(serial=2, position=0))


def test_bytes_that_nobody_told_of_are_found(ledger: PageLedger) -> None:
    ledger.pool.bytes[0, 1, 0] = 7
    with pytest.raises(PageBrokenError, match="page 1 of buffer 0"):
        ledger.require_accounted()


def test_a_page_that_somebody_has_or_writes_is_not_given(ledger: PageLedger) -> None:
    ledger.closed(1)
    with pytest.raises(PageBrokenError, match="quarantined, was given to 3"):
        ledger.reserved(3, [2], [])
    with pytest.raises(PageBrokenError, match="while a write"):
        ledger.reserved(3, [1], [1])


def test_a_request_that_is_not_whole_is_found(ledger: PageLedger) -> None:
    for position, page in enumerate((2, 3)):
        for buffer in range(2):
            ledger.pool.fill(page, buffer, Claim(serial=1, position=position))
    ledger.require_whole(1)
    ledger.pool.bytes[BUFFER, 3] = np.frombuffer(stamp(Claim(serial=1, position=0), BUFFER, STAMP.size), dtype=np.uint8)
    with pytest.raises(PageBrokenError, match="has not arrived at page 3"):
        ledger.require_whole(1)
