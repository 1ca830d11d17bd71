"""What containers are made of: images, environment, and how failures are told."""

import pytest

from capd_py.cloudinit.bundle import Outcome
from capd_py.reconcilers.dockermachine.bootstrap import failure_message
from capd_py.reconcilers.host import load_balancer_image, node_environment, node_image
from capi_core.api.docker import DockerCluster


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the test's machine has."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize(
    ("version", "custom", "image"),
    [
        ("v1.34.4", None, "kindest/node:v1.34.4"),
        ("v1.34.4+k3s1", None, "kindest/node:v1.34.4_k3s1"),
        ("v1.34.4", "mine:1", "mine:1"),
        ("", "mine:1", "mine:1"),
    ],
)
def test_node_images(version: str, custom: str | None, image: str) -> None:
    assert node_image(version, custom) == image


def test_load_balancer_images() -> None:
    assert load_balancer_image(DockerCluster()) == "kindest/haproxy:v20230606-42a2262b"
    given = {"loadBalancer": {"imageRepository": "r.example/x", "imageTag": "v2"}}
    assert load_balancer_image(DockerCluster.parse({"spec": given})) == "r.example/x/haproxy:v2"


def test_proxies_reach_nodes_with_what_is_local_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert node_environment("n", control_plane=False) == {}
    assert node_environment("n", control_plane=True) == {"KUBECONFIG": "/etc/kubernetes/admin.conf"}
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "example.com")
    found = node_environment("n", control_plane=False)
    assert found["HTTPS_PROXY"] == found["https_proxy"] == "http://proxy:3128"
    assert found["no_proxy"] == "example.com,n,.svc,.svc.cluster,.svc.cluster.local"
    assert "HTTP_PROXY" not in found


def test_a_failed_bootstrap_tells_the_command_and_both_tails() -> None:
    message = failure_message(Outcome(7, "kubeadm init", "out", "err"), 300)
    assert message.split("\n") == [
        "kubeadm init: ended with exit code 7", "last lines of its output:", "out",
        "last lines of its errors:", "err",
    ]
    assert failure_message(Outcome(124, "sleep", "", ""), 90) == "sleep: did not end within 90 s"
