"""What every store does: whole objects under names, the last one put, for threads that read and write at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from sharedkv.storage.objects import KV, ObjectName, PageForm, SpoiledObjectError
from tests.storage.conftest import NewStore

PAYLOAD_BYTES = 50_000
FORM = PageForm(part_bytes={KV: PAYLOAD_BYTES}, description="any")
NAMES = [ObjectName(f"{number:064x}", KV) for number in range(20)]


def is_whole(data: bytes) -> bool:
    """Say whether it is an object as it was written."""
    try:
        FORM.decode(NAMES[0], data)
    except SpoiledObjectError:
        return False
    return True


def test_objects_come_in_the_order_of_their_names_and_none_where_there_is_none(new_store: NewStore) -> None:
    store = new_store()
    for name in NAMES[::2]:
        store.put(name, name.key.encode(), b"-", b"end")

    assert list(store.get(NAMES)) == [
        None if place % 2 else name.key.encode() + b"-end" for place, name in enumerate(NAMES)
    ]


def test_a_second_object_takes_the_place_of_the_first(new_store: NewStore) -> None:
    store = new_store()
    store.put(NAMES[0], b"a longer one")
    store.put(NAMES[0], b"second")

    assert list(store.get(NAMES[:1])) == [b"second"]


def test_an_object_that_is_removed_is_gone_and_may_be_removed_again(new_store: NewStore) -> None:
    store = new_store()
    store.put(NAMES[0], b"first")
    list(store.get(NAMES[:1]))
    store.remove(NAMES[0])
    store.remove(NAMES[0])

    assert list(store.get(NAMES[:1])) == [None]


def test_stores_do_not_share_names(new_store: NewStore) -> None:
    store, other = new_store(), new_store()
    store.put(NAMES[0], b"mine")

    assert list(other.get(NAMES[:1])) == [None]


def test_a_reader_of_a_name_that_many_write_takes_nothing_for_an_object_that_is_none(new_store: NewStore) -> None:
    store = new_store()
    objects = [FORM.object(NAMES[0], 0, writer, bytes([writer]) * PAYLOAD_BYTES).encode() for writer in range(4)]
    store.put(NAMES[0], objects[0])

    def write(data: bytes) -> None:
        for _ in range(10):
            store.put(NAMES[0], data)

    with ThreadPoolExecutor(len(objects)) as pool:
        writers = [pool.submit(write, data) for data in objects]
        seen = set()
        while not all(writer.done() for writer in writers):
            seen |= set(store.get(NAMES[:1]))
    for writer in writers:
        writer.result()

    assert {data for data in seen if data is not None and is_whole(data)} <= {*objects}
    assert set(store.get(NAMES[:1])) <= {*objects}


def test_a_stamp_changes_with_every_put(new_store: NewStore) -> None:
    store = new_store()
    stamps = [store.stamp(NAMES[0])]
    for data in (b"same", b"same"):
        store.put(NAMES[0], data)
        stamps.append(store.stamp(NAMES[0]))

    assert stamps[0] is None
    assert stamps[1:] == [None, None] or stamps[1] != stamps[2]
