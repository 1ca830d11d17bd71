"""The Kubernetes objects that run the managers: namespaces, RBAC, Deployments, Services. Pure."""

from dataclasses import dataclass

from capi_core.api.meta import JsonObject

READ = ("get", "list", "watch")
WRITE = (*READ, "create", "update", "patch", "delete")
_PROVIDER_GROUPS = (
    "infrastructure.cluster.x-k8s.io",
    "bootstrap.cluster.x-k8s.io",
    "controlplane.cluster.x-k8s.io",
)
_DOCKER_SOCKET = "/var/run/docker.sock"


@dataclass(frozen=True, slots=True)
class Rule:
    """One RBAC rule."""

    groups: tuple[str, ...]
    resources: tuple[str, ...]
    verbs: tuple[str, ...]

    def dump(self) -> JsonObject:
        """The PolicyRule."""
        return {
            "apiGroups": list(self.groups),
            "resources": list(self.resources),
            "verbs": list(self.verbs),
        }


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider's manager.

    Attributes:
        name: prefix of its objects, upstream's.
        label: value of the ``cluster.x-k8s.io/provider`` label.
        modules: what ``--provider`` names.
        rules: what its reconcilers do in the whole cluster.
        docker: whether it talks to the Docker engine.
    """

    name: str
    namespace: str
    label: str
    modules: tuple[str, ...]
    rules: tuple[Rule, ...]
    docker: bool = False


_CORE_KINDS = (
    "clusters",
    "machines",
    "machinesets",
    "machinedeployments",
    "machinehealthchecks",
)


def _own(group: str, *plurals: str) -> tuple[Rule, ...]:
    """Full care of a provider's own kinds."""
    subs = [f"{plural}/{sub}" for plural in plurals for sub in ("status", "finalizers")]
    return (Rule((group,), (*plurals, *subs), WRITE),)


# kopf learns from the CRDs which resources there are; contracts are read from their labels.
_SHARED = (
    Rule(("apiextensions.k8s.io",), ("customresourcedefinitions",), READ),
    Rule(("",), ("namespaces",), READ),
    Rule(("",), ("events",), ("create", "patch", "get")),
    Rule(
        ("admissionregistration.k8s.io",),
        ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
        ("get", "create", "patch"),
    ),
)
_SECRETS = Rule(("",), ("secrets",), ("get", "list", "watch", "create", "patch", "update"))

PROVIDERS = (
    Provider(
        "capi",
        "capi-system",
        "cluster-api",
        ("capi_core.provider",),
        (
            *_own("cluster.x-k8s.io", *_CORE_KINDS),
            Rule(("cluster.x-k8s.io",), ("machinedrainrules",), READ),
            *_own(
                "addons.cluster.x-k8s.io", "clusterresourcesets", "clusterresourcesetbindings"
            ),
            Rule(_PROVIDER_GROUPS, ("*",), WRITE),
            Rule(("",), ("configmaps",), ("get", "patch")),
            _SECRETS,
        ),
    ),
    Provider(
        "capi-kubeadm-bootstrap",
        "capi-kubeadm-bootstrap-system",
        "bootstrap-kubeadm",
        ("capi_bootstrap.provider",),
        (
            *_own("bootstrap.cluster.x-k8s.io", "kubeadmconfigs", "kubeadmconfigtemplates"),
            Rule(("cluster.x-k8s.io",), ("clusters", "machines", "machinesets"), READ),
            Rule(("",), ("configmaps",), WRITE),
            _SECRETS,
        ),
    ),
    Provider(
        "capi-kubeadm-control-plane",
        "capi-kubeadm-control-plane-system",
        "control-plane-kubeadm",
        ("capi_controlplane.provider",),
        (
            *_own(
                "controlplane.cluster.x-k8s.io",
                "kubeadmcontrolplanes",
                "kubeadmcontrolplanetemplates",
            ),
            Rule(("cluster.x-k8s.io",), ("clusters",), READ),
            Rule(("cluster.x-k8s.io",), ("machines", "machines/status"), WRITE),
            Rule(("infrastructure.cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io"), ("*",), WRITE),
            _SECRETS,
        ),
    ),
    Provider(
        "capd",
        "capd-system",
        "infrastructure-docker",
        ("capd_py.provider",),
        (
            *_own(
                "infrastructure.cluster.x-k8s.io",
                "dockerclusters",
                "dockermachines",
                "dockerclustertemplates",
                "dockermachinetemplates",
            ),
            Rule(("cluster.x-k8s.io",), ("clusters", "machines", "machinesets"), READ),
            Rule(("",), ("configmaps",), ("get",)),
            Rule(("",), ("secrets",), ("get", "create", "patch")),
        ),
        docker=True,
    ),
)

# One process for all, with the rights of all: for a small laptop, and for debugging.
SINGLE = (
    Provider(
        "capd-py",
        "capd-system",
        "infrastructure-docker",
        tuple(module for provider in PROVIDERS for module in provider.modules),
        tuple(dict.fromkeys(rule for provider in PROVIDERS for rule in provider.rules)),
        docker=True,
    ),
)


def manager_objects(provider: Provider, image: str, args: tuple[str, ...] = ()) -> list[JsonObject]:
    """Everything that one manager needs, in the order in which it is applied."""
    labels = {"cluster.x-k8s.io/provider": provider.label, "control-plane": "controller-manager"}
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": provider.namespace, "labels": labels},
        },
        _object("v1", "ServiceAccount", f"{provider.name}-manager", provider, labels),
        *_rbac(provider, labels),
        {
            **_object("v1", "Service", "webhook-service", provider, labels),
            "spec": {
                "selector": labels,
                "ports": [{"port": 443, "targetPort": "webhook-server"}],
            },
        },
        {
            **_object(
                "apps/v1", "Deployment", f"{provider.name}-controller-manager", provider, labels
            ),
            "spec": _deployment(provider, image, labels, args),
        },
    ]


def _object(
    api_version: str, kind: str, name: str, provider: Provider, labels: dict[str, str]
) -> JsonObject:
    meta = {"name": name, "namespace": provider.namespace, "labels": labels}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta}


def _rbac(provider: Provider, labels: dict[str, str]) -> list[JsonObject]:
    group = "rbac.authorization.k8s.io"
    name = f"{provider.name}-manager-role"
    subject = {
        "kind": "ServiceAccount",
        "name": f"{provider.name}-manager",
        "namespace": provider.namespace,
    }
    local = [
        Rule(("coordination.k8s.io",), ("leases",), ("get", "create", "patch", "update")),
        Rule(("",), ("secrets",), ("get", "create", "patch")),
    ]
    cluster_role: JsonObject = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name, "labels": labels},
        "rules": [rule.dump() for rule in (*provider.rules, *_SHARED)],
    }
    role: JsonObject = {
        **_object(f"{group}/v1", "Role", f"{provider.name}-leader-election-role", provider, labels),
        "rules": [rule.dump() for rule in local],
    }
    return [
        cluster_role,
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": f"{name}binding", "labels": labels},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [subject],
        },
        role,
        {
            **_object(
                f"{group}/v1",
                "RoleBinding",
                f"{provider.name}-leader-election-rolebinding",
                provider,
                labels,
            ),
            "roleRef": {"apiGroup": group, "kind": "Role", "name": role["metadata"]["name"]},
            "subjects": [subject],
        },
    ]


def _deployment(
    provider: Provider, image: str, labels: dict[str, str], args: tuple[str, ...]
) -> JsonObject:
    field = {"POD_NAME": "metadata.name", "POD_NAMESPACE": "metadata.namespace"}
    container: JsonObject = {
        "name": "manager",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": [*(f"--provider={module}" for module in provider.modules), *args],
        "env": [
            {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
            for name, path in field.items()
        ],
        "ports": [
            {"name": "webhook-server", "containerPort": 9443},
            {"name": "healthz", "containerPort": 9440},
            {"name": "metrics", "containerPort": 8080},
        ],
        "readinessProbe": {
            "httpGet": {"path": "/readyz", "port": "healthz"},
            "periodSeconds": 1,
            "failureThreshold": 30,
        },
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": "healthz"},
            "initialDelaySeconds": 15,
            "periodSeconds": 20,
            "timeoutSeconds": 5,
        },
        "resources": {"requests": {"cpu": "10m", "memory": "96Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    pod: JsonObject = {
        "serviceAccountName": f"{provider.name}-manager",
        "terminationGracePeriodSeconds": 10,
        "tolerations": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}],
        "containers": [container],
    }
    if provider.docker:
        # The engine's socket is root's; no other privilege is needed.
        container["securityContext"]["runAsUser"] = 0
        container["volumeMounts"] = [{"name": "docker", "mountPath": _DOCKER_SOCKET}]
        pod["volumes"] = [{"name": "docker", "hostPath": {"path": _DOCKER_SOCKET}}]
    return {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        # Two at a time would only wait for each other's Lease.
        "strategy": {"type": "Recreate"},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
