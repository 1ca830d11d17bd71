"""The infrastructure and control plane objects that a Cluster refers to."""

from collections.abc import Callable

from capi_core.api.cluster import Cluster
from capi_core.api.labels import CLUSTER_NAME_LABEL
from capi_core.api.shared import ContractVersionedObjectReference
from capi_core.contract.external import External, ExternalObjects
from capi_core.contract.owners import owner_reference
from capi_core.reconcilers.cluster.scope import ClusterScope
from capi_core.runtime.errors import CapiError, NotReady
from capi_core.runtime.events import Recorder

_MISSING_SECONDS = 30.0


class DeletedAfterProvisioning(CapiError):
    """A referenced object went although the Cluster had been provisioned with it."""


class References:
    """Phases that read a Cluster's referenced objects and take over what the contract offers."""

    def __init__(self, external: ExternalObjects, recorder: Recorder) -> None:
        self._external = external
        self._recorder = recorder

    async def infrastructure(self, scope: ClusterScope) -> None:
        """infrastructureRef: provisioned, endpoint, failure domains."""
        cluster, state = scope.obj, scope.obj.status.initialization
        ref = cluster.spec.infrastructure_ref
        if ref is None or not ref.name:
            if not cluster.deleting:
                state.infrastructure_provisioned = True
            return
        found = await self._read(cluster, ref, bool(state.infrastructure_provisioned))
        scope.infrastructure = found
        if found is None or found.deleting:
            return
        if not found.provisioned and not state.infrastructure_provisioned:
            return
        _copy_endpoint(cluster, found)
        _copy_failure_domains(cluster, found)
        if not state.infrastructure_provisioned:
            state.infrastructure_provisioned = True
            self._recorder.normal(
                cluster, "InfrastructureReady", f"{ref.kind} {ref.name} is provisioned"
            )

    async def control_plane(self, scope: ClusterScope) -> None:
        """controlPlaneRef: initialized, endpoint."""
        cluster, state = scope.obj, scope.obj.status.initialization
        ref = cluster.spec.control_plane_ref
        if ref is None or not ref.name:
            return
        found = await self._read(cluster, ref, bool(state.control_plane_initialized))
        scope.control_plane = found
        if found is None or found.deleting:
            return
        _copy_endpoint(cluster, found)
        if found.control_plane_initialized and not state.control_plane_initialized:
            state.control_plane_initialized = True
            self._recorder.normal(
                cluster, "ControlPlaneInitialized", f"{ref.kind} {ref.name} is initialized"
            )

    async def _read(
        self, cluster: Cluster, ref: ContractVersionedObjectReference, was_there: bool
    ) -> External | None:
        found = await self._external.get(ref.api_group, ref.kind, cluster.namespace, ref.name)
        if found is None:
            # The watch may lag behind an object that was applied together with the Cluster.
            found = await self._external.live(ref.api_group, ref.kind, cluster.namespace, ref.name)
        if found is None:
            if cluster.deleting:
                return None
            if was_there:
                raise DeletedAfterProvisioning(
                    f"{ref.kind} {ref.name} has been deleted after being provisioned"
                )
            raise NotReady(f"{ref.kind} {ref.name} does not exist", requeue_after=_MISSING_SECONDS)
        return await self._adopt(cluster, found)

    async def _adopt(self, cluster: Cluster, found: External) -> External:
        meta = found.obj["metadata"]
        owners = list(meta.get("ownerReferences") or [])
        patch: dict[str, object] = {}
        if not any(ref["uid"] == cluster.metadata.uid for ref in owners):
            patch["ownerReferences"] = [*owners, owner_reference(cluster).dump()]
        if (meta.get("labels") or {}).get(CLUSTER_NAME_LABEL) != cluster.name:
            patch["labels"] = {CLUSTER_NAME_LABEL: cluster.name}
        if not patch or meta.get("deletionTimestamp"):
            return found
        patch["resourceVersion"] = meta["resourceVersion"]
        return await self._external.patch(found, {"metadata": patch})


def _copy_endpoint(cluster: Cluster, found: External) -> None:
    endpoint = cluster.spec.control_plane_endpoint
    if endpoint.host and endpoint.port:
        return
    host = found.field("spec.controlPlaneEndpoint.host")
    port = found.field("spec.controlPlaneEndpoint.port")
    if host and port:
        endpoint.host, endpoint.port = host, port


def _copy_failure_domains(cluster: Cluster, found: External) -> None:
    domains = found.field("status.failureDomains")
    if found.contract == "v1beta1" and isinstance(domains, dict):
        domains = [{"name": name, **(domain or {})} for name, domain in sorted(domains.items())]
    parse: Callable[[object], Cluster] = Cluster.model_validate
    parsed = parse({"status": {"failureDomains": domains or []}})
    cluster.status.failure_domains = parsed.status.failure_domains
