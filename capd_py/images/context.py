"""Docker build contexts: a tar with a Dockerfile and the files it copies."""

import re
import tarfile
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path


def render(text: str, values: Mapping[str, str]) -> str:
    """Put values in for their names in double braces; other braces stay."""
    for name, value in values.items():
        text = re.sub(r"\{\{ *" + name + r" *\}\}", value, text)
    return text


def make_context(dockerfile: str, files: Iterable[tuple[str, Path]]) -> bytes:
    """Pack a Dockerfile and files under their names, without times and owners, for the cache."""
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as target:
        add_bytes(target, "Dockerfile", dockerfile.encode())
        for name, path in sorted(files):
            executable = bool(path.stat().st_mode & 0o100)
            add_bytes(target, name, path.read_bytes(), executable)
    return buffer.getvalue()


def files_below(directory: Path, prefix: str) -> list[tuple[str, Path]]:
    """All files below a directory with their names in the context; no caches of Python's."""
    return [
        (f"{prefix}/{path.relative_to(directory)}", path)
        for path in sorted(directory.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]


def add_bytes(
    target: tarfile.TarFile, name: str, data: bytes, executable: bool = False
) -> None:
    """Add a file of root's to a tar."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), 0o755 if executable else 0o644
    target.addfile(entry, BytesIO(data))
