"""Renders the cloud-init document of a node. Pure.

The order of the modules is part of the contract with simple interpreters: files first, then boot
commands, commands, and the rest.
"""

from dataclasses import dataclass, field
from typing import Any

import yaml

from capi_core.api.meta import JsonObject

HEADER = "## template: jinja\n#cloud-config\n"
SENTINEL = "/run/cluster-api/bootstrap-success.complete"
_INIT_FILE = "/run/kubeadm/kubeadm.yaml"
_JOIN_FILE = "/run/kubeadm/kubeadm-join-config.yaml"
_SENTINEL_DIRECTORY_FILE = "/run/cluster-api/placeholder"


@dataclass(frozen=True, slots=True)
class File:
    """A file to write; ``mode`` is octal digits as a string."""

    path: str
    content: str
    owner: str = "root:root"
    mode: str = "0640"
    encoding: str = ""
    append: bool = False

    def dump(self) -> JsonObject:
        """The write_files item."""
        item: JsonObject = {"path": self.path}
        if self.encoding:
            item["encoding"] = self.encoding
        if self.owner:
            item["owner"] = self.owner
        if self.mode:
            item["permissions"] = self.mode
        if self.append:
            item["append"] = True
        return {**item, "content": self.content}


@dataclass(frozen=True, slots=True)
class NodeData:
    """Everything that a node's document is made of.

    Attributes:
        kubeadm_config: the YAML for ``kubeadm init`` or ``join``.
        join: whether the node joins.
        spec: the KubeadmConfigSpec as JSON, for users, ntp, disks, mounts and commands.
    """

    kubeadm_config: str
    join: bool
    spec: JsonObject
    certificates: list[File] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    passwords: dict[str, str] = field(default_factory=dict)


class _Block(str):
    """Text that is written as a literal block."""


class _Dumper(yaml.SafeDumper):
    """Writes blocks readably and everything else so that YAML 1.1 reads it back the same."""


def _represent_block(dumper: yaml.SafeDumper, value: _Block) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(value), style="|")


_Dumper.add_representer(_Block, _represent_block)


def render(node: NodeData) -> str:
    """The cloud-init user data of ``node``."""
    spec = node.spec
    modules: JsonObject = {"write_files": [_file_item(item) for item in _files(node)]}
    if commands := spec.get("bootCommands"):
        modules["bootcmd"] = commands
    modules["runcmd"] = [
        *(spec.get("preKubeadmCommands") or []),
        kubeadm_command(join=node.join, verbosity=spec.get("verbosity")),
        *(spec.get("postKubeadmCommands") or []),
    ]
    modules |= _optional(node)
    text = yaml.dump(modules, Dumper=_Dumper, sort_keys=False, width=10**9, allow_unicode=True)
    return HEADER + text


def kubeadm_command(*, join: bool, verbosity: int | None) -> str:
    """The command line that makes the node, and marks success."""
    verb, path = ("join", _JOIN_FILE) if join else ("init", _INIT_FILE)
    level = f" --v {verbosity}" if verbosity is not None else ""
    return f"kubeadm {verb} --config {path}{level} && echo success > {SENTINEL}"


def _files(node: NodeData) -> list[File]:
    kubeadm = File(_JOIN_FILE if node.join else _INIT_FILE, node.kubeadm_config)
    placeholder = File(
        _SENTINEL_DIRECTORY_FILE, "This placeholder file is used to create the sentinel directory"
    )
    return [*node.certificates, *node.files, kubeadm, placeholder]


def _file_item(file: File) -> JsonObject:
    item = file.dump()
    # A literal block cannot hold what YAML calls non-printable, nor trailing blanks.
    printable = all(ch.isprintable() or ch in "\n\t" for ch in file.content)
    if "\n" in file.content and printable:
        item["content"] = _Block(file.content)
    return item


def _optional(node: NodeData) -> JsonObject:
    spec, result = node.spec, {}
    if ntp := spec.get("ntp"):
        result["ntp"] = {k: ntp[k] for k in ("enabled", "servers") if k in ntp}
    if users := spec.get("users"):
        result["users"] = [_user(user, node.passwords) for user in users]
    disks: JsonObject = spec.get("diskSetup") or {}
    if partitions := disks.get("partitions"):
        result["disk_setup"] = {item["device"]: _partition(item) for item in partitions}
    if filesystems := disks.get("filesystems"):
        result["fs_setup"] = [_filesystem(item) for item in filesystems]
    if mounts := spec.get("mounts"):
        result["mounts"] = mounts
    return result


def _user(user: JsonObject, passwords: dict[str, str]) -> JsonObject:
    names = {
        "gecos": "gecos",
        "groups": "groups",
        "homeDir": "homedir",
        "inactive": "inactive",
        "lockPassword": "lock_passwd",
        "shell": "shell",
        "primaryGroup": "primary_group",
        "sudo": "sudo",
        "sshAuthorizedKeys": "ssh_authorized_keys",
        "passwd": "passwd",
    }
    result: JsonObject = {"name": user["name"]}
    result |= {theirs: user[ours] for ours, theirs in names.items() if ours in user}
    if user["name"] in passwords:
        result["passwd"] = passwords[user["name"]]
    return result


_PARTITION_TYPES = {
    "Linux": "83",
    "LinuxSwap": "82",
    "LinuxRAID": "fd",
    "LVM": "8e",
    "Fat32": "0c",
    "NTFS": "07",
    "LinuxExtended": "85",
}


def _partition(item: JsonObject) -> JsonObject:
    result: JsonObject = {}
    if table := item.get("tableType"):
        result["table_type"] = table
    layout: Any = item.get("layout", True)
    if parts := item.get("diskLayout"):
        layout = [
            [part["percentage"], _PARTITION_TYPES.get(part["partitionType"], part["partitionType"])]
            if part.get("partitionType")
            else part["percentage"]
            for part in parts
        ]
    result["layout"] = layout
    if "overwrite" in item:
        result["overwrite"] = item["overwrite"]
    return result


def _filesystem(item: JsonObject) -> JsonObject:
    names = {
        "label": "label",
        "filesystem": "filesystem",
        "device": "device",
        "partition": "partition",
        "overwrite": "overwrite",
        "replaceFS": "replace_fs",
        "extraOpts": "extra_opts",
    }
    return {theirs: item[ours] for ours, theirs in names.items() if ours in item}
