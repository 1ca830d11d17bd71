"""Admission of KubeadmConfigs and their templates."""

from capi_core.api.kubeadm import KubeadmConfig, KubeadmConfigTemplate
from capi_core.runtime.webhook.admission import FieldError, Request, Webhook
from capi_core.webhooks.kubeadm import check_config
from capi_core.webhooks.rules import check_metadata


def validate_config(
    config: KubeadmConfig, old: KubeadmConfig | None, request: Request
) -> list[FieldError]:
    """What cannot become a bootstrap document."""
    del old, request
    return check_config(config.spec.dump(), "spec")


def validate_template(
    template: KubeadmConfigTemplate, old: KubeadmConfigTemplate | None, request: Request
) -> list[FieldError]:
    """The same, where it will be copied from."""
    del old, request
    inner = template.spec.template
    path = "spec.template"
    return check_config(inner.spec.dump(), f"{path}.spec") + check_metadata(
        inner.metadata.labels, inner.metadata.annotations, f"{path}.metadata"
    )


WEBHOOKS = (
    Webhook(KubeadmConfig, validate=validate_config),
    Webhook(KubeadmConfigTemplate, validate=validate_template),
)
