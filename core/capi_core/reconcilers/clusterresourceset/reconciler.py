"""Reconciles ClusterResourceSets: for each chosen cluster, each resource, applied and bound."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from capi_core.api.cluster import Cluster
from capi_core.api.clusterresourceset import (
    ClusterResourceSet,
    ClusterResourceSetBinding,
    ResourceBinding,
    ResourceRef,
    ResourceSetBinding,
)
from capi_core.api.meta import JsonObject, Resource
from capi_core.conditions import Verdict, now
from capi_core.contract.discovery import Discovery
from capi_core.contract.owners import owner_reference, set_owner
from capi_core.contract.reconciler import ObjectReconciler, Phase, Scope
from capi_core.contract.remote import CONFIG_MAPS, ClusterCache, RemoteCluster
from capi_core.contract.secrets import SECRETS
from capi_core.contract.selectors import matches
from capi_core.reconcilers.clusterresourceset.manifests import hash_of, objects_of, texts_of
from capi_core.runtime.controller import Controller, describe
from capi_core.runtime.errors import AlreadyExists, CapiError
from capi_core.runtime.manager import Manager
from capi_core.runtime.patch import write_known
from capi_core.runtime.store import Key, key_of

SECRET_TYPE = "addons.cluster.x-k8s.io/resource-set"
_APPLY_ONCE = "ApplyOnce"
_MANAGER = "clusterresourceset"
# Resources are not watched: content is looked at again in this time.
_LOOK_SECONDS, _RETRY_SECONDS = 60.0, 5.0


class WrongSecretType(CapiError):
    """A Secret that is not meant for ClusterResourceSets is not applied."""


@dataclass
class SetScope(Scope[ClusterResourceSet]):
    """One pass over a ClusterResourceSet.

    Attributes:
        problems: what could not be applied, and why.
        awaited: clusters that are not connected yet, and resources that do not exist yet.
    """

    problems: list[Exception] = field(default_factory=list)
    awaited: list[str] = field(default_factory=list)


class ClusterResourceSetReconciler(ObjectReconciler[ClusterResourceSet, SetScope]):
    """Applies resources to clusters and keeps what was applied in each cluster's binding."""

    kind = ClusterResourceSet
    finalizer = "addons.cluster.x-k8s.io"
    sequential = True

    def __init__(self, manager: Manager, remote: ClusterCache) -> None:
        super().__init__(manager)
        self._remote = remote
        self._chosen_from = manager.store(Cluster)
        self._bindings = manager.store(ClusterResourceSetBinding)

    def new_scope(
        self, obj: ClusterResourceSet, cluster: Cluster | None, before: JsonObject
    ) -> SetScope:
        return SetScope(obj, cluster, before)

    def cluster_of(self, obj: ClusterResourceSet) -> Cluster | None:
        """None: a set belongs to no cluster, so no cluster pauses it."""
        return None

    def phases(self, scope: SetScope) -> Sequence[Phase[SetScope]]:
        return [self.delete] if scope.obj.deleting else [self.apply]

    async def apply(self, scope: SetScope) -> None:
        """Every resource in every chosen cluster."""
        for raw in self._chosen_from.all(scope.obj.namespace):
            cluster = Cluster.parse(raw)
            if cluster.deleting or not matches(
                scope.obj.spec.cluster_selector, cluster.metadata.labels
            ):
                continue
            try:
                await self._apply_to(scope, cluster)
            except CapiError as error:
                scope.problems.append(error)
                scope.requeue_after(_RETRY_SECONDS)

    async def _apply_to(self, scope: SetScope, cluster: Cluster) -> None:
        remote = self._remote.get(Key(cluster.namespace, cluster.name))
        if remote is None:
            # Its connection brings the next pass.
            scope.awaited.append(f"Cluster {cluster.name} to be reachable")
            return
        binding, before = await self._binding(scope.obj, cluster)
        entry = _entry(binding, scope.obj.name)
        discovery = Discovery(remote.client)
        try:
            for ref in scope.obj.spec.resources:
                await self._apply_resource(scope, remote, discovery, ref, entry)
        finally:
            await write_known(self.client, self._bindings, before, binding)

    async def _binding(
        self, obj: ClusterResourceSet, cluster: Cluster
    ) -> tuple[ClusterResourceSetBinding, JsonObject]:
        resource = ClusterResourceSetBinding.resource
        raw = await self.client.find(resource, cluster.namespace, cluster.name)
        if raw is None:
            raw = await self.client.create(
                {
                    "apiVersion": resource.api_version,
                    "kind": resource.kind,
                    "metadata": {
                        "name": cluster.name,
                        "namespace": cluster.namespace,
                        "ownerReferences": [
                            owner_reference(cluster).dump(),
                            owner_reference(obj).dump(),
                        ],
                    },
                    "spec": {"clusterName": cluster.name},
                },
                resource,
            )
        binding = ClusterResourceSetBinding.parse(raw)
        before = binding.dump()
        set_owner(binding.metadata, cluster)
        set_owner(binding.metadata, obj)
        return binding, before

    async def _apply_resource(
        self,
        scope: SetScope,
        remote: RemoteCluster,
        discovery: Discovery,
        ref: ResourceRef,
        entry: ResourceSetBinding,
    ) -> None:
        once = (scope.obj.spec.strategy or _APPLY_ONCE) == _APPLY_ONCE
        known = next((r for r in entry.resources if (r.kind, r.name) == (ref.kind, ref.name)), None)
        if known is not None and known.applied and once:
            return
        source = await self._source(scope, ref)
        if source is None:
            scope.awaited.append(f"{ref.kind} {ref.name} to exist")
            scope.requeue_after(_RETRY_SECONDS)
            return
        digest = hash_of(texts_of(source))
        if known is not None and known.applied and known.hash == digest:
            return
        if known is None:
            known = ResourceBinding(kind=ref.kind, name=ref.name)
            entry.resources.append(known)
        known.applied, known.hash, known.last_applied_time = False, digest, now()
        for obj in objects_of(source):
            resource = await discovery.resource(obj["apiVersion"], obj["kind"])
            await _apply_object(remote, resource, obj, once=once)
        known.applied = True
        self.manager.recorder.normal(
            scope.obj, "ResourceApplied", f"{ref.kind} {ref.name} applied to {remote.key.name}"
        )

    async def _source(self, scope: SetScope, ref: ResourceRef) -> JsonObject | None:
        """The ConfigMap or Secret, owned by the set.

        Raises:
            WrongSecretType: a Secret of another type.
        """
        resource = SECRETS if ref.kind == "Secret" else CONFIG_MAPS
        found = await self.client.find(resource, scope.obj.namespace, ref.name)
        if found is None:
            return None
        raw: JsonObject = {**found, "kind": ref.kind}
        if ref.kind == "Secret" and raw.get("type") != SECRET_TYPE:
            raise WrongSecretType(
                f"Secret {ref.name} is of type {raw.get('type')}, it must be of {SECRET_TYPE}"
            )
        owners = raw["metadata"].get("ownerReferences") or []
        if not any(owner["uid"] == scope.obj.metadata.uid for owner in owners):
            meta: JsonObject = {
                "ownerReferences": [*owners, owner_reference(scope.obj).dump()],
                "resourceVersion": raw["metadata"]["resourceVersion"],
            }
            patch = {"metadata": meta}
            await self.client.patch(resource, scope.obj.namespace, ref.name, patch)
        return raw

    async def delete(self, scope: SetScope) -> None:
        """The set leaves the bindings; what it applied stays."""
        for raw in self._bindings.all(scope.obj.namespace):
            binding = ClusterResourceSetBinding.parse(raw)
            before = binding.dump()
            name, uid = scope.obj.name, scope.obj.metadata.uid
            kept = [e for e in binding.spec.bindings if e.cluster_resource_set_name != name]
            owners = [o for o in binding.metadata.owner_references if o.uid != uid]
            if len(owners) == len(binding.metadata.owner_references):
                continue
            if not kept:
                await self.client.delete(
                    binding.resource, binding.namespace, binding.name, uid=binding.metadata.uid
                )
                continue
            binding.spec.bindings, binding.metadata.owner_references = kept, owners
            await write_known(self.client, self._bindings, before, binding)
        self.remove_finalizer(scope)

    def set_status(self, scope: SetScope) -> None:
        if scope.obj.deleting:
            return
        scope.set("ResourcesApplied", _verdict(scope))
        if scope.obj.spec.strategy == "Reconcile":
            scope.requeue_after(_LOOK_SECONDS)


def _verdict(scope: SetScope) -> Verdict:
    if scope.problems:
        wrong = any(isinstance(error, WrongSecretType) for error in scope.problems)
        reason = "WrongSecretType" if wrong else "NotApplied"
        return Verdict("False", reason, "; ".join(map(describe, scope.problems)))
    if scope.awaited:
        return Verdict("False", "NotApplied", f"Waiting for {', '.join(scope.awaited)}")
    return Verdict("True", "Applied")


def _entry(binding: ClusterResourceSetBinding, name: str) -> ResourceSetBinding:
    for entry in binding.spec.bindings:
        if entry.cluster_resource_set_name == name:
            return entry
    entry = ResourceSetBinding(cluster_resource_set_name=name)
    binding.spec.bindings.append(entry)
    return entry


async def _apply_object(
    remote: RemoteCluster, resource: Resource, obj: JsonObject, *, once: bool
) -> None:
    meta = dict(obj["metadata"])
    if resource.namespaced:
        meta.setdefault("namespace", "default")
    wanted = {**obj, "metadata": meta}
    if not once:
        await remote.client.apply(wanted, resource, manager=_MANAGER)
        return
    try:
        await remote.client.create(wanted, resource)
    except AlreadyExists:
        return


def register(manager: Manager, remote: ClusterCache) -> None:
    """Run the ClusterResourceSet controller in ``manager``."""
    sets = manager.store(ClusterResourceSet)
    controller = Controller("clusterresourceset", ClusterResourceSetReconciler(manager, remote))
    manager.add_controller(controller, ClusterResourceSet)
    manager.enqueue_owner(controller, ClusterResourceSetBinding, ClusterResourceSet)

    def enqueue_all(namespace: str) -> None:
        for obj in sets.all(namespace):
            controller.enqueue(key_of(obj))

    def cluster_changed(old: JsonObject | None, new: JsonObject | None) -> None:
        if new is not None and _labels(old) != _labels(new):
            enqueue_all(key_of(new).namespace)

    def connection_changed(cluster: Key) -> None:
        if remote.get(cluster) is not None:
            enqueue_all(cluster.namespace)

    manager.store(Cluster).on_change(cluster_changed)
    remote.on_connection(connection_changed)


def _labels(obj: JsonObject | None) -> object:
    return obj and (obj["metadata"].get("labels") or {})
