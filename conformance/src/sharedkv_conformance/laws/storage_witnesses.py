"""The witnesses of keys, objects and hits: what must have happened before a law's silence proves anything."""

from __future__ import annotations

from sharedkv_conformance.laws.storage import QUERY, SAVE
from sharedkv_conformance.laws.storage_keys import KEYS, pages_with_keys
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.storage_keys import is_ambiguous
from sharedkv_conformance.model.storage_objects import Stored
from sharedkv_conformance.model.storage_state import OBJECTS, READ, StorageState
from sharedkv_conformance.step import Answer, Call, Ok
from sharedkv_conformance.trace import OPEN

# -- keys ------------------------------------------------------------------------------------------------------------


@witness(on=KEYS)
def started_page_without_key(before: StorageState, call: Call, answer: Answer) -> bool:
    """Tokens were asked for that end within a page, behind a whole one."""
    size = call.namespace.page_size
    return isinstance(answer, Ok) and len(call.tokens) > size and len(call.tokens) % size > 0


@witness(on=KEYS)
def key_asked_again(before: StorageState, call: Call, answer: Answer) -> bool:
    """A page was asked for once more, with other tokens behind it."""
    known = [page in before.seen.key_of for page, _ in pages_with_keys(call, answer)]
    return any(known) and not all(known)


@witness(on=KEYS)
def fields_in_another_order(before: StorageState, call: Call, answer: Answer) -> bool:
    """A page was asked for once more, with its fields in another order than by name."""
    fields = list(call.namespace.fields)
    known = any(page in before.seen.key_of for page, _ in pages_with_keys(call, answer))
    return known and fields != sorted(fields)


@witness(on=KEYS)
def tokens_in_two_namespaces(before: StorageState, call: Call, answer: Answer) -> bool:
    """Equal tokens were asked for in another namespace before."""
    new = {page for page, _ in pages_with_keys(call, answer)} - before.seen.key_of.keys()
    return any(tokens == page[1] for page in new for _, tokens in before.seen.key_of)


@witness(on=KEYS)
def page_behind_two_prefixes(before: StorageState, call: Call, answer: Answer) -> bool:
    """A page was asked for of which equal tokens had stood behind other ones, in the same namespace."""
    size = call.namespace.page_size
    new = {page for page, _ in pages_with_keys(call, answer)} - before.seen.key_of.keys()
    return any(
        page[0] == other[0] and page[1][-size:] == other[1][-size:] and len(page[1]) == len(other[1])
        for page in new
        for other in before.seen.key_of
    )


@witness(on=KEYS)
def keys_of_two_ranks(before: StorageState, call: Call, answer: Answer) -> bool:
    """Another rank was asked for the same keys."""
    return isinstance(before.peer_answer, Ok) and bool(before.peer_answer.value)


@witness(on=KEYS)
def field_named_twice(before: StorageState, call: Call, answer: Answer) -> bool:
    """A namespace with a field that is named twice was asked for."""
    return is_ambiguous(call.namespace.fields)


@witness(on=OPEN)
def session_field_named_twice(before: StorageState, call: Call, answer: Answer) -> bool:
    """A session with a field that is named twice was to be opened."""
    return is_ambiguous(before.config.storage.fields)


# -- objects ---------------------------------------------------------------------------------------------------------


def _saved(before: StorageState) -> list[tuple[str, Stored]]:
    """Return the objects of the save that the last call acknowledged, with their parts."""
    objects = {} if before.diverged else before.storage.store.objects
    return [(part, stored) for (key, part), stored in objects.items() if key in before.last_saved]


@witness(on=SAVE)
def nothing_to_save(before: StorageState, call: Call, answer: Answer) -> bool:
    """A save was asked for of pages that are backed up and stored."""
    pages = [] if before.diverged else list(before.storage.backed_up(call.tokens))
    return bool(pages) and not any(map(before.storage.is_to_write, pages))


@witness(on=SAVE)
def stored_part_of_a_save(before: StorageState, call: Call, answer: Answer) -> bool:
    """A save was asked for of which some pages are stored and some are not."""
    found = {before.storage.is_to_write(page) for page in before.storage.backed_up(call.tokens)}
    return not before.diverged and len(found) > 1


@witness(on=SAVE)
def saved_up_to_a_pending_node(before: StorageState, call: Call, answer: Answer) -> bool:
    """A save was asked for whose way goes on with a node that is not backed up."""
    pages = [] if before.diverged else list(before.storage.backed_up(call.tokens))
    return any(map(before.storage.is_to_write, pages)) and len(pages) < before.storage.pages_in_tree(call.tokens)


@witness(on=OBJECTS)
def pages_of_two_lanes_saved(before: StorageState, call: Call, answer: Answer) -> bool:
    """A save of pages of several lanes was acknowledged, in every part that there is."""
    saved = _saved(before)
    return len({stored.lane for _, stored in saved}) > 1


@witness(on=OBJECTS)
def every_part_saved(before: StorageState, call: Call, answer: Answer) -> bool:
    """A save of pages with three parts was acknowledged."""
    return {part for part, _ in _saved(before)} == {"kv", "index", "draft"}


@witness(on=OBJECTS)
def saved_with_fields(before: StorageState, call: Call, answer: Answer) -> bool:
    """A save was acknowledged in a session whose namespace has fields."""
    return bool(before.config.storage.fields and _saved(before))


@witness(on=SAVE)
def saved_within_a_node(before: StorageState, call: Call, answer: Answer) -> bool:
    """A save was asked for that ends within a node."""
    way = [] if before.diverged else before.model.tree.walk(call.tokens)
    return any(held < before.model.tree.num_pages(node) for node, held in way)


# -- hits ------------------------------------------------------------------------------------------------------------


def _fault(before: StorageState, call: Call) -> str:
    """Return what is wrong with the page at which a query has to end: how it was spoiled, `part`, or nothing."""
    keys, most = before.storage.own_keys(call.tokens), before.hits(call.tokens)[1]
    if before.diverged or most >= len(keys):
        return ""
    found = [before.storage.store.find(keys[most], part) for part in before.storage.parts]
    spoiled = {stored.fault for stored in found if stored is not None} - {""}
    return min(spoiled, default="part" if any(found) else "")


@witness(on=QUERY)
def hit_before_a_missing_part(before: StorageState, call: Call, answer: Answer) -> bool:
    """A prefix was asked for with a page of which one part is there and another is not."""
    return _fault(before, call) == "part"


@witness(on=QUERY)
def hit_before_a_short_object(before: StorageState, call: Call, answer: Answer) -> bool:
    """A prefix was asked for with an object that was cut short."""
    return _fault(before, call) == "truncated"


@witness(on=QUERY)
def hit_before_an_altered_object(before: StorageState, call: Call, answer: Answer) -> bool:
    """A prefix was asked for with an object of which a bit was flipped."""
    return _fault(before, call) == "flipped"


@witness(on=QUERY)
def hit_before_a_foreign_object(before: StorageState, call: Call, answer: Answer) -> bool:
    """A prefix was asked for with an object of another page in the place of its own."""
    return _fault(before, call) == "foreign"


@witness(on=QUERY)
def hit_on_two_lanes(before: StorageState, call: Call, answer: Answer) -> bool:
    """A prefix was asked for of which leading pages of several lanes are stored."""
    pages = before.storage.leading(before.storage.own_keys(call.tokens))
    return not before.diverged and len({page.lane for page in pages}) > 1


@witness(on=QUERY)
def found_by_another_session(before: StorageState, call: Call, answer: Answer) -> bool:
    """A session asked for what another one had saved under the same namespace."""
    return not before.diverged and before.is_shared and before.storage.query(call.tokens) > 0


@witness(on=QUERY)
def asked_in_another_namespace(before: StorageState, call: Call, answer: Answer) -> bool:
    """A session asked for tokens of which the store has pages of another namespace, and none of its own."""
    is_there = not before.diverged and before.is_shared and bool(before.storage.store.objects)
    return is_there and before.storage.query(call.tokens) == 0


# -- what comes back -------------------------------------------------------------------------------------------------


def _came_back(before: StorageState, call: Call) -> bool:
    path = before.path_of(call.locations)
    return not before.diverged and path in before.published and (path, call.layer, call.buffer) in before.rows_read


@witness(on=READ)
def rows_came_back_behind_the_tree(before: StorageState, call: Call, answer: Answer) -> bool:
    """Rows were read of a page that a fetch had brought behind pages that the tree had."""
    return _came_back(before, call) and before.path_of(call.locations) in before.published_behind


@witness(on=READ)
def rows_came_back_into_given_up_pages(before: StorageState, call: Call, answer: Answer) -> bool:
    """Rows were read of a page that had come back after backups were late that were given up."""
    return _came_back(before, call) and before.is_given_up


@witness(on=READ)
def rows_came_back(before: StorageState, call: Call, answer: Answer) -> bool:
    """Rows were read of a page that had been fetched and loaded back."""
    return _came_back(before, call)
