"""Admission of MachineSets, and of what MachineDeployments have in common with them."""

from capi_core.api.labels import CLUSTER_NAME_LABEL, SET_NAME_LABEL
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.machineset import MachineSet
from capi_core.contract.selectors import is_empty
from capi_core.contract.templates import label_value
from capi_core.runtime.webhook.admission import FieldError, Request, Webhook, forbidden
from capi_core.webhooks.rules import (
    check_bootstrap,
    check_cluster_name,
    check_metadata,
    check_naming,
    check_preflight_skips,
    check_selector,
    check_taints,
    check_version,
    default_replicas,
    with_v,
)

_TEMPLATE = "spec.template"


def default(machine_set: MachineSet, request: Request) -> None:
    """The cluster's label, replicas, a selector of its own, the version's v."""
    spec = machine_set.spec
    machine_set.metadata.labels[CLUSTER_NAME_LABEL] = spec.cluster_name
    spec.replicas = default_replicas(machine_set, spec.replicas, request)
    if is_empty(spec.selector):
        own = {SET_NAME_LABEL: label_value(machine_set.name)}
        spec.selector.match_labels.update(own)
        spec.template.metadata.labels.update(own)
    if spec.template.spec.version:
        spec.template.spec.version = with_v(spec.template.spec.version)


def validate(
    machine_set: MachineSet, old: MachineSet | None, request: Request
) -> list[FieldError]:
    """Template, selector, naming; a MachineSet stays in its cluster."""
    del request
    return check_machines(machine_set, old)


def check_machines(
    obj: MachineSet | MachineDeployment, old: MachineSet | MachineDeployment | None
) -> list[FieldError]:
    """What a template and a selector of Machines have to fulfil."""
    spec, template = obj.spec, obj.spec.template
    errors = check_bootstrap(template.spec.bootstrap, f"{_TEMPLATE}.spec.bootstrap")
    errors += check_selector(
        spec.selector, template.metadata.labels, "spec.selector", f"{_TEMPLATE}.metadata.labels"
    )
    errors += check_preflight_skips(obj.metadata.annotations)
    errors += check_cluster_name(spec.cluster_name, old.spec.cluster_name if old else None)
    if template.spec.cluster_name != spec.cluster_name:
        path = f"{_TEMPLATE}.spec.clusterName"
        errors.append(forbidden(path, f"must be {spec.cluster_name}, as spec.clusterName is"))
    errors += check_version(template.spec.version, f"{_TEMPLATE}.spec.version")
    errors += check_taints(template.spec.taints, f"{_TEMPLATE}.spec.taints", worker=True)
    errors += check_naming(
        spec.machine_naming.template,
        {"cluster.name": "cluster", "machineSet.name": "machineset", "random": "bcdfg"},
        "spec.machineNaming.template",
    )
    errors += check_metadata(
        template.metadata.labels, template.metadata.annotations, f"{_TEMPLATE}.metadata"
    )
    return errors


WEBHOOK = Webhook(MachineSet, default=default, validate=validate)
