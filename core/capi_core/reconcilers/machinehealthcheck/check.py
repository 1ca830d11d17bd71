"""Is a Machine unhealthy, and when does the answer change by itself? Pure.

The rules are upstream's: a Machine is healthy only when it has a Node and nothing counts against
it; one that something counts against, though not for long enough yet, is neither.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from capi_core.api.cluster import Cluster
from capi_core.api.healthcheck import HealthChecks
from capi_core.api.labels import CONTROL_PLANE_LABEL, PAUSED_ANNOTATION, REMEDIATE_ANNOTATION
from capi_core.api.machine import Machine
from capi_core.api.meta import Condition, JsonObject
from capi_core.conditions import Verdict, get_condition, is_true, parse_time

HEALTHY = "HealthCheckSucceeded"
SKIP_ANNOTATION = "cluster.x-k8s.io/skip-remediation"
DEFAULT_STARTUP_SECONDS = 600
# A timer that fires at the very moment must find the time to be over.
_MARGIN = 0.02


@dataclass(frozen=True, slots=True)
class Target:
    """A Machine under a health check.

    Attributes:
        node: the Node that its status names, None when there is none.
        node_gone: its status names a Node that the workload cluster does not have.
    """

    machine: Machine
    node: JsonObject | None = None
    node_gone: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is known of a Machine's health.

    Attributes:
        verdict: of the condition HealthCheckSucceeded; None while it is undecided.
        seconds: until something that counts against it has lasted too long.
    """

    verdict: Verdict | None = None
    seconds: float | None = None

    @property
    def healthy(self) -> bool:
        """Whether nothing counts against it."""
        return self.verdict is not None and self.verdict.status == "True"

    @property
    def unhealthy(self) -> bool:
        """Whether it should be replaced."""
        return self.verdict is not None and self.verdict.status == "False"


@dataclass(frozen=True, slots=True)
class _Finding:
    """Something that counts against a Machine: in ``seconds``, or already when that is 0."""

    reason: str
    message: str
    seconds: float


def is_skipped(machine: Machine) -> bool:
    """Whether health checks leave a Machine alone."""
    notes = machine.metadata.annotations
    return PAUSED_ANNOTATION in notes or SKIP_ANNOTATION in notes


def judge(target: Target, cluster: Cluster, checks: HealthChecks, at: datetime) -> Judgement:
    """The health of ``target`` at the time ``at``."""
    machine = target.machine
    if REMEDIATE_ANNOTATION in machine.metadata.annotations:
        message = f"Health check failed: marked for remediation via {REMEDIATE_ANNOTATION}"
        return Judgement(Verdict("False", "HasRemediateAnnotation", f"{message} annotation"))
    undecided = Judgement()
    if _may_be_judged(machine, cluster):
        found = [
            *_machine_findings(machine, checks, at),
            *_node_findings(target, cluster, checks, at),
        ]
        due = [finding for finding in found if not finding.seconds]
        if due:
            lines = "\n".join(f"  * {finding.message}" for finding in due)
            return Judgement(Verdict("False", due[0].reason, f"Health check failed:\n{lines}"))
        if found:
            return Judgement(seconds=min(finding.seconds for finding in found))
    if machine.deleting or target.node is None:
        return undecided
    return Judgement(Verdict("True", HEALTHY))


def _may_be_judged(machine: Machine, cluster: Cluster) -> bool:
    """Workers wait for the control plane, everybody waits for the cluster's infrastructure."""
    found = cluster.status.conditions
    initialized = is_true(found, "ControlPlaneInitialized")
    is_worker = CONTROL_PLANE_LABEL not in machine.metadata.labels
    return is_true(found, "InfrastructureReady") and (initialized or not is_worker)


def _machine_findings(machine: Machine, checks: HealthChecks, at: datetime) -> Iterator[_Finding]:
    for check in checks.unhealthy_machine_conditions:
        condition = get_condition(machine.status.conditions, check.type)
        if condition is None or condition.status != check.status:
            continue
        since, timeout = condition.last_transition_time, check.timeout_seconds or 0
        yield _Finding(
            "UnhealthyMachine",
            _condition_message("Machine", check.type, check.status, condition.reason, timeout),
            _left(since, timeout, at),
        )


def _node_findings(
    target: Target, cluster: Cluster, checks: HealthChecks, at: datetime
) -> Iterator[_Finding]:
    if target.node_gone:
        ref = target.machine.status.node_ref
        yield _Finding("NodeDeleted", f"Node {ref.name if ref else ''} has been deleted", 0.0)
        return
    if target.node is None:
        timeout = checks.node_startup_timeout_seconds
        timeout = DEFAULT_STARTUP_SECONDS if timeout is None else timeout
        if since := _startup_since(target.machine, cluster) if timeout else None:
            message = f"Node failed to report startup in {duration(timeout)}"
            yield _Finding("NodeStartupTimeout", message, _left(since, timeout, at))
        return
    reported = (target.node.get("status") or {}).get("conditions") or []
    by_type = {condition.get("type"): condition for condition in reported}
    for check in checks.unhealthy_node_conditions:
        condition = by_type.get(check.type)
        if condition is None or condition.get("status") != check.status:
            continue
        timeout, reason = check.timeout_seconds or 0, condition.get("reason") or ""
        yield _Finding(
            "UnhealthyNode",
            _condition_message("Node", check.type, check.status, reason, timeout),
            _left(condition.get("lastTransitionTime"), timeout, at),
        )


def _startup_since(machine: Machine, cluster: Cluster) -> str | None:
    """From when on a Node could have come: all that it needs was there."""
    needed: list[Condition | None] = [
        get_condition(cluster.status.conditions, "ControlPlaneInitialized"),
        get_condition(cluster.status.conditions, "InfrastructureReady"),
        get_condition(machine.status.conditions, "InfrastructureReady"),
    ]
    times = [c.last_transition_time for c in needed if c is not None and c.status == "True"]
    times += [machine.metadata.creation_timestamp] if machine.metadata.creation_timestamp else []
    return max(times, key=parse_time, default=None)


def _left(since: str | None, timeout: int, at: datetime) -> float:
    """Seconds until ``timeout`` is over; 0 when it is. What has no time is as old as can be."""
    if not since:
        return 0.0
    left = timeout - (at - parse_time(since)).total_seconds()
    return 0.0 if left < 0 else left + _MARGIN


def _condition_message(of: str, kind: str, status: str, reason: str, timeout: int) -> str:
    return (
        f"Condition {kind} on {of} is reporting status {status} with reason {reason} "
        f"for more than {duration(timeout)}"
    )


def duration(seconds: int) -> str:
    """Seconds as Go prints a duration: 45s, 5m0s, 1h0m0s."""
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return f"{hours}h{minutes}m{left}s"
    return f"{minutes}m{left}s" if minutes else f"{left}s"
