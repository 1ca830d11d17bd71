"""Renders Cluster API's kubeadm types as kubeadm's own, v1beta3 or v1beta4. Pure.

Cluster API spells durations as seconds or days and arguments as lists of name and value; kubeadm
v1beta4 wants Go durations, v1beta3 also maps for the arguments and the timeouts elsewhere.
"""

from dataclasses import dataclass
from typing import Any

import semver
import yaml

from capi_core.api.meta import JsonObject
from capi_core.runtime.errors import Terminal


class UnsupportedVersion(Terminal):
    """A Kubernetes version that no known kubeadm API fits, or that is no version."""


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """What the Cluster adds to a ClusterConfiguration.

    Attributes:
        endpoint: ``host:port`` of the control plane.
        pod_subnets, service_subnets: CIDR blocks.
    """

    name: str
    endpoint: str = ""
    dns_domain: str = ""
    pod_subnets: tuple[str, ...] = ()
    service_subnets: tuple[str, ...] = ()


def kubeadm_api(version: str) -> str:
    """``v1beta3`` or ``v1beta4``, for a Kubernetes version.

    Raises:
        UnsupportedVersion: older than v1.22, or not a version.
    """
    try:
        parsed = semver.Version.parse(version.removeprefix("v"))
    except ValueError as error:
        raise UnsupportedVersion(f"spec.version {version!r} is not a semantic version") from error
    if (parsed.major, parsed.minor) < (1, 22):
        raise UnsupportedVersion(f"Kubernetes {version} is older than v1.22, which is unsupported")
    return "v1beta3" if (parsed.major, parsed.minor) < (1, 31) else "v1beta4"


def _seconds(value: int) -> str:
    hours, rest = divmod(value, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}h{minutes}m{seconds}s"


def _arguments(items: list[JsonObject], api: str) -> Any:
    if api == "v1beta3":
        return {item["name"]: item.get("value", "") for item in items}
    return [{"name": item["name"], "value": item.get("value", "")} for item in items]


def _component(component: JsonObject, api: str) -> JsonObject:
    result = dict(component)
    if "extraArgs" in result:
        result["extraArgs"] = _arguments(result["extraArgs"], api)
    if api == "v1beta3":
        result.pop("extraEnvs", None)
    return result


def _node_registration(registration: JsonObject, api: str) -> JsonObject:
    result = dict(registration)
    if "kubeletExtraArgs" in result:
        result["kubeletExtraArgs"] = _arguments(result["kubeletExtraArgs"], api)
    if api == "v1beta3":
        result.pop("imagePullSerial", None)
    return result


def _timeouts(timeouts: JsonObject) -> JsonObject:
    names = {"etcdAPICallSeconds": "etcdAPICall", "kubernetesAPICallSeconds": "kubernetesAPICall"}
    return {
        names.get(key, key.removesuffix("Seconds")): _seconds(value)
        for key, value in timeouts.items()
    }


def cluster_configuration(
    spec: JsonObject, facts: ClusterFacts, version: str, *, timeouts: JsonObject | None = None
) -> JsonObject:
    """kubeadm's ClusterConfiguration.

    Args:
        spec: ``clusterConfiguration`` of a KubeadmConfigSpec.
        timeouts: of the init or join configuration; v1beta3 keeps one of them here.
    """
    api = kubeadm_api(version)
    result = dict(spec)
    for name in ("apiServer", "controllerManager", "scheduler"):
        if name in result:
            result[name] = _component(result[name], api)
    etcd = result.get("etcd") or {}
    if "local" in etcd:
        result["etcd"] = {**etcd, "local": _component(etcd["local"], api)}
    days = {
        "certificateValidityPeriodDays": "certificateValidityPeriod",
        "caCertificateValidityPeriodDays": "caCertificateValidityPeriod",
    }
    for ours, theirs in days.items():
        value = result.pop(ours, None)
        if value and api != "v1beta3":
            result[theirs] = f"{value * 24}h0m0s"
    if api == "v1beta3":
        result.pop("encryptionAlgorithm", None)
        check = (timeouts or {}).get("controlPlaneComponentHealthCheckSeconds")
        if check is not None:
            result.setdefault("apiServer", {})["timeoutForControlPlane"] = _seconds(check)
    networking = {
        "dnsDomain": facts.dns_domain,
        "podSubnet": ",".join(facts.pod_subnets),
        "serviceSubnet": ",".join(facts.service_subnets),
    }
    result.setdefault("controlPlaneEndpoint", facts.endpoint)
    result |= {
        "apiVersion": f"kubeadm.k8s.io/{api}",
        "kind": "ClusterConfiguration",
        "clusterName": facts.name,
        "kubernetesVersion": version,
        "networking": {key: value for key, value in networking.items() if value},
    }
    return result


def init_configuration(spec: JsonObject, version: str) -> JsonObject:
    """kubeadm's InitConfiguration, from ``initConfiguration`` of a KubeadmConfigSpec."""
    api = kubeadm_api(version)
    result = _shared(spec, api)
    if "bootstrapTokens" in result:
        result["bootstrapTokens"] = [_token(token) for token in result["bootstrapTokens"]]
    return {"apiVersion": f"kubeadm.k8s.io/{api}", "kind": "InitConfiguration", **result}


def _token(token: JsonObject) -> JsonObject:
    result = dict(token)
    ttl = result.pop("ttlSeconds", None)
    if ttl is not None:
        result["ttl"] = _seconds(ttl)
    return result


def join_configuration(spec: JsonObject, version: str) -> JsonObject:
    """kubeadm's JoinConfiguration, from ``joinConfiguration`` of a KubeadmConfigSpec."""
    api = kubeadm_api(version)
    result = _shared(spec, api)
    discovery = dict(result.get("discovery") or {})
    if file := discovery.get("file"):
        # The kubeconfig itself is written as a file of its own.
        discovery["file"] = {"kubeConfigPath": file["kubeConfigPath"]}
    if api == "v1beta3" and (timeout := (spec.get("timeouts") or {}).get("tlsBootstrapSeconds")):
        discovery["timeout"] = _seconds(timeout)
    if discovery:
        result["discovery"] = discovery
    return {"apiVersion": f"kubeadm.k8s.io/{api}", "kind": "JoinConfiguration", **result}


def _shared(spec: JsonObject, api: str) -> JsonObject:
    result = dict(spec)
    if "nodeRegistration" in result:
        result["nodeRegistration"] = _node_registration(result["nodeRegistration"], api)
    timeouts = result.pop("timeouts", None)
    if timeouts and api != "v1beta3":
        result["timeouts"] = _timeouts(timeouts)
    return result


def to_yaml(*documents: JsonObject) -> str:
    """The documents as one YAML stream."""
    return "---\n" + "---\n".join(
        yaml.safe_dump(document, sort_keys=True, default_flow_style=False) for document in documents
    )
