"""Stores: never back in time, whatever order things arrive in."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.runtime.store import Key, Store

KEY = Key("default", "a")


def obj(version: int, uid: str = "1", name: str = "a", **meta: object) -> JsonObject:
    """A version of an object."""
    return {
        "metadata": {
            "namespace": "default", "name": name, "uid": uid, "resourceVersion": str(version),
            **meta,
        }
    }


def version(store: Store, key: Key = KEY) -> int:
    """The version that the store holds, 0 for none."""
    found = store.get(key)
    return int(found["metadata"]["resourceVersion"]) if found else 0


@dataclass(frozen=True)
class Event:
    """Something that reaches the store: a version seen, a deletion, or a list at a version."""

    kind: str
    version: int


def history() -> list[JsonObject | None]:
    """The truth at each version: the object lives, goes, and comes back as another."""
    truth: list[JsonObject | None] = [None]
    for number in range(1, 13):
        alive = number % 5 != 0
        truth.append(obj(number, uid=str(number // 5)) if alive else None)
    return truth


@given(st.lists(st.builds(Event, st.sampled_from(["put", "discard", "list"]), st.integers(1, 12))))
def test_any_order_of_events_never_goes_back(events: list[Event]) -> None:
    store, truth, seen, gone = Store(Machine.resource), history(), 0, set[int]()
    for event in events:
        alive = truth[event.version]
        last_alive = truth[event.version] or truth[event.version - 1]
        if event.kind == "put" and alive:
            store.put(alive)
        elif event.kind == "discard" and last_alive and not alive:
            store.discard(last_alive | {"metadata": {
                **last_alive["metadata"], "resourceVersion": str(event.version)}})
            gone.add((event.version - 1) // 5)
        elif event.kind == "list":
            if alive is None and 0 < version(store) < event.version:
                gone.add(version(store) // 5)
            store.replace([alive] if alive else [], str(event.version))
        held = version(store)
        if held:
            assert held >= seen or held // 5 < seen // 5, "an older version came back"
            assert held // 5 not in gone, "a deleted incarnation came back"
            seen = held


@given(st.permutations(range(1, 13)))
def test_once_everything_has_arrived_the_store_is_right(order: list[int]) -> None:
    store, truth = Store(Machine.resource), history()
    for number in order:
        if current := truth[number]:
            store.put(current)
        elif before := truth[number - 1]:
            store.discard(before)
    assert version(store) == 12


def test_a_list_does_not_forget_what_was_written_after_it() -> None:
    store = Store(Machine.resource)
    store.put(obj(8, uid="new", name="b"))
    store.put(obj(3))
    assert store.replace([], "5") == 1
    assert (version(store), version(store, Key("default", "b"))) == (0, 8)
    assert store.put(obj(9, uid="new", name="b"))


def test_a_late_event_of_the_incarnation_before_changes_nothing() -> None:
    store = Store(Machine.resource)
    store.put(obj(10, uid="old"))
    store.put(obj(20, uid="new"))
    assert not store.put(obj(15, uid="old"))
    assert not store.put(obj(25, uid="old"))
    assert not store.discard(obj(16, uid="old"))
    assert version(store) == 20


def test_indices_follow_their_objects() -> None:
    store = Store(Machine.resource)
    store.add_index("label", lambda o: (o["metadata"].get("labels") or {}).values())
    store.put(obj(1, labels={"x": "one"}, ownerReferences=[{"uid": "owner"}]))
    store.put(obj(2, labels={"x": "two"}))
    assert store.by_index("label", "one") == []
    assert [o["metadata"]["name"] for o in store.by_index("label", "two")] == ["a"]
    assert store.owned_by("owner") == []
    store.add_index("late", lambda o: [o["metadata"]["name"]])
    assert len(store.by_index("late", "a")) == 1
    store.discard(obj(3))
    assert store.by_index("late", "a") == store.by_index("label", "two") == []


def test_handlers_hear_of_changes_only() -> None:
    store = Store(Machine.resource)
    heard: list[tuple[int | None, int | None]] = []
    store.on_change(lambda old, new: heard.append((version_of(old), version_of(new))))
    for number in (1, 1, 2, 1):
        store.put(obj(number))
    store.discard(obj(2))
    store.discard(obj(2))
    assert heard == [(None, 1), (1, 2), (2, None)]


def version_of(found: JsonObject | None) -> int | None:
    """An object's version."""
    return int(found["metadata"]["resourceVersion"]) if found else None


def test_managed_fields_are_not_kept() -> None:
    store = Store(Machine.resource)
    store.put(obj(1, managedFields=[{}]))
    assert "managedFields" not in (store.get(KEY) or {})["metadata"]
