"""Reads cloud-init user data: files, commands, and what a container cannot do. Pure."""

import base64
import binascii
import gzip
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from capi_core.runtime.errors import Terminal

_ACTED_ON = ("bootcmd", "write_files", "runcmd")
_BASE64 = {"b64", "base64"}
_GZIP = {"gz", "gzip"}
_GZIP_BASE64 = {f"{z}+{b}" for z in _GZIP for b in _BASE64}
_METADATA = re.compile(r"\{\{\s*(?:ds\.meta_data|v1)\.(\w+)\s*\}\}")


class InvalidUserData(Terminal):
    """The bootstrap data is not what it says it is; the message has the path of the field."""


@dataclass(frozen=True, slots=True)
class WriteFile:
    """An item of write_files, decoded.

    Attributes:
        owner: ``user:group``.
        mode: permission bits.
    """

    path: str
    content: bytes
    owner: str = "root:root"
    mode: int = 0o644
    append: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A command: a line for the shell, or words taken as they are."""

    line: str = ""
    words: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """How it is named in a condition."""
        return self.line or " ".join(self.words)


@dataclass(frozen=True, slots=True)
class Document:
    """User data by what is done with it.

    Attributes:
        unsupported: modules that mean something only on a real machine, in file order.
    """

    boot_commands: list[Command] = field(default_factory=list)
    files: list[WriteFile] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)


def parse(text: str, metadata: Mapping[str, str]) -> Document:
    """Read user data.

    Args:
        metadata: what ``{{ ds.meta_data.NAME }}`` stands for in a document marked as a template.

    Raises:
        InvalidUserData: it is malformed.
    """
    if text.startswith("## template: jinja"):
        # Only the instance's facts: shell text is full of what a template engine would trip over.
        text = _METADATA.sub(lambda m: metadata.get(m[1], m[0]), text)
    if not re.search(r"^#cloud-config\s*$", text, re.MULTILINE):
        raise InvalidUserData("the bootstrap data is not cloud-init: no line says #cloud-config")
    try:
        data: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidUserData(f"the bootstrap data is not YAML: {_where(error)}") from error
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise InvalidUserData("the bootstrap data is not a YAML mapping")
    return Document(
        boot_commands=_commands(data.get("bootcmd"), "bootcmd"),
        files=[_file(item, f"write_files[{n}]") for n, item in _items(data, "write_files")],
        commands=_commands(data.get("runcmd"), "runcmd"),
        unsupported=[str(key) for key in data if key not in _ACTED_ON],
    )


def _where(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    # The text around the mark may be a secret: only its place is told.
    place = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return f"{getattr(error, 'problem', None) or 'malformed'}{place}"


def _items(data: dict[str, Any], key: str) -> list[tuple[int, Any]]:
    value = data.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidUserData(f"{key}: must be a list")
    return list(enumerate(value))


def _commands(value: Any, path: str) -> list[Command]:
    commands: list[Command] = []
    for number, item in _items({path: value}, path):
        if item is None:
            continue
        if isinstance(item, str):
            commands.append(Command(line=item))
        elif isinstance(item, list) and item and all(isinstance(w, str | int) for w in item):
            commands.append(Command(words=tuple(str(word) for word in item)))
        else:
            raise InvalidUserData(f"{path}[{number}]: must be a string or a list of strings")
    return commands


def _file(item: Any, path: str) -> WriteFile:
    if not isinstance(item, dict) or not isinstance(item.get("path"), str):
        raise InvalidUserData(f"{path}.path: is missing")
    if not item["path"].startswith("/") or ".." in item["path"].split("/"):
        raise InvalidUserData(f"{path}.path: must be absolute")
    if item["path"].endswith("/"):
        raise InvalidUserData(f"{path}.path: must name a file")
    encoding = str(item.get("encoding") or "").lower()
    return WriteFile(
        path=item["path"],
        content=_decode(item.get("content") or "", encoding, path),
        owner=str(item.get("owner") or "root:root"),
        mode=_mode(item.get("permissions"), path),
        append=bool(item.get("append")),
    )


def _decode(content: Any, encoding: str, path: str) -> bytes:
    raw = content if isinstance(content, bytes) else str(content).encode()
    try:
        if encoding in _BASE64 | _GZIP_BASE64:
            raw = base64.b64decode(b"".join(raw.split()), validate=True)
        if encoding in _GZIP | _GZIP_BASE64:
            raw = gzip.decompress(raw)
    except (binascii.Error, ValueError) as error:
        raise InvalidUserData(f"{path}.content: is not {encoding}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidUserData(f"{path}.content: is not {encoding}") from error
    if encoding not in {"", "text/plain"} | _BASE64 | _GZIP | _GZIP_BASE64:
        raise InvalidUserData(f"{path}.encoding: {encoding} is not known")
    return raw


def _mode(value: Any, path: str) -> int:
    if value is None or value == "":
        return 0o644
    try:
        # YAML has read a bare 0644 as an octal number already.
        mode = value if isinstance(value, int) else int(str(value), 8)
    except ValueError as error:
        raise InvalidUserData(f"{path}.permissions: {value} is not an octal number") from error
    if not 0 <= mode <= 0o7777:
        raise InvalidUserData(f"{path}.permissions: {value} is out of range")
    return mode
