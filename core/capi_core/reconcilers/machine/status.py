"""Conditions and phase of a Machine, computed from what a pass observed."""

from typing import Any

from capi_core.api.meta import JsonObject
from capi_core.conditions import (
    Reasons,
    Verdict,
    age_seconds,
    get_condition,
    invalid_condition,
    is_true,
    mirror,
    now,
    read_conditions,
    summarize,
)
from capi_core.contract.external import External
from capi_core.contract.remote import Health
from capi_core.reconcilers.machine.scope import MachineScope
from capi_core.reconcilers.machinedeployment.templates import rollout_differences

_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")


def set_machine_status(scope: MachineScope, health: Health, *, grace_seconds: float) -> None:
    """All of a Machine's status."""
    scope.set("BootstrapConfigReady", bootstrap_ready(scope))
    scope.set("InfrastructureReady", infrastructure_ready(scope))
    ready, healthy = node_conditions(scope, health, grace_seconds)
    scope.set("NodeReady", ready)
    scope.set("NodeHealthy", healthy)
    scope.set("Deleting", deleting(scope))
    scope.set("Updating", Verdict("False", "NotUpdating"))
    if scope.machine_set is not None and scope.machine_deployment is not None:
        scope.set("UpToDate", up_to_date(scope))
    scope.set("Ready", ready_summary(scope))
    scope.set("Available", available(scope))
    _set_phase(scope)


def _referenced(
    scope: MachineScope, found: External | None, kind: str, *, good: bool, field: str, had: bool
) -> Verdict:
    if found is None:
        for error in scope.errors:
            if type(error).__name__ == "UnknownKind" and kind.lower() in str(error):
                return Verdict("Unknown", "InternalError", str(error))
        if had and scope.obj.deleting:
            return Verdict("False", "ObjectDeleted", f"{kind} has been deleted")
        if had:
            message = f"{kind} has been deleted while the Machine still exists"
            return Verdict("False", "ObjectDeleted", message)
        return Verdict("False", "ObjectDoesNotExist", f"{kind} does not exist")
    fallback = (
        Verdict("True", "Ready")
        if good
        else Verdict("False", "NotReady", f"{kind} {field} is false")
    )
    if problem := invalid_condition(found.obj, "Ready"):
        return Verdict("Unknown", "InvalidConditionReported", f"{kind}: {problem}")
    return mirror(read_conditions(found.obj), "Ready", fallback=fallback)


def bootstrap_ready(scope: MachineScope) -> Verdict:
    """BootstrapConfigReady: mirrors the bootstrap config's Ready."""
    ref = scope.obj.spec.bootstrap.config_ref
    if ref is None or not ref.name:
        return Verdict("True", "DataSecretProvided")
    found = scope.bootstrap
    return _referenced(
        scope,
        found,
        ref.kind,
        good=found is not None and found.data_secret_created,
        field="status.initialization.dataSecretCreated",
        had=bool(scope.obj.status.initialization.bootstrap_data_secret_created),
    )


def infrastructure_ready(scope: MachineScope) -> Verdict:
    """InfrastructureReady: mirrors the infrastructure machine's Ready."""
    found = scope.infrastructure
    return _referenced(
        scope,
        found,
        scope.obj.spec.infrastructure_ref.kind,
        good=found is not None and found.provisioned,
        field="status.initialization.provisioned",
        had=bool(scope.obj.status.initialization.infrastructure_provisioned),
    )


def node_conditions(
    scope: MachineScope, health: Health, grace_seconds: float
) -> tuple[Verdict, Verdict]:
    """NodeReady and NodeHealthy."""
    if excuse := _no_node(scope, health, grace_seconds):
        return excuse, excuse
    if scope.node is None:
        # Not connected for a moment: keep what was last known.
        kept = [get_condition(scope.conditions, kind) for kind in ("NodeReady", "NodeHealthy")]
        if all(kept):
            first, second = (Verdict(c.status, c.reason, c.message) for c in kept if c)
            return first, second
        down = Verdict("Unknown", "ConnectionDown", "Remote connection not established yet")
        return down, down
    return node_ready(scope.node), node_healthy(scope.node)


def _no_node(scope: MachineScope, health: Health, grace_seconds: float) -> Verdict | None:
    cluster, machine = scope.cluster, scope.obj
    if scope.node is not None:
        return None

    def waiting(text: str) -> Verdict:
        return Verdict("Unknown", "InspectionFailed", text)

    if cluster is None or not cluster.status.initialization.infrastructure_provisioned:
        return waiting(
            "Waiting for Cluster status.initialization.infrastructureProvisioned to be true"
        )
    if not is_true(cluster.status.conditions, "ControlPlaneInitialized") and not (
        machine.status.node_ref and machine.status.node_ref.name
    ):
        return waiting("Waiting for Cluster control plane to be initialized")
    if scope.node_gone:
        name = machine.status.node_ref.name if machine.status.node_ref else ""
        return Verdict("False", "NodeDeleted", f"Node {name} has been deleted")
    if health.last_success is None:
        return Verdict("Unknown", "ConnectionDown", "Remote connection not established yet")
    if health.seconds_since_success > grace_seconds:
        since = health.last_success.strftime("%Y-%m-%dT%H:%M:%SZ")
        return Verdict("Unknown", "ConnectionDown", f"Last successful probe at {since}")
    if not machine.spec.provider_id:
        kind = machine.spec.infrastructure_ref.kind
        return waiting(f"Waiting for {kind} to report spec.providerID")
    if not (machine.status.node_ref and machine.status.node_ref.name):
        return waiting(
            f"Waiting for a Node with spec.providerID {machine.spec.provider_id} to exist"
        )
    return None


def _node_condition(node: JsonObject, kind: str) -> dict[str, Any]:
    found = (node.get("status") or {}).get("conditions") or []
    return next((c for c in found if c["type"] == kind), {})


def node_ready(node: JsonObject) -> Verdict:
    """NodeReady: the Node's own Ready."""
    condition = _node_condition(node, "Ready")
    if not condition:
        return Verdict("Unknown", "NodeReadyUnknown", "Condition not yet reported")
    match condition["status"]:
        case "True":
            return Verdict("True", "NodeReady")
        case "False":
            return Verdict("False", "NodeNotReady", f"* Node.Ready: {condition.get('message', '')}")
        case _:
            message = f"* Node.Ready: {condition.get('message', '')}"
            return Verdict("Unknown", "NodeReadyUnknown", message)


def node_healthy(node: JsonObject) -> Verdict:
    """NodeHealthy: Ready without memory, disk or process pressure."""
    bad: list[str] = []
    unknown: list[str] = []
    for kind in ("Ready", *_PRESSURES):
        condition = _node_condition(node, kind)
        status = condition.get("status", "Unknown")
        line = f"* Node.{kind}: {condition.get('message') or 'Condition not yet reported'}"
        if status == "Unknown":
            unknown.append(line)
        elif status != ("True" if kind == "Ready" else "False"):
            bad.append(line)
    if bad:
        return Verdict("False", "NodeNotHealthy", "\n".join(bad + unknown))
    if unknown:
        return Verdict("Unknown", "NodeHealthyUnknown", "\n".join(unknown))
    return Verdict("True", "NodeHealthy")


def deleting(scope: MachineScope) -> Verdict:
    """Deleting: what the deletion waits for."""
    if not scope.obj.deleting:
        return Verdict("False", "NotDeleting")
    return Verdict("True", scope.deleting_reason, scope.deleting_message)


def up_to_date(scope: MachineScope) -> Verdict:
    """UpToDate of a Machine that belongs to a MachineDeployment."""
    assert scope.machine_set is not None
    assert scope.machine_deployment is not None
    deployment = scope.machine_deployment
    reasons = rollout_differences(scope.machine_set.spec.template, deployment.spec.template)
    after = deployment.spec.rollout.after
    created = scope.obj.metadata.creation_timestamp
    if after and age_seconds(after) > 0 and created and created < after:
        reasons.append("MachineDeployment spec.rollout.after expired")
    if reasons:
        return Verdict("False", "NotUpToDate", "\n".join(f"* {reason}" for reason in reasons))
    return Verdict("True", "UpToDate")


def ready_summary(scope: MachineScope) -> Verdict:
    """Ready: the summary of all."""
    gates = scope.obj.spec.readiness_gates
    kinds = ["Deleting", "Updating", "BootstrapConfigReady", "InfrastructureReady", "NodeHealthy"]
    negative = [g.condition_type for g in gates if g.polarity == "Negative"]
    return summarize(
        scope.conditions,
        [*kinds, "HealthCheckSucceeded", *(g.condition_type for g in gates)],
        negative=["Deleting", "Updating", *negative],
        ignore_if_missing=["HealthCheckSucceeded"],
        reasons=Reasons("NotReady", "ReadyUnknown", "Ready"),
    )


def available(scope: MachineScope) -> Verdict:
    """Available: Ready for minReadySeconds."""
    ready = get_condition(scope.conditions, "Ready")
    if ready is None or ready.status != "True":
        return Verdict("False", "NotReady")
    remaining = (scope.obj.spec.min_ready_seconds or 0) - age_seconds(ready.last_transition_time)
    if (scope.obj.spec.min_ready_seconds or 0) > 0 and remaining > 0:
        scope.requeue_after(remaining + 0.1)
        return Verdict("False", "WaitingForMinReadySeconds")
    return Verdict("True", "Available")


def _set_phase(scope: MachineScope) -> None:
    machine = scope.obj
    state = machine.status.initialization
    phase = "Pending"
    if state.bootstrap_data_secret_created and not state.infrastructure_provisioned:
        phase = "Provisioning"
    if machine.spec.provider_id:
        phase = "Provisioned"
    if (
        machine.status.node_ref
        and machine.status.node_ref.name
        and state.infrastructure_provisioned
    ):
        phase = "Running"
    if machine.deleting:
        phase = "Deleting"
    if machine.status.phase != phase:
        machine.status.phase, machine.status.last_updated = phase, now()
