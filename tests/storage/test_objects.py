"""An object is read back only as it was written, under the name that it was written for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.storage.objects import HEADER_BYTES, INDEX, KV, ObjectName, PageForm, SpoiledObjectError

FORM = PageForm(part_bytes={KV: 8, INDEX: 4}, description="mla_bf16, 2 layers")
NAME = ObjectName("0f" * 32, KV)
PAYLOAD = bytes(range(8))
WRITTEN = FORM.object(NAME, 1, 3, PAYLOAD).encode()


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.binary(min_size=8, max_size=8))
def test_what_was_written_is_read(lane: int, writer: int, payload: bytes) -> None:
    found = FORM.decode(NAME, FORM.object(NAME, lane, writer, payload).encode())

    assert (found.lane, found.writer, bytes(found.payload)) == (lane, writer, payload)


def test_any_flipped_bit_is_found() -> None:
    for bit in range(8 * len(WRITTEN)):
        data = bytearray(WRITTEN)
        data[bit // 8] ^= 1 << bit % 8
        with pytest.raises(SpoiledObjectError):
            FORM.decode(NAME, bytes(data))


def test_an_object_of_any_other_length_is_found() -> None:
    for data in (*(WRITTEN[:end] for end in range(len(WRITTEN))), WRITTEN + b"\0"):
        with pytest.raises(SpoiledObjectError):
            FORM.decode(NAME, data)


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (FORM, ObjectName("0e" * 32, KV)),
        (replace(FORM, part_bytes={INDEX: 8, KV: 8}), ObjectName(NAME.key, INDEX)),
        (replace(FORM, part_bytes={KV: 8, INDEX: 8}), NAME),
        (replace(FORM, description="mla_bf16, 3 layers"), NAME),
    ],
    ids=["another page", "another part", "another size of the index", "another kind of pool"],
)
def test_an_object_of_something_else_is_found(form: PageForm, name: ObjectName) -> None:
    with pytest.raises(SpoiledObjectError, match=r"(name|form): wanted"):
        form.decode(name, WRITTEN)


def test_a_payload_of_other_bytes_than_the_part_is_not_written() -> None:
    with pytest.raises(ValueError, match="part kv has 8 bytes a page, got 7"):
        FORM.object(NAME, 1, 3, PAYLOAD[:7])


def test_the_error_says_what_was_wanted_and_what_was_there() -> None:
    with pytest.raises(SpoiledObjectError) as spoiled:
        FORM.decode(NAME, WRITTEN[: HEADER_BYTES + 3])

    assert str(spoiled.value) == f"{NAME.key}.kv: bytes of the payload: wanted 8, found 3"
