"""The programs that drive clusters: kind and kubectl."""

import os
import platform
import shutil
from pathlib import Path

from capd_py.engine.errors import EngineError
from capd_py.engine.paths import cache_dir
from capd_py.engine.process import CommandError, run, succeeds

KIND_VERSION = "v0.30.0"
GO_CURE = "install Go 1.24 or newer: https://go.dev/doc/install"


def find_go() -> str:
    """The go command.

    Raises:
        EngineError: There is none.
    """
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if go is None:
        raise EngineError("Go is not installed", GO_CURE)
    return go


def ensure_kind() -> Path:
    """A kind of the right version: the one on PATH, else one built into the cache."""
    on_path = shutil.which("kind")
    if on_path and _kind_version(on_path) == KIND_VERSION:
        return Path(on_path)
    bin_dir = cache_dir("bin")
    kind = bin_dir / "kind"
    if kind.exists() and _kind_version(str(kind)) == KIND_VERSION:
        return kind
    env = {"GOBIN": str(bin_dir), "CGO_ENABLED": "0", "GOFLAGS": ""}
    run([find_go(), "install", f"sigs.k8s.io/kind@{KIND_VERSION}"], timeout=300, env=env)
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
            cure = "install kubectl: https://kubernetes.io/docs/tasks/tools/"
            raise EngineError("kubectl is not installed", cure) from error
    target = cache_dir("binaries", node_image.rpartition(":")[2]) / "kubectl"
    container = run(["docker", "create", node_image], timeout=60).strip()
    try:
        where = ("/usr/local/bin/kubectl", "/usr/bin/kubectl")
        if not any(
            succeeds(["docker", "cp", "-L", f"{container}:{path}", str(target)]) for path in where
        ):
            raise EngineError(f"{node_image} has no kubectl", "install kubectl")
    finally:
        succeeds(["docker", "rm", "-f", "-v", container])
    target.chmod(0o755)
    return target
