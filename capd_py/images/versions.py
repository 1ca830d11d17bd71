"""The versions of the components that belong to one Kubernetes release."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from capd_py.engine.errors import EngineError
from capd_py.engine.paths import cache_dir, write_whole
from capd_py.engine.process import CommandError, run
from capd_py.engine.tools import find_go

DEFAULT_VERSION = "v1.34.4"
CONSTANTS = "cmd/kubeadm/app/constants/constants.go"
# What Go and module proxies say of a version that they know nothing of.
UNKNOWN = re.compile(r"unknown revision|not found|not available|invalid version|404|410")
# A patch release of the same minor whose module is known to build on its own.
ETCD_MODULES = {"3.6": "v3.6.13"}


@dataclass(frozen=True)
class Components:
    """What one release's kubeadm expects next to it.

    Attributes:
        kubernetes: The release, as in v1.34.4.
        coredns: Its image tag and module version.
        etcd: Its image tag.
        etcd_module: The version of the etcd server module that is built for it.
        pause: Its image tag.
        crictl: The version of the cri-tools module.
    """

    kubernetes: str
    coredns: str
    etcd: str
    etcd_module: str
    pause: str
    crictl: str


def check_version(version: str) -> str:
    """Return the version, if it is one.

    Raises:
        EngineError: It does not look like v1.34.4.
    """
    if not re.fullmatch(r"v1\.\d+\.\d+", version):
        raise EngineError(f"not a Kubernetes version: {version}", "give one like v1.34.4")
    return version


def known_version(version: str) -> bool:
    """Whether all that is asked about a release has been read from it before."""
    kept = cache_dir("versions") / check_version(version)
    return all(kept.with_name(f"{version}.{end}").exists() for end in ("json", "mod"))


def components(version: str) -> Components:
    """Read a release's component versions from its own kubeadm, once."""
    known = cache_dir("versions") / f"{check_version(version)}.json"
    if known.exists():
        return Components(**json.loads(known.read_text()))
    module = kubernetes_module(version)
    found = parse_constants(version, (Path(module["Dir"]) / CONSTANTS).read_text())
    write_whole(known, json.dumps(asdict(found)))
    return found


def upstream_go_mod(version: str) -> str:
    """Text of a release's own go.mod, kept so that later runs need neither Go nor a network."""
    known = cache_dir("versions") / f"{check_version(version)}.mod"
    if not known.exists():
        write_whole(known, Path(kubernetes_module(version)["GoMod"]).read_text())
    return known.read_text()


def kubernetes_module(version: str) -> dict[str, str]:
    """Download the k8s.io/kubernetes module and say where it is.

    Raises:
        EngineError: There is no Go, no such release, or no way to the module proxy.
    """
    command = [find_go(), "mod", "download", "-json", f"k8s.io/kubernetes@{version}"]
    env = {"GOFLAGS": "-mod=mod", "GOWORK": "off"}
    try:
        return json.loads(run(command, cwd=cache_dir("tmp"), env=env, timeout=300))
    except CommandError as error:
        raise download_problem(version, error.output) from error


def download_problem(version: str, output: str) -> EngineError:
    """What went wrong with a download, in one line, and what helps."""
    # Go breaks its lines where it quotes the server, and JSON escapes them.
    reason = (re.findall(r'"Error": "(.*)"', output) or [output.strip()])[0]
    reason = re.sub(r"\\[nt]|\s+", " ", reason)
    if UNKNOWN.search(reason):
        return EngineError(
            f"there is no Kubernetes {version} to build: {reason}",
            "choose another version: go list -m -versions k8s.io/kubernetes",
        )
    return EngineError(
        f"Kubernetes {version} cannot be downloaded: {reason}",
        "check that the Go module proxy (go env GOPROXY) can be reached",
    )


def parse_constants(version: str, source: str) -> Components:
    """Pick the versions out of kubeadm's constants.

    Raises:
        EngineError: One is not there.
    """

    def constant(name: str) -> str:
        match = re.search(rf'^\s*{name}\s*=\s*"([^"]+)"', source, re.MULTILINE)
        if match is None:
            raise EngineError(f"kubeadm {version} names no {name}", "use another version")
        return match[1]

    etcd = constant("DefaultEtcdVersion")
    number = etcd.split("-")[0]
    minor = ".".join(number.split(".")[:2])
    return Components(
        kubernetes=version,
        coredns=constant("CoreDNSVersion"),
        etcd=etcd,
        etcd_module=ETCD_MODULES.get(minor, f"v{number}"),
        pause=constant("PauseVersion"),
        crictl=f"{version.rsplit('.', 1)[0]}.0",
    )
