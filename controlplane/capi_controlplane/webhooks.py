"""Admission of KubeadmControlPlanes and their templates."""

from collections.abc import Iterator
from typing import Any

from capi_core.api.controlplane import KubeadmControlPlane, KubeadmControlPlaneTemplate
from capi_core.api.meta import JsonObject
from capi_core.runtime.patch import merge_diff
from capi_core.runtime.webhook.admission import (
    FieldError,
    Request,
    Webhook,
    forbidden,
    invalid,
    required,
)
from capi_core.webhooks.kubeadm import (
    check_cluster_configuration,
    check_config,
    check_control_plane_timeouts,
)
from capi_core.webhooks.rules import (
    check_metadata,
    check_naming,
    check_taints,
    check_version,
    parse_version,
    with_v,
)

_CA_DAYS = 3650
_ROLLING = "RollingUpdate"
_CONFIG = "spec.kubeadmConfigSpec"
# Fields that may change, each with everything below it; the rest of the spec is immutable.
_MUTABLE = (
    "spec.replicas", "spec.version", "spec.remediation", "spec.machineNaming", "spec.rollout",
    "spec.machineTemplate.metadata", "spec.machineTemplate.spec",
    *(
        f"{_CONFIG}.{name}"
        for name in (
            "bootCommands", "preKubeadmCommands", "postKubeadmCommands", "files", "verbosity",
            "users", "ntp", "ignition", "diskSetup", "format", "mounts",
        )
    ),
    *(
        f"{_CONFIG}.clusterConfiguration.{name}"
        for name in (
            "etcd", "dns", "imageRepository", "featureGates", "apiServer", "controllerManager",
            "scheduler", "certificateValidityPeriodDays", "encryptionAlgorithm",
        )
    ),
    *(
        f"{_CONFIG}.initConfiguration.{name}"
        for name in (
            "nodeRegistration", "patches", "skipPhases", "bootstrapTokens", "localAPIEndpoint",
            "timeouts",
        )
    ),
    *(
        f"{_CONFIG}.joinConfiguration.{name}"
        for name in (
            "nodeRegistration", "patches", "skipPhases", "caCertPath", "controlPlane",
            "discovery", "timeouts",
        )
    ),
)


def default(control_plane: KubeadmControlPlane, request: Request) -> None:
    """One replica, the version's v, the only strategy there is."""
    del request
    spec = control_plane.spec
    spec.replicas = 1 if spec.replicas is None else spec.replicas
    spec.version = with_v(spec.version)
    strategy = spec.rollout.strategy
    strategy.type = strategy.type or _ROLLING
    if strategy.rolling_update.max_surge is None:
        strategy.rolling_update.max_surge = 1


def validate(
    control_plane: KubeadmControlPlane, old: KubeadmControlPlane | None, request: Request
) -> list[FieldError]:
    """Replicas, template, rollout, kubeadm's configuration; and what may change."""
    del request
    spec = control_plane.spec
    config = spec.kubeadm_config_spec.dump()
    machine = spec.machine_template
    errors = check_replicas(spec.replicas, external=_external_etcd(config))
    for name, value in (
        ("apiGroup", machine.spec.infrastructure_ref.api_group),
        ("kind", machine.spec.infrastructure_ref.kind),
        ("name", machine.spec.infrastructure_ref.name),
    ):
        if not value:
            path = f"spec.machineTemplate.spec.infrastructureRef.{name}"
            errors.append(required(path, "must be set"))
    errors += check_taints(machine.spec.taints, "spec.machineTemplate.spec.taints")
    errors += check_metadata(
        machine.metadata.labels, machine.metadata.annotations, "spec.machineTemplate.metadata"
    )
    errors += check_version(spec.version, "spec.version")
    errors += _check_rollout(spec.rollout, spec.replicas, config, "spec")
    errors += _check_naming(spec.machine_naming.template, "spec.machineNaming.template")
    errors += _check_kubeadm(config, _CONFIG)
    return errors + (_check_update(control_plane, old) if old is not None else [])


def check_replicas(
    replicas: int | None, *, external: bool, path: str = "spec.replicas"
) -> list[FieldError]:
    """etcd on the machines wants an odd number of them, and at least one."""
    if replicas is None:
        return [required(path, "is required")]
    if replicas <= 0:
        return [forbidden(path, "cannot be less than or equal to 0")]
    if not external and replicas % 2 == 0:
        return [forbidden(path, "cannot be an even number when etcd is stacked")]
    return []


def _external_etcd(config: JsonObject) -> bool:
    configuration: JsonObject = config.get("clusterConfiguration") or {}
    return bool((configuration.get("etcd") or {}).get("external"))


def _check_rollout(
    rollout: Any, replicas: int | None, config: JsonObject, path: str
) -> list[FieldError]:
    strategy = rollout.strategy
    surge = strategy.rolling_update.max_surge
    if not strategy.type and surge is None:
        return []
    errors: list[FieldError] = []
    if strategy.type != _ROLLING:
        where = f"{path}.rollout.strategy.type"
        errors.append(required(where, f"must be {_ROLLING}"))
    where = f"{path}.rollout.strategy.rollingUpdate.maxSurge"
    if surge not in (None, 0, 1, "0", "1"):
        errors.append(invalid(where, surge, "must be 0 or 1"))
    if surge in (0, "0") and replicas is not None and replicas < 3:
        errors.append(invalid(where, surge, "must be 1 unless there are at least 3 replicas"))
    configuration: JsonObject = config.get("clusterConfiguration") or {}
    days = configuration.get("certificateValidityPeriodDays")
    ca_days = configuration.get("caCertificateValidityPeriodDays") or _CA_DAYS
    field = f"{path}.kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays"
    if days and days > ca_days:
        errors.append(invalid(field, days, f"must not exceed the authority's {ca_days} days"))
    expiry = rollout.before.certificates_expiry_days
    if days and expiry and expiry >= days:
        where = f"{path}.rollout.before.certificatesExpiryDays"
        errors.append(invalid(where, expiry, f"must be less than the {days} days of validity"))
    return errors


def _check_naming(template: str | None, path: str) -> list[FieldError]:
    values = {
        "cluster.name": "cluster",
        "kubeadmControlPlane.name": "controlplane",
        "random": "bcdfg",
    }
    return check_naming(template, values, path)


def _check_kubeadm(config: JsonObject, path: str) -> list[FieldError]:
    return [
        *check_cluster_configuration(config, path),
        *check_config(config, path),
        *check_control_plane_timeouts(config, path),
    ]


def _check_update(new: KubeadmControlPlane, old: KubeadmControlPlane) -> list[FieldError]:
    before, after = {"spec": old.spec.dump()}, {"spec": new.spec.dump()}
    errors = [
        forbidden(path, "cannot be modified")
        for path in _leaves(merge_diff(before, after))
        if not _mutable(path)
    ]
    local = f"{_CONFIG}.clusterConfiguration.etcd"
    if _external_etcd(before["spec"].get("kubeadmConfigSpec") or {}) != _external_etcd(
        after["spec"].get("kubeadmConfigSpec") or {}
    ):
        errors.append(forbidden(local, "cannot change between local and external"))
    was, now = parse_version(old.spec.version), parse_version(new.spec.version)
    if was and now and (now.major, now.minor) > (was.major, was.minor + 1):
        errors.append(
            forbidden(
                "spec.version",
                f"cannot go from {old.spec.version} to {new.spec.version}: "
                "one minor version at a time",
            )
        )
    return errors


def _mutable(path: str) -> bool:
    return any(path == field or path.startswith(f"{field}.") for field in _MUTABLE)


def _leaves(patch: JsonObject, prefix: str = "") -> Iterator[str]:
    for key, value in patch.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{path}.")
        else:
            yield path


def validate_scale(scale: JsonObject, old: JsonObject | None, request: Request) -> list[FieldError]:
    """`kubectl scale`: the number alone is known here, so an even one is refused."""
    del old, request
    replicas = (scale.get("spec") or {}).get("replicas", 0)
    return check_replicas(replicas, external=False)


def validate_template(
    template: KubeadmControlPlaneTemplate,
    old: KubeadmControlPlaneTemplate | None,
    request: Request,
) -> list[FieldError]:
    """A control plane's rules without replicas and version; once made it stays."""
    del request
    inner, path = template.spec.template, "spec.template"
    if old is not None:
        if inner.spec.dump() != old.spec.template.spec.dump():
            return [forbidden(f"{path}.spec", "is immutable")]
        return []
    spec, config = inner.spec, inner.spec.kubeadm_config_spec.dump()
    machine, where = spec.machine_template, f"{path}.spec.machineTemplate"
    return [
        *_check_rollout(spec.rollout, None, config, f"{path}.spec"),
        *_check_naming(spec.machine_naming.template, f"{path}.spec.machineNaming.template"),
        *check_taints(machine.spec.taints, f"{where}.spec.taints"),
        *check_metadata(
            machine.metadata.labels, machine.metadata.annotations, f"{where}.metadata"
        ),
        *_check_kubeadm(config, f"{path}.spec.kubeadmConfigSpec"),
        *check_metadata(inner.metadata.labels, inner.metadata.annotations, f"{path}.metadata"),
    ]


WEBHOOKS = (
    Webhook(KubeadmControlPlane, default=default, validate=validate),
    Webhook(
        KubeadmControlPlane, validate=validate_scale, operations=("UPDATE",), subresource="scale"
    ),
    Webhook(KubeadmControlPlaneTemplate, validate=validate_template),
)
