"""Admission as users meet it: refused at apply, with the field path."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import yaml

from capd_py.container.fake import FakeRuntime
from capi_core.api import KINDS
from capi_core.api.cluster import Cluster
from capi_core.api.controlplane import KubeadmControlPlane
from capi_core.api.machinedeployment import MachineDeployment
from capi_core.api.meta import JsonObject, Resource
from capi_core.runtime.errors import Invalid
from capi_core.runtime.webhook import certs
from tests.support.apiserver import ApiServer, free_port
from tests.support.cluster import BOOTSTRAP, CONTROL_PLANE, CORE, Api, running, until
from tests.support.management import EXAMPLE

RESOURCES = {kind.resource.kind: kind.resource for kind in KINDS}
_CONFIGURATIONS = tuple(
    Resource(
        "admissionregistration.k8s.io",
        "v1",
        f"{name}WebhookConfiguration",
        f"{name.lower()}webhookconfigurations",
        namespaced=False,
    )
    for name in ("Mutating", "Validating")
)


def example() -> dict[str, JsonObject]:
    """The quick start's objects by kind; of templates the last."""
    return {obj["kind"]: obj for obj in yaml.safe_load_all(EXAMPLE.read_text())}


@pytest.fixture
async def served(server: ApiServer, api: Api) -> AsyncIterator[Api]:
    """All webhooks, served by a manager on this host whose certificate is its own."""
    providers = [CORE, BOOTSTRAP, CONTROL_PLANE]
    options = {"webhook_port": free_port(), "webhook_host": "localhost"}
    async with running(server, api, providers, runtime=FakeRuntime(), **options):
        yield api
    for resource in _CONFIGURATIONS:
        await api.client.request("DELETE", resource.path())


async def refused(api: Api, obj: JsonObject, path: str) -> None:
    """The API server refuses ``obj`` and names ``path``."""
    with pytest.raises(Invalid) as error:
        await api.create(obj, RESOURCES[obj["kind"]])
    assert path in str(error.value)


async def test_defaults_and_refusals_reach_the_user(served: Api) -> None:
    objects = example()
    deployment = objects["MachineDeployment"]
    stored = await served.create(deployment, MachineDeployment.resource)
    own = {
        "cluster.x-k8s.io/cluster-name": "quick-start",
        "cluster.x-k8s.io/deployment-name": "quick-start-md-0",
    }
    assert stored["spec"]["selector"]["matchLabels"] == own
    assert stored["spec"]["rollout"]["strategy"]["type"] == "RollingUpdate"

    deployment["metadata"]["name"] = "other"
    deployment["spec"]["template"]["spec"]["clusterName"] = "elsewhere"
    await refused(served, deployment, "spec.template.spec.clusterName")

    control_plane = objects["KubeadmControlPlane"]
    control_plane["spec"]["replicas"] = 2
    await refused(served, control_plane, "spec.replicas")
    control_plane["spec"]["replicas"] = 1
    await served.create(control_plane, KubeadmControlPlane.resource)
    name, two = control_plane["metadata"]["name"], {"spec": {"replicas": 2}}
    with pytest.raises(Invalid, match=r"spec.version"):
        await served.patch(KubeadmControlPlane, name, {"spec": {"version": "v1.36.0"}})
    with pytest.raises(Invalid, match=r"spec.replicas"):
        await served.patch(KubeadmControlPlane, name, two, sub="scale")

    cluster = objects["Cluster"]
    cluster["spec"]["clusterNetwork"]["pods"]["cidrBlocks"] = ["10.0.0.0/99"]
    await refused(served, cluster, "spec.clusterNetwork.pods.cidrBlocks[0]")

    machine = objects["DockerMachineTemplate"]
    machine["spec"]["template"]["spec"]["bootstrapTimeout"] = "soon"
    await refused(served, machine, "spec.template.spec.bootstrapTimeout")

    template = objects["KubeadmConfigTemplate"]
    file = {"path": "/etc/a", "content": "a"}
    template["spec"]["template"]["spec"]["files"] = [file, file]
    await refused(served, template, "spec.template.spec.files[1].path")


async def test_a_field_of_the_wrong_kind_is_refused_not_crashed_on(served: Api) -> None:
    cluster = example()["Cluster"]
    cluster["spec"]["clusterNetwork"]["pods"]["cidrBlocks"] = "10.0.0.0/16"
    await refused(served, cluster, "spec.clusterNetwork.pods.cidrBlocks")


async def test_certificates_are_renewed_while_serving(
    server: ApiServer, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("capi_core.runtime.webhook.server._CHECK_SECONDS", 0.2)
    options = {"webhook_port": free_port(), "webhook_host": "localhost"}
    async with running(server, api, [CORE], **options) as manager:
        first = manager.webhooks._ca
        # Every certificate counts as old from here on, until one has been made.
        fresh = certs.ServingPair.fresh
        monkeypatch.setattr(
            certs.ServingPair, "fresh", lambda pair, names: pair.ca != first and fresh(pair, names)
        )

        async def renewed() -> bool:
            return manager.webhooks._ca != first

        await until(renewed, what="another certificate")
        # The API server learns the new authority by its own watch.
        await asyncio.sleep(0)

        async def serves() -> JsonObject:
            cluster = example()["Cluster"]
            return await api.create(cluster, Cluster.resource)

        await until(serves, what="admission with the new certificate", tolerate=Exception)
    for resource in _CONFIGURATIONS:
        await api.client.request("DELETE", resource.path())
