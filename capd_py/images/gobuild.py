"""The programs of a node, built from their Go modules."""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from capd_py.engine.paths import cache_dir
from capd_py.engine.process import run
from capd_py.engine.tools import find_go
from capd_py.images.recipe import RECIPES, recipe_hash
from capd_py.images.versions import Components, upstream_go_mod

GO_LANGUAGE = "1.24.0"
# All names under which the one Kubernetes binary is called.
KUBERNETES_PROGRAMS = (
    "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubeadm",
    "kubelet", "kubectl", "podroutes",
)
BUILD_CURE = "read the log named above; `go clean -modcache` helps against a broken download"


@dataclass(frozen=True)
class Target:
    """One `go build`.

    Attributes:
        name: Of the build, and of its cache entry and log.
        recipes: Recipe directories whose files make the main module.
        module: Text of its go.mod.
        packages: What is built.
        ldflags: For the linker, after -s -w.
        outputs: The programs that come out.
    """

    name: str
    recipes: tuple[str, ...]
    module: str
    packages: tuple[str, ...]
    ldflags: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def directory(self) -> Path:
        """Where the programs are kept."""
        key = recipe_hash(*self.recipes, also=(self.module, self.packages, self.ldflags))
        return cache_dir("go") / f"{self.name}-{key}"

    def built(self) -> bool:
        """Whether there is nothing left to do."""
        return all((self.directory / output).exists() for output in self.outputs)


def kubernetes_target(versions: Components) -> Target:
    """All of Kubernetes in one binary, and crictl, which shares its modules."""
    version = versions.kubernetes
    major, minor = version[1:].split(".")[:2]
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    ldflags = [f"-X {package}.{key}={value}" for package in packages
               for key, value in stamps.items()]
    ldflags.append(f"-X sigs.k8s.io/cri-tools/pkg/version.Version={versions.crictl}")
    return Target(
        "kubernetes",
        ("kubernetes",),
        kubernetes_go_mod(versions, upstream_go_mod(version)),
        (".", "sigs.k8s.io/cri-tools/cmd/crictl"),
        tuple(ldflags),
        ("kubernetes", "crictl"),
    )


def kubernetes_go_mod(versions: Components, upstream: str) -> str:
    """Text of a go.mod from which Kubernetes builds.

    Its staging modules are required at v0.0.0 and replaced by local directories, which a module
    that depends on it does not inherit: each is replaced by its published twin.
    """
    staging = re.findall(r"^\s+(k8s\.io/\S+) v0\.0\.0(?:\s|$)", upstream, re.MULTILINE)
    twin = versions.kubernetes.replace("v1.", "v0.", 1)
    replaces = "".join(f"\t{module} => {module} {twin}\n" for module in dict.fromkeys(staging))
    return (
        f"module capd.local/kubernetes\n\ngo {GO_LANGUAGE}\n\nrequire (\n"
        f"\tk8s.io/kubernetes {versions.kubernetes}\n"
        f"\tsigs.k8s.io/cri-tools {versions.crictl}\n)\n\nreplace (\n{replaces})\n"
    )


def simple_target(name: str, requirement: str = "") -> Target:
    """A program of its own module, which requires at most one other."""
    require = f"\nrequire {requirement}\n" if requirement else ""
    module = f"module capd.local/{name}\n\ngo {GO_LANGUAGE}\n{require}"
    return Target(name, (name,), module, (".",), (), (name,))


def etcd_target(versions: Components) -> Target:
    """The etcd server."""
    return simple_target("etcd", f"go.etcd.io/etcd/server/v3 {versions.etcd_module}")


def targets(versions: Components) -> list[Target]:
    """Everything that a node image needs, the longest build first."""
    return [
        kubernetes_target(versions),
        simple_target("coredns", f"github.com/coredns/coredns {versions.coredns}"),
        etcd_target(versions),
        simple_target("pause"),
    ]


def build(target: Target) -> Path:
    """Build a target, unless it is in the cache, and return its directory."""
    lock = FileLock(cache_dir("locks") / f"go-{target.name}.lock")
    with lock:
        if target.built():
            return target.directory
        work = cache_dir("tmp") / f"go-{target.name}"
        shutil.rmtree(work, ignore_errors=True)
        try:
            _write_module(target, work)
            _compile(target, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return target.directory


def _write_module(target: Target, work: Path) -> None:
    for recipe in target.recipes:
        shutil.copytree(RECIPES / recipe, work, dirs_exist_ok=True)
    (work / "go.mod").write_text(target.module)


def _compile(target: Target, work: Path) -> None:
    logs = cache_dir("logs")
    env = {"GOFLAGS": "-mod=mod", "GOWORK": "off", "CGO_ENABLED": "0"}
    _go(["mod", "tidy"], work, env, logs / f"go-{target.name}-tidy.log")
    output = work / ".out"
    output.mkdir()
    ldflags = " ".join(["-s -w", *target.ldflags])
    args = ["build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", f"{output}/"]
    _go([*args, *target.packages], work, env, logs / f"go-{target.name}.log")
    target.directory.mkdir(exist_ok=True)
    for name in target.outputs:
        os.replace(output / name, target.directory / name)


def _go(args: Sequence[str], work: Path, env: dict[str, str], log: Path) -> None:
    run([find_go(), *args], cwd=work, env=env, timeout=3000, log=log, cure=BUILD_CURE)
