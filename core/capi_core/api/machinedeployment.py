"""Draft."""

from typing import Any, ClassVar

from pydantic import Field

from capi_core.api.meta import Condition, KubeObject, Model, Resource
from capi_core.api.cluster import ClusterDeprecatedV1beta1Condition, ClusterTopologyWorkersMachineDeploymentRollout
from capi_core.api.machine import MachineTemplateSpec
from capi_core.api.machineset import MachineSetDeletion, MachineSetMachineNaming
from capi_core.api.shared import LabelSelector, StatusVersion


class MachineDeploymentRemediation(Model):
    max_in_flight: int | str | None = None


class MachineDeploymentSpec(Model):
    cluster_name: str = ""
    deletion: MachineSetDeletion = Field(default_factory=MachineSetDeletion)
    machine_naming: MachineSetMachineNaming = Field(default_factory=MachineSetMachineNaming)
    paused: bool | None = None
    remediation: MachineDeploymentRemediation = Field(default_factory=MachineDeploymentRemediation)
    replicas: int | None = None
    rollout: ClusterTopologyWorkersMachineDeploymentRollout = Field(default_factory=ClusterTopologyWorkersMachineDeploymentRollout)
    selector: LabelSelector = Field(default_factory=LabelSelector)
    template: MachineTemplateSpec = Field(default_factory=MachineTemplateSpec)


class MachineDeploymentStatusDeprecatedV1beta1(Model):
    available_replicas: int | None = None
    conditions: list[ClusterDeprecatedV1beta1Condition] = Field(default_factory=list)
    ready_replicas: int | None = None
    unavailable_replicas: int | None = None
    updated_replicas: int | None = None


class MachineDeploymentStatusDeprecated(Model):
    v1beta1: MachineDeploymentStatusDeprecatedV1beta1 = Field(default_factory=MachineDeploymentStatusDeprecatedV1beta1)


class MachineDeploymentStatus(Model):
    available_replicas: int | None = None
    conditions: list[Condition] = Field(default_factory=list)
    deprecated: MachineDeploymentStatusDeprecated | None = None
    observed_generation: int | None = None
    phase: str | None = None
    ready_replicas: int | None = None
    replicas: int | None = None
    selector: str | None = None
    up_to_date_replicas: int | None = None
    versions: list[StatusVersion] = Field(default_factory=list)


class MachineDeployment(KubeObject):
    resource: ClassVar[Resource] = Resource("cluster.x-k8s.io", "v1beta2", "MachineDeployment", "machinedeployments")
    spec: MachineDeploymentSpec = Field(default_factory=MachineDeploymentSpec)
    status: MachineDeploymentStatus = Field(default_factory=MachineDeploymentStatus)
