"""Where things are kept between runs: the user's cache directory."""

import os
import tempfile
from pathlib import Path

import platformdirs


def cache_dir(*parts: str) -> Path:
    """A directory under the user's cache, made when missing. CAPD_CACHE_DIR overrides its root."""
    root = os.environ.get("CAPD_CACHE_DIR") or platformdirs.user_cache_dir("capd-py")
    directory = Path(root).joinpath(*parts)
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def write_whole(path: Path, text: str) -> None:
    """Write a file so that nobody, after a crash either, finds half of it."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(text)
    os.replace(file.name, path)
