"""Rules for KubeadmConfigSpecs, which KubeadmConfigs and KubeadmControlPlanes share. Pure."""

import re
from typing import Any

from capi_core.api.meta import JsonObject
from capi_core.runtime.webhook.admission import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    required,
)
from capi_core.webhooks.rules import parse_version

_IMAGE_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


def check_config(spec: JsonObject, path: str) -> list[FieldError]:
    """The rules that hold for every KubeadmConfigSpec.

    Args:
        spec: as JSON.
        path: of the spec in its object.
    """
    return [
        *_check_files(spec.get("files") or [], f"{path}.files"),
        *_check_users(spec.get("users") or [], f"{path}.users"),
        *_check_discovery(spec, path),
        *_check_disks(spec.get("diskSetup") or {}, f"{path}.diskSetup"),
        *_check_format(spec, path),
    ]


def _check_files(files: list[JsonObject], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for number, file in enumerate(files):
        where, source = f"{path}[{number}]", file.get("contentFrom")
        if file.get("content") and source:
            message = "content and contentFrom exclude each other"
            errors.append(invalid(where, file.get("path"), message))
        errors += _check_secret(source, f"{where}.contentFrom.secret")
        if file.get("path") in seen:
            errors.append(duplicate(f"{where}.path", file.get("path")))
        seen.add(file.get("path", ""))
    return errors


def _check_users(users: list[JsonObject], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for number, user in enumerate(users):
        where = f"{path}[{number}]"
        if user.get("passwd") and user.get("passwdFrom"):
            message = "passwd and passwdFrom exclude each other"
            errors.append(invalid(where, user.get("name"), message))
        errors += _check_secret(user.get("passwdFrom"), f"{where}.passwdFrom.secret")
    return errors


def _check_secret(source: Any, path: str) -> list[FieldError]:
    if source is None:
        return []
    secret: JsonObject = source.get("secret") or {}
    return [
        required(f"{path}.{key}", "must be set") for key in ("name", "key") if not secret.get(key)
    ]


def _check_discovery(spec: JsonObject, path: str) -> list[FieldError]:
    found: Any = spec
    for key in ("joinConfiguration", "discovery", "file", "kubeConfig", "user"):
        found = (found or {}).get(key)
    if not found:
        return []
    where = f"{path}.joinConfiguration.discovery.file.kubeConfig.user"
    if "authProvider" in found and "exec" in found:
        return [invalid(where, "", "either authProvider or exec must be set, not both")]
    if "exec" not in found and "authProvider" not in found:
        return [required(where, "either authProvider or exec must be set")]
    return []


def _check_disks(disks: JsonObject, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for number, partition in enumerate(disks.get("partitions") or []):
        total = sum(part.get("percentage", 0) for part in partition.get("diskLayout") or [])
        if total > 100:
            where = f"{path}.partitions[{number}].diskLayout"
            errors.append(invalid(where, total, "the percentages must not exceed 100 together"))
    return errors


def _check_format(spec: JsonObject, path: str) -> list[FieldError]:
    message = "can be set only if the KubeadmBootstrapFormatIgnition feature is enabled"
    errors: list[FieldError] = []
    if spec.get("format") == "ignition":
        errors.append(forbidden(f"{path}.format", message))
    if spec.get("ignition"):
        errors.append(forbidden(f"{path}.ignition", message))
    return errors


def check_control_plane_timeouts(spec: JsonObject, path: str) -> list[FieldError]:
    """How long a control plane's components may take is the same for init and join."""
    field = "controlPlaneComponentHealthCheckSeconds"
    init = ((spec.get("initConfiguration") or {}).get("timeouts") or {}).get(field)
    join = ((spec.get("joinConfiguration") or {}).get("timeouts") or {}).get(field)
    if init == join:
        return []
    where = f"{path}.initConfiguration.timeouts.{field}"
    return [invalid(where, init, f"must equal joinConfiguration's, which is {join}")]


def check_cluster_configuration(spec: JsonObject, path: str) -> list[FieldError]:
    """Image tags are tags, DNS's is a version, and etcd is local or external."""
    configuration: JsonObject = spec.get("clusterConfiguration") or {}
    where = f"{path}.clusterConfiguration"
    etcd: JsonObject = configuration.get("etcd") or {}
    dns_tag = (configuration.get("dns") or {}).get("imageTag")
    errors: list[FieldError] = []
    for name, tag in (
        ("dns", dns_tag),
        ("etcd.local", (etcd.get("local") or {}).get("imageTag")),
    ):
        if tag and not _IMAGE_TAG.fullmatch(tag):
            errors.append(invalid(f"{where}.{name}.imageTag", tag, "is not an image tag"))
    version = "v" + str(dns_tag or "").removeprefix("v").replace("_", "+")
    if dns_tag and parse_version(version) is None:
        errors.append(invalid(f"{where}.dns.imageTag", dns_tag, "is not a version"))
    if etcd.get("local") and etcd.get("external"):
        errors.append(forbidden(f"{where}.etcd.local", "cannot be set together with external"))
    return errors
