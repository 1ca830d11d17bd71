"""Makes the Machines of a control plane, with their KubeadmConfig and infrastructure."""

from capi_controlplane.scope import (
    CONTROL_PLANE_NAME_LABEL,
    ControlPlaneScope,
)
from capi_core.api.kubeadm import KubeadmConfig
from capi_core.api.labels import CLUSTER_NAME_LABEL, CONTROL_PLANE_LABEL
from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.contract.external import External, ExternalObjects
from capi_core.contract.owners import owner_reference
from capi_core.contract.templates import clone_template, render_name
from capi_core.runtime.client import Client
from capi_core.runtime.errors import CapiError

PRE_TERMINATE_HOOK = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup"
_DEFAULT_NAME = "{{ .kubeadmControlPlane.name }}-{{ .random }}"
_LOCAL_MODE = "ControlPlaneKubeletLocalMode"


class TemplateMissing(CapiError):
    """The infrastructure machine template does not exist."""


def machine_labels(scope: ControlPlaneScope) -> dict[str, str]:
    """The labels of the control plane's Machines."""
    return {
        **scope.obj.spec.machine_template.metadata.labels,
        CLUSTER_NAME_LABEL: scope.require_cluster().name,
        CONTROL_PLANE_LABEL: "",
        CONTROL_PLANE_NAME_LABEL: scope.obj.name,
    }


async def read_template(scope: ControlPlaneScope, external: ExternalObjects) -> External:
    """The infrastructure template, owned by the Cluster so that it goes with it."""
    ref = scope.obj.spec.machine_template.spec.infrastructure_ref
    where = (ref.api_group, ref.kind, scope.obj.namespace, ref.name)
    template = await external.get(*where) or await external.live(*where)
    if template is None:
        raise TemplateMissing(f"{ref.kind} {ref.name} does not exist")
    cluster = scope.require_cluster()
    owners = template.obj["metadata"].get("ownerReferences") or []
    if any(owner["uid"] == cluster.metadata.uid for owner in owners):
        return template
    meta = {
        "ownerReferences": [*owners, owner_reference(cluster).dump()],
        "resourceVersion": template.obj["metadata"]["resourceVersion"],
    }
    return await external.patch(template, {"metadata": meta})


def kubeadm_config_spec(spec: JsonObject, *, first: bool, version: str) -> JsonObject:
    """The KubeadmConfigSpec of one Machine: the first initializes, the others join."""
    result = dict(spec)
    if first:
        result.pop("joinConfiguration", None)
    else:
        result.pop("initConfiguration", None)
    minor = int(version.removeprefix("v").split(".")[1])
    if 31 <= minor < 36:
        configuration = dict(result.get("clusterConfiguration") or {})
        gates = configuration.get("featureGates") or {}
        configuration["featureGates"] = {_LOCAL_MODE: True, **gates}
        result["clusterConfiguration"] = configuration
    return result


class MachineFactory:
    """Creates one Machine at a time, and cleans up when that fails half-way."""

    def __init__(self, client: Client, external: ExternalObjects) -> None:
        self._client = client
        self._external = external

    async def create(
        self, scope: ControlPlaneScope, *, first: bool, failure_domain: str | None
    ) -> Machine:
        """Infrastructure machine, KubeadmConfig, Machine."""
        template = await read_template(scope, self._external)
        naming = scope.obj.spec.machine_naming.template or _DEFAULT_NAME
        name = render_name(naming, {"kubeadmControlPlane.name": scope.obj.name})
        made: list[JsonObject] = []
        try:
            made.append(await self._external.create(self._infrastructure(scope, template, name)))
            made.append(
                await self._client.create(
                    self._config(scope, name, first=first), KubeadmConfig.resource
                )
            )
            body = self._machine(scope, name, made, failure_domain)
            return Machine.parse(await self._client.create(body, Machine.resource))
        except BaseException:
            for obj in made:
                await self._external.delete(External(obj, "v1beta2"))
            raise

    def _infrastructure(
        self, scope: ControlPlaneScope, template: External, name: str
    ) -> JsonObject:
        return clone_template(
            template.obj,
            name=name,
            cluster=scope.require_cluster().name,
            owner=scope.obj,
            labels=machine_labels(scope),
            annotations=scope.obj.spec.machine_template.metadata.annotations,
        )

    def _config(self, scope: ControlPlaneScope, name: str, *, first: bool) -> JsonObject:
        meta = scope.obj.spec.machine_template.metadata
        spec = scope.obj.spec.kubeadm_config_spec.dump()
        return {
            "apiVersion": KubeadmConfig.resource.api_version,
            "kind": "KubeadmConfig",
            "metadata": {
                "name": name,
                "namespace": scope.obj.namespace,
                "labels": machine_labels(scope),
                "annotations": dict(meta.annotations),
                "ownerReferences": [owner_reference(scope.obj).dump()],
            },
            "spec": kubeadm_config_spec(spec, first=first, version=scope.obj.spec.version),
        }

    def _machine(
        self,
        scope: ControlPlaneScope,
        name: str,
        made: list[JsonObject],
        failure_domain: str | None,
    ) -> JsonObject:
        control_plane = scope.obj
        template = control_plane.spec.machine_template.spec.dump()
        gates = [{"conditionType": kind} for kind in scope.machine_conditions]
        gates.insert(0, {"conditionType": "NodeKubeadmLabelsAndTaintsSet"})
        known = {gate["conditionType"] for gate in gates}
        gates += [
            gate
            for gate in template.get("readinessGates", [])
            if gate["conditionType"] not in known
        ]
        spec: JsonObject = {
            **{k: template[k] for k in ("deletion", "taints") if k in template},
            "clusterName": scope.require_cluster().name,
            "version": control_plane.spec.version,
            "bootstrap": {"configRef": _reference(made[1])},
            "infrastructureRef": _reference(made[0]),
            "readinessGates": gates,
            "minReadySeconds": 0,
        }
        if failure_domain:
            spec["failureDomain"] = failure_domain
        return {
            "apiVersion": Machine.resource.api_version,
            "kind": "Machine",
            "metadata": {
                "name": name,
                "namespace": control_plane.namespace,
                "labels": machine_labels(scope),
                "annotations": {
                    **control_plane.spec.machine_template.metadata.annotations,
                    PRE_TERMINATE_HOOK: "",
                },
                "ownerReferences": [owner_reference(control_plane, controller=True).dump()],
            },
            "spec": spec,
        }


def _reference(obj: JsonObject) -> JsonObject:
    return {
        "apiGroup": obj["apiVersion"].rpartition("/")[0],
        "kind": obj["kind"],
        "name": obj["metadata"]["name"],
    }


def pick_failure_domain(scope: ControlPlaneScope) -> str | None:
    """The control plane failure domain with the fewest Machines."""
    domains = [d.name for d in scope.require_cluster().status.failure_domains if d.control_plane]
    if not domains:
        return None
    counts = dict.fromkeys(domains, 0)
    for machine in scope.machines:
        domain = machine.spec.failure_domain or machine.status.failure_domain
        if domain in counts:
            counts[domain] += 1
    return min(domains, key=lambda name: (counts[name], name))
