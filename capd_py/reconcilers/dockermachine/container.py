"""The container of a DockerMachine: found, made, and made ready for kubeadm.

Nothing of this needs bootstrap data, so it is done before there is any: while the control plane
initializes, the workers' containers start and take in their images.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from capd_py.container.identity import (
    FAILURE_DOMAIN,
    OWNER,
    container_of,
    machine_container_name,
    provider_id,
)
from capd_py.container.runtime import Container, ContainerSpec, Mount, RuntimeFailure
from capd_py.reconcilers.dockermachine.scope import (
    CGROUPS,
    IMAGES,
    PROVISIONED,
    DockerMachineScope,
)
from capd_py.reconcilers.host import Host, node_environment, node_image
from capd_py.reconcilers.tasks import Tasks
from capi_core.api.docker import DockerMachine
from capi_core.api.machine import MachineStatus
from capi_core.conditions import Verdict
from capi_core.runtime.controller import describe
from capi_core.runtime.errors import NotReady, Terminal
from capi_core.runtime.manager import Manager
from capi_core.runtime.store import Key

_RETRY_SECONDS = 5.0
_CONTAINERD_SECONDS = 60.0
_CONTAINERD_ANSWERS = "until ctr version > /dev/null 2>&1; do sleep 0.1; done"
_IMPORT = ("ctr", "--namespace=k8s.io", "images", "import", "--all-platforms", "-")
_KIND = "DockerMachine"
Work = Callable[[], Coroutine[Any, Any, Any]]


class ContainerLost(Terminal):
    """The container of a machine that was provisioned does not run any more."""


class ContainerPhases:
    """Everything up to a machine that waits for its bootstrap data."""

    def __init__(self, manager: Manager, host: Host, tasks: Tasks) -> None:
        self._recorder = manager.recorder
        self._host = host
        self._tasks = tasks

    async def find(self, scope: DockerMachineScope) -> None:
        """The container, by the provider id if there is one, else by labels."""
        obj, identity = scope.obj, scope.require_identity()
        if self._tasks.running(_key(scope), PROVISIONED):
            return
        if name := container_of(obj.spec.provider_id):
            scope.container = await self._host.runtime.get(name)
            return
        labels = identity.owner_labels(_KIND, obj.name)
        for container in await self._host.runtime.find(labels):
            if container.running:
                scope.container = container
            else:
                # A start that was cut off; nothing has happened in it yet.
                await self._host.runtime.remove(container)

    async def provision(self, scope: DockerMachineScope) -> None:
        """The running container."""
        obj, container = scope.obj, scope.container
        if container is not None and container.running:
            self._tasks.forget(_key(scope), PROVISIONED)
            scope.verdicts[PROVISIONED] = Verdict("True", "Provisioned")
            return
        if name := container_of(obj.spec.provider_id):
            # A machine is not mended: whoever watches its health replaces it.
            gone = "is not running anymore" if container else "does not exist anymore"
            scope.verdicts[PROVISIONED] = Verdict(
                "False", "NotProvisioned", f"Container {name} {gone}"
            )
            raise ContainerLost(f"container {name} {gone}")
        await self._start(scope)

    async def _start(self, scope: DockerMachineScope) -> None:
        spec = await self._spec(scope)
        waiting = Verdict("False", "NotProvisioned", f"container {spec.name} is being started")
        scope.verdicts[PROVISIONED] = waiting
        state = self._tasks.run(
            _key(scope), PROVISIONED, lambda: self._run(scope.obj, spec), retry=_RETRY_SECONDS
        )
        if not state.done:
            raise NotReady("container is being started", requeue_after=60.0)
        if state.error is not None:
            message = describe(state.error)
            scope.verdicts[PROVISIONED] = Verdict("False", "NotProvisioned", message)
            self._recorder.warning(scope.obj, "ContainerFailed", message)
            raise NotReady(message, requeue_after=state.retry_in)
        scope.container = state.result
        scope.verdicts[PROVISIONED] = Verdict("True", "Provisioned")

    async def _run(self, obj: DockerMachine, spec: ContainerSpec) -> Container:
        container = await self._host.runtime.run(spec)
        self._recorder.normal(obj, "ContainerStarted", f"Container {spec.name} runs")
        return container

    async def _spec(self, scope: DockerMachineScope) -> ContainerSpec:
        obj, machine, identity = scope.obj, scope.require_machine(), scope.require_identity()
        version, custom = machine.spec.version, obj.spec.custom_image
        if not version and not custom:
            message = "neither the Machine's spec.version nor spec.customImage is set"
            scope.verdicts[PROVISIONED] = Verdict("False", "NotProvisioned", message)
            raise Terminal(message)
        name = machine_container_name(identity.cluster, machine.name)
        if await self._host.runtime.get(name) is not None:
            # Another namespace or management cluster has a machine of this name.
            name = identity.unique_name(name)
        labels = identity.role_labels(scope.role) | {OWNER: f"{_KIND}/{obj.name}"}
        if machine.spec.failure_domain:
            labels[FAILURE_DOMAIN] = machine.spec.failure_domain
        return ContainerSpec(
            name=name,
            image=node_image(version or "", custom),
            network=self._host.network,
            labels=labels,
            environment=node_environment(name, control_plane=scope.is_control_plane),
            mounts=[
                Mount(m.host_path or "", m.container_path or "", bool(m.read_only))
                for m in obj.spec.extra_mounts
            ],
            machine=True,
        )

    async def cgroups(self, scope: DockerMachineScope) -> None:
        """Its init and its containerd answer."""
        if scope.reached(CGROUPS):
            return
        container = scope.require_container()
        await self._task(
            scope, CGROUPS, f"containerd in {container.name} does not answer yet",
            lambda: self._await_containerd(container),
        )

    async def _await_containerd(self, container: Container) -> None:
        limit = f"{_CONTAINERD_SECONDS:g}"
        command = ["timeout", limit, "sh", "-c", _CONTAINERD_ANSWERS]
        result = await self._host.runtime.execute(
            container, command, timeout=_CONTAINERD_SECONDS + 10
        )
        if not result.ok:
            log = await self._host.runtime.logs(container, tail=5)
            raise RuntimeFailure(
                f"containerd in {container.name} did not answer within {limit} s; "
                f"the container's last lines: {log.strip()}"
            )

    async def images(self, scope: DockerMachineScope) -> None:
        """spec.preLoadImages are in its containerd."""
        if scope.reached(IMAGES):
            return
        container, images = scope.require_container(), scope.obj.spec.pre_load_images
        if not images:
            scope.verdicts[IMAGES] = Verdict("True", "Ready")
            return
        await self._task(
            scope, IMAGES, f"importing {', '.join(images)}",
            lambda: self._import(container, images),
        )

    async def _import(self, container: Container, images: list[str]) -> None:
        for image in images:
            await self._host.runtime.copy_image(image, container, _IMPORT)

    async def _task(self, scope: DockerMachineScope, step: str, doing: str, work: Work) -> None:
        """Run a step as a task and tell in its condition how it fares."""
        scope.verdicts[step] = Verdict("False", "NotReady", doing)
        state = self._tasks.run(_key(scope), step, work, retry=_RETRY_SECONDS)
        if not state.done:
            raise NotReady(doing, requeue_after=60.0)
        if state.error is not None:
            scope.verdicts[step] = Verdict("False", "InternalError", describe(state.error))
            self._recorder.warning(scope.obj, f"{step}Failed", describe(state.error))
            raise NotReady(describe(state.error), requeue_after=state.retry_in)
        scope.verdicts[step] = Verdict("True", "Ready")

    async def announce(self, scope: DockerMachineScope) -> None:
        """The contract's fields: provider id, addresses, provisioned."""
        obj, container = scope.obj, scope.require_container()
        obj.spec.provider_id = obj.spec.provider_id or provider_id(container.name)
        pairs = [("Hostname", container.name)]
        for address in container.addresses:
            pairs += [("InternalIP", address), ("ExternalIP", address)]
        listed = [{"type": kind, "address": address} for kind, address in pairs]
        obj.status.addresses = MachineStatus.model_validate({"addresses": listed}).addresses
        obj.status.failure_domain = scope.require_machine().spec.failure_domain
        obj.status.initialization.provisioned = True


def _key(scope: DockerMachineScope) -> Key:
    return Key(scope.obj.namespace, scope.obj.name)
