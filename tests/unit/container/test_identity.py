"""Names and labels of containers: whose they are, told apart and short enough."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capd_py.container.identity import (
    Identity,
    container_of,
    load_balancer_name,
    machine_container_name,
    provider_id,
)

ONE = Identity("uid-1", "default", "quick")
NAMES = st.text("abcdefghij0123456789-", min_size=1, max_size=253)


@pytest.mark.parametrize(
    ("cluster", "machine", "expected"),
    [
        ("quick", "quick-md-0-x", "quick-md-0-x"),
        ("quick", "worker", "quick-worker"),
        ("quick", "quick", "quick"),
    ],
)
def test_container_names_are_upstreams(cluster: str, machine: str, expected: str) -> None:
    assert machine_container_name(cluster, machine) == expected


@given(NAMES, NAMES)
def test_container_names_are_host_names_and_stay_apart(cluster: str, machine: str) -> None:
    name = machine_container_name(cluster, machine)
    assert len(name) <= 63
    assert len(load_balancer_name(cluster)) <= 63
    assert name != machine_container_name(cluster, f"{machine}x")


def test_labels_tell_namespaces_and_management_clusters_apart() -> None:
    labels = ONE.role_labels("worker")
    assert labels["io.x-k8s.kind.cluster"] == "quick"
    assert labels["io.x-k8s.kind.role"] == "worker"
    assert ONE.owns(labels)
    for other in (
        Identity("uid-1", "other", "quick"),
        Identity("uid-2", "default", "quick"),
        Identity("uid-1", "default", "quick2"),
    ):
        assert not other.owns(labels)
    assert Identity("uid-1", "other", "quick").unique_name("w") != ONE.unique_name("w")
    assert Identity("uid-2", "default", "quick").unique_name("w") != ONE.unique_name("w")
    assert ONE.owner_labels("DockerMachine", "a")["io.capd-py.owner"] == "DockerMachine/a"


@given(NAMES)
def test_unique_names_fit(wanted: str) -> None:
    assert len(ONE.unique_name(wanted)) <= 63


def test_provider_ids_name_containers() -> None:
    assert provider_id("quick-w") == "docker:////quick-w"
    assert container_of("docker:////quick-w") == "quick-w"
    assert container_of("aws:///i-1") == ""
    assert container_of(None) == ""
