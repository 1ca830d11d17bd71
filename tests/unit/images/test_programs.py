"""The CNI manifest and what is made of it."""

from pathlib import Path

import yaml

from capd_py.dev.network import render
from capd_py.images import cni_manifest
from capd_py.images.names import POD_NETWORK_IMAGE

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "cni.yaml"


def test_the_example_delivers_the_manifest_of_the_node_image() -> None:
    resource_set, config_map = yaml.safe_load_all(EXAMPLE.read_text())
    (ref,) = resource_set["spec"]["resources"]
    assert (ref["kind"], ref["name"]) == ("ConfigMap", config_map["metadata"]["name"])
    (text,) = config_map["data"].values()
    assert text.strip() == cni_manifest().strip()


def test_the_manifest_uses_an_image_that_is_in_the_node_image() -> None:
    objects = list(yaml.safe_load_all(cni_manifest()))
    (daemon_set,) = [obj for obj in objects if obj["kind"] == "DaemonSet"]
    (container,) = daemon_set["spec"]["template"]["spec"]["containers"]
    assert container["image"] == POD_NETWORK_IMAGE
    assert container["imagePullPolicy"] == "Never"


def test_kinds_manifest_gets_the_pod_subnet() -> None:
    assert render("value: {{ .PodSubnet }}", "10.0.0.0/16") == "value: 10.0.0.0/16"
    assert render("{{.PodSubnet}} {{ .Other }}", "a") == "a {{ .Other }}"
