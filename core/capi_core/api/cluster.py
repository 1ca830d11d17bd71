"""Draft."""

from typing import Any, ClassVar

from pydantic import Field

from capi_core.api.meta import Condition, KubeObject, Model, Resource
from capi_core.api.shared import ContractVersionedObjectReference, StatusVersion


class ClusterAvailabilityGate(Model):
    condition_type: str = ""
    polarity: str | None = None


class ClusterClusterNetworkPods(Model):
    cidr_blocks: list[str] = Field(default_factory=list)


class ClusterClusterNetwork(Model):
    api_server_port: int | None = None
    pods: ClusterClusterNetworkPods = Field(default_factory=ClusterClusterNetworkPods)
    service_domain: str | None = None
    services: ClusterClusterNetworkPods = Field(default_factory=ClusterClusterNetworkPods)


class ClusterControlPlaneEndpoint(Model):
    host: str | None = None
    port: int | None = None


class ClusterTopologyClassRef(Model):
    name: str = ""
    namespace: str | None = None


class ClusterTopologyControlPlaneDeletion(Model):
    node_deletion_timeout_seconds: int | None = None
    node_drain_timeout_seconds: int | None = None
    node_volume_detach_timeout_seconds: int | None = None


class ClusterTopologyControlPlaneHealthCheckChecksUnhealthyMachineCondition(Model):
    status: str = ""
    timeout_seconds: int | None = None
    type: str = ""


class ClusterTopologyControlPlaneHealthCheckChecks(Model):
    node_startup_timeout_seconds: int | None = None
    unhealthy_machine_conditions: list[ClusterTopologyControlPlaneHealthCheckChecksUnhealthyMachineCondition] = Field(default_factory=list)
    unhealthy_node_conditions: list[ClusterTopologyControlPlaneHealthCheckChecksUnhealthyMachineCondition] = Field(default_factory=list)


class ClusterTopologyControlPlaneHealthCheckRemediationTemplateRef(Model):
    api_version: str = ""
    kind: str = ""
    name: str = ""


class ClusterTopologyControlPlaneHealthCheckRemediationTriggerIf(Model):
    unhealthy_in_range: str | None = None
    unhealthy_less_than_or_equal_to: int | str | None = None


class ClusterTopologyControlPlaneHealthCheckRemediation(Model):
    template_ref: ClusterTopologyControlPlaneHealthCheckRemediationTemplateRef = Field(default_factory=ClusterTopologyControlPlaneHealthCheckRemediationTemplateRef)
    trigger_if: ClusterTopologyControlPlaneHealthCheckRemediationTriggerIf = Field(default_factory=ClusterTopologyControlPlaneHealthCheckRemediationTriggerIf)


class ClusterTopologyControlPlaneHealthCheck(Model):
    checks: ClusterTopologyControlPlaneHealthCheckChecks = Field(default_factory=ClusterTopologyControlPlaneHealthCheckChecks)
    enabled: bool | None = None
    remediation: ClusterTopologyControlPlaneHealthCheckRemediation = Field(default_factory=ClusterTopologyControlPlaneHealthCheckRemediation)


class ClusterTopologyControlPlaneMetadata(Model):
    annotations: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)


class ClusterTopologyControlPlaneRollout(Model):
    after: str | None = None


class ClusterTopologyControlPlaneTaint(Model):
    effect: str = ""
    key: str = ""
    propagation: str = ""
    value: str | None = None


class ClusterTopologyControlPlaneVariablesOverride(Model):
    name: str = ""
    value: Any | None = None


class ClusterTopologyControlPlaneVariables(Model):
    overrides: list[ClusterTopologyControlPlaneVariablesOverride] = Field(default_factory=list)


class ClusterTopologyControlPlane(Model):
    deletion: ClusterTopologyControlPlaneDeletion = Field(default_factory=ClusterTopologyControlPlaneDeletion)
    health_check: ClusterTopologyControlPlaneHealthCheck = Field(default_factory=ClusterTopologyControlPlaneHealthCheck)
    metadata: ClusterTopologyControlPlaneMetadata = Field(default_factory=ClusterTopologyControlPlaneMetadata)
    readiness_gates: list[ClusterAvailabilityGate] = Field(default_factory=list)
    replicas: int | None = None
    rollout: ClusterTopologyControlPlaneRollout = Field(default_factory=ClusterTopologyControlPlaneRollout)
    taints: list[ClusterTopologyControlPlaneTaint] = Field(default_factory=list)
    variables: ClusterTopologyControlPlaneVariables = Field(default_factory=ClusterTopologyControlPlaneVariables)


class ClusterTopologyWorkersMachineDeploymentDeletion(Model):
    node_deletion_timeout_seconds: int | None = None
    node_drain_timeout_seconds: int | None = None
    node_volume_detach_timeout_seconds: int | None = None
    order: str | None = None


class ClusterTopologyWorkersMachineDeploymentHealthCheckRemediation(Model):
    max_in_flight: int | str | None = None
    template_ref: ClusterTopologyControlPlaneHealthCheckRemediationTemplateRef = Field(default_factory=ClusterTopologyControlPlaneHealthCheckRemediationTemplateRef)
    trigger_if: ClusterTopologyControlPlaneHealthCheckRemediationTriggerIf = Field(default_factory=ClusterTopologyControlPlaneHealthCheckRemediationTriggerIf)


class ClusterTopologyWorkersMachineDeploymentHealthCheck(Model):
    checks: ClusterTopologyControlPlaneHealthCheckChecks = Field(default_factory=ClusterTopologyControlPlaneHealthCheckChecks)
    enabled: bool | None = None
    remediation: ClusterTopologyWorkersMachineDeploymentHealthCheckRemediation = Field(default_factory=ClusterTopologyWorkersMachineDeploymentHealthCheckRemediation)


class ClusterTopologyWorkersMachineDeploymentRolloutStrategyRollingUpdate(Model):
    max_surge: int | str | None = None
    max_unavailable: int | str | None = None


class ClusterTopologyWorkersMachineDeploymentRolloutStrategy(Model):
    rolling_update: ClusterTopologyWorkersMachineDeploymentRolloutStrategyRollingUpdate = Field(default_factory=ClusterTopologyWorkersMachineDeploymentRolloutStrategyRollingUpdate)
    type: str = ""


class ClusterTopologyWorkersMachineDeploymentRollout(Model):
    after: str | None = None
    strategy: ClusterTopologyWorkersMachineDeploymentRolloutStrategy = Field(default_factory=ClusterTopologyWorkersMachineDeploymentRolloutStrategy)


class ClusterTopologyWorkersMachineDeployment(Model):
    class_: str = Field(alias="class", default="")
    deletion: ClusterTopologyWorkersMachineDeploymentDeletion = Field(default_factory=ClusterTopologyWorkersMachineDeploymentDeletion)
    failure_domain: str | None = None
    health_check: ClusterTopologyWorkersMachineDeploymentHealthCheck = Field(default_factory=ClusterTopologyWorkersMachineDeploymentHealthCheck)
    metadata: ClusterTopologyControlPlaneMetadata = Field(default_factory=ClusterTopologyControlPlaneMetadata)
    min_ready_seconds: int | None = None
    name: str = ""
    readiness_gates: list[ClusterAvailabilityGate] = Field(default_factory=list)
    replicas: int | None = None
    rollout: ClusterTopologyWorkersMachineDeploymentRollout = Field(default_factory=ClusterTopologyWorkersMachineDeploymentRollout)
    taints: list[ClusterTopologyControlPlaneTaint] = Field(default_factory=list)
    variables: ClusterTopologyControlPlaneVariables = Field(default_factory=ClusterTopologyControlPlaneVariables)


class ClusterTopologyWorkersMachinePool(Model):
    class_: str = Field(alias="class", default="")
    deletion: ClusterTopologyControlPlaneDeletion = Field(default_factory=ClusterTopologyControlPlaneDeletion)
    failure_domains: list[str] = Field(default_factory=list)
    metadata: ClusterTopologyControlPlaneMetadata = Field(default_factory=ClusterTopologyControlPlaneMetadata)
    min_ready_seconds: int | None = None
    name: str = ""
    replicas: int | None = None
    taints: list[ClusterTopologyControlPlaneTaint] = Field(default_factory=list)
    variables: ClusterTopologyControlPlaneVariables = Field(default_factory=ClusterTopologyControlPlaneVariables)


class ClusterTopologyWorkers(Model):
    machine_deployments: list[ClusterTopologyWorkersMachineDeployment] = Field(default_factory=list)
    machine_pools: list[ClusterTopologyWorkersMachinePool] = Field(default_factory=list)


class ClusterTopology(Model):
    class_ref: ClusterTopologyClassRef = Field(default_factory=ClusterTopologyClassRef)
    control_plane: ClusterTopologyControlPlane = Field(default_factory=ClusterTopologyControlPlane)
    variables: list[ClusterTopologyControlPlaneVariablesOverride] = Field(default_factory=list)
    version: str = ""
    workers: ClusterTopologyWorkers = Field(default_factory=ClusterTopologyWorkers)


class ClusterSpec(Model):
    availability_gates: list[ClusterAvailabilityGate] = Field(default_factory=list)
    cluster_network: ClusterClusterNetwork = Field(default_factory=ClusterClusterNetwork)
    control_plane_endpoint: ClusterControlPlaneEndpoint = Field(default_factory=ClusterControlPlaneEndpoint)
    control_plane_ref: ContractVersionedObjectReference | None = None
    infrastructure_ref: ContractVersionedObjectReference | None = None
    paused: bool | None = None
    topology: ClusterTopology | None = None


class ClusterControlPlaneUpgradePlan(Model):
    version: str = ""


class ClusterStatusControlPlane(Model):
    available_replicas: int | None = None
    desired_replicas: int | None = None
    ready_replicas: int | None = None
    replicas: int | None = None
    up_to_date_replicas: int | None = None
    upgrade_plan: list[ClusterControlPlaneUpgradePlan] = Field(default_factory=list)
    versions: list[StatusVersion] = Field(default_factory=list)


class ClusterDeprecatedV1beta1Condition(Model):
    last_transition_time: str = ""
    message: str | None = None
    reason: str | None = None
    severity: str | None = None
    status: str = ""
    type: str = ""


class ClusterStatusDeprecatedV1beta1(Model):
    conditions: list[ClusterDeprecatedV1beta1Condition] = Field(default_factory=list)
    failure_message: str | None = None
    failure_reason: str | None = None


class ClusterStatusDeprecated(Model):
    v1beta1: ClusterStatusDeprecatedV1beta1 = Field(default_factory=ClusterStatusDeprecatedV1beta1)


class ClusterFailureDomain(Model):
    attributes: dict[str, str] = Field(default_factory=dict)
    control_plane: bool | None = None
    name: str = ""


class ClusterStatusInitialization(Model):
    control_plane_initialized: bool | None = None
    infrastructure_provisioned: bool | None = None


class ClusterStatus(Model):
    conditions: list[Condition] = Field(default_factory=list)
    control_plane: ClusterStatusControlPlane = Field(default_factory=ClusterStatusControlPlane)
    deprecated: ClusterStatusDeprecated | None = None
    failure_domains: list[ClusterFailureDomain] = Field(default_factory=list)
    initialization: ClusterStatusInitialization = Field(default_factory=ClusterStatusInitialization)
    observed_generation: int | None = None
    phase: str | None = None
    workers: ClusterStatusControlPlane = Field(default_factory=ClusterStatusControlPlane)


class Cluster(KubeObject):
    resource: ClassVar[Resource] = Resource("cluster.x-k8s.io", "v1beta2", "Cluster", "clusters")
    spec: ClusterSpec = Field(default_factory=ClusterSpec)
    status: ClusterStatus = Field(default_factory=ClusterStatus)
