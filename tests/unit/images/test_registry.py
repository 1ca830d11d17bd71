"""Pulling: what the engine says decides, and one that says nothing is not waited for."""

import time
from pathlib import Path

import pytest

from capd_py.images.registry import pull

IMAGE = "kindest/node:v1.34.4"


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A docker command, whose script the test writes."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    script = tmp_path / "docker"
    script.touch(mode=0o755)
    return script


def script(text: str) -> str:
    return f"#!/bin/sh\n{text}\n"


def test_an_image_that_comes(docker: Path, tmp_path: Path) -> None:
    docker.write_text(script(f'echo "$@" > {tmp_path}/args; echo "v1: Pulling from x"'))
    said: list[str] = []
    assert pull(IMAGE, said.append)
    assert said == []
    assert (tmp_path / "args").read_text() == f"pull {IMAGE}\n"


def test_a_refusal_is_told_in_one_line(docker: Path) -> None:
    docker.write_text(script("echo 'Trying'; echo 'manifest unknown' >&2; exit 1"))
    said: list[str] = []
    assert not pull(IMAGE, said.append)
    assert said == [f"{IMAGE} cannot be pulled (manifest unknown)"]


def test_a_registry_that_says_nothing_is_given_up(docker: Path) -> None:
    docker.write_text(script("exec sleep 30"))
    said: list[str] = []
    start = time.monotonic()
    assert not pull(IMAGE, said.append, patience=0.3)
    assert time.monotonic() - start < 10
    assert said == [f"{IMAGE} cannot be pulled (no answer in 0 s)"]


def test_layers_may_take_longer_than_the_first_answer(docker: Path) -> None:
    docker.write_text(script("echo 'v1: Pulling from x'; sleep 1; echo done"))
    assert pull(IMAGE, lambda _: None, patience=0.5)


def test_a_pull_without_end_is_ended(docker: Path) -> None:
    docker.write_text(script("echo 'v1: Pulling from x'; exec sleep 30"))
    start = time.monotonic()
    assert not pull(IMAGE, lambda _: None, limit=0.3)
    assert time.monotonic() - start < 10


def test_no_docker_is_no_image(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said: list[str] = []
    assert not pull(IMAGE, said.append)
    assert "No such file" in said[0]
