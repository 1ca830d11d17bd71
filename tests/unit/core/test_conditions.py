"""The algebra of conditions, with upstream's words."""

import pytest

from capi_core.api.meta import Condition, ConditionStatus
from capi_core.conditions import (
    Reasons,
    Source,
    Verdict,
    aggregate,
    classify,
    delete_condition,
    get_condition,
    is_false,
    is_true,
    mirror,
    read_conditions,
    set_condition,
    summarize,
)

REASONS = Reasons("Bad", "Unsure", "Good")
EARLIER = "2026-01-01T00:00:00Z"


def condition(
    kind: str, status: ConditionStatus = "True", message: str = "", reason: str = "Because"
) -> Condition:
    """A condition that has been so for a while."""
    return Condition(
        type=kind, status=status, reason=reason, message=message, last_transition_time=EARLIER
    )


def machine(name: str, *conditions: Condition, control_plane: bool = False) -> Source:
    """A Machine with these conditions."""
    return Source("Machine", name, conditions, control_plane=control_plane)


def test_the_transition_time_moves_with_the_status_only() -> None:
    found = [condition("Ready", "False")]
    set_condition(found, "Ready", Verdict("False", "Other", "words"), generation=7)
    assert found[0].last_transition_time == EARLIER
    assert (found[0].reason, found[0].message) == ("Other", "words")
    assert found[0].observed_generation == 7
    set_condition(found, "Ready", Verdict("True", "Ready"))
    assert found[0].last_transition_time != EARLIER


def test_conditions_are_sorted_with_the_summaries_first() -> None:
    found: list[Condition] = []
    for kind in ("Zebra", "Ready", "Deleting", "Available"):
        set_condition(found, kind, Verdict("True", "Yes"))
    assert [c.type for c in found] == ["Available", "Ready", "Deleting", "Zebra"]
    delete_condition(found, "Deleting")
    assert get_condition(found, "Deleting") is None
    assert is_true(found, "Ready")
    assert not is_false(found, "Ready")
    assert not is_true(found, "Absent")
    assert not is_false(found, "Absent")


@pytest.mark.parametrize(
    ("status", "negative", "expected"),
    [
        ("True", False, "info"), ("False", False, "issue"), ("Unknown", False, "unknown"),
        ("True", True, "issue"), ("False", True, "info"), ("Unknown", True, "unknown"),
    ],
)
def test_polarity(status: ConditionStatus, negative: bool, expected: str) -> None:
    assert classify(condition("X", status), negative=negative) == expected


def test_issues_outrank_unknowns_and_both_are_told_in_the_order_asked_for() -> None:
    found = [
        condition("C", "False", "broken"), condition("A", "Unknown", "who knows"),
        condition("B", "True", "fine"), condition("Deleting", "True", "going"),
    ]
    verdict = summarize(found, ["A", "B", "C", "Deleting", "D"], negative=["Deleting"],
                        reasons=REASONS)
    assert verdict == Verdict(
        "False", "Bad",
        "* A: who knows\n* C: broken\n* Deleting: going\n* D: Condition not yet reported",
    )


def test_what_is_missing_is_unknown_unless_it_may_be() -> None:
    found = [condition("A")]
    assert summarize(found, ["A", "B"], reasons=REASONS) == Verdict(
        "Unknown", "Unsure", "* B: Condition not yet reported"
    )
    assert summarize(found, ["A", "B"], ignore_if_missing=["B"], reasons=REASONS) == Verdict(
        "True", "Good"
    )


def test_good_news_is_told_only_when_all_is_good() -> None:
    found = [condition("A", message="fine"), condition("B")]
    assert summarize(found, ["A", "B"]).message == "* A: fine"
    found.append(condition("C", "False"))
    assert summarize(found, ["A", "B", "C"]).message == "* C: Because"


def test_information_by_decree() -> None:
    found = [condition("A", "False", "gone"), condition("B")]
    assert summarize(found, ["A", "B"], as_info=["A"], reasons=REASONS) == Verdict(
        "True", "Good", "* A: gone"
    )


def test_a_summary_for_a_condition_of_negative_polarity() -> None:
    found = [condition("A", "False", "broken")]
    assert summarize(found, ["A"], target_negative=True).status == "True"
    assert summarize([condition("A")], ["A"], target_negative=True).status == "False"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("one line", "* A: one line"),
        ("* bullet", "* A:\n  * bullet"),
        ("* one\n* two", "* A:\n  * one\n  * two"),
        ("head:\n* one\ntail", "* A:\n  * head:\n    * one\n  * tail"),
    ],
)
def test_messages_of_several_lines_are_indented(message: str, expected: str) -> None:
    assert summarize([condition("A", "False", message)], ["A"]).message == expected


def test_objects_that_say_the_same_are_told_together() -> None:
    bad = condition("Ready", "False", "no node")
    sources = [machine(name, bad) for name in ("d", "b", "a", "c", "e")]
    assert aggregate(sources[:1], "Ready").message == "* Machine d: no node"
    assert aggregate(sources[:3], "Ready").message == "* Machines a, b, d: no node"
    assert aggregate(sources, "Ready").message == "* Machines a, b, c, ... (2 more): no node"


def test_control_planes_come_first_then_issues_then_the_many() -> None:
    sources = [
        machine("w1", condition("Ready", "False", "one")),
        machine("w2", condition("Ready", "False", "two")),
        machine("w3", condition("Ready", "False", "two")),
        machine("cp", condition("Ready", "Unknown", "cp"), control_plane=True),
        machine("w4", condition("Ready", "Unknown", "more")),
        machine("w5"),
    ]
    verdict = aggregate(sources, "Ready", reasons=REASONS)
    assert (verdict.status, verdict.reason) == ("False", "Bad")
    assert verdict.message.split("\n") == [
        "* Machine cp: cp", "* Machines w2, w3: two", "* Machine w1: one",
        "And 2 Machines with status unknown",
    ]


def test_names_of_control_planes_come_first_in_a_group() -> None:
    bad = condition("Ready", "False", "x")
    sources = [machine("a", bad), machine("z", bad, control_plane=True)]
    assert aggregate(sources, "Ready").message == "* Machines z, a: x"


def test_what_does_not_report_is_unknown() -> None:
    assert aggregate([machine("a")], "Ready", reasons=REASONS) == Verdict(
        "Unknown", "Unsure", "* Machine a: Condition Ready not yet reported"
    )


def test_good_news_of_many_is_told_when_there_is_no_other() -> None:
    good, bad = condition("Ready", "True", "fine"), condition("Ready", "False", "broken")
    assert aggregate([machine("a", good), machine("b")], "Ready").message.count("fine") == 0
    assert aggregate([machine("a", good)], "Ready").message == "* Machine a: fine"
    assert aggregate([machine("a", good), machine("b", bad)], "Ready").message == (
        "* Machine b: broken"
    )
    assert aggregate([machine("a", condition("Ready"))], "Ready", reasons=REASONS) == Verdict(
        "True", "Good"
    )


def test_what_is_under_way_counts_as_an_issue_of_a_negative_condition() -> None:
    rolling = condition("RollingOut", "True", "rolling")
    verdict = aggregate([machine("a", rolling)], "RollingOut", negative=True, reasons=REASONS)
    assert verdict == Verdict("True", "Bad", "* Machine a: rolling")
    still = condition("RollingOut", "False")
    assert aggregate([machine("a", still)], "RollingOut", negative=True).status == "False"


def test_mirrors_fall_back_and_name_reasons_that_are_none() -> None:
    fallback = Verdict("False", "NotReady", "nothing yet")
    assert mirror([], "Ready", fallback=fallback) == fallback
    there = condition("Ready", "True", "fine")
    assert mirror([there], "Ready", fallback=fallback) == Verdict("True", "Because", "fine")
    bare = condition("Ready", "True", reason="NoReasonReported")
    assert mirror([bare], "Ready", fallback=Verdict("True", "Ready")).reason == "Ready"


def test_conditions_of_others_are_read_with_what_they_lack() -> None:
    raw = {"status": {"conditions": [
        {"type": "Ready", "status": "True"}, {"type": "Bad", "status": "Maybe"}, {"status": "True"},
        "no condition", {"type": "Old", "status": "False", "reason": "R", "message": "M",
                         "severity": "Warning", "lastTransitionTime": EARLIER},
    ]}}
    found = read_conditions(raw)
    assert [(c.type, c.reason, c.message) for c in found] == [
        ("Ready", "NoReasonReported", ""), ("Old", "R", "M")
    ]
    assert read_conditions({}) == read_conditions({"status": {"conditions": None}}) == []
