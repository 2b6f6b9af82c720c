"""Which writes lie within regions, against one address at a time; and what descriptions of peers are taken."""

from __future__ import annotations

import json
from base64 import b64encode
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.engines.descriptions import Description, decode
from sharedkv.engines.engine import DescriptionRefusedError
from sharedkv.engines.regions import Region, Regions

gaps = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5)), max_size=5)
rows = st.lists(st.tuples(st.integers(-2, 40), st.integers(-1, 8)), max_size=20)


def regions_of(steps: list[tuple[int, int]]) -> list[Region]:
    """Lay out regions one behind another, with gaps that may be none."""
    found, end = [], 1
    for gap, num_bytes in steps:
        found.append(Region(address=end + gap, num_bytes=num_bytes))
        end += gap + num_bytes
    return found


@given(gaps, rows)
def test_the_first_write_outside_is_the_first_with_a_byte_outside_one_region(
    steps: list[tuple[int, int]], given_rows: list[tuple[int, int]]
) -> None:
    regions = regions_of(steps)
    columns = np.array(given_rows, dtype=np.int64).reshape(-1, 2)
    within = [
        length >= 0 and any(each.address <= address < each.end and address + length <= each.end for each in regions)
        for address, length in given_rows
    ]

    assert Regions(regions[::-1]).first_outside(columns[:, 0], columns[:, 1]) == (
        within.index(False) if False in within else None
    )


@given(gaps, st.integers(1, 40), st.integers(1, 8))
def test_a_region_is_added_unless_it_shares_a_byte(steps: list[tuple[int, int]], address: int, num_bytes: int) -> None:
    regions = regions_of(steps)
    new = Region(address=address, num_bytes=num_bytes)
    shares = any(each.address < new.end and new.address < each.end for each in regions)
    if shares:
        with pytest.raises(ValueError, match="overlap"):
            Regions(regions).added(new)
    else:
        assert list(Regions(regions).added(new)) == sorted([*regions, new])
        assert list(Regions(regions).added(new).removed(new)) == regions


@given(gaps, st.binary(max_size=20))
def test_a_description_is_what_was_encoded(steps: list[tuple[int, int]], contact: bytes) -> None:
    described = Description(kind="memory", contact=contact, regions=Regions(regions_of(steps)))
    found = decode(described.encode(), "memory")

    assert (found.contact, list(found.regions)) == (contact, list(described.regions))


@given(st.binary(max_size=20), st.data())
def test_a_spoiled_description_is_one_or_is_refused(contact: bytes, data: st.DataObject) -> None:
    region = Region(address=5, num_bytes=7)
    right = bytearray(Description(kind="memory", contact=contact, regions=Regions([region])).encode())
    right[data.draw(st.integers(0, len(right) - 1))] ^= data.draw(st.integers(1, 255))
    with suppress(DescriptionRefusedError):
        assert decode(bytes(right), "memory").kind == "memory"


@pytest.mark.parametrize(
    "regions",
    [
        None,
        {},
        5,
        [[1]],
        [[1, 2, 3]],
        [["1", 2]],
        [[True, 2]],
        [[1, 2], [2, 3]],
        [[0, 5]],
        [[5, 0]],
        [[1, 1 << 63]],
        [[1 << 70, 1]],
    ],
)
def test_regions_of_a_peer_that_are_none_are_refused(regions: object) -> None:
    data = {"form": 1, "kind": "memory", "contact": b64encode(b"x").decode(), "regions": regions}
    with pytest.raises(DescriptionRefusedError):
        decode(json.dumps(data).encode(), "memory")
