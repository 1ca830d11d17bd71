"""Draft."""

from typing import Any, ClassVar

from pydantic import Field

from capi_core.api.meta import Condition, KubeObject, Model, Resource


class ContractVersionedObjectReference(Model):
    api_group: str = ""
    kind: str = ""
    name: str = ""


class LabelSelectorRequirement(Model):
    key: str = ""
    operator: str = ""
    values: list[str] = Field(default_factory=list)


class LabelSelector(Model):
    match_labels: dict[str, str] = Field(default_factory=dict)
    match_expressions: list[LabelSelectorRequirement] = Field(default_factory=list)


class StatusVersion(Model):
    version: str = ""
    replicas: int | None = None
