"""The few things that image builds ask of the Docker engine, through its command line."""

import hashlib
import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from capd_py.engine.paths import cache_dir
from capd_py.engine.process import CommandError, run, run_bytes, succeeds
from capd_py.images.names import RECIPE_LABEL


def image_exists(image: str) -> bool:
    """Whether the engine has an image."""
    return succeeds(["docker", "image", "inspect", image])


def image_recipe(image: str) -> str | None:
    """The recipe an image was made from: empty for one made elsewhere, None when it is missing."""
    try:
        answer = run(["docker", "image", "inspect", "--format", "{{json .Config.Labels}}", image])
    except CommandError:
        return None
    return (json.loads(answer) or {}).get(RECIPE_LABEL, "")


def remove_image(image: str) -> None:
    """Remove an image, if it is there."""
    succeeds(["docker", "image", "rm", image])


@contextmanager
def scratch_container(image: str, *options: str) -> Generator[str]:
    """A container that does nothing, removed at the end, or by the next build after a crash."""
    # One for each cache: builds that share one wait for each other.
    name = f"capd-py-scratch-{hashlib.sha256(bytes(cache_dir())).hexdigest()[:8]}"
    remove = ["docker", "rm", "--force", "--volumes", name]
    succeeds(remove, timeout=60)
    command = ["docker", "run", "--detach", "--name", name, *options]
    run([*command, "--entrypoint", "sleep", image, "infinity"], timeout=120)
    try:
        yield name
    finally:
        succeeds(remove, timeout=60)


def copy_in(container: str, tar: bytes, directory: str = "/") -> None:
    """Unpack a tar in a container."""
    run(["docker", "cp", "-", f"{container}:{directory}"], stdin=tar, timeout=300)


def run_script(container: str, script: str, *args: str, timeout: float = 300) -> bytes:
    """Run a shell script in a container and return what it prints."""
    command = ["docker", "exec", "-i", container, "/bin/bash", "-euo", "pipefail", "-s", "--"]
    return run_bytes([*command, *args], stdin=script, timeout=timeout)


def commit(container: str, image: str, changes: Sequence[str]) -> None:
    """Make an image of a container, and drop the image that had its name."""
    before = _image_id(image)
    options = [part for change in changes for part in ("--change", change)]
    run(["docker", "commit", *options, container, image], timeout=300)
    # Left alone while containers still use it.
    if before and before != _image_id(image):
        remove_image(before)


def build(context: bytes, image: str, timeout: float = 600) -> None:
    """Build an image of a tar that has a Dockerfile in it."""
    # The old builder is in every engine; the new one is a plugin that may be missing.
    env = {"DOCKER_BUILDKIT": "0"}
    command = ["docker", "build", "--quiet", "--force-rm", "--tag", image, "-"]
    run(command, stdin=context, env=env, timeout=timeout)


def _image_id(image: str) -> str:
    try:
        return run(["docker", "image", "inspect", "--format", "{{.Id}}", image]).strip()
    except CommandError:
        return ""
