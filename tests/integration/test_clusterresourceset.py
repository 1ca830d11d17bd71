"""ClusterResourceSets: applied to chosen clusters when they can be reached, and told."""

from collections.abc import AsyncIterator

import pytest

from capd_py.container.fake import FakeRuntime
from capi_core.api.clusterresourceset import ClusterResourceSet, ClusterResourceSetBinding
from capi_core.api.meta import JsonObject
from capi_core.contract.remote import CONFIG_MAPS
from capi_core.contract.secrets import SECRETS
from tests.support.apiserver import ApiServer
from tests.support.cluster import CORE, Api, running, until
from tests.support.workload import Workload, workload


@pytest.fixture
async def cluster(server: ApiServer, api: Api, runtime: FakeRuntime) -> AsyncIterator[Workload]:
    """A cluster that core manages, with a kubeconfig of core's making."""
    async with workload(server, api, runtime) as found, running(server, api, [CORE],
                                                                runtime=runtime):
        yield found


def resource_set(cluster: Workload, kind: str = "ConfigMap", **spec: object) -> JsonObject:
    """A set with one resource, that chooses the cluster by its label."""
    wanted: JsonObject = {
        "clusterSelector": {"matchLabels": {"cni": "yes"}},
        "resources": [{"kind": kind, "name": "manifests"}],
        **spec,
    }
    return cluster.object("ClusterResourceSet", "set", wanted)


async def create_chosen(cluster: Workload) -> None:
    """The Cluster with the label that sets look for."""
    await cluster.create(cluster.docker_cluster())
    obj = cluster.cluster(controlPlaneEndpoint=cluster.endpoint)
    obj["metadata"]["labels"]["cni"] = "yes"
    await cluster.create(obj)


def manifest(cluster: Workload, value: str) -> dict[str, str]:
    """Data with a ConfigMap for the workload cluster, which is the same API server here."""
    text = (
        "apiVersion: v1\nkind: ConfigMap\n"
        f"metadata: {{name: applied, namespace: {cluster.api.namespace}}}\n"
        f"data: {{value: '{value}'}}\n"
    )
    return {"manifest.yaml": text}


async def create_config_map(cluster: Workload, value: str) -> None:
    """The ConfigMap that the set names."""
    body: JsonObject = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "manifests"},
        "data": manifest(cluster, value),
    }
    await cluster.api.create(body, CONFIG_MAPS)


async def applied(cluster: Workload, value: str, *, timeout: float = 15.0) -> None:
    """The workload cluster has the object with the value."""

    async def look() -> bool:
        found = await cluster.api.get(CONFIG_MAPS, "applied")
        return found["data"]["value"] == value

    await until(look, what=f"value {value}", timeout=timeout)


async def test_applied_once_and_bound(cluster: Workload) -> None:
    await create_config_map(cluster, "one")
    await cluster.create(resource_set(cluster, strategy="ApplyOnce"))
    await create_chosen(cluster)
    await applied(cluster, "one")
    await cluster.api.condition(
        ClusterResourceSet, "set", "ResourcesApplied", status="True", reason="Applied"
    )
    binding = await cluster.api.get(ClusterResourceSetBinding, cluster.name)
    assert binding["spec"]["clusterName"] == cluster.name
    (entry,) = binding["spec"]["bindings"]
    assert entry["clusterResourceSetName"] == "set"
    assert entry["resources"][0]["applied"] is True
    assert entry["resources"][0]["hash"].startswith("sha256:")
    owners = {ref["kind"] for ref in binding["metadata"]["ownerReferences"]}
    assert owners == {"Cluster", "ClusterResourceSet"}


async def test_what_is_missing_is_awaited_then_applied(cluster: Workload) -> None:
    await create_chosen(cluster)
    await cluster.create(resource_set(cluster))
    await cluster.api.condition(
        ClusterResourceSet, "set", "ResourcesApplied", reason="NotApplied",
        message="ConfigMap manifests to exist",
    )
    await create_config_map(cluster, "late")
    await applied(cluster, "late")


async def test_changes_are_applied_when_reconciled(
    cluster: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "capi_core.reconcilers.clusterresourceset.reconciler"
    monkeypatch.setattr(f"{module}._LOOK_SECONDS", 0.3)
    await create_config_map(cluster, "one")
    await cluster.create(resource_set(cluster, strategy="Reconcile"))
    await create_chosen(cluster)
    await applied(cluster, "one")
    await cluster.api.patch(CONFIG_MAPS, "manifests", {"data": manifest(cluster, "two")})
    await applied(cluster, "two")


async def test_a_secret_of_another_type_is_not_applied(cluster: Workload) -> None:
    await create_chosen(cluster)
    secret: JsonObject = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "manifests"},
        "stringData": manifest(cluster, "one"),
    }
    await cluster.api.create(secret, SECRETS)
    await cluster.create(resource_set(cluster, kind="Secret"))
    await cluster.api.condition(
        ClusterResourceSet, "set", "ResourcesApplied", status="False", reason="WrongSecretType",
        message="addons.cluster.x-k8s.io/resource-set",
    )


async def test_a_manifest_that_is_none_is_told(cluster: Workload) -> None:
    await create_chosen(cluster)
    body: JsonObject = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "manifests"},
        "data": {"a": "apiVersion: v1\nkind: Nothing\nmetadata: {name: x}\n"},
    }
    await cluster.api.create(body, CONFIG_MAPS)
    await cluster.create(resource_set(cluster))
    await cluster.api.condition(
        ClusterResourceSet, "set", "ResourcesApplied", status="False", reason="NotApplied",
        message="does not serve Nothing of v1",
    )


async def test_a_set_that_goes_takes_its_binding_but_not_what_it_applied(
    cluster: Workload,
) -> None:
    await create_config_map(cluster, "one")
    await cluster.create(resource_set(cluster))
    await create_chosen(cluster)
    await applied(cluster, "one")
    await cluster.api.delete(ClusterResourceSet, "set")
    await cluster.api.gone(ClusterResourceSet, "set")
    await cluster.api.gone(ClusterResourceSetBinding, cluster.name)
    await applied(cluster, "one")
