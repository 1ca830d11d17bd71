"""Versions, names and recipes: what decides which image is the right one."""

from pathlib import Path

import pytest

from capd_py.engine import EngineError
from capd_py.images import gobuild, recipe, versions
from capd_py.images.names import node_image
from capd_py.images.recipe import recipe_hash
from capd_py.images.versions import Components, check_version, parse_constants

CONSTANTS = """
const (
	CoreDNSVersion = "v1.12.1"
	PauseVersion = "3.10.1"
	DefaultEtcdVersion = "3.6.5-0"
)
"""
VERSIONS = Components("v1.34.4", "v1.12.1", "3.6.5-0", "v3.6.13", "3.10.1", "v1.34.0")


@pytest.mark.parametrize("version", ["1.34.4", "v1.34", "v2.0.0", "latest", "v1.34.4-rc.0", ""])
def test_what_is_no_release_is_refused_with_a_cure(version: str) -> None:
    with pytest.raises(EngineError, match=r"not a Kubernetes version.*\n *cure: "):
        check_version(version)


def test_kubeadms_own_constants_say_what_belongs_to_a_release() -> None:
    assert parse_constants("v1.34.4", CONSTANTS) == VERSIONS


def test_a_constant_that_is_not_there_is_named() -> None:
    with pytest.raises(EngineError, match="names no PauseVersion"):
        parse_constants("v1.34.4", CONSTANTS.replace("PauseVersion", "Other"))


NOT_SERVED = """{
\t"Path": "k8s.io/kubernetes",
\t"Error": "k8s.io/kubernetes@v1.34.99: https://proxy.test/v1.34.99.info: 404 Not Found\\n\\tx"
}"""
NO_NETWORK = '{"Error": "k8s.io/kubernetes@v1.34.4: dial tcp: lookup proxy.test: no such host"}'


def test_a_release_that_does_not_exist_is_told_apart_from_a_network_that_does_not() -> None:
    unknown = versions.download_problem("v1.34.99", NOT_SERVED)
    assert str(unknown).startswith("there is no Kubernetes v1.34.99 to build: ")
    assert "go list -m -versions" in unknown.cure
    # The message and its cure, each in one line.
    assert len(str(unknown).splitlines()) == 2
    unreachable = versions.download_problem("v1.34.4", NO_NETWORK)
    assert str(unreachable).startswith("Kubernetes v1.34.4 cannot be downloaded: ")
    assert "GOPROXY" in unreachable.cure
    assert "exit 1" in str(versions.download_problem("v1.34.4", "exit 1"))


def test_what_was_read_once_needs_no_go_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPD_CACHE_DIR", str(tmp_path / "cache"))
    module = tmp_path / "module"
    (module / versions.CONSTANTS).parent.mkdir(parents=True)
    (module / versions.CONSTANTS).write_text(CONSTANTS)
    (module / "go.mod").write_text("module k8s.io/kubernetes\n")
    found = {"Dir": str(module), "GoMod": str(module / "go.mod")}
    monkeypatch.setattr(versions, "kubernetes_module", lambda _: found)
    first = versions.components("v1.34.4"), versions.upstream_go_mod("v1.34.4")

    def fail(_: str) -> dict[str, str]:
        raise AssertionError("downloaded again")

    monkeypatch.setattr(versions, "kubernetes_module", fail)
    assert first == (VERSIONS, "module k8s.io/kubernetes\n")
    assert first == (versions.components("v1.34.4"), versions.upstream_go_mod("v1.34.4"))


def test_the_node_image_has_upstreams_name() -> None:
    assert node_image("v1.34.4") == "kindest/node:v1.34.4"


def test_staging_modules_are_replaced_by_their_published_twins() -> None:
    upstream = "require (\n\tk8s.io/api v0.0.0\n\tk8s.io/klog/v2 v2.130.1\n)\n"
    text = gobuild.kubernetes_go_mod(VERSIONS, upstream)
    assert "k8s.io/api => k8s.io/api v0.34.4" in text
    assert "klog/v2 =>" not in text
    assert "k8s.io/kubernetes v1.34.4" in text


def test_a_changed_recipe_is_another_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recipe, "RECIPES", tmp_path)
    (tmp_path / "node").mkdir()
    script = tmp_path / "node" / "setup.sh"
    script.write_text("one")
    first = recipe_hash("node", also="a")
    assert recipe_hash("node", also="a") == first
    assert recipe_hash("node", also="b") != first
    script.write_text("two")
    assert recipe_hash("node", also="a") != first
    script.rename(tmp_path / "node" / "other.sh")
    (tmp_path / "node" / "other.sh").write_text("one")
    assert recipe_hash("node", also="a") != first


def test_a_target_is_found_again_by_what_it_is_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPD_CACHE_DIR", str(tmp_path))
    one, other = gobuild.simple_target("pause"), gobuild.simple_target("pause", "a.b/c v1.0.0")
    assert one.directory != other.directory
    assert not one.built()
    one.directory.mkdir()
    (one.directory / "pause").touch()
    assert one.built()
    assert not other.built()
