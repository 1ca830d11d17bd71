"""The generated CRDs on a real API server."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from capi_core.api import KINDS, DockerCluster, KubeadmConfig, MachineDeployment
from capi_core.api.crd import load_crds
from capi_core.api.meta import JsonObject, KubeObject, Resource
from capi_core.runtime.access import parse_kubeconfig
from capi_core.runtime.client import Client
from capi_core.runtime.errors import ApiError, Invalid
from tests.support.apiserver import ApiServer
from tests.unit.api.examples import full_object

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

NAMESPACE = "crds"
LIMIT = 30.0
STARTING = (404, 429, 503)
CRD = Resource(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    namespaced=False,
)
NAMESPACES = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
RESOURCES = {kind.resource.kind: kind.resource for kind in KINDS}
CRDS = {crd["spec"]["names"]["kind"]: crd for crd in load_crds()}
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "quick-start.yaml"
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def conditions(crd: JsonObject) -> dict[str, str]:
    """Type to status of a CRD's conditions."""
    found = (crd.get("status") or {}).get("conditions") or []
    return {condition["type"]: condition["status"] for condition in found}


async def wait_served(client: Client) -> None:
    """Until every CRD is established and its collection answers."""
    deadline = time.monotonic() + LIMIT
    for name, resource in RESOURCES.items():
        crd_name = CRDS[name]["metadata"]["name"]
        while True:
            crd = await client.get(CRD, None, crd_name)
            try:
                await client.request("GET", resource.path(NAMESPACE))
                answers = True
            except ApiError as error:
                if error.code not in STARTING:
                    raise
                answers = False
            if answers and conditions(crd).get("Established") == "True":
                break
            assert time.monotonic() < deadline, f"{crd_name} is not served: {conditions(crd)}"
            await asyncio.sleep(0.05)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(apiserver: ApiServer) -> AsyncIterator[Client]:
    """An administrator's client of a server that has the CRDs."""
    client = Client(parse_kubeconfig(apiserver.kubeconfig), user_agent="test-crds")
    try:
        namespace: JsonObject = {"apiVersion": "v1", "kind": "Namespace"}
        namespace["metadata"] = {"name": NAMESPACE}
        await client.apply(namespace, NAMESPACES, manager="test")
        for crd in CRDS.values():
            await client.apply(crd, CRD, manager="test")
        await wait_served(client)
        yield client
    finally:
        await client.close()


async def create(client: Client, kind: str, name: str, **fields: Any) -> JsonObject:
    """Create an object in the test's namespace, refusing fields that the schema lacks."""
    resource = RESOURCES[kind]
    obj: JsonObject = {"apiVersion": resource.api_version, "kind": kind, **fields}
    obj["metadata"] = {"name": name, "namespace": NAMESPACE}
    return await client.request(
        "POST", resource.path(NAMESPACE), body=obj, params={"fieldValidation": "Strict"}
    )


@each_kind
async def test_the_schema_is_structural(client: Client, kind: type[KubeObject]) -> None:
    crd = await client.get(CRD, None, CRDS[kind.__name__]["metadata"]["name"])
    assert conditions(crd) == {"NamesAccepted": "True", "Established": "True"}


async def test_the_quick_start_is_accepted(client: Client) -> None:
    with EXAMPLE.open(encoding="utf-8") as documents:
        objects = [obj for obj in yaml.safe_load_all(documents) if obj]
    assert objects
    refused: list[str] = []
    for obj in objects:
        name, fields = obj["metadata"]["name"], {"spec": obj.get("spec", {})}
        try:
            stored = await create(client, obj["kind"], name, **fields)
        except ApiError as error:
            refused.append(str(error))
        else:
            assert stored["spec"] == fields["spec"]
    assert refused == []


@each_kind
async def test_a_full_object_is_accepted_and_stored_whole(
    client: Client, kind: type[KubeObject]
) -> None:
    full = full_object(CRDS[kind.__name__])
    fields = {name: full[name] for name in ("spec", "status") if name in full}
    stored = await create(client, kind.__name__, "full", **fields)
    assert stored["spec"] == full["spec"]
    if "status" not in full:
        return
    assert "status" not in stored
    path = kind.resource.path(NAMESPACE, "full", "status")
    stored = await client.request("PUT", path, body={**stored, "status": full["status"]})
    assert stored["status"] == full["status"]
    assert kind.parse(stored).dump() == stored


async def test_defaults_appear(client: Client) -> None:
    spec: JsonObject = {"loadBalancer": {"customHAProxyConfigTemplateRef": {}}}
    stored = await create(client, "DockerCluster", "defaults", spec=spec)
    balancer = DockerCluster.parse(stored).spec.load_balancer
    assert balancer.custom_ha_proxy_config_template_ref is not None
    assert balancer.custom_ha_proxy_config_template_ref.name == ""
    key = {"volumeName": "v", "path": "p", "key": "k"}
    env = {"name": "A", "valueFrom": {"fileKeyRef": key}}
    spec = {"clusterConfiguration": {"scheduler": {"extraEnvs": [env]}}}
    config = KubeadmConfig.parse(await create(client, "KubeadmConfig", "defaults", spec=spec))
    assert config.spec.cluster_configuration is not None
    (stored_env,) = config.spec.cluster_configuration.scheduler.extra_envs
    assert stored_env.value_from.file_key_ref.optional is False


TWICE = [{"name": "v", "value": "1"}, {"name": "v", "value": "2"}]
DISK = {"device": "/dev/sda", "layout": True, "diskLayout": [{"percentage": 100}]}
FOREIGN = {"type": "Ready", "status": "False", "timeoutSeconds": 1}
TOPOLOGY = {
    "classRef": {"name": "a"},
    "version": "v1.34.0",
    "controlPlane": {"healthCheck": {"checks": {"unhealthyMachineConditions": [FOREIGN]}}},
}
REFUSED: dict[str, tuple[str, Any, str]] = {
    "an argument twice": (
        "KubeadmConfig",
        {"clusterConfiguration": {"apiServer": {"extraArgs": TWICE}}},
        "spec.clusterConfiguration.apiServer.extraArgs: Invalid value: .*: each name must occur",
    ),
    "both layouts": (
        "KubeadmConfig",
        {"diskSetup": {"partitions": [DISK]}},
        r"spec.diskSetup.partitions\[0\]: Invalid value: .*: exactly one of layout",
    ),
    "no partition type": (
        "KubeadmConfig",
        {
            "diskSetup": {
                "partitions": [
                    {
                        "device": "/dev/sda",
                        "diskLayout": [{"percentage": 1, "partitionType": "ZFS"}],
                    }
                ]
            }
        },
        r"spec.diskSetup.partitions\[0\].diskLayout\[0\].partitionType: .*: must be a known",
    ),
    "a condition of health checking itself": (
        "Cluster",
        {"topology": TOPOLOGY},
        r"spec.topology.controlPlane.healthCheck.checks.unhealthyMachineConditions\[0\].type: .*"
        "must not be a condition that",
    ),
    "an empty struct": (
        "Cluster",
        {"clusterNetwork": {}},
        "spec.clusterNetwork: Invalid value: 0",
    ),
    "a missing field": ("MachineSet", {"template": {}}, "spec.clusterName: Required value"),
    "a number out of bounds": (
        "Cluster",
        {"clusterNetwork": {"apiServerPort": 70000}},
        "spec.clusterNetwork.apiServerPort: Invalid value: 70000",
    ),
    "an unknown word": (
        "KubeadmConfig",
        {"format": "toml"},
        "spec.format: Unsupported value",
    ),
    "a duplicate key of a map list": (
        "Cluster",
        {"availabilityGates": [{"conditionType": "A"}, {"conditionType": "A"}]},
        r"spec.availabilityGates\[1\]: Duplicate value",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_refusals_name_the_field(client: Client, name: str) -> None:
    kind, spec, message = REFUSED[name]
    with pytest.raises(Invalid, match=message):
        await create(client, kind, "refused", spec=spec)


async def test_the_scale_subresource(client: Client) -> None:
    machine = {
        "clusterName": "a",
        "bootstrap": {"dataSecretName": "a"},
        "infrastructureRef": {"apiGroup": "example.com", "kind": "Machine", "name": "a"},
    }
    spec: JsonObject = {
        "clusterName": "a",
        "replicas": 2,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"spec": machine},
    }
    await create(client, "MachineDeployment", "scaled", spec=spec)
    resource = MachineDeployment.resource
    status = {"status": {"replicas": 1, "selector": "a=b"}}
    await client.patch(resource, NAMESPACE, "scaled", status, sub="status")
    path = resource.path(NAMESPACE, "scaled", "scale")
    scale = await client.request("GET", path)
    assert scale["spec"] == {"replicas": 2}
    assert scale["status"] == {"replicas": 1, "selector": "a=b"}
    await client.patch(resource, NAMESPACE, "scaled", {"spec": {"replicas": 5}}, sub="scale")
    stored = MachineDeployment.parse(await client.get(resource, NAMESPACE, "scaled"))
    assert stored.spec.replicas == 5


@each_kind
async def test_the_printer_columns(client: Client, kind: type[KubeObject]) -> None:
    accept = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
    path = kind.resource.path(NAMESPACE)
    table = await client.request("GET", path, headers=accept)
    shown = [(column["name"], column["priority"]) for column in table["columnDefinitions"]]
    wanted = [(column.name, column.priority) for column in kind.definition.columns]
    assert shown == [("Name", 0), *wanted]


async def test_kinds_are_found_by_category_and_short_name(client: Client) -> None:
    groups = {resource.group for resource in RESOURCES.values()}
    found: dict[str, Any] = {}
    for group in groups:
        listed = await client.request("GET", f"/apis/{group}/v1beta2")
        found |= {item["kind"]: item for item in listed["resources"] if "/" not in item["name"]}
    for kind in KINDS:
        item = found[kind.resource.kind]
        assert item["categories"] == ["cluster-api"]
        assert item.get("shortNames", []) == list(kind.definition.short_names)
