"""What the list of images says of each."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from capd_py.images import listing
from capd_py.images.names import LOAD_BALANCER_IMAGE, RECIPE_LABEL

INSPECTED = [
    {"RepoTags": ["kindest/node:v1.34.4", "kindest/node:latest"], "Size": 513_000_000,
     "Config": {"Labels": {RECIPE_LABEL: "node-now"}}},
    {"RepoTags": ["kindest/node:v1.33.0"], "Size": 1, "Config": {"Labels": {RECIPE_LABEL: "old"}}},
    {"RepoTags": ["kindest/node:v1.32.0"], "Size": 1, "Config": {"Labels": None}},
    {"RepoTags": [LOAD_BALANCER_IMAGE], "Size": 1, "Config": {"Labels": {RECIPE_LABEL: "old"}}},
    {"RepoTags": ["capd-py/manager:dev-1"], "Size": 1, "Config": {}},
    {"RepoTags": ["capd-py/manager:dev-2"], "Size": 1, "Config": {}},
]


def test_each_image_says_whether_it_is_what_would_be_made_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(args: Sequence[str], **_: object) -> str:
        return json.dumps(INSPECTED) if "inspect" in args else "sha256:1\nsha256:2\n"

    monkeypatch.setattr(listing, "run", run)
    monkeypatch.setattr(listing, "known_version", lambda version: True)
    monkeypatch.setattr(listing, "components", lambda version: version)
    monkeypatch.setattr(listing.gobuild, "targets", lambda versions: versions)
    monkeypatch.setattr(listing, "node_recipe", lambda targets: "node-now")
    monkeypatch.setattr(listing, "load_balancer_recipe", lambda: "lb-now")
    monkeypatch.setattr(listing, "manager_image", lambda root: "capd-py/manager:dev-2")
    states = {image.name: image.state for image in listing.list_images(Path("/clone"))}
    assert states == {
        "kindest/node:v1.34.4": "built",
        "kindest/node:latest": "built",
        "kindest/node:v1.33.0": "built from an older recipe",
        "kindest/node:v1.32.0": "pulled",
        LOAD_BALANCER_IMAGE: "built from an older recipe",
        "capd-py/manager:dev-1": "built from other sources",
        "capd-py/manager:dev-2": "built",
    }


def test_no_images_are_an_empty_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "run", lambda *_, **__: "")
    assert listing.list_images() == []


def test_a_list_downloads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPD_CACHE_DIR", str(tmp_path))

    def fail(_: str) -> None:
        raise AssertionError("asked for the version's components")

    monkeypatch.setattr(listing, "components", fail)
    for version in ("v1.34.4", "latest"):
        assert listing._node_recipe(version, "its own") == "its own"
