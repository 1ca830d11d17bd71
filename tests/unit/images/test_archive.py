"""Archives: what a container runtime reads of them, and that the same goes in as comes out."""

import hashlib
import json
import shutil
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from capd_py.engine import EngineError
from capd_py.images import archive

PROGRAM = b"a program"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A file whose own mode and time do not matter."""
    path = tmp_path / "program"
    path.write_bytes(PROGRAM)
    return path


def unpack(blob: bytes) -> bytes:
    return subprocess.run(["zstd", "-dcq"], input=blob, capture_output=True, check=True).stdout


def members(tar: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=BytesIO(tar)) as opened:
        return {entry.name: entry for entry in opened.getmembers()}


def read(tar: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=BytesIO(tar)) as opened:
        files = {entry.name: opened.extractfile(entry) for entry in opened.getmembers()}
        return {name: file.read() for name, file in files.items() if file is not None}


def test_files_links_and_their_directories(program: Path) -> None:
    links = {"usr/bin/other": "program"}
    packed = archive.pack_files({"usr/bin/program": program}, links)
    entries = members(packed)
    assert list(entries) == ["usr", "usr/bin", "usr/bin/program", "usr/bin/other"]
    assert entries["usr/bin"].isdir()
    assert entries["usr/bin/program"].mode == 0o755
    assert entries["usr/bin/other"].linkname == "program"
    assert read(packed)["usr/bin/program"] == PROGRAM
    program.touch()
    program.chmod(0o600)
    assert archive.pack_files({"usr/bin/program": program}, links) == packed


@pytest.mark.skipif(shutil.which("zstd") is None, reason="zstd comes with the first image build")
def test_an_image_is_found_by_its_digests(program: Path) -> None:
    tar = archive.pack_files({"bin/program": program}, {})
    shared = archive.compress(tar)
    images = [
        archive.ImageSpec("registry.test/a:1", [shared], ["/bin/program"], {"KEY": "value"}),
        archive.ImageSpec("registry.test/b:1", [shared, archive.compress(b"")]),
    ]
    target = BytesIO()
    archive.write_archive(target, images)
    files = read(target.getvalue())

    def blob(descriptor: dict[str, Any]) -> bytes:
        algorithm, _, digest = descriptor["digest"].partition(":")
        content = files[f"blobs/{algorithm}/{digest}"]
        assert hashlib.sha256(content).hexdigest() == digest
        assert len(content) == descriptor["size"]
        return content

    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    index = json.loads(files["index.json"])["manifests"]
    names = [item["annotations"]["io.containerd.image.name"] for item in index]
    assert names == ["registry.test/a:1", "registry.test/b:1"]
    first, second = (json.loads(blob(item)) for item in index)
    config = json.loads(blob(first["config"]))
    assert config["config"]["Entrypoint"] == ["/bin/program"]
    assert "KEY=value" in config["config"]["Env"]
    assert "Entrypoint" not in json.loads(blob(second["config"]))["config"]
    assert unpack(blob(first["layers"][0])) == tar
    diff_id = f"sha256:{hashlib.sha256(tar).hexdigest()}"
    assert config["rootfs"]["diff_ids"] == [diff_id]
    assert second["layers"][0] == first["layers"][0]
    # Two layers, two configurations, two manifests: what is shared is there once.
    assert sum(name.startswith("blobs/") for name in files) == 6
    assert len(members(target.getvalue())) == len(files)


def test_a_missing_compressor_is_told_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "COMPRESS", ("no-such-program",))
    with pytest.raises(EngineError, match="cure: sudo apt-get install -y zstd"):
        archive.compress(b"")
