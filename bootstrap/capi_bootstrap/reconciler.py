"""Reconciles KubeadmConfigs: when everything needed is there, write the data Secret once."""

from collections.abc import Sequence

from capi_bootstrap import lock
from capi_bootstrap.generate import Generator
from capi_bootstrap.scope import ConfigScope
from capi_bootstrap.tokens import refresh_token
from capi_core.api.cluster import Cluster
from capi_core.api.kubeadm import KubeadmConfig
from capi_core.api.machine import Machine
from capi_core.api.meta import JsonObject
from capi_core.conditions import Reasons, Verdict, get_condition, is_true, summarize
from capi_core.contract.owners import owner_of_kind
from capi_core.contract.reconciler import ObjectReconciler, Phase
from capi_core.contract.remote import ClusterCache
from capi_core.contract.secrets import SECRETS, secret_data, secret_object
from capi_core.runtime.controller import Controller
from capi_core.runtime.errors import AlreadyExists, NotReady
from capi_core.runtime.manager import Manager
from capi_core.runtime.store import Key, key_of

_MAX_SECRET_BYTES = 1024 * 1024


class KubeadmConfigReconciler(ObjectReconciler[KubeadmConfig, ConfigScope]):
    """Writes bootstrap data, and keeps its token alive until the node has joined."""

    kind = KubeadmConfig
    sequential = True

    def __init__(self, manager: Manager, remote: ClusterCache, token_ttl: float) -> None:
        super().__init__(manager)
        self._remote = remote
        self._ttl = token_ttl
        self._machines = manager.store(Machine)
        self._generator = Generator(manager.client, remote, token_ttl)

    def ignores(self, obj: KubeadmConfig, cluster: Cluster | None) -> bool:
        # Without a Machine and a Cluster there is nobody to make data for yet.
        return obj.deleting or cluster is None or self._machine(obj) is None

    def _machine(self, config: KubeadmConfig) -> Machine | None:
        owner = owner_of_kind(config.metadata, Machine.resource)
        raw = self._machines.get(Key(config.namespace, owner.name)) if owner else None
        return Machine.parse(raw) if raw else None

    def new_scope(
        self, obj: KubeadmConfig, cluster: Cluster | None, before: JsonObject
    ) -> ConfigScope:
        return ConfigScope(obj, cluster, before, machine=self._machine(obj), spec=obj.spec.dump())

    def phases(self, scope: ConfigScope) -> Sequence[Phase[ConfigScope]]:
        return [self.infrastructure, self.data_secret]

    async def infrastructure(self, scope: ConfigScope) -> None:
        """Nothing can be said about a node before the cluster's infrastructure is known."""
        if not scope.require_cluster().status.initialization.infrastructure_provisioned:
            scope.wait(
                "Waiting for Cluster status.initialization.infrastructureProvisioned to be true"
            )
            # The Cluster's event brings the next pass.
            raise NotReady("infrastructure not provisioned", requeue_after=30.0)

    async def data_secret(self, scope: ConfigScope) -> None:
        """The Secret with the data: made once, then only its token is refreshed."""
        config, machine = scope.obj, scope.machine
        assert machine is not None
        if machine.spec.bootstrap.data_secret_name and not config.status.data_secret_name:
            # Made before: by a manager that stopped here, or by the user.
            config.status.data_secret_name = machine.spec.bootstrap.data_secret_name
        if config.status.data_secret_name:
            self._created(scope, config.status.data_secret_name)
            await self._refresh_token(scope)
            return
        try:
            text = await self._generator.generate(scope)
        except NotReady:
            raise
        except Exception as error:
            scope.wait(str(error))
            if not scope.control_plane_initialized and scope.is_control_plane:
                await lock.release(self.client, scope.require_cluster())
            raise
        await self._store(scope, text)
        self._created(scope, config.name)

    async def _store(self, scope: ConfigScope, text: str) -> None:
        config, cluster = scope.obj, scope.require_cluster()
        if len(text.encode()) > _MAX_SECRET_BYTES:
            scope.wait(
                f"the bootstrap data has {len(text.encode())} bytes, a Secret holds at most "
                f"{_MAX_SECRET_BYTES}: make spec.files smaller"
            )
            raise NotReady("bootstrap data too large", requeue_after=300.0)
        data = {"value": text.encode(), "format": (config.spec.format or "cloud-config").encode()}
        body = secret_object(cluster.name, cluster.namespace, config.name, data, config)
        try:
            await self.client.create(body, SECRETS)
        except AlreadyExists:
            # A manager that stopped between writing the Secret and the status left it.
            patch = {"data": body["data"], "metadata": {"labels": body["metadata"]["labels"]}}
            await self.client.patch(SECRETS, cluster.namespace, config.name, patch)
        self.manager.recorder.normal(
            config, "DataSecretCreated", f"Created bootstrap data Secret {config.name}"
        )

    def _created(self, scope: ConfigScope, name: str) -> None:
        scope.obj.status.data_secret_name = name
        scope.obj.status.initialization.data_secret_created = True
        scope.data = Verdict("True", "Available")
        scope.certificates = scope.certificates or Verdict("True", "Available")

    async def _refresh_token(self, scope: ConfigScope) -> None:
        machine, cluster = scope.machine, scope.require_cluster()
        if machine is None or (machine.status.node_ref and machine.status.node_ref.name):
            return
        token = await self._own_token(scope)
        remote = self._remote.get(Key(cluster.namespace, cluster.name))
        if token is None or remote is None:
            return
        if not await refresh_token(remote.client, token, self._ttl):
            scope.data = Verdict(
                "True",
                "Available",
                "the join token does not exist any more in the workload cluster",
            )
        scope.requeue_after(self._ttl / 3)

    async def _own_token(self, scope: ConfigScope) -> str | None:
        join = scope.spec.get("joinConfiguration") or {}
        if ((join.get("discovery") or {}).get("bootstrapToken") or {}).get("token"):
            return None
        name = scope.obj.status.data_secret_name or ""
        secret = await self.client.find(SECRETS, scope.obj.namespace, name)
        text = secret_data(secret).get("value", b"").decode() if secret else ""
        for line in text.splitlines():
            head, found, token = line.strip().partition("token: ")
            if found and not head and "." in token:
                return token.strip("'\"")
        return None

    def set_status(self, scope: ConfigScope) -> None:
        scope.set("DataSecretAvailable", scope.data)
        if scope.certificates is not None:
            scope.set("CertificatesAvailable", scope.certificates)
        known = ["DataSecretAvailable"]
        if get_condition(scope.conditions, "CertificatesAvailable"):
            known.append("CertificatesAvailable")
        reasons = Reasons("NotReady", "ReadyUnknown", "Ready")
        scope.set("Ready", summarize(scope.conditions, known, reasons=reasons))


def register(manager: Manager, remote: ClusterCache, *, token_ttl: float) -> None:
    """Run the KubeadmConfig controller in ``manager``."""
    configs = manager.store(KubeadmConfig)
    controller = Controller("kubeadmconfig", KubeadmConfigReconciler(manager, remote, token_ttl))
    manager.add_controller(controller, KubeadmConfig)

    def machine_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        if new is None or _machine_facts(old) == _machine_facts(new):
            return
        ref = (new["spec"].get("bootstrap") or {}).get("configRef") or {}
        if ref.get("kind") == KubeadmConfig.resource.kind:
            controller.enqueue(Key(key_of(new).namespace, ref["name"]))

    def enqueue_cluster(cluster: Key) -> None:
        for obj in configs.by_index("cluster", f"{cluster.namespace}/{cluster.name}"):
            controller.enqueue(key_of(obj))

    def cluster_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        if new is not None and _cluster_facts(old) != _cluster_facts(new):
            enqueue_cluster(key_of(new))

    def connection_changed(cluster: Key) -> None:
        if remote.get(cluster) is not None:
            enqueue_cluster(cluster)

    manager.store(Machine).on_change(machine_changed)
    manager.store(Cluster).on_change(cluster_changed)
    remote.on_connection(connection_changed)


def _machine_facts(obj: JsonObject | None) -> tuple[object, ...]:
    if obj is None:
        return ()
    status = obj.get("status") or {}
    return (obj.get("spec"), status.get("nodeRef"), obj["metadata"].get("labels"))


def _cluster_facts(obj: JsonObject | None) -> tuple[object, ...]:
    if obj is None:
        return ()
    cluster = Cluster.parse(obj)
    return (
        cluster.spec.dump(),
        cluster.status.initialization.infrastructure_provisioned,
        is_true(cluster.status.conditions, "ControlPlaneInitialized"),
    )
