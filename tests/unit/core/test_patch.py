"""Merge patches: the difference, applied, is the wanted object."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from capi_core.runtime.patch import merge_diff, merge_patch

# Objects as the API server stores them have no nulls.
VALUES = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4)


@given(OBJECTS, OBJECTS)
def test_a_difference_applied_gives_the_wanted_object(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert merge_patch(before, merge_diff(before, after)) == after


@given(OBJECTS)
def test_no_difference_is_no_patch(obj: dict[str, Any]) -> None:
    assert merge_diff(obj, obj) == {}


@given(OBJECTS, OBJECTS, OBJECTS)
def test_only_what_changed_is_touched(
    before: dict[str, Any], after: dict[str, Any], foreign: dict[str, Any]
) -> None:
    present = {**before, "theirs": foreign}
    assert merge_patch(present, merge_diff(before, after))["theirs"] == foreign


def test_what_merging_means() -> None:
    before = {"a": {"x": 1, "y": [1, 2]}, "b": 1}
    after = {"a": {"y": [2]}, "c": {}}
    assert merge_diff(before, after) == {"a": {"x": None, "y": [2]}, "b": None, "c": {}}
    assert before == {"a": {"x": 1, "y": [1, 2]}, "b": 1}
