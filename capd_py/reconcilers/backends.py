"""Keeps the load balancer of a cluster in step with its control plane machines."""

from capd_py.container.identity import CONTROL_PLANE, OWNER, Identity
from capd_py.container.runtime import Container
from capd_py.loadbalancer.balancer import backends_of
from capd_py.loadbalancer.config import API_PORT, Backend, render, render_custom
from capd_py.reconcilers.host import Host
from capi_core.api.docker import DockerCluster, DockerMachine
from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject, ObjectMeta
from capi_core.contract.owners import owner_of_kind
from capi_core.contract.remote import CONFIG_MAPS
from capi_core.runtime.errors import CapiError
from capi_core.runtime.manager import Manager
from capi_core.runtime.store import Key


class TemplateMissing(CapiError):
    """The ConfigMap with the HAProxy template, or its key, does not exist."""


class ControlPlaneBackends:
    """Computes the configuration from the containers there are, and applies it."""

    def __init__(self, manager: Manager, host: Host) -> None:
        self._client = manager.client
        self._host = host
        self._machines = manager.store(Machine)
        self._docker_machines = manager.store(DockerMachine)

    async def sync(self, identity: Identity, obj: DockerCluster) -> bool:
        """Make the load balancer serve the control plane; False when there is none yet.

        Raises:
            TemplateMissing: the user's template cannot be found.
            InvalidTemplate: it cannot be rendered.
            ReloadFailed: HAProxy refused the result.
        """
        known = obj.spec.control_plane_endpoint.host or ""
        container = await self._host.balancers.find(identity, known)
        if container is None or not container.running:
            return False
        nodes = await self._host.runtime.find(identity.role_labels(CONTROL_PLANE))
        leaving = [node.name for node in nodes if self._leaves(identity, node)]
        config = await self._config(obj, container, backends_of(nodes, leaving))
        await self._host.balancers.apply(identity, container, config)
        return True

    async def _config(
        self, obj: DockerCluster, container: Container, backends: list[Backend]
    ) -> str:
        port = obj.spec.control_plane_endpoint.port or API_PORT
        ipv6 = ":" in container.address
        ref = obj.spec.load_balancer.custom_ha_proxy_config_template_ref
        if ref is None or not ref.name:
            return render(backends, port=port, open_files=container.open_files, ipv6=ipv6)
        found = await self._client.find(CONFIG_MAPS, obj.namespace, ref.name)
        text = (found.get("data") or {}).get("value") if found else None
        if text is None:
            what = "has no key value" if found else "does not exist"
            raise TemplateMissing(f"ConfigMap {obj.namespace}/{ref.name} {what}")
        return render_custom(text, backends, port=port, ipv6=ipv6)

    def _leaves(self, identity: Identity, container: Container) -> bool:
        kind, _, name = container.labels.get(OWNER, "").partition("/")
        raw = self._docker_machines.get(Key(identity.namespace, name))
        if kind != DockerMachine.resource.kind or raw is None:
            return False
        return _deleting(raw) or _deleting(self._owner(raw))

    def _owner(self, raw: JsonObject) -> JsonObject | None:
        meta = ObjectMeta.model_validate(raw["metadata"])
        owner = owner_of_kind(meta, Machine.resource)
        return self._machines.get(Key(meta.namespace or "", owner.name)) if owner else None


def _deleting(raw: JsonObject | None) -> bool:
    return bool(raw and raw["metadata"].get("deletionTimestamp"))
