"""The bootstrap data acted out in the container, once."""

from capd_py.cloudinit.bundle import Outcome, pack, read_outcome, start_command
from capd_py.cloudinit.document import Document, InvalidUserData, parse
from capd_py.cloudinit.kubeadm import NodeFacts, fit
from capd_py.container.identity import provider_id
from capd_py.container.runtime import Container
from capd_py.reconcilers.dockermachine.scope import BOOTSTRAP, DockerMachineScope
from capd_py.reconcilers.duration import InvalidDuration, parse_duration
from capd_py.reconcilers.host import Host
from capd_py.reconcilers.tasks import Tasks
from capi_core.conditions import Verdict, get_condition
from capi_core.contract.secrets import SECRETS, secret_data
from capi_core.runtime.controller import describe
from capi_core.runtime.errors import NotReady, Terminal
from capi_core.runtime.manager import Manager
from capi_core.runtime.store import Key

_DEFAULT_TIMEOUT = 300.0
# The container's own clock ends the bootstrap; the manager waits a little longer for its answer.
_GRACE_SECONDS = 30.0
_RETRY_SECONDS, _SECRET_SECONDS = 5.0, 10.0
# Under these the published port of the load balancer is reached.
_HOST_NAMES = ("localhost", "127.0.0.1", "0.0.0.0", "host.docker.internal")


class BootstrapPhase:
    """Waits for the data, starts the bootstrap, tells how it ended."""

    def __init__(self, manager: Manager, host: Host, tasks: Tasks) -> None:
        self._client = manager.client
        self._recorder = manager.recorder
        self._host = host
        self._tasks = tasks

    async def run(self, scope: DockerMachineScope) -> None:
        """Nothing is retried once the bootstrap has failed: the machine has to be replaced."""
        known = get_condition(scope.conditions, BOOTSTRAP)
        if known and (known.status == "True" or known.reason == "Failed"):
            return
        text = await self._data(scope)
        container = scope.require_container()
        try:
            document = _read(text, container)
            timeout = parse_duration(scope.obj.spec.bootstrap_timeout) or _DEFAULT_TIMEOUT
        except (InvalidUserData, InvalidDuration) as error:
            self._failed(scope, str(error))
            return
        scope.verdicts[BOOTSTRAP] = Verdict(
            "False", "NotCompleted", f"the bootstrap runs in container {container.name}"
        )
        key = Key(scope.obj.namespace, scope.obj.name)
        state = self._tasks.run(
            key,
            BOOTSTRAP,
            lambda: self._execute(container, document, timeout),
            retry=_RETRY_SECONDS,
        )
        if not state.done:
            raise NotReady("bootstrap runs", requeue_after=60.0)
        if state.error is not None:
            # The engine did not answer; the bootstrap itself goes on in the container.
            scope.verdicts[BOOTSTRAP] = Verdict("False", "InternalError", describe(state.error))
            raise NotReady(describe(state.error), requeue_after=state.retry_in)
        self._ended(scope, document, state.result, timeout)

    async def _data(self, scope: DockerMachineScope) -> str:
        machine = scope.require_machine()
        name = machine.spec.bootstrap.data_secret_name
        if name is None:
            waiting, message = "WaitingForBootstrapData", "Waiting for the bootstrap data Secret"
            if not scope.is_control_plane and not scope.control_plane_initialized:
                waiting = "WaitingForControlPlaneInitialized"
                message = "Waiting for the control plane to be initialized"
            scope.verdicts[BOOTSTRAP] = Verdict("False", waiting, message)
            # The Machine's event brings the next pass.
            raise NotReady(message, requeue_after=300.0)
        secret = await self._client.find(SECRETS, machine.namespace, name)
        data = secret_data(secret) if secret is not None else {}
        if "value" not in data:
            what = "has no key value" if secret is not None else "does not exist"
            message = f"bootstrap data Secret {name} {what}"
            scope.verdicts[BOOTSTRAP] = Verdict("False", "WaitingForBootstrapData", message)
            raise NotReady(message, requeue_after=_SECRET_SECONDS)
        kind = data.get("format", b"").decode(errors="replace") or "cloud-config"
        if kind != "cloud-config":
            message = f"bootstrap data of format {kind} is not supported, only cloud-config is"
            self._failed(scope, message)
            raise Terminal(message)
        try:
            return data["value"].decode()
        except UnicodeDecodeError as error:
            self._failed(scope, f"bootstrap data Secret {name}: value is not UTF-8 text")
            raise Terminal(f"Secret {name} is not text") from error

    async def _execute(self, container: Container, document: Document, timeout: float) -> Outcome:
        result = await self._host.runtime.execute(
            container,
            start_command(timeout),
            stdin=pack(document),
            timeout=timeout + _GRACE_SECONDS,
        )
        if not result.ok and not result.output:
            return Outcome(result.code, "unpacking the bootstrap data", "", result.errors)
        return read_outcome(document, result.output, result.errors)

    def _ended(
        self, scope: DockerMachineScope, document: Document, outcome: Outcome, timeout: float
    ) -> None:
        if outcome.code != 0:
            self._failed(scope, failure_message(outcome, timeout))
            return
        message = ""
        if document.unsupported:
            message = f"Not acted on in a container: {', '.join(document.unsupported)}"
            self._recorder.warning(scope.obj, "UnsupportedCloudInit", message)
        scope.verdicts[BOOTSTRAP] = Verdict("True", "Completed", message)
        self._recorder.normal(scope.obj, "BootstrapCompleted", "The bootstrap is complete")

    def _failed(self, scope: DockerMachineScope, message: str) -> None:
        scope.verdicts[BOOTSTRAP] = Verdict("False", "Failed", message)
        self._recorder.warning(scope.obj, "BootstrapFailed", message)


def _read(text: str, container: Container) -> Document:
    metadata = {
        "local_hostname": container.name,
        "hostname": container.name,
        "instance_id": container.name,
    }
    document = parse(text, metadata)
    facts = NodeFacts(provider_id(container.name), _HOST_NAMES)
    return Document(
        boot_commands=document.boot_commands,
        files=fit(document.files, facts),
        commands=document.commands,
        unsupported=document.unsupported,
    )


def failure_message(outcome: Outcome, timeout: float) -> str:
    """What a failed bootstrap's condition says: the command, how it ended, its last lines."""
    ended = (
        f"did not end within {timeout:g} s"
        if outcome.timed_out
        else f"ended with exit code {outcome.code}"
    )
    lines = [f"{outcome.step}: {ended}"]
    if outcome.output:
        lines += ["last lines of its output:", outcome.output]
    if outcome.errors:
        lines += ["last lines of its errors:", outcome.errors]
    return "\n".join(lines)
