"""What goes wrong on real Docker is told where users look, and does not reach the neighbours."""

import pytest

from capd_py.engine.process import CommandError
from capi_core.api.meta import JsonObject
from tests.support.management import Management, Workload, docker, eventually, with_workload


async def test_a_failing_command_is_told_with_its_last_lines(management: Management) -> None:
    def fail(obj: JsonObject) -> None:
        if obj["kind"] == "KubeadmControlPlane":
            obj["spec"]["kubeadmConfigSpec"]["preKubeadmCommands"] = [
                "echo all is well; echo no such tool >&2; exit 7"
            ]

    async def check(cluster: Workload) -> None:
        def message() -> str:
            items = management.kubectl.get("dockermachines", "-n", cluster.namespace)["items"]
            return "\n".join(
                condition["message"]
                for item in items
                for condition in (item.get("status") or {}).get("conditions") or []
                if condition["type"] == "BootstrapCompleted" and condition["reason"] == "Failed"
            )

        told = await eventually(message, bool, "a failed bootstrap", timeout=60.0)
        assert "exit 7: ended with exit code 7" in told
        assert "all is well" in told
        assert "no such tool" in told
        # The Cluster's own conditions lead there.
        await cluster.until(
            lambda view: "BootstrapCompleted" in view.waiting_for(), "the Cluster to say so", 30.0
        )
        await cluster.delete()

    await with_workload(management, "failing", check, workers=0, change=fail)


async def test_two_namespaces_with_clusters_of_one_name_do_not_meet(
    management: Management,
) -> None:
    async def check(first: Workload) -> None:
        await first.step(4)

        async def check_second(second: Workload) -> None:
            await second.step(4)
            names = [set(management.containers("twin", w.namespace)) for w in (first, second)]
            assert len(names[0]) == len(names[1]) == 2
            assert not names[0] & names[1]
            await second.delete()
            assert set(management.containers("twin", first.namespace)) == names[0]
            running = docker("ps", "--format", "{{.Names}}").split()
            assert names[0] <= set(running)

        await with_workload(management, "twin", check_second, namespace="twin-b", workers=0)
        await first.delete()

    await with_workload(management, "twin", check, namespace="twin-a", workers=0)


def test_a_bad_manifest_is_refused_at_apply(management: Management) -> None:
    text = (
        "apiVersion: controlplane.cluster.x-k8s.io/v1beta2\n"
        "kind: KubeadmControlPlane\n"
        "metadata: {name: bad}\n"
        "spec:\n"
        "  replicas: 2\n"
        "  version: v1.34.4\n"
        "  machineTemplate: {spec: {infrastructureRef: {apiGroup: a.b, kind: C, name: d}}}\n"
    )
    with pytest.raises(CommandError, match=r"spec.replicas: Forbidden: .*even"):
        management.kubectl("apply", "-f", "-", stdin=text)
