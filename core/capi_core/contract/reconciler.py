"""The frame of every reconciler: read, check pause, finalizer, phases, conditions, one write.

A subclass lists its phases; each phase is a coroutine over the scope. What a phase raises does not
keep the others from running (unless ``sequential``); all failures are reported together, and the
object is written once, with only what changed.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

import structlog
from pydantic import ValidationError

from capi_core.api.cluster import Cluster
from capi_core.api.labels import CLUSTER_NAME_LABEL, PAUSED_ANNOTATION
from capi_core.api.meta import Condition, JsonObject, KubeObject
from capi_core.conditions import PAUSED, Verdict, set_condition
from capi_core.contract.owners import owner_of_kind
from capi_core.runtime.controller import Result
from capi_core.runtime.errors import CapiError, Conflict, NotFound, NotReady, Terminal
from capi_core.runtime.manager import Manager
from capi_core.runtime.patch import write_changes
from capi_core.runtime.store import Key

log = structlog.get_logger()

K = TypeVar("K", bound=KubeObject)


@dataclass
class Scope(Generic[K]):
    """One reconcile: the object being changed and what was observed for it.

    Attributes:
        before: the object as read; the difference to ``obj`` is written at the end.
        errors: what phases raised.
        requeue: seconds after which phases want another look.
    """

    obj: K
    cluster: Cluster | None
    before: JsonObject
    errors: list[Exception] = field(default_factory=list)
    requeue: list[float] = field(default_factory=list)

    def requeue_after(self, seconds: float) -> None:
        """Look again after ``seconds``; the shortest wish wins."""
        self.requeue.append(seconds)

    @property
    def conditions(self) -> list[Condition]:
        """status.conditions of the object."""
        return self.obj.status.conditions  # pyright: ignore[reportAttributeAccessIssue]

    def set(self, kind: str, verdict: Verdict) -> None:
        """Set a condition of the object."""
        set_condition(self.conditions, kind, verdict, generation=self.obj.metadata.generation)


S = TypeVar("S", bound=Scope)
Phase = Callable[[S], Awaitable[None]]


class ObjectReconciler(ABC, Generic[K, S]):
    """Reconciles one kind.

    Attributes:
        finalizer: added before anything else is done; empty for none.
        sequential: whether a phase that raises ends the pass.
    """

    kind: ClassVar[type[KubeObject]]
    finalizer: ClassVar[str] = ""
    sequential: ClassVar[bool] = False

    def __init__(self, manager: Manager) -> None:
        self.manager = manager
        self.client = manager.client
        self.store = manager.store(self.kind)
        self._clusters = manager.store(Cluster)

    @abstractmethod
    def phases(self, scope: S) -> Sequence[Phase[S]]:
        """The steps of a pass, in order; a deletion has its own."""

    @abstractmethod
    def new_scope(self, obj: K, cluster: Cluster | None, before: JsonObject) -> S:
        """The scope of one pass."""

    def set_status(self, scope: S) -> None:
        """Compute conditions and counters from what the phases observed."""

    def ignores(self, obj: K, cluster: Cluster | None) -> bool:
        """Whether there is nothing to do for ``obj`` yet, not even a finalizer."""
        return False

    def forget(self, key: Key) -> None:
        """The object of ``key`` is gone."""

    async def reconcile(self, key: Key) -> Result:
        """One pass over the object of ``key``."""
        raw = self.store.get(key)
        if raw is None:
            self.forget(key)
            return Result()
        try:
            obj: K = self.kind.parse(raw)  # pyright: ignore[reportAssignmentType]
        except ValidationError as error:
            fields = "; ".join(
                f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()
            )
            raise Terminal(f"{self.kind.__name__} {key} cannot be read: {fields}") from error
        cluster = self.cluster_of(obj)
        if self.ignores(obj, cluster):
            return Result()
        before = obj.dump()
        try:
            if await self._paused(obj, cluster, before):
                return Result()
            if await self._add_finalizer(obj):
                before = obj.dump()
            scope = self.new_scope(obj, cluster, before)
            await self._run_phases(scope)
            self._finish_status(scope)
            await self._write(obj, scope.before)
        except Conflict:
            await self._refresh(key)
            raise
        return self._result(scope)

    async def _run_phases(self, scope: S) -> None:
        for phase in self.phases(scope):
            try:
                await phase(scope)
            except NotReady as error:
                scope.requeue_after(error.requeue_after)
                log.debug("not ready", phase=phase.__name__, reason=str(error))
                if self.sequential:
                    return
            except Exception as error:
                scope.errors.append(error)
                if self.sequential:
                    return

    def _finish_status(self, scope: S) -> None:
        self.set_status(scope)
        status = scope.obj.status  # pyright: ignore[reportAttributeAccessIssue]
        if not scope.errors and hasattr(status, "observed_generation"):
            status.observed_generation = scope.obj.metadata.generation

    async def _write(self, obj: K, before: JsonObject) -> None:
        stored = await write_changes(self.client, before, obj)
        if stored is not None:
            self.store.put(stored)
            if stored["metadata"].get("deletionTimestamp") and not stored["metadata"].get(
                "finalizers"
            ):
                self.store.discard(stored)

    def _result(self, scope: S) -> Result:
        if len(scope.errors) == 1:
            raise scope.errors[0]
        if scope.errors:
            raise ExceptionGroup("several phases failed", scope.errors)
        return Result(requeue_after=min(scope.requeue, default=None))

    async def _refresh(self, key: Key) -> None:
        try:
            obj = await self.client.get(self.kind.resource, key.namespace or None, key.name)
        except NotFound:
            known = self.store.get(key)
            if known:
                self.store.discard(known)
        except CapiError as error:
            log.debug("not refreshed", error=str(error))
        else:
            self.store.put(obj)

    async def _paused(self, obj: K, cluster: Cluster | None, before: JsonObject) -> bool:
        conditions: list[Condition] = obj.status.conditions  # pyright: ignore[reportAttributeAccessIssue]
        causes: list[str] = []
        if cluster is not None and cluster.spec.paused:
            causes.append("Cluster spec.paused is set to true")
        if PAUSED_ANNOTATION in obj.metadata.annotations:
            causes.append(f"{self.kind.__name__} has the {PAUSED_ANNOTATION} annotation")
        verdict = (
            Verdict("True", "Paused", ", ".join(causes))
            if causes
            else Verdict("False", "NotPaused")
        )
        set_condition(conditions, PAUSED, verdict, generation=obj.metadata.generation)
        if causes:
            await self._write(obj, before)
        return bool(causes)

    async def _add_finalizer(self, obj: K) -> bool:
        if not self.finalizer or obj.deleting or self.finalizer in obj.metadata.finalizers:
            return False
        patch = {
            "metadata": {
                "finalizers": [*obj.metadata.finalizers, self.finalizer],
                "resourceVersion": obj.metadata.resource_version,
            }
        }
        stored = await self.client.patch(obj.resource, obj.namespace or None, obj.name, patch)
        self.store.put(stored)
        obj.metadata.finalizers.append(self.finalizer)
        obj.metadata.resource_version = stored["metadata"]["resourceVersion"]
        return True

    def remove_finalizer(self, scope: S) -> None:
        """Let the object go at the end of this pass."""
        if self.finalizer in scope.obj.metadata.finalizers:
            scope.obj.metadata.finalizers.remove(self.finalizer)

    def cluster_of(self, obj: K) -> Cluster | None:
        """The Cluster that the object names or belongs to, as last seen."""
        if isinstance(obj, Cluster):
            return obj
        spec = getattr(obj, "spec", None)
        name = getattr(spec, "cluster_name", "") or obj.metadata.labels.get(CLUSTER_NAME_LABEL)
        if not name and (owner := owner_of_kind(obj.metadata, Cluster.resource)):
            name = owner.name
        raw = self._clusters.get(Key(obj.namespace, name)) if name else None
        return Cluster.parse(raw) if raw else None
