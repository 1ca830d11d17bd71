"""Makes the bootstrap data of one node: init for the first, join for the others."""

from capi_bootstrap import lock
from capi_bootstrap.cloudinit import File, NodeData, render
from capi_bootstrap.data import (
    certificate_files,
    discovery_file,
    missing_message,
    purposes,
    read_certificates,
    read_files,
    read_passwords,
)
from capi_bootstrap.kubeadm.documents import (
    ClusterFacts,
    cluster_configuration,
    init_configuration,
    join_configuration,
    to_yaml,
)
from capi_bootstrap.scope import ConfigScope
from capi_bootstrap.tokens import create_token
from capi_core.api.cluster import Cluster
from capi_core.api.meta import JsonObject
from capi_core.conditions import Verdict
from capi_core.contract.remote import ClusterCache
from capi_core.contract.secrets import CA, KeyPair, certificate_hashes, ensure_key_pair
from capi_core.runtime.client import Client
from capi_core.runtime.errors import NotReady, Terminal
from capi_core.runtime.store import Key

_LOCKED_SECONDS, _ENDPOINT_SECONDS, _CERTIFICATES_SECONDS = 30.0, 10.0, 30.0
_UNINITIALIZED_TAINT = {"key": "node.cluster.x-k8s.io/uninitialized", "effect": "NoSchedule"}


class InvalidConfig(Terminal):
    """A KubeadmConfig that contradicts its Machine."""


class Generator:
    """Renders bootstrap data; waits are raised as NotReady with their text in the scope."""

    def __init__(self, client: Client, remote: ClusterCache, token_ttl: float) -> None:
        self._client = client
        self._remote = remote
        self._ttl = token_ttl

    async def generate(self, scope: ConfigScope) -> str:
        """The user data of the node."""
        if not scope.control_plane_initialized:
            return await self._init(scope)
        cluster = scope.require_cluster()
        await lock.release(self._client, cluster)
        return await self._join(scope)

    async def _init(self, scope: ConfigScope) -> str:
        cluster, machine = scope.require_cluster(), scope.machine
        if not scope.is_control_plane or machine is None:
            scope.wait("Waiting for Cluster control plane to be initialized")
            # The Cluster's event brings the next pass; this is for the case that it is missed.
            raise NotReady("control plane not initialized", requeue_after=_LOCKED_SECONDS)
        if "joinConfiguration" in scope.spec and not (
            "initConfiguration" in scope.spec or "clusterConfiguration" in scope.spec
        ):
            scope.wait("Waiting for the first control plane Machine to initialize the cluster")
            raise NotReady("not the first machine", requeue_after=_LOCKED_SECONDS)
        if not await lock.acquire(self._client, cluster, machine):
            scope.wait("Waiting for the init lock held by another control plane Machine")
            raise NotReady("init lock held", requeue_after=_LOCKED_SECONDS)
        pairs = await self._certificates(scope)
        version = _version(scope)
        init: JsonObject = scope.spec.get("initConfiguration") or {}
        documents = to_yaml(
            cluster_configuration(
                scope.spec.get("clusterConfiguration") or {},
                cluster_facts(cluster),
                version,
                timeouts=init.get("timeouts"),
            ),
            init_configuration(init, version),
        )
        files = certificate_files(pairs, scope.spec)
        return await self._render(scope, documents, files, join=False)

    async def _certificates(self, scope: ConfigScope) -> dict[str, KeyPair]:
        cluster, names = scope.require_cluster(), purposes(scope.spec)
        found = await read_certificates(self._client, cluster, names)
        ref = cluster.spec.control_plane_ref
        if not (ref and ref.name) and not scope.control_plane_initialized:
            for purpose in names:
                if purpose not in found:
                    found[purpose] = await ensure_key_pair(
                        self._client,
                        namespace=cluster.namespace,
                        cluster=cluster.name,
                        purpose=purpose,
                        owner=scope.obj,
                    )
        if missing := [name for name in names if name not in found]:
            message = missing_message(cluster, missing)
            scope.certificates = Verdict("False", "InternalError", message)
            scope.wait(message)
            raise NotReady(message, requeue_after=_CERTIFICATES_SECONDS)
        scope.certificates = Verdict("True", "Available")
        return {name: found[name] for name in names}

    async def _join(self, scope: ConfigScope) -> str:
        cluster = scope.require_cluster()
        join: JsonObject = dict(scope.spec.get("joinConfiguration") or {})
        if not scope.is_control_plane and "controlPlane" in join:
            raise InvalidConfig(
                "spec.joinConfiguration.controlPlane is set, but the Machine is a worker"
            )
        files: list[File] = []
        if scope.is_control_plane:
            join.setdefault("controlPlane", {})
            files = certificate_files(await self._certificates(scope), scope.spec)
        ca = await self._cluster_ca(scope)
        discovery = await self._discovery(scope, join.get("discovery") or {}, ca)
        join["discovery"] = discovery
        if extra := discovery_file(discovery, _endpoint(cluster), ca.certificate):
            files.append(extra)
        if not scope.is_control_plane:
            join["nodeRegistration"] = with_worker_taint(join.get("nodeRegistration") or {})
        documents = to_yaml(join_configuration(join, _version(scope)))
        return await self._render(scope, documents, files, join=True)

    async def _cluster_ca(self, scope: ConfigScope) -> KeyPair:
        cluster = scope.require_cluster()
        found = await read_certificates(self._client, cluster, (CA,))
        if CA not in found:
            message = missing_message(cluster, [CA])
            scope.certificates = Verdict("False", "InternalError", message)
            scope.wait(message)
            raise NotReady(message, requeue_after=_CERTIFICATES_SECONDS)
        scope.certificates = Verdict("True", "Available")
        return found[CA]

    async def _discovery(
        self, scope: ConfigScope, discovery: JsonObject, ca: KeyPair
    ) -> JsonObject:
        if discovery.get("file"):
            return discovery
        cluster = scope.require_cluster()
        token = dict(discovery.get("bootstrapToken") or {})
        if not token.get("caCertHashes") and not token.get("unsafeSkipCAVerification"):
            token["caCertHashes"] = certificate_hashes(ca.certificate)
        if not token.get("apiServerEndpoint"):
            if not _endpoint(cluster):
                scope.wait("Waiting for Cluster spec.controlPlaneEndpoint to be set")
                raise NotReady("no endpoint", requeue_after=_ENDPOINT_SECONDS)
            token["apiServerEndpoint"] = _endpoint(cluster)
        if not token.get("token"):
            remote = self._remote.get(Key(cluster.namespace, cluster.name))
            if remote is None:
                scope.wait("Waiting for the workload cluster to be reachable, to make a join token")
                # The connection brings the next pass.
                raise NotReady("workload cluster not connected", requeue_after=10.0)
            token["token"] = await create_token(remote.client, self._ttl)
        return {**discovery, "bootstrapToken": token}

    async def _render(
        self, scope: ConfigScope, documents: str, certificates: list[File], *, join: bool
    ) -> str:
        namespace, spec = scope.obj.namespace, scope.spec
        return render(
            NodeData(
                kubeadm_config=documents,
                join=join,
                spec=spec,
                certificates=certificates,
                files=await read_files(self._client, namespace, spec.get("files") or []),
                passwords=await read_passwords(self._client, namespace, spec.get("users") or []),
            )
        )


def _version(scope: ConfigScope) -> str:
    version = scope.machine.spec.version if scope.machine else None
    if not version:
        raise InvalidConfig("the Machine has no spec.version")
    return version


def _endpoint(cluster: Cluster) -> str:
    endpoint = cluster.spec.control_plane_endpoint
    if not endpoint.host or not endpoint.port:
        return ""
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{host}:{endpoint.port}"


def cluster_facts(cluster: Cluster) -> ClusterFacts:
    """What the Cluster says about its network and endpoint."""
    network = cluster.spec.cluster_network
    return ClusterFacts(
        name=cluster.name,
        endpoint=_endpoint(cluster),
        dns_domain=network.service_domain or "",
        pod_subnets=tuple(network.pods.cidr_blocks),
        service_subnets=tuple(network.services.cidr_blocks),
    )


def with_worker_taint(registration: JsonObject) -> JsonObject:
    """The node registration with the taint that core removes after the first label sync."""
    # Setting taints replaces kubeadm's default, which for workers is none.
    taints = list(registration.get("taints") or [])
    if not any(taint["key"] == _UNINITIALIZED_TAINT["key"] for taint in taints):
        taints.append(dict(_UNINITIALIZED_TAINT))
    return {**registration, "taints": taints}
