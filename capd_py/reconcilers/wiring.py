"""Runs both controllers in a manager: which change wakes which object."""

from pydantic import ValidationError

from capd_py.container.identity import (
    CLUSTER,
    CONTROL_PLANE,
    LOAD_BALANCER,
    MANAGEMENT,
    NAMESPACE,
    OWNER,
    ROLE,
    provider_id,
)
from capd_py.container.runtime import ContainerEvent
from capd_py.reconcilers.backends import ControlPlaneBackends
from capd_py.reconcilers.dockercluster import DockerClusterReconciler
from capd_py.reconcilers.dockermachine.reconciler import DockerMachineReconciler
from capd_py.reconcilers.host import Host
from capd_py.reconcilers.tasks import Tasks
from capi_core.api.cluster import Cluster
from capi_core.api.docker import DockerCluster, DockerMachine
from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.conditions import is_true
from capi_core.contract.remote import ClusterCache
from capi_core.runtime.controller import Controller
from capi_core.runtime.manager import Manager
from capi_core.runtime.store import Key, Store, key_of

_CONCURRENCY, _TIMEOUT_SECONDS = 20, 600.0


class Wiring:
    """The two controllers and the changes that concern them."""

    def __init__(self, manager: Manager, host: Host) -> None:
        remote = ClusterCache.of(manager)
        backends = ControlPlaneBackends(manager, host)
        tasks = Tasks(self._task_finished)
        self._manager, self._host = manager, host
        self._machine_store = manager.store(DockerMachine)
        self._cluster_store = manager.store(Cluster)
        self._machine_store.add_index("providerID", _provider_ids)
        self.clusters = Controller(
            "dockercluster",
            DockerClusterReconciler(manager, host, backends),
            timeout=_TIMEOUT_SECONDS,
        )
        self.machines = Controller(
            "dockermachine",
            DockerMachineReconciler(manager, host, backends, remote, tasks),
            concurrency=manager.options.concurrency or _CONCURRENCY,
            timeout=_TIMEOUT_SECONDS,
        )
        manager.add_controller(self.clusters, DockerCluster)
        manager.add_controller(self.machines, DockerMachine)
        manager.store(Machine).on_change(self._machine_changed)
        self._cluster_store.on_change(self._cluster_changed)
        remote.on_connection(lambda key: self._wake_machines_of(key) if remote.get(key) else None)
        remote.on_object(self._node_changed)
        manager.add_task(self._follow_engine)
        manager.on_close(tasks.close)

    def _task_finished(self, key: Key) -> None:
        self.machines.enqueue(key)

    def _machine_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is None or _machine_facts(old) == _machine_facts(new):
            return
        ref = (new.get("spec") or {}).get("infrastructureRef") or {}
        if ref.get("kind") == DockerMachine.resource.kind:
            self.machines.enqueue(Key(key_of(new).namespace, ref["name"]))

    def _cluster_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is None or _cluster_facts(old) == _cluster_facts(new):
            return
        self._wake_cluster(key_of(new))
        self._wake_machines_of(key_of(new))

    def _wake_cluster(self, key: Key) -> None:
        raw = self._cluster_store.get(key) or {}
        ref = (raw.get("spec") or {}).get("infrastructureRef") or {}
        if ref.get("kind") == DockerCluster.resource.kind:
            self.clusters.enqueue(Key(key.namespace, ref["name"]))

    def _wake_machines_of(self, cluster: Key) -> None:
        for obj in self._machine_store.by_index("cluster", f"{cluster.namespace}/{cluster.name}"):
            self.machines.enqueue(key_of(obj))

    def _node_changed(self, cluster: Key, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is None or new.get("kind", "Node") != "Node" or _node_facts(old) == _node_facts(new):
            return
        for obj in self._machine_store.by_index(
            "providerID", provider_id(new["metadata"]["name"])
        ):
            if key_of(obj).namespace == cluster.namespace:
                self.machines.enqueue(key_of(obj))

    async def _follow_engine(self) -> None:
        labels = {MANAGEMENT: await self._host.management()}
        async for event in self._host.runtime.events(labels):
            self._engine_changed(event)

    def _engine_changed(self, event: ContainerEvent) -> None:
        if event.action == "connected":
            # Whatever happened in between has to be looked for.
            _wake_all(self.clusters, self._manager.store(DockerCluster))
            _wake_all(self.machines, self._machine_store)
            return
        namespace = event.labels.get(NAMESPACE, "")
        kind, _, name = event.labels.get(OWNER, "").partition("/")
        if kind == DockerMachine.resource.kind:
            self.machines.enqueue(Key(namespace, name))
        if event.labels.get(ROLE) in (CONTROL_PLANE, LOAD_BALANCER):
            self._wake_cluster(Key(namespace, event.labels.get(CLUSTER, "")))


def _wake_all(controller: Controller, store: Store) -> None:
    for obj in store.all():
        controller.enqueue(key_of(obj))


def _provider_ids(obj: JsonObject) -> list[str]:
    value = (obj.get("spec") or {}).get("providerID")
    return [value] if value else []


def _machine_facts(obj: JsonObject | None) -> tuple[object, ...]:
    if obj is None:
        return ()
    spec = obj.get("spec") or {}
    return (
        spec.get("bootstrap"),
        spec.get("version"),
        spec.get("failureDomain"),
        obj["metadata"].get("labels"),
        bool(obj["metadata"].get("deletionTimestamp")),
    )


def _cluster_facts(obj: JsonObject | None) -> tuple[object, ...]:
    if obj is None:
        return ()
    try:
        cluster = Cluster.parse(obj)
    except ValidationError:
        return ()
    return (
        cluster.spec.paused,
        cluster.spec.infrastructure_ref,
        cluster.deleting,
        cluster.status.initialization.infrastructure_provisioned,
        is_true(cluster.status.conditions, "ControlPlaneInitialized"),
    )


def _node_facts(obj: JsonObject | None) -> tuple[object, ...]:
    if obj is None:
        return ()
    return (obj.get("spec"), (obj.get("status") or {}).get("addresses"))
