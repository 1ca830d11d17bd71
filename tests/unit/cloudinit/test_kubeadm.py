"""kubeadm's configuration fitted to a container: what is added, and that the user's stays."""

from typing import Any

import pytest
import yaml

from capd_py.cloudinit.document import InvalidUserData, WriteFile
from capd_py.cloudinit.kubeadm import INIT_FILE, JOIN_FILE, NodeFacts, fit

FACTS = NodeFacts("docker:////quick-cp", ("localhost", "127.0.0.1"))
FORCED = {
    "image-gc-high-threshold": "100",
    "eviction-hard": "nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%",
    "fail-swap-on": "false",
    "cgroup-root": "/kubelet",
    "runtime-cgroups": "/system.slice/containerd.service",
    "provider-id": "docker:////quick-cp",
}


def fitted(*documents: dict[str, Any], path: str = INIT_FILE) -> dict[str, dict[str, Any]]:
    """The documents by kind, after fitting."""
    text = yaml.safe_dump_all(documents).encode()
    [file] = fit([WriteFile(path, text, mode=0o640)], FACTS)
    assert file.mode == 0o640
    return {doc["kind"]: doc for doc in yaml.safe_load_all(file.content)}


def config(kind: str, version: str = "v1beta4", **fields: Any) -> dict[str, Any]:
    """A document of kubeadm's."""
    return {"apiVersion": f"kubeadm.k8s.io/{version}", "kind": kind, **fields}


def arguments(node: dict[str, Any]) -> dict[str, str]:
    """v1beta4's list of kubelet arguments as a mapping."""
    return {item["name"]: item["value"] for item in node["kubeletExtraArgs"]}


def test_a_bare_configuration_gets_what_a_container_needs() -> None:
    found = fitted(config("InitConfiguration"), config("ClusterConfiguration"))
    node = found["InitConfiguration"]["nodeRegistration"]
    assert node["criSocket"] == "unix:///var/run/containerd/containerd.sock"
    assert arguments(node) == FORCED
    assert node["ignorePreflightErrors"] == [
        "SystemVerification", "Swap", "FileContent--proc-sys-net-bridge-bridge-nf-call-iptables"
    ]
    assert found["ClusterConfiguration"]["apiServer"]["certSANs"] == ["localhost", "127.0.0.1"]
    assert found["KubeProxyConfiguration"]["conntrack"] == {"maxPerCore": 0}


def test_what_the_user_set_stays_in_v1beta4() -> None:
    given = {
        "criSocket": "unix:///run/crio.sock",
        "kubeletExtraArgs": [
            {"name": "cgroup-root", "value": "/mine"}, {"name": "v", "value": "4"},
            {"name": "v", "value": "5"},
        ],
        "ignorePreflightErrors": ["Swap", "NumCPU"],
        "name": "given",
    }
    node = fitted(config("JoinConfiguration", nodeRegistration=given), path=JOIN_FILE)[
        "JoinConfiguration"
    ]["nodeRegistration"]
    assert node["criSocket"] == "unix:///run/crio.sock"
    assert node["name"] == "given"
    assert node["kubeletExtraArgs"][:3] == given["kubeletExtraArgs"]
    assert arguments(node) == {**FORCED, "cgroup-root": "/mine", "v": "5"}
    assert node["ignorePreflightErrors"][:2] == ["Swap", "NumCPU"]
    assert node["ignorePreflightErrors"].count("Swap") == 1


def test_v1beta3_has_a_mapping_of_arguments() -> None:
    given = {"kubeletExtraArgs": {"fail-swap-on": "true", "v": "4"}}
    document = config("JoinConfiguration", "v1beta3", nodeRegistration=given)
    node = fitted(document, path=JOIN_FILE)["JoinConfiguration"]["nodeRegistration"]
    assert node["kubeletExtraArgs"] == {**FORCED, "fail-swap-on": "true", "v": "4"}


def test_names_and_proxy_settings_of_the_user_stay() -> None:
    found = fitted(
        config("InitConfiguration"),
        config("ClusterConfiguration", apiServer={"certSANs": ["api.example", "localhost"]}),
        {"kind": "KubeProxyConfiguration", "mode": "nftables", "conntrack": {"maxPerCore": 9}},
    )
    sans = found["ClusterConfiguration"]["apiServer"]["certSANs"]
    assert sans == ["api.example", "localhost", "127.0.0.1"]
    proxy = found["KubeProxyConfiguration"]
    assert (proxy["mode"], proxy["conntrack"]) == ("nftables", {"maxPerCore": 9})


def test_a_join_gets_no_proxy_configuration_and_other_files_stay_as_they_are() -> None:
    assert list(fitted(config("JoinConfiguration"), path=JOIN_FILE)) == ["JoinConfiguration"]
    other = WriteFile("/etc/other.yaml", b"kind: [")
    assert fit([other], FACTS) == [other]


@pytest.mark.parametrize("field", ["nodeRegistration", "kubeletExtraArgs", "ignorePreflightErrors"])
def test_null_is_the_same_as_absent(field: str) -> None:
    given = {"nodeRegistration": None} if field == "nodeRegistration" else {
        "nodeRegistration": {field: None}
    }
    for version in ("v1beta3", "v1beta4"):
        node = fitted(config("InitConfiguration", version, **given))["InitConfiguration"]
        assert len(node["nodeRegistration"]["kubeletExtraArgs"]) == len(FORCED)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "/run/kubeadm/kubeadm.yaml: is not YAML"),
        ("- a", "/run/kubeadm/kubeadm.yaml: a document has no kind"),
        ("kind: 5", "/run/kubeadm/kubeadm.yaml: a document has no kind"),
        ("kind: InitConfiguration\nnodeRegistration: x", "nodeRegistration is not a mapping"),
        ("kind: InitConfiguration\nnodeRegistration: {kubeletExtraArgs: {a: b}}", "not a list"),
        ("kind: InitConfiguration\nnodeRegistration: {kubeletExtraArgs: [a]}", "not a list"),
        ("kind: InitConfiguration\nnodeRegistration: {ignorePreflightErrors: x}", "not a list"),
        (
            "apiVersion: kubeadm.k8s.io/v1beta3\nkind: InitConfiguration\n"
            "nodeRegistration: {kubeletExtraArgs: [a]}",
            "kubeletExtraArgs is not a mapping",
        ),
        ("kind: ClusterConfiguration\napiServer: []\n", "apiServer is not a mapping"),
        ("kind: KubeProxyConfiguration\nconntrack: 5", "conntrack is not a mapping"),
    ],
)
def test_malformed_configurations_are_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidUserData) as error:
        fit([WriteFile(INIT_FILE, text.encode())], FACTS)
    assert message in str(error.value)
