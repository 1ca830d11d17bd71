"""OCI image archives written without an engine, for preloading into a node's containerd."""

import hashlib
import json
import os
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO

from capd_py.engine.errors import EngineError

LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+zstd"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
PATH = "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Unpacks several times faster than gzip, which is what a first start of a pod waits for.
COMPRESS = ("zstd", "-q", "-10", "-T0", "-c")


@dataclass(frozen=True)
class Layer:
    """A compressed layer and both of its digests."""

    blob: bytes
    digest: str
    diff_id: str


@dataclass(frozen=True)
class ImageSpec:
    """One image of an archive.

    Attributes:
        name: Its full reference, as containerd is to know it.
        layers: Lowest first. Images that share their first layers share them in the store too.
        entrypoint: Its program; empty where every user names one.
        env: Variables besides PATH.
    """

    name: str
    layers: Sequence[Layer]
    entrypoint: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])


def digest_of(data: bytes) -> str:
    """A digest as OCI writes it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def pack_files(files: Mapping[str, Path], links: Mapping[str, str]) -> bytes:
    """A tar of executable files and symbolic links, the same bytes for the same content."""
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for directory in sorted({d for name in [*files, *links] for d in _parents(name)}):
            entry = tarfile.TarInfo(directory)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        for name, path in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = path.stat().st_size, 0o755
            with path.open("rb") as source:
                archive.addfile(entry, source)
        for name, target in links.items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, target, 0o777
            archive.addfile(entry)
    return buffer.getvalue()


def _parents(name: str) -> list[str]:
    parts = name.split("/")[:-1]
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]


def compress(tar: bytes) -> Layer:
    """Make a layer of a tar.

    Raises:
        EngineError: zstd is missing or failed.
    """
    try:
        blob = subprocess.run(COMPRESS, input=tar, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise EngineError(f"zstd: {error}", "sudo apt-get install -y zstd") from error
    return Layer(blob, digest_of(blob), digest_of(tar))


def architecture() -> str:
    """This machine's, in Go's words."""
    machine = os.uname().machine
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)


def write_archive(target: IO[bytes], images: Sequence[ImageSpec]) -> None:
    """Write images as an OCI layout in a tar, each blob once."""
    blobs: dict[str, bytes] = {}
    index: list[dict[str, object]] = []
    for image in images:
        for layer in image.layers:
            blobs[layer.digest] = layer.blob
        config = json.dumps(_config(image)).encode()
        manifest = json.dumps(_manifest(image, config)).encode()
        blobs[digest_of(config)], blobs[digest_of(manifest)] = config, manifest
        index.append({
            **_descriptor(MANIFEST_TYPE, manifest),
            "annotations": {"io.containerd.image.name": image.name},
        })
    with tarfile.open(fileobj=target, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        _add(archive, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        top = {"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": index}
        _add(archive, "index.json", json.dumps(top).encode())
        for digest, blob in blobs.items():
            _add(archive, f"blobs/{digest.replace(':', '/')}", blob)


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), 0o644
    archive.addfile(entry, BytesIO(data))


def _descriptor(media_type: str, data: bytes) -> dict[str, object]:
    return {"mediaType": media_type, "digest": digest_of(data), "size": len(data)}


def _config(image: ImageSpec) -> dict[str, object]:
    settings: dict[str, object] = {
        "Env": [PATH, *(f"{key}={value}" for key, value in image.env.items())],
        "WorkingDir": "/",
    }
    if image.entrypoint:
        settings["Entrypoint"] = list(image.entrypoint)
    return {
        "architecture": architecture(),
        "os": "linux",
        "config": settings,
        "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in image.layers]},
    }


def _manifest(image: ImageSpec, config: bytes) -> dict[str, object]:
    layers = [
        {"mediaType": LAYER_TYPE, "digest": layer.digest, "size": len(layer.blob)}
        for layer in image.layers
    ]
    return {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "config": _descriptor(CONFIG_TYPE, config),
        "layers": layers,
    }
