"""Empties a Node before its Machine goes: cordon, then evict what may be evicted.

Budgets are the API server's business: an eviction that it refuses is tried again. What is awaited
is told in the Machine's Deleting condition.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from capi_core.api.meta import JsonObject
from capi_core.conditions import age_seconds
from capi_core.contract.remote import NAMESPACES, NODES, PODS, RemoteCluster
from capi_core.reconcilers.machine.drainrules import DrainRules
from capi_core.runtime.errors import ApiError, CapiError, NotFound

DEFAULT_RULES = DrainRules()
DRAIN_LABEL = "cluster.x-k8s.io/drain"
_SHOWN, _FAILURES_SHOWN = 3, 5
_CALLS_SECONDS = 10.0
Behaviour = Literal["drain", "skip", "wait"]


@dataclass
class DrainResult:
    """What is left on the Node after one round.

    Attributes:
        failures: refusal text to the Pods that it concerns.
        later: Pods whose order has not come yet.
    """

    evicted: list[str] = field(default_factory=list)
    deleting: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    failures: dict[str, list[str]] = field(default_factory=dict)
    later: list[str] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Whether nothing is left to wait for."""
        return not (
            self.evicted or self.deleting or self.waiting or self.failures or self.later
        )

    def message(self) -> str:
        """What the condition shows."""
        lines: list[str] = []
        if self.deleting or self.evicted:
            names = _names([*self.deleting, *self.evicted])
            lines.append(
                f"* Pods {names}: deletionTimestamp set, but still not removed from the Node"
            )
        if self.waiting:
            lines.append(f"* Pods {_names(self.waiting)}: waiting for completion")
        if self.later:
            lines.append(f"* Pods {_names(self.later)}: to be evicted after the Pods above")
        for text, pods in list(self.failures.items())[:_FAILURES_SHOWN]:
            lines.append(f"* Pods {_names(pods)}: {text}")
        return "\n".join(["Drain not completed yet:", *lines])


def _names(pods: Iterable[str]) -> str:
    ordered = sorted(pods)
    more = f", ... ({len(ordered) - _SHOWN} more)" if len(ordered) > _SHOWN else ""
    return ", ".join(ordered[:_SHOWN]) + more


@dataclass(frozen=True, slots=True)
class Treatment:
    """What happens with a Pod; of those to drain, the lowest order goes first."""

    behaviour: Behaviour
    order: int = 0


def treatment(pod: JsonObject, rules: DrainRules, *, unreachable: bool) -> Treatment:
    """What its own labels, then the rules say about a Pod."""
    own = behaviour(pod, unreachable=unreachable)
    labelled = DRAIN_LABEL in (pod["metadata"].get("labels") or {})
    rule = rules.of(pod) if own == "drain" and not labelled else None
    if rule is None:
        return Treatment(own)
    match rule.spec.drain.behavior:
        case "Skip":
            return Treatment("skip")
        case "WaitCompleted":
            return Treatment("skip" if _finished(pod) else "wait")
        case _:
            return Treatment("drain", rule.spec.drain.order or 0)


def _finished(pod: JsonObject) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def behaviour(pod: JsonObject, *, unreachable: bool) -> Behaviour:
    """Whether a Pod by itself is evicted, left alone, or awaited."""
    meta = pod["metadata"]
    if unreachable and meta.get("deletionTimestamp") and age_seconds(meta["deletionTimestamp"]) > 1:
        return "skip"
    finished = _finished(pod)
    owners = meta.get("ownerReferences") or []
    if any(ref["kind"] == "DaemonSet" and ref.get("controller") for ref in owners) and not finished:
        return "skip"
    if "kubernetes.io/config.mirror" in (meta.get("annotations") or {}):
        return "skip"
    match (meta.get("labels") or {}).get(DRAIN_LABEL):
        case "skip":
            return "skip"
        case "wait-completed":
            return "skip" if finished else "wait"
        case _:
            return "drain"


def is_unreachable(node: JsonObject) -> bool:
    """Whether the Node's kubelet has stopped reporting."""
    taints = (node.get("spec") or {}).get("taints") or []
    return any(taint["key"] == "node.kubernetes.io/unreachable" for taint in taints)


async def cordon(remote: RemoteCluster, node: JsonObject) -> None:
    """Let nothing new be scheduled on the Node."""
    if not (node.get("spec") or {}).get("unschedulable"):
        name = node["metadata"]["name"]
        await remote.client.patch(NODES, None, name, {"spec": {"unschedulable": True}})


async def drain(
    remote: RemoteCluster, node: JsonObject, rules: DrainRules = DEFAULT_RULES
) -> DrainResult:
    """One round: evict what may go, and say what is left."""
    name, unreachable = node["metadata"]["name"], is_unreachable(node)
    pods, _ = await remote.client.list(PODS, fields=f"spec.nodeName={name}")
    if rules.look_at_namespaces:
        rules = replace(rules, namespaces=await _namespaces(remote))
    treated = [(pod, treatment(pod, rules, unreachable=unreachable)) for pod in pods]
    turn = min((t.order for _, t in treated if t.behaviour == "drain"), default=0)
    result = DrainResult()
    try:
        async with asyncio.timeout(_CALLS_SECONDS):
            for pod, what in treated:
                if what.behaviour == "drain" and what.order > turn:
                    result.later.append(_title(pod))
                else:
                    await _handle(remote, pod, what.behaviour, result, unreachable=unreachable)
    except TimeoutError:
        result.failures.setdefault("eviction not tried yet", []).append(name)
    return result


async def _namespaces(remote: RemoteCluster) -> dict[str, dict[str, str]]:
    found, _ = await remote.client.list(NAMESPACES)
    return {o["metadata"]["name"]: o["metadata"].get("labels") or {} for o in found}


def _title(pod: JsonObject) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


async def _handle(
    remote: RemoteCluster,
    pod: JsonObject,
    action: Behaviour,
    result: DrainResult,
    *,
    unreachable: bool,
) -> None:
    meta, title = pod["metadata"], _title(pod)
    if action == "skip":
        return
    if action == "wait":
        result.waiting.append(title)
    elif meta.get("deletionTimestamp"):
        result.deleting.append(title)
    else:
        try:
            await _evict(remote, pod, unreachable=unreachable)
            result.evicted.append(title)
        except NotFound:
            return
        except CapiError as error:
            result.failures.setdefault(_reason(error), []).append(title)


async def _evict(remote: RemoteCluster, pod: JsonObject, *, unreachable: bool) -> None:
    meta = pod["metadata"]
    body: JsonObject = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": meta["name"], "namespace": meta["namespace"]},
        "deleteOptions": {"preconditions": {"uid": meta["uid"]}},
    }
    if unreachable:
        body["deleteOptions"]["gracePeriodSeconds"] = 1
    path = PODS.path(meta["namespace"], meta["name"], "eviction")
    await remote.client.request("POST", path, body=body)


def _reason(error: CapiError) -> str:
    if isinstance(error, ApiError) and error.code == 429:
        return f"cannot evict pod as it would violate the pod's disruption budget. {error}"
    return f"failed to evict Pod, {error}"
