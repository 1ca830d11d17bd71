"""Draft."""

from typing import Any, ClassVar

from pydantic import Field

from capi_core.api.meta import Condition, KubeObject, Model, Resource
from capi_core.api.cluster import ClusterStatusDeprecated, ClusterTopologyControlPlaneMetadata


class KubeadmConfigClusterConfigurationApiServerExtraArg(Model):
    name: str = ""
    value: str = ""


class KubeadmConfigClusterConfigurationApiServerExtraEnvValueFromConfigMapKeyRef(Model):
    key: str = ""
    name: str | None = None
    optional: bool | None = None


class KubeadmConfigClusterConfigurationApiServerExtraEnvValueFromFieldRef(Model):
    api_version: str | None = None
    field_path: str = ""


class KubeadmConfigClusterConfigurationApiServerExtraEnvValueFromFileKeyRef(Model):
    key: str = ""
    optional: bool | None = None
    path: str = ""
    volume_name: str = ""


class KubeadmConfigClusterConfigurationApiServerExtraEnvValueFromResourceFieldRef(Model):
    container_name: str | None = None
    divisor: int | str | None = None
    resource: str = ""


class KubeadmConfigClusterConfigurationApiServerExtraEnvValueFrom(Model):
    config_map_key_ref: KubeadmConfigClusterConfigurationApiServerExtraEnvValueFromConfigMapKeyRef = Field(default_factory=KubeadmConfigClusterConfigurationApiServerExtraEnvValueFromConfigMapKeyRef)
    field_ref: KubeadmConfigClusterConfigurationApiServerExtraEnvValueFromFieldRef = Field(default_factory=KubeadmConfigClusterConfigurationApiServerExtraEnvValueFromFieldRef)
    file_key_ref: KubeadmConfigClusterConfigurationApiServerExtraEnvValueFromFileKeyRef = Field(default_factory=KubeadmConfigClusterConfigurationApiServerExtraEnvValueFromFileKeyRef)
    resource_field_ref: KubeadmConfigClusterConfigurationApiServerExtraEnvValueFromResourceFieldRef = Field(default_factory=KubeadmConfigClusterConfigurationApiServerExtraEnvValueFromResourceFieldRef)
    secret_key_ref: KubeadmConfigClusterConfigurationApiServerExtraEnvValueFromConfigMapKeyRef = Field(default_factory=KubeadmConfigClusterConfigurationApiServerExtraEnvValueFromConfigMapKeyRef)


class KubeadmConfigClusterConfigurationApiServerExtraEnv(Model):
    name: str = ""
    value: str | None = None
    value_from: KubeadmConfigClusterConfigurationApiServerExtraEnvValueFrom = Field(default_factory=KubeadmConfigClusterConfigurationApiServerExtraEnvValueFrom)


class KubeadmConfigClusterConfigurationApiServerExtraVolume(Model):
    host_path: str = ""
    mount_path: str = ""
    name: str = ""
    path_type: str | None = None
    read_only: bool | None = None


class KubeadmConfigClusterConfigurationApiServer(Model):
    cert_sans: list[str] = Field(alias="certSANs", default_factory=list)
    extra_args: list[KubeadmConfigClusterConfigurationApiServerExtraArg] = Field(default_factory=list)
    extra_envs: list[KubeadmConfigClusterConfigurationApiServerExtraEnv] = Field(default_factory=list)
    extra_volumes: list[KubeadmConfigClusterConfigurationApiServerExtraVolume] = Field(default_factory=list)


class KubeadmConfigClusterConfigurationControllerManager(Model):
    extra_args: list[KubeadmConfigClusterConfigurationApiServerExtraArg] = Field(default_factory=list)
    extra_envs: list[KubeadmConfigClusterConfigurationApiServerExtraEnv] = Field(default_factory=list)
    extra_volumes: list[KubeadmConfigClusterConfigurationApiServerExtraVolume] = Field(default_factory=list)


class KubeadmConfigClusterConfigurationDns(Model):
    image_repository: str | None = None
    image_tag: str | None = None


class KubeadmConfigClusterConfigurationEtcdExternal(Model):
    ca_file: str = ""
    cert_file: str = ""
    endpoints: list[str] = Field(default_factory=list)
    key_file: str = ""


class KubeadmConfigClusterConfigurationEtcdLocal(Model):
    data_dir: str | None = None
    extra_args: list[KubeadmConfigClusterConfigurationApiServerExtraArg] = Field(default_factory=list)
    extra_envs: list[KubeadmConfigClusterConfigurationApiServerExtraEnv] = Field(default_factory=list)
    image_repository: str | None = None
    image_tag: str | None = None
    peer_cert_sans: list[str] = Field(alias="peerCertSANs", default_factory=list)
    server_cert_sans: list[str] = Field(alias="serverCertSANs", default_factory=list)


class KubeadmConfigClusterConfigurationEtcd(Model):
    external: KubeadmConfigClusterConfigurationEtcdExternal | None = None
    local: KubeadmConfigClusterConfigurationEtcdLocal | None = None


class KubeadmConfigClusterConfiguration(Model):
    api_server: KubeadmConfigClusterConfigurationApiServer = Field(default_factory=KubeadmConfigClusterConfigurationApiServer)
    ca_certificate_validity_period_days: int | None = None
    certificate_validity_period_days: int | None = None
    certificates_dir: str | None = None
    control_plane_endpoint: str | None = None
    controller_manager: KubeadmConfigClusterConfigurationControllerManager = Field(default_factory=KubeadmConfigClusterConfigurationControllerManager)
    dns: KubeadmConfigClusterConfigurationDns = Field(default_factory=KubeadmConfigClusterConfigurationDns)
    encryption_algorithm: str | None = None
    etcd: KubeadmConfigClusterConfigurationEtcd = Field(default_factory=KubeadmConfigClusterConfigurationEtcd)
    feature_gates: dict[str, bool] = Field(default_factory=dict)
    image_repository: str | None = None
    scheduler: KubeadmConfigClusterConfigurationControllerManager = Field(default_factory=KubeadmConfigClusterConfigurationControllerManager)


class KubeadmConfigDiskSetupFilesystem(Model):
    device: str = ""
    extra_opts: list[str] = Field(default_factory=list)
    filesystem: str = ""
    label: str | None = None
    overwrite: bool | None = None
    partition: str | None = None
    replace_fs: str | None = Field(alias="replaceFS", default=None)


class KubeadmConfigDiskSetupPartitionDiskLayout(Model):
    partition_type: str | None = None
    percentage: int | None = None


class KubeadmConfigDiskSetupPartition(Model):
    device: str = ""
    disk_layout: list[KubeadmConfigDiskSetupPartitionDiskLayout] = Field(default_factory=list)
    layout: bool | None = None
    overwrite: bool | None = None
    table_type: str | None = None


class KubeadmConfigDiskSetup(Model):
    filesystems: list[KubeadmConfigDiskSetupFilesystem] = Field(default_factory=list)
    partitions: list[KubeadmConfigDiskSetupPartition] = Field(default_factory=list)


class KubeadmConfigFileContentFromSecret(Model):
    key: str = ""
    name: str = ""


class KubeadmConfigFileContentFrom(Model):
    secret: KubeadmConfigFileContentFromSecret = Field(default_factory=KubeadmConfigFileContentFromSecret)


class KubeadmConfigFile(Model):
    append: bool | None = None
    content: str | None = None
    content_format: str | None = None
    content_from: KubeadmConfigFileContentFrom | None = None
    encoding: str | None = None
    owner: str | None = None
    path: str = ""
    permissions: str | None = None


class KubeadmConfigIgnitionContainerLinuxConfig(Model):
    additional_config: str | None = None
    strict: bool | None = None


class KubeadmConfigIgnition(Model):
    container_linux_config: KubeadmConfigIgnitionContainerLinuxConfig = Field(default_factory=KubeadmConfigIgnitionContainerLinuxConfig)


class KubeadmConfigInitConfigurationBootstrapToken(Model):
    description: str | None = None
    expires: str | None = None
    groups: list[str] = Field(default_factory=list)
    token: str = ""
    ttl_seconds: int | None = None
    usages: list[str] = Field(default_factory=list)


class KubeadmConfigInitConfigurationLocalAPIEndpoint(Model):
    advertise_address: str | None = None
    bind_port: int | None = None


class KubeadmConfigInitConfigurationNodeRegistrationTaint(Model):
    effect: str = ""
    key: str = ""
    time_added: str | None = None
    value: str | None = None


class KubeadmConfigInitConfigurationNodeRegistration(Model):
    cri_socket: str | None = None
    ignore_preflight_errors: list[str] = Field(default_factory=list)
    image_pull_policy: str | None = None
    image_pull_serial: bool | None = None
    kubelet_extra_args: list[KubeadmConfigClusterConfigurationApiServerExtraArg] = Field(default_factory=list)
    name: str | None = None
    taints: list[KubeadmConfigInitConfigurationNodeRegistrationTaint] = Field(default_factory=list)


class KubeadmConfigInitConfigurationPatches(Model):
    directory: str | None = None


class KubeadmConfigInitConfigurationTimeouts(Model):
    control_plane_component_health_check_seconds: int | None = None
    discovery_seconds: int | None = None
    etcd_api_call_seconds: int | None = Field(alias="etcdAPICallSeconds", default=None)
    kubelet_health_check_seconds: int | None = None
    kubernetes_api_call_seconds: int | None = Field(alias="kubernetesAPICallSeconds", default=None)
    tls_bootstrap_seconds: int | None = None


class KubeadmConfigInitConfiguration(Model):
    bootstrap_tokens: list[KubeadmConfigInitConfigurationBootstrapToken] = Field(default_factory=list)
    local_api_endpoint: KubeadmConfigInitConfigurationLocalAPIEndpoint = Field(alias="localAPIEndpoint", default_factory=KubeadmConfigInitConfigurationLocalAPIEndpoint)
    node_registration: KubeadmConfigInitConfigurationNodeRegistration = Field(default_factory=KubeadmConfigInitConfigurationNodeRegistration)
    patches: KubeadmConfigInitConfigurationPatches = Field(default_factory=KubeadmConfigInitConfigurationPatches)
    skip_phases: list[str] = Field(default_factory=list)
    timeouts: KubeadmConfigInitConfigurationTimeouts = Field(default_factory=KubeadmConfigInitConfigurationTimeouts)


class KubeadmConfigJoinConfigurationControlPlane(Model):
    local_api_endpoint: KubeadmConfigInitConfigurationLocalAPIEndpoint = Field(alias="localAPIEndpoint", default_factory=KubeadmConfigInitConfigurationLocalAPIEndpoint)


class KubeadmConfigJoinConfigurationDiscoveryBootstrapToken(Model):
    api_server_endpoint: str | None = None
    ca_cert_hashes: list[str] = Field(default_factory=list)
    token: str | None = None
    unsafe_skip_ca_verification: bool | None = Field(alias="unsafeSkipCAVerification", default=None)


class KubeadmConfigJoinConfigurationDiscoveryFileKubeConfigCluster(Model):
    certificate_authority_data: str | None = None
    insecure_skip_tls_verify: bool | None = Field(alias="insecureSkipTLSVerify", default=None)
    proxy_url: str | None = Field(alias="proxyURL", default=None)
    server: str | None = None
    tls_server_name: str | None = None


class KubeadmConfigJoinConfigurationDiscoveryFileKubeConfigUserAuthProvider(Model):
    config: dict[str, str] = Field(default_factory=dict)
    name: str = ""


class KubeadmConfigJoinConfigurationDiscoveryFileKubeConfigUserExec(Model):
    api_version: str | None = None
    args: list[str] = Field(default_factory=list)
    command: str = ""
    env: list[KubeadmConfigClusterConfigurationApiServerExtraArg] = Field(default_factory=list)
    provide_cluster_info: bool | None = None


class KubeadmConfigJoinConfigurationDiscoveryFileKubeConfigUser(Model):
    auth_provider: KubeadmConfigJoinConfigurationDiscoveryFileKubeConfigUserAuthProvider | None = None
    exec: KubeadmConfigJoinConfigurationDiscoveryFileKubeConfigUserExec | None = None


class KubeadmConfigJoinConfigurationDiscoveryFileKubeConfig(Model):
    cluster: KubeadmConfigJoinConfigurationDiscoveryFileKubeConfigCluster = Field(default_factory=KubeadmConfigJoinConfigurationDiscoveryFileKubeConfigCluster)
    user: KubeadmConfigJoinConfigurationDiscoveryFileKubeConfigUser = Field(default_factory=KubeadmConfigJoinConfigurationDiscoveryFileKubeConfigUser)


class KubeadmConfigJoinConfigurationDiscoveryFile(Model):
    kube_config: KubeadmConfigJoinConfigurationDiscoveryFileKubeConfig | None = None
    kube_config_path: str = ""


class KubeadmConfigJoinConfigurationDiscovery(Model):
    bootstrap_token: KubeadmConfigJoinConfigurationDiscoveryBootstrapToken | None = None
    file: KubeadmConfigJoinConfigurationDiscoveryFile | None = None
    tls_bootstrap_token: str | None = None


class KubeadmConfigJoinConfiguration(Model):
    ca_cert_path: str | None = None
    control_plane: KubeadmConfigJoinConfigurationControlPlane | None = None
    discovery: KubeadmConfigJoinConfigurationDiscovery = Field(default_factory=KubeadmConfigJoinConfigurationDiscovery)
    node_registration: KubeadmConfigInitConfigurationNodeRegistration = Field(default_factory=KubeadmConfigInitConfigurationNodeRegistration)
    patches: KubeadmConfigInitConfigurationPatches = Field(default_factory=KubeadmConfigInitConfigurationPatches)
    skip_phases: list[str] = Field(default_factory=list)
    timeouts: KubeadmConfigInitConfigurationTimeouts = Field(default_factory=KubeadmConfigInitConfigurationTimeouts)


class KubeadmConfigNtp(Model):
    enabled: bool | None = None
    servers: list[str] = Field(default_factory=list)


class KubeadmConfigUser(Model):
    gecos: str | None = None
    groups: str | None = None
    home_dir: str | None = None
    inactive: bool | None = None
    lock_password: bool | None = None
    name: str = ""
    passwd: str | None = None
    passwd_from: KubeadmConfigFileContentFrom | None = None
    primary_group: str | None = None
    shell: str | None = None
    ssh_authorized_keys: list[str] = Field(default_factory=list)
    sudo: str | None = None


class KubeadmConfigSpec(Model):
    boot_commands: list[str] = Field(default_factory=list)
    cluster_configuration: KubeadmConfigClusterConfiguration | None = None
    disk_setup: KubeadmConfigDiskSetup = Field(default_factory=KubeadmConfigDiskSetup)
    files: list[KubeadmConfigFile] = Field(default_factory=list)
    format: str | None = None
    ignition: KubeadmConfigIgnition = Field(default_factory=KubeadmConfigIgnition)
    init_configuration: KubeadmConfigInitConfiguration | None = None
    join_configuration: KubeadmConfigJoinConfiguration | None = None
    mounts: list[list[str]] = Field(default_factory=list)
    ntp: KubeadmConfigNtp = Field(default_factory=KubeadmConfigNtp)
    post_kubeadm_commands: list[str] = Field(default_factory=list)
    pre_kubeadm_commands: list[str] = Field(default_factory=list)
    users: list[KubeadmConfigUser] = Field(default_factory=list)
    verbosity: int | None = None


class KubeadmConfigStatusInitialization(Model):
    data_secret_created: bool | None = None


class KubeadmConfigStatus(Model):
    conditions: list[Condition] = Field(default_factory=list)
    data_secret_name: str | None = None
    deprecated: ClusterStatusDeprecated | None = None
    initialization: KubeadmConfigStatusInitialization = Field(default_factory=KubeadmConfigStatusInitialization)
    observed_generation: int | None = None


class KubeadmConfig(KubeObject):
    resource: ClassVar[Resource] = Resource("bootstrap.cluster.x-k8s.io", "v1beta2", "KubeadmConfig", "kubeadmconfigs")
    spec: KubeadmConfigSpec = Field(default_factory=KubeadmConfigSpec)
    status: KubeadmConfigStatus = Field(default_factory=KubeadmConfigStatus)


class KubeadmConfigTemplateTemplate(Model):
    metadata: ClusterTopologyControlPlaneMetadata = Field(default_factory=ClusterTopologyControlPlaneMetadata)
    spec: KubeadmConfigSpec = Field(default_factory=KubeadmConfigSpec)


class KubeadmConfigTemplateSpec(Model):
    template: KubeadmConfigTemplateTemplate = Field(default_factory=KubeadmConfigTemplateTemplate)


class KubeadmConfigTemplate(KubeObject):
    resource: ClassVar[Resource] = Resource("bootstrap.cluster.x-k8s.io", "v1beta2", "KubeadmConfigTemplate", "kubeadmconfigtemplates")
    spec: KubeadmConfigTemplateSpec = Field(default_factory=KubeadmConfigTemplateSpec)
    status: Any = None
