"""Admission of DockerClusters, DockerMachines and their templates."""

from capd_py.reconcilers.duration import InvalidDuration, parse_duration
from capi_core.api.docker import (
    DockerCluster,
    DockerClusterSpec,
    DockerClusterTemplate,
    DockerMachine,
    DockerMachineTemplate,
)
from capi_core.runtime.webhook.admission import FieldError, Request, Webhook, forbidden, invalid
from capi_core.webhooks.rules import check_metadata

_API_PORT = 6443
_DRY_RUN = "topology.cluster.x-k8s.io/dry-run"


def default_cluster(cluster: DockerCluster, request: Request) -> None:
    """The API server's port, and failure domains that are not for control planes."""
    del request
    _default_spec(cluster.spec)


def default_cluster_template(template: DockerClusterTemplate, request: Request) -> None:
    """The same, where it will be copied from."""
    del request
    _default_spec(template.spec.template.spec)


def _default_spec(spec: DockerClusterSpec) -> None:
    spec.control_plane_endpoint.port = spec.control_plane_endpoint.port or _API_PORT
    for domain in spec.failure_domains:
        if domain.control_plane is None:
            domain.control_plane = False


def validate_cluster(
    cluster: DockerCluster, old: DockerCluster | None, request: Request
) -> list[FieldError]:
    """Failure domains in order."""
    del old, request
    return _check_domains(cluster.spec, "spec.failureDomains")


def _check_domains(spec: DockerClusterSpec, path: str) -> list[FieldError]:
    names = [domain.name for domain in spec.failure_domains]
    if names == sorted(names):
        return []
    return [invalid(path, ", ".join(names), "must be sorted by name")]


def validate_cluster_template(
    template: DockerClusterTemplate, old: DockerClusterTemplate | None, request: Request
) -> list[FieldError]:
    """Failure domains in order and labels that fit; once made it stays."""
    del request
    inner, path = template.spec.template, "spec.template"
    if old is not None:
        if inner.spec.dump() != old.spec.template.spec.dump():
            return [forbidden(f"{path}.spec", "is immutable")]
        return []
    return _check_domains(inner.spec, f"{path}.spec.failureDomains") + check_metadata(
        inner.metadata.labels, inner.metadata.annotations, f"{path}.metadata"
    )


def validate_machine(
    machine: DockerMachine, old: DockerMachine | None, request: Request
) -> list[FieldError]:
    """The timeout is a duration; a container keeps its image."""
    del request
    errors = _check_timeout(machine.spec.bootstrap_timeout, "spec.bootstrapTimeout")
    if old is not None and machine.spec.custom_image != old.spec.custom_image:
        errors.append(forbidden("spec.customImage", "is immutable"))
    return errors


def _check_timeout(text: str | None, path: str) -> list[FieldError]:
    try:
        parse_duration(text)
    except InvalidDuration as error:
        return [invalid(path, text, str(error))]
    return []


def validate_machine_template(
    template: DockerMachineTemplate, old: DockerMachineTemplate | None, request: Request
) -> list[FieldError]:
    """A duration, labels that fit; once made it stays, but for a topology's dry run."""
    inner, path = template.spec.template, "spec.template"
    errors = check_metadata(
        inner.metadata.labels, inner.metadata.annotations, f"{path}.metadata"
    ) + _check_timeout(inner.spec.bootstrap_timeout, f"{path}.spec.bootstrapTimeout")
    trying = request.dry_run and _DRY_RUN in template.metadata.annotations
    if old is not None and not trying and inner.spec.dump() != old.spec.template.spec.dump():
        errors.append(forbidden(f"{path}.spec", "is immutable"))
    return errors


WEBHOOKS = (
    Webhook(DockerCluster, default=default_cluster, validate=validate_cluster),
    Webhook(
        DockerClusterTemplate,
        default=default_cluster_template,
        validate=validate_cluster_template,
    ),
    Webhook(DockerMachine, validate=validate_machine),
    Webhook(DockerMachineTemplate, validate=validate_machine_template),
)
