"""Images on a real engine: from a registry, from what is here, and what is in them."""

import hashlib
import json
import os
import subprocess
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import pytest

from capd_py.dev.up import project_root
from capd_py.engine.daemon import _exit_zero_elf
from capd_py.engine.tools import KUBECTL_IN_NODE, take_program
from capd_py.images import docker_cli
from capd_py.images.archive import architecture
from capd_py.images.context import add_bytes
from capd_py.images.manager import build_manager_image
from capd_py.images.names import node_image
from capd_py.images.registry import pull
from capd_py.images.versions import DEFAULT_VERSION
from tests.support.management import docker

MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
CONFIG_TYPE = "application/vnd.docker.container.image.v1+json"
LAYER_TYPE = "application/vnd.docker.image.rootfs.diff.tar"
UNKNOWN = b'{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}'


class Registry(ThreadingHTTPServer):
    """A registry on loopback with one image, ``probe:v1``, which holds a program that ends well."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        # Never set while a test wants a registry that does not answer.
        self.open = threading.Event()
        self.open.set()
        packed = BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as target:
            add_bytes(target, "probe", _exit_zero_elf(), True)
            # Of its own, else the engine would know the layer already.
            add_bytes(target, "nonce", os.urandom(16))
        layer = packed.getvalue()
        config = json.dumps({
            "architecture": architecture(),
            "os": "linux",
            "config": {"Entrypoint": ["/probe"]},
            "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
        }).encode()
        manifest = json.dumps({
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "config": described(CONFIG_TYPE, config),
            "layers": [described(LAYER_TYPE, layer)],
        }).encode()
        self.answers = {"/v2/": b"{}", "/v2/probe/manifests/v1": manifest}
        self.answers[f"/v2/probe/manifests/{digest(manifest)}"] = manifest
        for blob in (layer, config):
            self.answers[f"/v2/probe/blobs/{digest(blob)}"] = blob

    @property
    def prefix(self) -> str:
        """What names of its images begin with."""
        return f"127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """Answers what the registry has."""

    server: Registry

    def do_GET(self) -> None:
        self.server.open.wait(30)
        known = self.path in self.server.answers
        body = self.server.answers.get(self.path, UNKNOWN)
        self.send_response(200 if known else 404)
        if known and "/manifests/" in self.path:
            self.send_header("Content-Type", MANIFEST_TYPE)
            self.send_header("Docker-Content-Digest", digest(body))
        else:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def described(media_type: str, data: bytes) -> dict[str, object]:
    return {"mediaType": media_type, "digest": digest(data), "size": len(data)}


@pytest.fixture
def registry() -> Iterator[Registry]:
    """A registry that the engine takes for an insecure one, as all on loopback."""
    with Registry() as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield served
        served.open.set()
        served.shutdown()


@contextmanager
def removed(image: str) -> Iterator[None]:
    try:
        yield
    finally:
        docker_cli.remove_image(image)


def test_an_image_is_pulled_from_a_registry_that_answers(registry: Registry) -> None:
    image = f"{registry.prefix}/probe:v1"
    said: list[str] = []
    with removed(image):
        assert pull(image, said.append), said
        assert said == []
        # Made elsewhere: it has no recipe of ours.
        assert docker_cli.image_recipe(image) == ""
        docker("run", "--rm", "--network=none", image)


def test_an_image_that_the_registry_has_not_is_told(registry: Registry) -> None:
    said: list[str] = []
    assert not pull(f"{registry.prefix}/probe:v2", said.append)
    (line,) = said
    # Engines word it differently, but all name what is not there.
    assert "manifest" in line


def test_a_registry_that_hangs_is_not_waited_for(registry: Registry) -> None:
    registry.open.clear()
    said: list[str] = []
    start = time.monotonic()
    assert not pull(f"{registry.prefix}/probe:v1", said.append, patience=1)
    assert time.monotonic() - start < 10
    assert "no answer in 1 s" in said[0]


def test_the_manager_image_runs_and_keeps_its_memory_small() -> None:
    image = build_manager_image(project_root())
    assert "Run the managers" in docker("run", "--rm", "--network=none", image, "--help")
    (inspected,) = json.loads(docker("image", "inspect", image))
    config = inspected["Config"]
    assert config["User"] == "65532:65532"
    assert "MALLOC_ARENA_MAX=2" in config["Env"]
    # Compiled while it was built: nobody could write that later.
    script = "import capi_core.manager.main as m, os; print(os.path.exists(m.__cached__))"
    ran = docker("run", "--rm", "--network=none", "--entrypoint", "python3", image, "-c", script)
    assert ran.strip() == "True"


def test_changed_sources_are_in_a_new_manager_image_soon(tmp_path: Path) -> None:
    root = project_root()
    before = build_manager_image(root)
    for source in ("capd_py", "core", "bootstrap", "controlplane", "crds"):
        subprocess.run(["cp", "-r", str(root / source), str(tmp_path)], check=True)
    (tmp_path / "requirements.lock").write_bytes((root / "requirements.lock").read_bytes())
    assert build_manager_image(tmp_path) == before
    (tmp_path / "core" / "capi_core" / "nonce.py").write_text(f"NONCE = {os.urandom(8).hex()!r}\n")
    start = time.monotonic()
    image = build_manager_image(tmp_path)
    seconds = time.monotonic() - start
    print(f"manager image with changed sources: {seconds:.1f} s")
    with removed(image):
        assert image != before
        assert seconds < 15
        script = "import capi_core.nonce"
        docker("run", "--rm", "--network=none", "--entrypoint", "python3", image, "-c", script)


def test_kubectl_comes_out_of_the_node_image(tmp_path: Path) -> None:
    volumes = docker("volume", "ls", "-q")
    kubectl = take_program(node_image(), KUBECTL_IN_NODE, tmp_path / "kubectl")
    version = subprocess.run(
        [kubectl, "version", "--client"], capture_output=True, text=True, check=True, timeout=30
    )
    assert DEFAULT_VERSION in version.stdout
    assert docker("volume", "ls", "-q") == volumes


def test_a_container_that_a_killed_build_left_is_replaced() -> None:
    with docker_cli.scratch_container(node_image()) as name:
        left = docker("inspect", "--format", "{{.Id}}", name)
        with docker_cli.scratch_container(node_image()) as again:
            assert again == name
            assert docker("inspect", "--format", "{{.Id}}", again) != left
    assert name not in docker("ps", "-a", "--format", "{{.Names}}")
