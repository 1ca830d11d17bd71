"""Admission of KubeadmConfigs, KubeadmControlPlanes and their templates."""

import pytest

from capi_bootstrap import webhooks as bootstrap
from capi_controlplane import webhooks as control_plane
from capi_core.api.meta import JsonObject
from tests.unit.webhooks.cases import Case, changed, default, run

CONFIG, CONFIG_TEMPLATE = bootstrap.WEBHOOKS
KCP, SCALE, KCP_TEMPLATE = control_plane.WEBHOOKS
GOOD_CONFIG: JsonObject = {"metadata": {"name": "c"}, "spec": {"verbosity": 2}}
GOOD_KCP: JsonObject = {
    "metadata": {"name": "kcp"},
    "spec": {
        "replicas": 3,
        "version": "v1.34.4",
        "machineTemplate": {
            "spec": {
                "infrastructureRef": {
                    "apiGroup": "infrastructure.cluster.x-k8s.io",
                    "kind": "DockerMachineTemplate",
                    "name": "t",
                }
            }
        },
        "kubeadmConfigSpec": {"clusterConfiguration": {"imageRepository": "example"}},
        "rollout": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}},
    },
}
_FILE = {"path": "/etc/a", "content": "a"}
_SECRET = {"secret": {"name": "s", "key": "k"}}
_USER = "joinConfiguration.discovery.file.kubeConfig.user"


def kubeadm_cases(prefix: str) -> list[Case]:
    """The rules of every KubeadmConfigSpec at ``prefix``."""

    def case(name: str, field: str, value: object, *refused: str) -> Case:
        return Case(name, {f"{prefix}.{field}": value}, tuple(f"{prefix}.{r}" for r in refused))

    return [
        case("file", "files", [_FILE, {"path": "/etc/b", "contentFrom": _SECRET}]),
        case("file twice", "files", [_FILE, _FILE], "files[1].path"),
        case("two contents", "files", [{**_FILE, "contentFrom": _SECRET}], "files[0]"),
        case(
            "content of nothing",
            "files",
            [{"path": "/a", "contentFrom": {"secret": {"name": ""}}}],
            "files[0].contentFrom.secret.name",
            "files[0].contentFrom.secret.key",
        ),
        case(
            "two passwords",
            "users",
            [{"name": "u", "passwd": "x", "passwdFrom": _SECRET}],
            "users[0]",
        ),
        case(
            "password of nothing",
            "users",
            [{"name": "u", "passwdFrom": {"secret": {"name": "s"}}}],
            "users[0].passwdFrom.secret.key",
        ),
        case("two ways to log in", _USER, {"authProvider": {}, "exec": {}}, _USER),
        case("one way to log in", _USER, {"exec": {"command": "x"}}),
        case(
            "too much of a disk",
            "diskSetup.partitions",
            [{"device": "/dev/a", "diskLayout": [{"percentage": 60}, {"percentage": 41}]}],
            "diskSetup.partitions[0].diskLayout",
        ),
        case("ignition", "format", "ignition", "format"),
        case("ignition's part", "ignition", {"containerLinuxConfig": {"strict": True}}, "ignition"),
    ]


def of(cases: list[Case]) -> pytest.MarkDecorator:
    """Parametrize by name."""
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


@of([Case("good", {}), *kubeadm_cases("spec")])
def test_kubeadm_config(case: Case) -> None:
    assert run(CONFIG, GOOD_CONFIG, case) == case.refused


@of(
    [
        *kubeadm_cases("spec.template.spec"),
        Case(
            "label",
            {"spec.template.metadata": {"labels": {"a b": "c"}}},
            ("spec.template.metadata.labels",),
        ),
    ]
)
def test_kubeadm_config_template(case: Case) -> None:
    good = {"metadata": {"name": "t"}, "spec": {"template": {"spec": {"verbosity": 2}}}}
    assert run(CONFIG_TEMPLATE, good, case) == case.refused


_CLUSTER = "spec.kubeadmConfigSpec.clusterConfiguration"
_INFRASTRUCTURE = "spec.machineTemplate.spec.infrastructureRef"
_EXTERNAL = {"external": {"endpoints": ["https://e"]}}
_SURGE = "spec.rollout.strategy.rollingUpdate.maxSurge"


@of(
    [
        Case("good", {}),
        Case("no replicas", {"spec.replicas": None}, ("spec.replicas",)),
        Case("zero", {"spec.replicas": 0}, ("spec.replicas",)),
        Case("even", {"spec.replicas": 2}, ("spec.replicas",)),
        Case("even with external etcd", {"spec.replicas": 2, f"{_CLUSTER}.etcd": _EXTERNAL}),
        Case(
            "template without a name",
            {f"{_INFRASTRUCTURE}.name": "", f"{_INFRASTRUCTURE}.kind": ""},
            (f"{_INFRASTRUCTURE}.kind", f"{_INFRASTRUCTURE}.name"),
        ),
        Case("version", {"spec.version": "1.34.4"}, ("spec.version",)),
        Case("surge of two", {_SURGE: 2}, (_SURGE,)),
        Case("no surge with three", {_SURGE: 0}),
        Case("no surge with one", {_SURGE: 0, "spec.replicas": 1}, (_SURGE,)),
        Case(
            "certificates that outlive their authority",
            {
                f"{_CLUSTER}.certificateValidityPeriodDays": 200,
                f"{_CLUSTER}.caCertificateValidityPeriodDays": 100,
            },
            (f"{_CLUSTER}.certificateValidityPeriodDays",),
        ),
        Case(
            "certificates that are always too old",
            {
                f"{_CLUSTER}.certificateValidityPeriodDays": 30,
                "spec.rollout.before": {"certificatesExpiryDays": 30},
            },
            ("spec.rollout.before.certificatesExpiryDays",),
        ),
        Case(
            "naming",
            {"spec.machineNaming.template": "{{ .kubeadmControlPlane.name }}-{{ .random }}"},
        ),
        Case(
            "naming by a set",
            {"spec.machineNaming.template": "{{ .machineSet.name }}-{{ .random }}"},
            ("spec.machineNaming.template",),
        ),
        Case(
            "DNS tag of no version",
            {f"{_CLUSTER}.dns.imageTag": "latest"},
            (f"{_CLUSTER}.dns.imageTag",),
        ),
        Case("DNS tag", {f"{_CLUSTER}.dns.imageTag": "v1.12.1_foo.1"}),
        Case(
            "etcd tag",
            {f"{_CLUSTER}.etcd.local": {"imageTag": "a b"}},
            (f"{_CLUSTER}.etcd.local.imageTag",),
        ),
        Case(
            "two etcds",
            {f"{_CLUSTER}.etcd": {**_EXTERNAL, "local": {"dataDir": "/x"}}},
            (f"{_CLUSTER}.etcd.local",),
        ),
        Case(
            "timeouts that differ",
            {
                "spec.kubeadmConfigSpec.initConfiguration.timeouts": {
                    "controlPlaneComponentHealthCheckSeconds": 10
                }
            },
            (
                "spec.kubeadmConfigSpec.initConfiguration.timeouts."
                "controlPlaneComponentHealthCheckSeconds",
            ),
        ),
        *kubeadm_cases("spec.kubeadmConfigSpec"),
    ]
)
def test_control_plane(case: Case) -> None:
    assert run(KCP, GOOD_KCP, case) == case.refused


@of(
    [
        Case("replicas", {"spec.replicas": 5}, old={}),
        Case("a minor version", {"spec.version": "v1.35.0"}, old={}),
        Case("two minor versions", {"spec.version": "v1.36.0"}, ("spec.version",), old={}),
        Case("another template", {f"{_INFRASTRUCTURE}.name": "u"}, old={}),
        Case("feature gates", {f"{_CLUSTER}.featureGates": {"A": True}}, old={}),
        Case("a file", {"spec.kubeadmConfigSpec.files": [_FILE]}, old={}),
        Case("labels", {"metadata.labels": {"a": "b"}}, old={}),
        Case(
            "the endpoint",
            {f"{_CLUSTER}.controlPlaneEndpoint": "a:6443"},
            (f"{_CLUSTER}.controlPlaneEndpoint",),
            old={},
        ),
        Case(
            "the certificates' directory",
            {f"{_CLUSTER}.certificatesDir": "/x"},
            (f"{_CLUSTER}.certificatesDir",),
            old={},
        ),
        Case(
            "etcd from local to external",
            {f"{_CLUSTER}.etcd": _EXTERNAL},
            (f"{_CLUSTER}.etcd",),
            old={},
        ),
        Case("removed block", {_CLUSTER: None}, ("spec.kubeadmConfigSpec",), old={}),
    ]
)
def test_control_plane_update(case: Case) -> None:
    assert run(KCP, GOOD_KCP, case) == case.refused


@pytest.mark.parametrize(("replicas", "refused"), [(1, ()), (2, ("spec.replicas",)),
                                                   (0, ("spec.replicas",))])
def test_scale(replicas: int, refused: tuple[str, ...]) -> None:
    case = Case("", {"spec.replicas": replicas}, old={})
    assert run(SCALE, {"spec": {"replicas": 3}}, case) == refused


def test_control_plane_defaults() -> None:
    bare = changed(GOOD_KCP, {"spec.replicas": None, "spec.version": "1.34.4",
                              "spec.rollout": None})
    spec = default(KCP, bare)["spec"]
    assert (spec["replicas"], spec["version"]) == (1, "v1.34.4")
    assert spec["rollout"]["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": 1},
    }


TEMPLATE: JsonObject = {
    "metadata": {"name": "t"},
    "spec": {"template": {"spec": {"kubeadmConfigSpec": {"verbosity": 1}}}},
}


@of(
    [
        Case("good", {}),
        Case(
            "label",
            {"spec.template.metadata": {"labels": {"a b": "c"}}},
            ("spec.template.metadata.labels",),
        ),
        Case(
            "changed",
            {"spec.template.spec.kubeadmConfigSpec.verbosity": 3},
            ("spec.template.spec",),
            old={},
        ),
        Case("new labels", {"spec.template.metadata": {"labels": {"a": "c"}}}, old={}),
        *kubeadm_cases("spec.template.spec.kubeadmConfigSpec"),
    ]
)
def test_control_plane_template(case: Case) -> None:
    assert run(KCP_TEMPLATE, TEMPLATE, case) == case.refused
