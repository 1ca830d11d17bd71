"""kind, kubectl and Go: which one is taken, and what is told where there is none."""

from pathlib import Path

import pytest

from capd_py.engine import EngineError, tools
from capd_py.engine.paths import cache_dir

FAKE_DOCKER = """#!/bin/sh
echo "$@" >> "$DOCKER_LOG"
case "$1" in
create) echo container ;;
cp) case "$3" in *"$DOCKER_HAS") echo program > "$4" ;; *) exit 1 ;; esac ;;
esac
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH without any of these programs, and a cache of its own."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    monkeypatch.setenv("CAPD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(tools, "has_go", lambda: False)
    return directory


@pytest.fixture
def docker(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An engine whose images have one file; its log."""
    log = path.parent / "docker.log"
    monkeypatch.setenv("DOCKER_LOG", str(log))
    monkeypatch.setenv("DOCKER_HAS", ":/usr/bin/kubectl")
    program(path, "docker", FAKE_DOCKER)
    return log


def program(directory: Path, name: str, text: str = "") -> Path:
    script = directory / name
    script.write_text(text or "#!/bin/sh\n")
    script.chmod(0o755)
    return script


def test_no_kubectl_is_told(path: Path) -> None:
    with pytest.raises(EngineError, match=r"kubectl is not installed\n *cure: "):
        tools.find_kubectl()


def test_the_kubectl_in_the_cache_serves_where_none_is_installed(path: Path) -> None:
    kept = cache_dir("binaries", "v1.34.4") / "kubectl"
    kept.touch()
    assert tools.find_kubectl() == kept
    installed = program(path, "kubectl")
    assert tools.find_kubectl() == installed


def test_kubectl_comes_out_of_the_node_image(docker: Path) -> None:
    got = tools.ensure_kubectl("kindest/node:v1.34.4")
    assert got == cache_dir("binaries", "v1.34.4") / "kubectl"
    assert got.read_text() == "program\n"
    assert got.stat().st_mode & 0o111
    assert [entry.name for entry in got.parent.iterdir()] == ["kubectl"]
    calls = docker.read_text()
    assert "create kindest/node:v1.34.4" in calls
    assert "rm -f -v container" in calls
    assert tools.ensure_kubectl("kindest/node:v1.34.4") == got
    assert docker.read_text() == calls


def test_a_program_that_an_image_lacks_leaves_nothing(docker: Path, tmp_path: Path) -> None:
    directory = cache_dir("binaries", "v1")
    with pytest.raises(EngineError, match="image has no etcd"):
        tools.take_program("image", ["/usr/local/bin/etcd"], directory / "etcd")
    assert list(directory.iterdir()) == []
    assert "rm -f -v container" in docker.read_text()


def test_a_kind_of_the_right_version_is_taken_from_path(path: Path) -> None:
    right = program(path, "kind", f"#!/bin/sh\necho kind {tools.KIND_VERSION} go1 linux/amd64\n")
    assert tools.ensure_kind() == right


def test_another_kind_serves_only_where_none_can_be_built(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = program(path, "kind", "#!/bin/sh\necho kind v0.1.0 go1 linux/amd64\n")
    assert tools.ensure_kind() == other
    monkeypatch.setattr(tools, "has_go", lambda: True)
    install = '#!/bin/sh\n[ "$1" = install ] && echo "$2" > "$GOBIN/kind"\n'
    go = program(path, "go", install)
    monkeypatch.setattr(tools, "find_go", lambda: str(go))
    built = tools.ensure_kind()
    assert built == cache_dir("bin") / "kind"
    assert built.read_text() == f"sigs.k8s.io/kind@{tools.KIND_VERSION}\n"


def test_no_kind_and_no_go_is_told_with_both_cures(path: Path) -> None:
    with pytest.raises(EngineError, match=r"cure: install kind .* or Go "):
        tools.ensure_kind()
