"""The commands as users run them."""

import json
import subprocess
import sys
import time
from pathlib import Path

from capd_py.dev.up import bring_up
from capd_py.images.names import LOAD_BALANCER_IMAGE, node_image
from capd_py.images.versions import DEFAULT_VERSION
from tests.support.management import NAME, Management, docker

CAPD = Path(sys.executable).parent / "capd"


def capd(*args: str) -> "subprocess.CompletedProcess[str]":
    """Run the installed command."""
    return subprocess.run([CAPD, *args], capture_output=True, text=True, timeout=120, check=False)


def test_images_that_are_there_are_found_at_once() -> None:
    start = time.monotonic()
    done = capd("image", "build")
    seconds = time.monotonic() - start
    assert done.returncode == 0, done.stderr
    assert node_image() in done.stdout.split()
    print(f"second image build: {seconds:.1f} s")
    assert seconds < 5


def test_the_node_image_is_of_a_laptops_size() -> None:
    sizes = json.loads(docker("image", "inspect", node_image(), LOAD_BALANCER_IMAGE))
    megabytes = [item["Size"] / 1e6 for item in sizes]
    print(f"node image {megabytes[0]:.0f} MB, load balancer image {megabytes[1]:.0f} MB")
    assert megabytes[0] < 800


def test_a_known_failure_is_a_line_with_its_cure(management: Management) -> None:
    done = capd("why", "nobody", "--name", NAME)
    assert done.returncode == 1
    assert "there is no cluster default/nobody" in done.stderr
    assert "cure: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_version_that_is_none_is_refused() -> None:
    done = capd("image", "build", "--kubernetes-version", "1.34")
    assert done.returncode == 1
    assert "not a Kubernetes version: 1.34" in done.stderr


def test_up_can_be_run_again(management: Management) -> None:
    before = management.uid
    pods = management.kubectl("get", "pods", "-A", "-l", "control-plane", "-o", "name")
    said: list[str] = []
    assert bring_up(said.append, version=DEFAULT_VERSION, name=NAME) == management.kubeconfig
    assert management.uid == before
    assert management.kubectl("get", "pods", "-A", "-l", "control-plane", "-o", "name") == pods
    assert any(line.startswith("ready: export KUBECONFIG=") for line in said)


def test_managers_may_do_only_what_they_need(management: Management) -> None:
    def can(provider: str, namespace: str, *what: str) -> bool:
        account = f"system:serviceaccount:{namespace}:{provider}-manager"
        arguments = [management.kubectl._program, "--kubeconfig", str(management.kubeconfig)]
        done = subprocess.run(
            [*arguments, "auth", "can-i", *what, f"--as={account}", "-A"],
            capture_output=True, text=True, timeout=30, check=False,
        )
        return done.stdout.strip() == "yes"

    assert can("capd", "capd-system", "patch", "dockermachines.infrastructure.cluster.x-k8s.io")
    assert not can("capd", "capd-system", "delete", "secrets")
    assert not can("capd", "capd-system", "patch", "machines.cluster.x-k8s.io")
    bootstrap = "capi-kubeadm-bootstrap"
    assert can(bootstrap, f"{bootstrap}-system", "create", "secrets")
    assert not can(bootstrap, f"{bootstrap}-system", "delete", "machines.cluster.x-k8s.io")
    assert not can("capi", "capi-system", "delete", "pods")
    assert not can("capi", "capi-system", "create", "deployments.apps")
