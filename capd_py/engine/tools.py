"""The programs that drive clusters: kind and kubectl."""

import os
import platform
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from capd_py.engine.errors import EngineError
from capd_py.engine.paths import cache_dir
from capd_py.engine.process import CommandError, run, succeeds

KIND_VERSION = "v0.30.0"
GO_CURE = "install Go 1.24 or newer: https://go.dev/doc/install"
KIND_CURE = f"install kind {KIND_VERSION} (https://kind.sigs.k8s.io), or Go 1.24 or newer"
KUBECTL_CURE = "install kubectl: https://kubernetes.io/docs/tasks/tools/"
# In images built here, and in upstream's.
KUBECTL_IN_NODE = ("/usr/local/bin/kubectl", "/usr/bin/kubectl")


def has_go() -> bool:
    """Whether programs can be built here."""
    return _go() is not None


def _go() -> str | None:
    return shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")


def find_go() -> str:
    """The go command.

    Raises:
        EngineError: There is none.
    """
    go = _go()
    if go is None:
        raise EngineError("Go is not installed", GO_CURE)
    return go


def ensure_kind() -> Path:
    """A kind of the right version: the one on PATH, else one built into the cache.

    Raises:
        EngineError: There is none, and none can be built.
    """
    on_path = shutil.which("kind")
    if on_path and _kind_version(on_path) == KIND_VERSION:
        return Path(on_path)
    bin_dir = cache_dir("bin")
    kind = bin_dir / "kind"
    if kind.exists() and _kind_version(str(kind)) == KIND_VERSION:
        return kind
    if not has_go():
        # Another version is better than none: its clusters are the same.
        if on_path:
            return Path(on_path)
        raise EngineError("kind is not installed", KIND_CURE)
    env = {"GOBIN": str(bin_dir), "CGO_ENABLED": "0", "GOFLAGS": ""}
    command = [find_go(), "install", f"sigs.k8s.io/kind@{KIND_VERSION}"]
    run(command, timeout=300, env=env, cure=KIND_CURE)
    return kind


def _kind_version(kind: str) -> str:
    try:
        # "kind v0.30.0 go1.24.3 linux/amd64"
        words = run([kind, "version"]).split()
    except CommandError:
        return ""
    return words[1] if len(words) > 1 else ""


def find_kubectl() -> Path:
    """The kubectl on PATH, else the newest in the cache.

    Raises:
        EngineError: There is neither.
    """
    on_path = shutil.which("kubectl")
    if on_path:
        return Path(on_path)
    kept = sorted(cache_dir("binaries").glob("*/kubectl"), key=os.path.getmtime)
    if not kept:
        raise EngineError("kubectl is not installed", "make dev-up takes it from the node image")
    return kept[-1]


def ensure_kubectl(node_image: str) -> Path:
    """A kubectl: one that is there, else the one in a node image, which runs on Linux.

    Raises:
        EngineError: There is none, and this is not Linux.
    """
    try:
        return find_kubectl()
    except EngineError as error:
        if platform.system() != "Linux":
            raise EngineError("kubectl is not installed", KUBECTL_CURE) from error
    target = cache_dir("binaries", node_image.rpartition(":")[2]) / "kubectl"
    return take_program(node_image, KUBECTL_IN_NODE, target)


def take_program(image: str, where: Sequence[str], target: Path) -> Path:
    """Copy a program out of an image; where it may lie is tried in order.

    Raises:
        EngineError: It is in none of these places.
    """
    container = run(["docker", "create", image, target.name], timeout=60).strip()
    try:
        # Renamed into place: half a program would be taken for a whole one.
        with tempfile.TemporaryDirectory(dir=target.parent) as directory:
            part = Path(directory) / target.name
            if not any(
                succeeds(["docker", "cp", "-L", f"{container}:{path}", str(part)], timeout=120)
                for path in where
            ):
                raise EngineError(f"{image} has no {target.name}", f"install {target.name}")
            part.chmod(0o755)
            os.replace(part, target)
    finally:
        succeeds(["docker", "rm", "-f", "-v", container])
    return target
