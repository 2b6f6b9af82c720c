"""The order in which retained pages give way, against a list."""

from hypothesis import given
from hypothesis import strategies as st

from sharedkv.cost import CostMeter
from sharedkv.retention import NOBODY, RetentionOrder

page_lists = st.lists(st.integers(1, 50), unique=True, min_size=1)


def order_of(pages: list[int]) -> RetentionOrder:
    order = RetentionOrder(CostMeter())
    for page in pages:
        order.append(page)
    return order


@given(pages=page_lists, data=st.data())
def test_oldest_are_those_put_in_first(pages: list[int], data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(pages)))

    assert order_of(pages).oldest(count) == pages[:count]


@given(pages=page_lists, data=st.data())
def test_removal_keeps_the_order_of_the_others(pages: list[int], data: st.DataObject) -> None:
    order = order_of(pages)
    removed = data.draw(st.sampled_from(pages))
    older = order.remove(removed)

    assert order.pages() == [page for page in pages if page != removed]
    assert older == ([NOBODY, *pages])[pages.index(removed)]
    assert order.invariants() == []


@given(pages=page_lists, data=st.data())
def test_removals_undone_in_reverse_restore_the_order(pages: list[int], data: st.DataObject) -> None:
    order = order_of(pages)
    removed = data.draw(st.lists(st.sampled_from(pages), unique=True))
    olders = [order.remove(page) for page in removed]
    for page, older in reversed(list(zip(removed, olders, strict=True))):
        order.insert_after(older, page)

    assert order.pages() == pages
    assert len(order) == len(pages)


def test_disagreeing_links_are_named() -> None:
    order = order_of([1, 2, 3])
    order._older[2] = 3

    assert order.invariants() == ["the two directions of the retention order disagree"]
