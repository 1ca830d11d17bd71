"""Draft."""

from typing import Any, ClassVar

from pydantic import Field

from capi_core.api.meta import Condition, KubeObject, Model, Resource
from capi_core.api.cluster import ClusterDeprecatedV1beta1Condition
from capi_core.api.machine import MachineTemplateSpec
from capi_core.api.shared import LabelSelector, StatusVersion


class MachineSetDeletion(Model):
    order: str | None = None


class MachineSetMachineNaming(Model):
    template: str | None = None


class MachineSetSpec(Model):
    cluster_name: str = ""
    deletion: MachineSetDeletion = Field(default_factory=MachineSetDeletion)
    machine_naming: MachineSetMachineNaming = Field(default_factory=MachineSetMachineNaming)
    replicas: int | None = None
    selector: LabelSelector = Field(default_factory=LabelSelector)
    template: MachineTemplateSpec = Field(default_factory=MachineTemplateSpec)


class MachineSetStatusDeprecatedV1beta1(Model):
    available_replicas: int | None = None
    conditions: list[ClusterDeprecatedV1beta1Condition] = Field(default_factory=list)
    failure_message: str | None = None
    failure_reason: str | None = None
    fully_labeled_replicas: int | None = None
    ready_replicas: int | None = None


class MachineSetStatusDeprecated(Model):
    v1beta1: MachineSetStatusDeprecatedV1beta1 = Field(default_factory=MachineSetStatusDeprecatedV1beta1)


class MachineSetStatus(Model):
    available_replicas: int | None = None
    conditions: list[Condition] = Field(default_factory=list)
    deprecated: MachineSetStatusDeprecated | None = None
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int | None = None
    selector: str | None = None
    up_to_date_replicas: int | None = None
    versions: list[StatusVersion] = Field(default_factory=list)


class MachineSet(KubeObject):
    resource: ClassVar[Resource] = Resource("cluster.x-k8s.io", "v1beta2", "MachineSet", "machinesets")
    spec: MachineSetSpec = Field(default_factory=MachineSetSpec)
    status: MachineSetStatus = Field(default_factory=MachineSetStatus)
