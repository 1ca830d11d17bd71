"""The bootstrap config and infrastructure machine that a Machine refers to."""

from capi_core.api.labels import CLUSTER_NAME_LABEL
from capi_core.api.machine import Machine, MachineStatus
from capi_core.api.shared import ContractVersionedObjectReference
from capi_core.contract.external import External, ExternalObjects
from capi_core.contract.owners import owner_reference
from capi_core.reconcilers.machine.scope import MachineScope
from capi_core.runtime.errors import CapiError, NotReady

_MISSING_SECONDS = 30.0
_PROVIDER_ID_SECONDS = 5.0
_CREATORS = ("MachineSet", "KubeadmControlPlane")


class InfrastructureLost(CapiError):
    """The infrastructure machine went although the Machine lives."""


class References:
    """Phases that read both references and take over what the contract offers."""

    def __init__(self, external: ExternalObjects) -> None:
        self._external = external

    async def bootstrap(self, scope: MachineScope) -> None:
        """bootstrap.configRef: the data Secret's name."""
        machine = scope.obj
        ref = machine.spec.bootstrap.config_ref
        if ref is None or not ref.name:
            if machine.spec.bootstrap.data_secret_name is not None:
                machine.status.initialization.bootstrap_data_secret_created = True
            return
        scope.bootstrap = await self._read(machine, ref)
        if scope.bootstrap is None or scope.bootstrap.deleting or machine.deleting:
            return
        if machine.spec.bootstrap.data_secret_name is not None:
            machine.status.initialization.bootstrap_data_secret_created = True
            return
        if not scope.bootstrap.data_secret_created:
            return
        name = scope.bootstrap.field("status.dataSecretName")
        if not name:
            raise CapiError(f"{ref.kind} {ref.name} reports no status.dataSecretName")
        machine.spec.bootstrap.data_secret_name = name
        machine.status.initialization.bootstrap_data_secret_created = True

    async def infrastructure(self, scope: MachineScope) -> None:
        """infrastructureRef: providerID, addresses, failure domain."""
        machine = scope.obj
        ref = machine.spec.infrastructure_ref
        state = machine.status.initialization
        scope.infrastructure = found = await self._read(machine, ref)
        if found is None:
            if state.infrastructure_provisioned and not machine.deleting:
                raise InfrastructureLost(
                    f"{ref.kind} {ref.name} has been deleted while the Machine still exists"
                )
            return
        if machine.deleting or found.deleting:
            return
        if not found.provisioned and not state.infrastructure_provisioned:
            return
        provider_id = found.field("spec.providerID")
        if not provider_id:
            raise NotReady(
                f"{ref.kind} {ref.name} reports no spec.providerID",
                requeue_after=_PROVIDER_ID_SECONDS,
            )
        machine.spec.provider_id = provider_id
        parsed = MachineStatus.model_validate({"addresses": found.field("status.addresses") or []})
        machine.status.addresses = parsed.addresses
        domain = found.field("status.failureDomain") or found.field("spec.failureDomain")
        if domain:
            machine.status.failure_domain = domain
        state.infrastructure_provisioned = True

    async def _read(
        self, machine: Machine, ref: ContractVersionedObjectReference
    ) -> External | None:
        found = await self._external.get(ref.api_group, ref.kind, machine.namespace, ref.name)
        if found is None:
            found = await self._external.live(ref.api_group, ref.kind, machine.namespace, ref.name)
        if found is None:
            if machine.deleting or machine.status.initialization.infrastructure_provisioned:
                return None
            raise NotReady(f"{ref.kind} {ref.name} does not exist", requeue_after=_MISSING_SECONDS)
        return await self._adopt(machine, found)

    async def _adopt(self, machine: Machine, found: External) -> External:
        meta = found.obj["metadata"]
        owners = list(meta.get("ownerReferences") or [])
        wanted = [
            ref
            for ref in owners
            if ref["uid"] != machine.metadata.uid and ref["kind"] not in _CREATORS
        ]
        wanted.append(owner_reference(machine, controller=True).dump())
        patch: dict[str, object] = {}
        ours = next((ref for ref in owners if ref["uid"] == machine.metadata.uid), None)
        if ours is None or not ours.get("controller") or len(wanted) != len(owners):
            patch["ownerReferences"] = wanted
        cluster = machine.spec.cluster_name
        if (meta.get("labels") or {}).get(CLUSTER_NAME_LABEL) != cluster:
            patch["labels"] = {CLUSTER_NAME_LABEL: cluster}
        if not patch or meta.get("deletionTimestamp"):
            return found
        patch["resourceVersion"] = meta["resourceVersion"]
        return await self._external.patch(found, {"metadata": patch})
