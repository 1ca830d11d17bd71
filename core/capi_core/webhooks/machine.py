"""Admission of Machines."""

from capi_core.api.labels import CLUSTER_NAME_LABEL, CONTROL_PLANE_LABEL
from capi_core.api.machine import Machine
from capi_core.runtime.webhook.admission import FieldError, Request, Webhook
from capi_core.webhooks.rules import (
    check_bootstrap,
    check_cluster_name,
    check_taints,
    check_version,
    with_v,
)

_NODE_DELETION_SECONDS = 10


def default(machine: Machine, request: Request) -> None:
    """The cluster's label, the version's v, ten seconds for the deletion of the Node."""
    del request
    machine.metadata.labels[CLUSTER_NAME_LABEL] = machine.spec.cluster_name
    if machine.spec.version:
        machine.spec.version = with_v(machine.spec.version)
    if machine.spec.deletion.node_deletion_timeout_seconds is None:
        machine.spec.deletion.node_deletion_timeout_seconds = _NODE_DELETION_SECONDS


def validate(machine: Machine, old: Machine | None, request: Request) -> list[FieldError]:
    """Bootstrap, version, taints; a Machine stays in its cluster."""
    del request
    pooled = any(ref.kind == "MachinePool" for ref in machine.metadata.owner_references)
    errors = [] if pooled else check_bootstrap(machine.spec.bootstrap, "spec.bootstrap")
    errors += check_cluster_name(machine.spec.cluster_name, old.spec.cluster_name if old else None)
    errors += check_version(machine.spec.version, "spec.version")
    worker = CONTROL_PLANE_LABEL not in machine.metadata.labels
    errors += check_taints(machine.spec.taints, "spec.taints", worker=worker)
    return errors


WEBHOOK = Webhook(Machine, default=default, validate=validate)
