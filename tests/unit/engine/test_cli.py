"""The commands about images and the engine: what they print and how they end."""

import sys
from typing import Any

import pytest
from typer.testing import CliRunner

from capd_py import cli
from capd_py.engine import Engine, EngineError, Finding, Severity
from capd_py.images import Images
from capd_py.images.listing import Listed

OK = Finding("docker engine", Severity.OK, "26.1.5")
LOW = Finding("open files", Severity.WARNING, "9", "ulimit -n 16384")
# Longer than a terminal is wide, with what rich would take for markup.
COMMAND = "sudo sysctl -w fs.inotify.max_user_instances=512"
BAD = Finding("inotify instances", Severity.ERROR, "[red] is " + "low " * 30, COMMAND)


@pytest.mark.parametrize(("findings", "code"), [([OK, LOW], 0), ([OK, LOW, BAD], 1)])
def test_the_preflight_fails_by_an_error_only(
    monkeypatch: pytest.MonkeyPatch, findings: list[Finding], code: int
) -> None:
    monkeypatch.setattr(cli, "preflight", lambda: findings)
    result = CliRunner(env={"COLUMNS": "80"}).invoke(cli.app, ["preflight"])
    assert result.exit_code == code
    lines = [line.strip() for line in result.output.splitlines()]
    assert LOW.cure in lines
    # In one line, to be copied.
    assert (COMMAND in lines) == (code == 1)
    assert ("[red] is low" in result.output) == (code == 1)


def test_a_known_failure_is_a_message_and_its_cure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> None:
        raise EngineError("no [docker] engine answers", "sudo systemctl start docker")

    monkeypatch.setattr(cli, "ensure_engine", fail)
    monkeypatch.setattr(sys, "argv", ["capd", "engine", "ensure"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "no [docker] engine answers\n  cure: sudo systemctl start docker\n"


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ([], {"from_source": False, "node_only": False, "managers": True}),
        (["--no-manager"], {"from_source": False, "node_only": False, "managers": False}),
        (["--from-source"], {"from_source": True, "node_only": False, "managers": True}),
        (["--node-only"], {"from_source": False, "node_only": True, "managers": True}),
    ],
)
def test_image_build_asks_for_what_it_was_told(
    monkeypatch: pytest.MonkeyPatch, options: list[str], asked: dict[str, bool]
) -> None:
    calls: list[dict[str, Any]] = []

    def ensure(version: str, **options: Any) -> Images:
        calls.append({"version": version, **options})
        return Images("kindest/node:v1.35.4", "", "")

    monkeypatch.setattr(cli, "ensure_engine", lambda say: Engine("26", False, "2", "/"))
    monkeypatch.setattr("capd_py.images.ensure_images", ensure)
    arguments = ["image", "build", "--kubernetes-version", "v1.35.4", *options]
    result = CliRunner().invoke(cli.app, arguments)
    assert result.exit_code == 0
    assert result.output == "kindest/node:v1.35.4\n"
    (call,) = calls
    assert call["version"] == "v1.35.4"
    assert (call["project_root"] is not None) == asked.pop("managers")
    assert {key: call[key] for key in asked} == asked


def test_image_list_names_each_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [Listed("kindest/node:v1.34.4", 513.4, "built")]
    monkeypatch.setattr("capd_py.images.listing.list_images", lambda root: listed)
    result = CliRunner().invoke(cli.app, ["image", "list"])
    assert result.exit_code == 0
    assert all(word in result.output for word in ("kindest/node:v1.34.4", "513", "built"))
