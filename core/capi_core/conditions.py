"""The algebra of conditions: set, summarize one object's, aggregate many objects', mirror one.

All functions are pure. A condition is *good* when it has the status its polarity wants: positive
conditions (Ready) want True, negative ones (Deleting) want False. Priority when conditions are
merged: issues before unknowns before information. Source: Cluster API's condition proposal and
the messages that ``kubectl get -o yaml`` shows with upstream's controllers.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from capi_core.api.meta import Condition, ConditionStatus, JsonObject

READY = "Ready"
AVAILABLE = "Available"
PAUSED = "Paused"
NOT_YET_REPORTED = "NotYetReported"
ISSUES_REPORTED = "IssuesReported"
UNKNOWN_REPORTED = "UnknownReported"
INFO_REPORTED = "InfoReported"
_FIRST = {AVAILABLE: 0, READY: 1}
_BUDGET = 3
_NAMES_SHOWN = 3

Class = Literal["issue", "unknown", "info"]
_PRIORITY: dict[Class, int] = {"issue": 0, "unknown": 1, "info": 2}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A condition's content without type and time."""

    status: ConditionStatus
    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Reasons:
    """The reasons of a merged condition, by the class of what it reports."""

    issue: str = ISSUES_REPORTED
    unknown: str = UNKNOWN_REPORTED
    info: str = INFO_REPORTED

    def of(self, kind: Class) -> str:
        """The reason for ``kind``."""
        return {"issue": self.issue, "unknown": self.unknown, "info": self.info}[kind]


@dataclass(frozen=True, slots=True)
class Source:
    """An object whose condition is aggregated.

    Attributes:
        control_plane: such machines are named first.
    """

    kind: str
    name: str
    conditions: Sequence[Condition] = field(default_factory=tuple)
    control_plane: bool = False


def now() -> str:
    """The present as RFC 3339 with seconds, the form of metav1.Time."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str) -> datetime:
    """An RFC 3339 time as an aware datetime."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def age_seconds(text: str | None) -> float:
    """Seconds since the RFC 3339 time ``text``; 0 when there is none."""
    return (datetime.now(UTC) - parse_time(text)).total_seconds() if text else 0.0


def get_condition(conditions: Iterable[Condition], kind: str) -> Condition | None:
    """The condition of type ``kind``."""
    return next((c for c in conditions if c.type == kind), None)


def is_true(conditions: Iterable[Condition], kind: str) -> bool:
    """Whether the condition of type ``kind`` exists and is True."""
    condition = get_condition(conditions, kind)
    return condition is not None and condition.status == "True"


def is_false(conditions: Iterable[Condition], kind: str) -> bool:
    """Whether the condition of type ``kind`` exists and is False."""
    condition = get_condition(conditions, kind)
    return condition is not None and condition.status == "False"


def set_condition(
    conditions: list[Condition], kind: str, verdict: Verdict, *, generation: int | None = None
) -> None:
    """Put a condition in place; its transition time moves only when its status does."""
    old = get_condition(conditions, kind)
    same_status = old is not None and old.status == verdict.status
    new = Condition(
        type=kind,
        status=verdict.status,
        reason=verdict.reason,
        message=verdict.message,
        observed_generation=generation,
        last_transition_time=old.last_transition_time if old and same_status else now(),
    )
    if old is not None:
        conditions.remove(old)
    conditions.append(new)
    conditions.sort(key=lambda c: (_FIRST.get(c.type, 2), c.type))


def delete_condition(conditions: list[Condition], kind: str) -> None:
    """Remove the condition of type ``kind``."""
    conditions[:] = [c for c in conditions if c.type != kind]


def read_conditions(obj: JsonObject) -> list[Condition]:
    """The conditions of somebody else's raw object, with what the contract leaves optional."""
    status: JsonObject = obj.get("status") or {}
    raw: list[dict[str, Any]] = [c for c in status.get("conditions") or [] if isinstance(c, dict)]
    return [
        Condition(
            type=item["type"],
            status=item["status"],
            reason=item.get("reason") or "NoReasonReported",
            message=item.get("message") or "",
            last_transition_time=item.get("lastTransitionTime") or now(),
        )
        for item in raw
        if item.get("type") and item.get("status") in ("True", "False", "Unknown")
    ]


def invalid_condition(obj: JsonObject, kind: str) -> str:
    """What is wrong with somebody else's condition ``kind``; empty when nothing is."""
    found: Any = (obj.get("status") or {}).get("conditions")
    if found is not None and not isinstance(found, list):
        return "status.conditions is not a list"
    for item in found or []:
        if not isinstance(item, dict):
            return "status.conditions has an item that is no object"
        if item.get("type") == kind and item.get("status") not in ("True", "False", "Unknown"):
            return f"condition {kind} has the status {item.get('status')!r}"
    return ""


def classify(condition: Condition, *, negative: bool) -> Class:
    """What a condition is worth in a merge."""
    if condition.status == "Unknown":
        return "unknown"
    bad = "True" if negative else "False"
    return "issue" if condition.status == bad else "info"


def summarize(
    conditions: Sequence[Condition],
    kinds: Sequence[str],
    *,
    negative: Iterable[str] = (),
    ignore_if_missing: Iterable[str] = (),
    as_info: Iterable[str] = (),
    reasons: Reasons | None = None,
    target_negative: bool = False,
) -> Verdict:
    """One verdict over the conditions ``kinds`` of one object.

    Args:
        negative: the types among ``kinds`` with negative polarity.
        ignore_if_missing: types whose absence says nothing; others' absence is an unknown.
        as_info: types that count as information whatever they say.
        target_negative: the polarity of the condition that the verdict is for.
    """
    negative, optional, info = set(negative), set(ignore_if_missing), set(as_info)
    found: list[tuple[Class, str, str]] = []
    for kind in kinds:
        condition = get_condition(conditions, kind)
        if condition is None:
            if kind not in optional:
                found.append(("unknown", kind, "Condition not yet reported"))
            continue
        worth = "info" if kind in info else classify(condition, negative=kind in negative)
        found.append((worth, kind, condition.message or _fallback(condition, worth)))
    worst = _worst(w for w, _, _ in found)
    status = _status(worst, target_negative)
    shown = [
        (kind, text)
        for worth, kind, text in found
        if text and (worth != "info" or (worst == "info" and status == "True"))
    ]
    message = "\n".join(_bullet(kind, text) for kind, text in shown)
    return Verdict(status, (reasons or Reasons()).of(worst), message)


def _worst(found: Iterable[Class]) -> Class:
    worst: Class = "info"
    for worth in found:
        worst = worth if _PRIORITY[worth] < _PRIORITY[worst] else worst
    return worst


def _fallback(condition: Condition, worth: Class) -> str:
    return "" if worth == "info" else condition.reason


def _status(worst: Class, target_negative: bool) -> ConditionStatus:
    if worst == "unknown":
        return "Unknown"
    return "True" if (worst == "info") != target_negative else "False"


def _bullet(head: str, text: str) -> str:
    lines = text.split("\n")
    if len(lines) == 1 and not text.startswith("*"):
        return f"* {head}: {text}"
    all_bullets = all(line.lstrip().startswith("*") for line in lines)
    if all_bullets:
        body = [f"  {line}" for line in lines]
    else:
        body = [f"    {x}" if x.lstrip().startswith("*") else f"  * {x}" for x in lines]
    return "\n".join([f"* {head}:", *body])


def aggregate(
    sources: Sequence[Source],
    kind: str,
    *,
    negative: bool = False,
    target_negative: bool | None = None,
    reasons: Reasons | None = None,
) -> Verdict:
    """One verdict over the condition ``kind`` of many objects.

    The message shows at most three groups of objects that say the same; the rest is counted.
    """
    target_negative = negative if target_negative is None else target_negative
    groups: dict[tuple[str, Class, str], list[Source]] = defaultdict(list)
    for source in sources:
        condition = get_condition(source.conditions, kind)
        if condition is None:
            groups[source.kind, "unknown", f"Condition {kind} not yet reported"].append(source)
            continue
        worth = classify(condition, negative=negative)
        groups[source.kind, worth, condition.message or _fallback(condition, worth)].append(source)
    worst = _worst(w for _, w, _ in groups)
    chosen = {
        key: members
        for key, members in groups.items()
        if key[2] and (key[1] != "info") == (worst != "info")
    }
    message = _group_lines(chosen)
    return Verdict(_status(worst, target_negative), (reasons or Reasons()).of(worst), message)


def _group_lines(groups: dict[tuple[str, Class, str], list[Source]]) -> str:
    def rank(item: tuple[tuple[str, Class, str], list[Source]]) -> tuple[Any, ...]:
        (kind, worth, _), members = item
        control_plane = any(m.control_plane for m in members)
        names = sorted(m.name for m in members)
        return (not control_plane, _PRIORITY[worth], -len(members), names, kind)

    ordered = sorted(groups.items(), key=rank)
    lines = [_group_line(kind, text, members) for (kind, _, text), members in ordered[:_BUDGET]]
    rest: dict[tuple[str, Class], int] = defaultdict(int)
    for (kind, worth, _), members in ordered[_BUDGET:]:
        rest[kind, worth] += len(members)
    tails: dict[Class, str] = {
        "issue": "with other issues",
        "unknown": "with status unknown",
        "info": "with additional info",
    }
    for (kind, worth), count in sorted(rest.items()):
        lines.append(f"And {count} {_plural(kind, count)} {tails[worth]}")
    return "\n".join(lines)


def _group_line(kind: str, text: str, members: list[Source]) -> str:
    ordered = [m.name for m in sorted(members, key=lambda m: (not m.control_plane, m.name))]
    names = ", ".join(ordered[:_NAMES_SHOWN])
    if len(ordered) > _NAMES_SHOWN:
        names += f", ... ({len(ordered) - _NAMES_SHOWN} more)"
    return _bullet(f"{_plural(kind, len(ordered))} {names}", text)


def _plural(kind: str, count: int) -> str:
    return kind if count == 1 else f"{kind}s"


def mirror(conditions: Sequence[Condition], kind: str, *, fallback: Verdict) -> Verdict:
    """The condition ``kind`` of another object, or ``fallback`` when it does not report one."""
    condition = get_condition(conditions, kind)
    if condition is None:
        return fallback
    reason = condition.reason
    if reason in ("", "NoReasonReported"):
        reason = fallback.reason
    return Verdict(condition.status, reason, condition.message)
