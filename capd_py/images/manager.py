"""The manager image: Python, the locked dependencies, and the project's own packages."""

import hashlib
import shutil
import sys
from pathlib import Path

from capd_py.engine.errors import EngineError
from capd_py.engine.paths import cache_dir
from capd_py.engine.process import run
from capd_py.images import debian, docker_cli
from capd_py.images.archive import architecture
from capd_py.images.context import files_below, make_context, render
from capd_py.images.names import MANAGER_REPOSITORY, PYTHON_REPOSITORY
from capd_py.images.node import rootfs_image
from capd_py.images.recipe import RECIPES

PYTHON_VERSION = "3.11"
# Where each package lies in the repository, and where in the image, as in the wheel.
PACKAGES = {
    "capd_py": "capd_py",
    "core/capi_core": "capi_core",
    "bootstrap/capi_bootstrap": "capi_bootstrap",
    "controlplane/capi_controlplane": "capi_controlplane",
    "crds": "capi_core/_crds",
}
# Debian 12 has glibc 2.36.
GLIBC_MINORS = (35, 34, 31, 28, 17)


def python_image() -> str:
    """The base of the manager image, named by what it is made of."""
    return f"{PYTHON_REPOSITORY}:{rootfs_image(debian.PYTHON).rpartition(':')[2]}"


def build_python_image(log: Path) -> str:
    """Make the base of the manager image, unless it is there."""
    image = python_image()
    if not docker_cli.image_exists(image):
        debian.import_rootfs(debian.PYTHON, image, log)
    return image


def build_manager_image(project_root: Path) -> str:
    """Build the manager image of a working tree, unless its very content has been built.

    Args:
        project_root: The directory with requirements.lock and the packages.

    Returns:
        The image, tagged by its content.
    """
    image = manager_image(project_root)
    if docker_cli.image_exists(image):
        return image
    dependencies = _build_dependencies_image(project_root / "requirements.lock")
    context = make_context(
        render(_dockerfile("Dockerfile"), {"base": dependencies}), _project_files(project_root)
    )
    docker_cli.build(context, image)
    return image


def manager_image(project_root: Path) -> str:
    """The manager image of a working tree, named by its content."""
    dependencies = _dependencies_image(project_root / "requirements.lock")
    digest = hashlib.sha256((dependencies + _dockerfile("Dockerfile")).encode())
    for name, path in sorted(_project_files(project_root)):
        digest.update(f"\0{name}\0".encode() + path.read_bytes())
    return f"{MANAGER_REPOSITORY}:dev-{digest.hexdigest()[:12]}"


def _dockerfile(name: str) -> str:
    return (RECIPES / "manager" / name).read_text()


def _project_files(project_root: Path) -> list[tuple[str, Path]]:
    files: list[tuple[str, Path]] = []
    for source, name in PACKAGES.items():
        if (project_root / source).is_dir():
            files += files_below(project_root / source, f"app/{name}")
    return files


def _dependencies_image(lock: Path) -> str:
    """The image of the locked dependencies, by the lock's hash."""
    if not lock.is_file():
        raise EngineError(f"no {lock}", "run this in a clone of the repository")
    recipe = python_image() + _dockerfile("dependencies.Dockerfile")
    digest = hashlib.sha256(lock.read_bytes() + recipe.encode()).hexdigest()[:12]
    return f"{MANAGER_REPOSITORY}-dependencies:{digest}"


def _build_dependencies_image(lock: Path) -> str:
    image = _dependencies_image(lock)
    if docker_cli.image_exists(image):
        return image
    target = cache_dir("tmp") / "dependencies"
    shutil.rmtree(target, ignore_errors=True)
    try:
        _install(lock, target)
        files = files_below(target, "dependencies")
        dockerfile = render(_dockerfile("dependencies.Dockerfile"), {"base": python_image()})
        docker_cli.build(make_context(dockerfile, files), image)
    finally:
        shutil.rmtree(target, ignore_errors=True)
    return image


def _install(lock: Path, target: Path) -> None:
    """Install wheels for the image's Python, whichever Python runs this."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(architecture(), architecture())
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in GLIBC_MINORS]
    options = [f"--platform={name}" for name in [*platforms, f"manylinux2014_{machine}"]]
    run(
        [
            sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
            "--require-hashes", "--no-deps", "--no-compile", "--only-binary=:all:",
            f"--python-version={PYTHON_VERSION}", "--implementation=cp", *options,
            f"--target={target}", "--requirement", str(lock),
        ],
        timeout=600,
        cure="check that the Python package index is reachable",
    )
