"""Ends a Machine in order: hooks, drain, volumes, infrastructure, bootstrap config, Node.

Each step says in the Deleting condition what it waits for; a timeout of ``spec.deletion`` that is
set and passed skips its step.
"""

from collections.abc import Awaitable, Callable

import structlog

from capi_core.api.machinedrainrule import MachineDrainRule
from capi_core.api.meta import Resource
from capi_core.conditions import age_seconds, now
from capi_core.contract.external import External, ExternalObjects
from capi_core.contract.remote import NODES
from capi_core.reconcilers.machine.drain import cordon, drain, is_unreachable
from capi_core.reconcilers.machine.drainrules import rules_for
from capi_core.reconcilers.machine.scope import MachineScope
from capi_core.runtime.errors import CapiError
from capi_core.runtime.manager import Manager

log = structlog.get_logger()
_ATTACHMENTS = Resource("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", False)
PRE_DRAIN_HOOK = "pre-drain.delete.hook.machine.cluster.x-k8s.io"
PRE_TERMINATE_HOOK = "pre-terminate.delete.hook.machine.cluster.x-k8s.io"
EXCLUDE_DRAIN = "machine.cluster.x-k8s.io/exclude-node-draining"
EXCLUDE_VOLUMES = "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach"
# An eviction that is refused, and volumes, bring no event here.
_DRAIN_RETRY_SECONDS = 5.0
_DEFAULT_NODE_DELETION_SECONDS = 10


class Deletion:
    """The phases of a Machine's deletion; each returns whether the next may start."""

    def __init__(
        self,
        manager: Manager,
        external: ExternalObjects,
        node_deletion_allowed: Callable[[MachineScope], Awaitable[str]],
    ) -> None:
        self._manager = manager
        self._external = external
        self._allowed = node_deletion_allowed
        self._rules = manager.store(MachineDrainRule)

    async def run(self, scope: MachineScope) -> bool:
        """One round; returns whether the Machine may go."""
        excuse = await self._allowed(scope)
        steps: list[Callable[[MachineScope], Awaitable[bool]]] = []
        if not excuse:
            steps += [self._pre_drain_hook, self._drain, self._volumes]
        steps += [self._pre_terminate_hook, self._infrastructure, self._bootstrap]
        if not excuse:
            steps.append(self._node)
        for step in steps:
            if not await step(scope):
                return False
        scope.deleting_reason = "DeletionCompleted"
        scope.deleting_message = ""
        return True

    async def _pre_drain_hook(self, scope: MachineScope) -> bool:
        hooks = _hooks(scope, PRE_DRAIN_HOOK)
        if hooks:
            state = scope.obj.status.deletion
            state.wait_for_pre_drain_hook_start_time = (
                state.wait_for_pre_drain_hook_start_time or now()
            )
            scope.deleting_reason = "WaitingForPreDrainHook"
            scope.deleting_message = f"Waiting for pre-drain hooks to succeed (hooks: {hooks})"
        return not hooks

    async def _drain(self, scope: MachineScope) -> bool:
        machine, node, remote = scope.obj, scope.node, scope.remote
        if EXCLUDE_DRAIN in machine.metadata.annotations or node is None or remote is None:
            return True
        if scope.infrastructure is None or scope.infrastructure.deleting:
            return True
        state = machine.status.deletion
        if state.wait_for_pre_terminate_hook_start_time:
            return True
        started, limit = (
            state.node_drain_start_time,
            machine.spec.deletion.node_drain_timeout_seconds,
        )
        if started and limit and age_seconds(started) > limit:
            return True
        state.node_drain_start_time = started or now()
        scope.deleting_reason = "DrainingNode"
        await cordon(remote, node)
        known = [MachineDrainRule.parse(obj) for obj in self._rules.all(machine.namespace)]
        result = await drain(remote, node, rules_for(machine, scope.cluster, known))
        if result.done:
            return True
        scope.deleting_message = (
            f"Drain not completed yet (started at {state.node_drain_start_time}):\n"
            + result.message().partition("\n")[2]
        )
        scope.requeue_after(_DRAIN_RETRY_SECONDS if result.failures else 1.0)
        return False

    async def _volumes(self, scope: MachineScope) -> bool:
        machine, node, remote = scope.obj, scope.node, scope.remote
        if EXCLUDE_VOLUMES in machine.metadata.annotations or node is None or remote is None:
            return True
        if is_unreachable(node):
            return True
        state = machine.status.deletion
        started = state.wait_for_node_volume_detach_start_time
        limit = machine.spec.deletion.node_volume_detach_timeout_seconds
        if started and limit and age_seconds(started) > limit:
            return True
        name = node["metadata"]["name"]
        attached, _ = await remote.client.list(_ATTACHMENTS)
        volumes = [
            (a["spec"].get("source") or {}).get("persistentVolumeName") or a["metadata"]["name"]
            for a in attached
            if a["spec"]["nodeName"] == name and (a.get("status") or {}).get("attached")
        ]
        if not volumes:
            return True
        state.wait_for_node_volume_detach_start_time = started or now()
        scope.deleting_reason = "WaitingForVolumeDetach"
        scope.deleting_message = "Waiting for Node volumes to be detached: " + ", ".join(
            sorted(volumes)[:5]
        )
        scope.requeue_after(_DRAIN_RETRY_SECONDS)
        return False

    async def _pre_terminate_hook(self, scope: MachineScope) -> bool:
        hooks = _hooks(scope, PRE_TERMINATE_HOOK)
        if hooks:
            state = scope.obj.status.deletion
            state.wait_for_pre_terminate_hook_start_time = (
                state.wait_for_pre_terminate_hook_start_time or now()
            )
            scope.deleting_reason = "WaitingForPreTerminateHook"
            scope.deleting_message = f"Waiting for pre-terminate hooks to succeed (hooks: {hooks})"
        return not hooks

    async def _infrastructure(self, scope: MachineScope) -> bool:
        return await self._gone(scope, scope.infrastructure, "WaitingForInfrastructureDeletion")

    async def _bootstrap(self, scope: MachineScope) -> bool:
        return await self._gone(scope, scope.bootstrap, "WaitingForBootstrapDeletion")

    async def _gone(self, scope: MachineScope, found: External | None, reason: str) -> bool:
        if found is None:
            return True
        if not found.deleting:
            await self._external.delete(found)
            group = found.obj["apiVersion"].rpartition("/")[0]
            name, kind = found.obj["metadata"]["name"], found.obj["kind"]
            # What has no finalizer is gone at once, and needs no second pass.
            if await self._external.live(group, kind, scope.obj.namespace, name) is None:
                return True
        scope.deleting_reason = reason
        scope.deleting_message = f"Waiting for {found.obj['kind']} to be deleted"
        return False

    async def _node(self, scope: MachineScope) -> bool:
        machine = scope.obj
        name = machine.status.node_ref.name if machine.status.node_ref else ""
        if not name or scope.remote is None:
            return True
        scope.deleting_reason = "DeletingNode"
        try:
            await scope.remote.client.delete(NODES, None, name)
        except CapiError as error:
            limit = machine.spec.deletion.node_deletion_timeout_seconds
            limit = _DEFAULT_NODE_DELETION_SECONDS if limit is None else limit
            if limit == 0 or age_seconds(machine.metadata.deletion_timestamp) < limit:
                scope.deleting_message = f"Node {name} could not be deleted: {error}"
                raise
            log.warning("gave up deleting the node", node=name, error=str(error))
        return True


def _hooks(scope: MachineScope, prefix: str) -> str:
    keys = scope.obj.metadata.annotations
    return ",".join(sorted(k for k in keys if k == prefix or k.startswith(f"{prefix}/")))
