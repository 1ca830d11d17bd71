"""Admission of Clusters."""

import ipaddress

from capi_core.api.cluster import Cluster
from capi_core.runtime.webhook.admission import (
    FieldError,
    Request,
    Webhook,
    forbidden,
    invalid,
    required,
)
from capi_core.webhooks.rules import is_label_value


def validate(cluster: Cluster, old: Cluster | None, request: Request) -> list[FieldError]:
    """What makes a Cluster impossible to bring up, or changes what it stands on."""
    del request
    errors: list[FieldError] = []
    spec = cluster.spec
    if not is_label_value(cluster.name):
        errors.append(invalid("metadata.name", cluster.name, "must be a valid label value"))
    if spec.topology is not None:
        errors.append(
            forbidden(
                "spec.topology",
                "can be set only if the ClusterTopology feature is enabled, which it is not",
            )
        )
    elif spec.control_plane_ref is None and spec.infrastructure_ref is None:
        errors.append(
            required(
                "spec", "one of controlPlaneRef, infrastructureRef and topology must be set"
            )
        )
    network = spec.cluster_network
    for name, blocks in (
        ("pods", network.pods.cidr_blocks),
        ("services", network.services.cidr_blocks),
    ):
        for number, block in enumerate(blocks):
            if not _is_cidr(block):
                path = f"spec.clusterNetwork.{name}.cidrBlocks[{number}]"
                errors.append(invalid(path, block, "is not a CIDR block such as 10.0.0.0/16"))
    if old is not None:
        errors += _kept(cluster, old)
    return errors


def _kept(cluster: Cluster, old: Cluster) -> list[FieldError]:
    errors: list[FieldError] = []
    if old.spec.infrastructure_ref is not None and cluster.spec.infrastructure_ref is None:
        errors.append(forbidden("spec.infrastructureRef", "cannot be removed"))
    if old.spec.control_plane_ref is not None and cluster.spec.control_plane_ref is None:
        errors.append(forbidden("spec.controlPlaneRef", "cannot be removed"))
    if old.spec.topology is not None and cluster.spec.topology is None:
        errors.append(forbidden("spec.topology", "cannot be removed from an existing Cluster"))
    return errors


def _is_cidr(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


WEBHOOK = Webhook(Cluster, validate=validate)
