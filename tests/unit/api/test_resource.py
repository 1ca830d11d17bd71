"""Where the kinds are served."""

import pytest

from capi_core.api import KINDS, Cluster
from capi_core.api.crd import load_crds
from capi_core.api.meta import KubeObject, Resource

CRDS = load_crds()
ROOT = "/apis/cluster.x-k8s.io/v1beta2"


def test_paths_of_a_namespaced_kind() -> None:
    resource = Cluster.resource
    assert resource.path() == f"{ROOT}/clusters"
    assert resource.path("ns") == f"{ROOT}/namespaces/ns/clusters"
    assert resource.path("ns", "a") == f"{ROOT}/namespaces/ns/clusters/a"
    assert resource.path("ns", "a", "status") == f"{ROOT}/namespaces/ns/clusters/a/status"


def test_paths_of_the_core_group_and_of_cluster_scope() -> None:
    nodes = Resource("", "v1", "Node", "nodes", namespaced=False)
    assert nodes.path("ignored", "a") == "/api/v1/nodes/a"
    assert (nodes.api_version, nodes.group_kind) == ("v1", "Node")
    assert Cluster.resource.group_kind == "Cluster.cluster.x-k8s.io"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_crd_serves_the_resource(kind: type[KubeObject]) -> None:
    resource = kind.resource
    name = f"{resource.plural}.{resource.group}"
    (crd,) = (crd for crd in CRDS if crd["metadata"]["name"] == name)
    assert kind.__name__ == crd["spec"]["names"]["kind"]
    assert [version["name"] for version in crd["spec"]["versions"]] == [resource.version]
