"""A cluster that the kubeadm providers bring up on the fake engine."""

import contextlib
from collections.abc import AsyncIterator

from capi_core.api.meta import JsonObject
from capi_core.contract.remote import CONFIG_MAPS
from capi_core.contract.secrets import SECRETS, secret_data
from capi_core.runtime.errors import AlreadyExists
from tests.support.cluster import Api
from tests.support.workload import CONTROL_PLANE_LABEL, VERSION, Workload

_KUBEADM = {"name": "kubeadm-config", "namespace": "kube-system"}


@contextlib.asynccontextmanager
async def kubeadm_config(api: Api) -> AsyncIterator[None]:
    """What kubeadm leaves in a cluster that it has initialized."""
    body: JsonObject = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": dict(_KUBEADM)}
    with contextlib.suppress(AlreadyExists):
        await api.client.create(body, CONFIG_MAPS)
    try:
        yield
    finally:
        await api.client.delete(CONFIG_MAPS, "kube-system", "kubeadm-config")


def control_plane(cluster: Workload, **spec: object) -> JsonObject:
    """A KubeadmControlPlane of one Machine, with the template ``t``."""
    wanted: JsonObject = {
        "replicas": 1,
        "version": VERSION,
        "machineTemplate": {
            "spec": {"infrastructureRef": cluster.reference("DockerMachineTemplate", "t")}
        },
        "kubeadmConfigSpec": {"clusterConfiguration": {"imageRepository": "example"}},
        **spec,
    }
    return cluster.object("KubeadmControlPlane", "cp", wanted)


def template(cluster: Workload) -> JsonObject:
    """The DockerMachineTemplate ``t``."""
    return cluster.object("DockerMachineTemplate", "t", {"template": {"spec": {}}})


async def create_config(
    cluster: Workload, name: str, spec: JsonObject, *, control_plane: bool = False
) -> None:
    """A KubeadmConfig with the Machine and the DockerMachine of its name."""
    await cluster.create(cluster.object("KubeadmConfig", name, spec))
    await cluster.create(cluster.object("DockerMachine", name, {}))
    machine = cluster.machine(name, control_plane=control_plane)
    machine["spec"]["bootstrap"] = {"configRef": cluster.reference("KubeadmConfig", name)}
    if control_plane:
        machine["metadata"]["labels"][CONTROL_PLANE_LABEL] = ""
    await cluster.create(machine)


async def bootstrap_data(cluster: Workload, name: str) -> str:
    """The cloud-init document in a bootstrap data Secret."""
    secret = await cluster.api.get(SECRETS, name)
    assert secret["type"] == "cluster.x-k8s.io/secret"
    assert secret["metadata"]["labels"] == {"cluster.x-k8s.io/cluster-name": cluster.name}
    return secret_data(secret)["value"].decode()


async def make_certificates(cluster: Workload, *purposes: str) -> None:
    """Certificate Secrets that somebody else made."""
    from capi_core.contract.secrets import make_ca, make_service_account_pair, secret_name

    for purpose in purposes:
        made = (
            make_service_account_pair()
            if purpose == "sa"
            else make_ca(purpose, algorithm="ECDSA-P256")
        )
        data = {"tls.crt": made.certificate, "tls.key": made.key}
        await cluster.create_secret(secret_name(cluster.name, purpose), data)
