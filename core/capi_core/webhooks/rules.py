"""Rules that several kinds share. Pure; each returns the errors it found with their field paths."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from semver import Version

from capi_core.api.meta import KubeObject
from capi_core.api.shared import LabelSelector
from capi_core.contract.selectors import selects
from capi_core.runtime.webhook.admission import (
    FieldError,
    Request,
    forbidden,
    invalid,
    required,
)

MIN_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"
MAX_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
SKIP_PREFLIGHT = "machineset.cluster.x-k8s.io/skip-preflight-checks"
_PREFLIGHT_CHECKS = {
    "All",
    "KubeadmVersionSkew",
    "KubernetesVersionSkew",
    "ControlPlaneIsStable",
    "ControlPlaneVersionSkew",
}
_NAME = r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?"
_LABEL_VALUE = re.compile(rf"({_NAME})?")
_LABEL_NAME = re.compile(_NAME)
_SUBDOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_PERCENT = re.compile(r"[0-9]+%")
_ANNOTATIONS_LIMIT = 256 * 1024
_INT32 = 2**31 - 1


def with_v(version: str) -> str:
    """The version with its leading v; an empty one stays empty."""
    return f"v{version}" if version and not version.startswith("v") else version


def parse_version(version: str) -> Version | None:
    """A Kubernetes version such as v1.34.4, None when it is not one."""
    if not version.startswith("v") or not Version.is_valid(version[1:]):
        return None
    return Version.parse(version[1:])


def check_version(version: str | None, path: str) -> list[FieldError]:
    """A version, where there is one, is semantic and starts with v."""
    if not version or parse_version(version) is not None:
        return []
    return [invalid(path, version, "must be a valid semantic version such as v1.34.4")]


def is_label_value(value: str) -> bool:
    """Whether Kubernetes takes it as a label's value."""
    return len(value) <= 63 and _LABEL_VALUE.fullmatch(value) is not None


def is_subdomain(name: str) -> bool:
    """Whether it is a DNS-1123 subdomain, the form of most names."""
    return len(name) <= 253 and _SUBDOMAIN.fullmatch(name) is not None


def _is_qualified(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and not is_subdomain(prefix):
        return False
    return 0 < len(name) <= 63 and _LABEL_NAME.fullmatch(name) is not None


def check_metadata(
    labels: Mapping[str, str], annotations: Mapping[str, str], path: str
) -> list[FieldError]:
    """Labels and annotations that the objects made from a template could not have."""
    errors: list[FieldError] = []
    for key, value in labels.items():
        if not _is_qualified(key):
            errors.append(invalid(f"{path}.labels", key, "is not a label key"))
        if not is_label_value(value):
            errors.append(invalid(f"{path}.labels", value, "is not a label value"))
    errors += [
        invalid(f"{path}.annotations", key, "is not an annotation key")
        for key in annotations
        if not _is_qualified(key.lower())
    ]
    if sum(len(k) + len(v) for k, v in annotations.items()) > _ANNOTATIONS_LIMIT:
        errors.append(forbidden(f"{path}.annotations", "must not have more than 256 KiB together"))
    return errors


def check_int_or_percent(value: int | str | None, path: str) -> list[FieldError]:
    """A count, or a share such as 20%."""
    good = (isinstance(value, int) and value >= 0) or (
        isinstance(value, str) and _PERCENT.fullmatch(value)
    )
    if value is None or good:
        return []
    return [invalid(path, value, "must be a number that is not negative, or a percentage")]


def check_rolling_update(
    max_surge: int | str | None, max_unavailable: int | str | None, path: str
) -> list[FieldError]:
    """A rollout has to be able to move."""
    errors = check_int_or_percent(max_surge, f"{path}.maxSurge")
    errors += check_int_or_percent(max_unavailable, f"{path}.maxUnavailable")
    if max_surge == 0 and max_unavailable == 0:
        errors.append(
            invalid(f"{path}.maxUnavailable", 0, "must not be 0 when maxSurge is 0 as well")
        )
    return errors


def check_selector(
    selector: LabelSelector, labels: Mapping[str, str], path: str, labels_path: str
) -> list[FieldError]:
    """A selector that is well-formed and selects what its own template makes."""
    errors = parse_selector(selector, path)
    if not errors and not selects(selector, labels):
        errors.append(invalid(labels_path, dict(labels), f"must be matched by {path}"))
    return errors


def parse_selector(selector: LabelSelector, path: str) -> list[FieldError]:
    """Whether a label selector is one."""
    errors: list[FieldError] = []
    for key, value in selector.match_labels.items():
        if not _is_qualified(key) or not is_label_value(value):
            errors.append(invalid(f"{path}.matchLabels", f"{key}={value}", "is not a label"))
    for number, rule in enumerate(selector.match_expressions):
        where = f"{path}.matchExpressions[{number}]"
        if not _is_qualified(rule.key):
            errors.append(invalid(f"{where}.key", rule.key, "is not a label key"))
        if rule.operator in ("In", "NotIn") and not rule.values:
            errors.append(required(f"{where}.values", f"operator {rule.operator} needs values"))
        elif rule.operator in ("Exists", "DoesNotExist") and rule.values:
            errors.append(forbidden(f"{where}.values", f"operator {rule.operator} takes none"))
        elif rule.operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            errors.append(invalid(f"{where}.operator", rule.operator, "is not an operator"))
    return errors


def check_bootstrap(bootstrap: Any, path: str) -> list[FieldError]:
    """Bootstrap data comes from a reference or a Secret."""
    if bootstrap.config_ref is not None or bootstrap.data_secret_name is not None:
        return []
    return [required(path, "expected either configRef or dataSecretName")]


_FOREIGN_TAINTS = ("node.cluster.x-k8s.io/uninitialized", "node.cluster.x-k8s.io/outdated-revision")


def check_taints(
    taints: Sequence[Any], path: str, *, worker: bool = False
) -> list[FieldError]:
    """Taints that Cluster API, Kubernetes or a cloud provider does not manage itself.

    Args:
        worker: the taint of control planes is refused as well.
    """
    errors: list[FieldError] = []
    for number, taint in enumerate(taints):
        where, key = f"{path}[{number}].key", taint.key
        if not _is_qualified(key):
            errors.append(invalid(where, key, "is not a label key"))
        if key in _FOREIGN_TAINTS:
            errors.append(invalid(where, key, "is managed by Cluster API"))
        elif key.startswith("node.kubernetes.io/") and key != "node.kubernetes.io/out-of-service":
            errors.append(invalid(where, key, "is managed by Kubernetes"))
        elif key.startswith("node.cloudprovider.kubernetes.io/"):
            errors.append(invalid(where, key, "is managed by the cloud provider"))
        elif key == "node-role.kubernetes.io/master":
            errors.append(invalid(where, key, "is not used any more"))
        elif worker and key == "node-role.kubernetes.io/control-plane":
            errors.append(invalid(where, key, "is not for workers"))
    return errors


def check_preflight_skips(annotations: Mapping[str, str]) -> list[FieldError]:
    """The annotation names checks that exist."""
    text = annotations.get(SKIP_PREFLIGHT, "")
    unknown = [n for n in (part.strip() for part in text.split(",")) if n and n not in
               _PREFLIGHT_CHECKS]
    path = f"metadata.annotations[{SKIP_PREFLIGHT}]"
    known = ", ".join(sorted(_PREFLIGHT_CHECKS))
    return [invalid(path, name, f"is none of {known}") for name in unknown]


def check_cluster_name(new: str, old: str | None, path: str = "spec.clusterName") -> list[
    FieldError
]:
    """Nothing moves from one cluster to another."""
    if old is None or new == old:
        return []
    return [forbidden(path, "field is immutable")]


_TEMPLATE_ACTION = re.compile(r"\{\{(.*?)\}\}")


def check_naming(
    template: str | None, values: Mapping[str, str], path: str, *, random: bool = True
) -> list[FieldError]:
    """A naming template renders to a name with the values it may use.

    Args:
        values: dotted names without the leading dot, with an example of each.
        random: it must contain ``{{ .random }}``.
    """
    if not template:
        return []
    if random and "{{ .random }}" not in template:
        return [invalid(path, template, "must contain {{ .random }}")]
    unknown: list[str] = []

    def fill(match: re.Match[str]) -> str:
        name = match[1].strip()
        if name.removeprefix(".") not in values or not name.startswith("."):
            unknown.append(name)
            return ""
        return values[name.removeprefix(".")]

    rendered = _TEMPLATE_ACTION.sub(fill, template)
    if unknown:
        return [invalid(path, template, f"uses {', '.join(unknown)}, which is not known here")]
    if "{{" in rendered or "}}" in rendered:
        return [invalid(path, template, "is not a template")]
    if len(rendered) > 63:
        rendered = rendered[:58] + "xxxxx"
    if not is_subdomain(rendered):
        return [invalid(path, template, f"renders to {rendered}, which is not a name")]
    return []


def default_replicas(obj: KubeObject, replicas: int | None, request: Request) -> int | None:
    """spec.replicas when the user gives none: 1, or what the autoscaler's limits allow.

    Raises:
        ValueError: a limit is not a number.
    """
    if replicas is not None:
        return replicas
    notes = obj.metadata.annotations
    if MIN_SIZE not in notes or MAX_SIZE not in notes:
        return 1
    low, high = _size(notes, MIN_SIZE), _size(notes, MAX_SIZE)
    old: int | None = ((request.old or {}).get("spec") or {}).get("replicas")
    if request.old is None or old is None or old < low:
        return low
    return min(old, high)


def _size(annotations: Mapping[str, str], name: str) -> int:
    text = annotations[name]
    if not re.fullmatch(r"-?[0-9]+", text) or abs(int(text)) > _INT32:
        raise ValueError(f'metadata.annotations[{name}]: "{text}" is not a number')
    return int(text)
