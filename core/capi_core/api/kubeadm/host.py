"""What the host is given on its first boot: files, users, disks, time."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.meta import Model, NonEmpty
from capi_core.api.schema import Rule, Schema

PARTITION_TYPE = Rule(
    "self in ['Linux', 'LinuxSwap', 'LinuxRAID', 'LVM', 'Fat32', 'NTFS', 'LinuxExtended'] || "
    "self.matches('^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$')",
    "must be a known partition type or a GUID",
)
LAYOUT_OR_DISK_LAYOUT = Rule(
    "has(self.layout) != has(self.diskLayout)", "exactly one of layout and diskLayout must be set"
)


class Filesystem(Model):
    """A file system to make."""

    device: Annotated[str, Schema(required=True, length=(1, 256))] = ""
    extra_opts: Annotated[
        list[str], Schema(items=(None, 100), atomic=True, each=Schema(length=(1, 256)))
    ] = Field(default_factory=list)
    filesystem: Annotated[str, Schema(required=True, length=(1, 128))] = ""
    label: Annotated[str | None, Schema(length=(1, 512))] = None
    overwrite: bool | None = None
    partition: Annotated[str | None, Schema(length=(1, 128))] = None
    replace_fs: Annotated[str | None, Schema(length=(1, 128))] = Field(
        alias="replaceFS", default=None
    )


class DiskLayoutEntry(Model):
    """A partition's share of the disk."""

    partition_type: Annotated[str | None, Schema(length=(1, 36), rules=(PARTITION_TYPE,))] = None
    percentage: Annotated[int | None, Schema(required=True, between=(1, 100))] = None


class Partition(Model):
    """The partition table of a disk."""

    bounds: ClassVar[Schema] = Schema(rules=(LAYOUT_OR_DISK_LAYOUT,))

    device: Annotated[str, Schema(required=True, length=(1, 256))] = ""
    disk_layout: Annotated[list[DiskLayoutEntry], Schema(items=(1, 100), atomic=True)] = Field(
        default_factory=list
    )
    layout: bool | None = None
    overwrite: bool | None = None
    table_type: Annotated[str | None, Schema(enum=("mbr", "gpt"))] = None


class DiskSetup(NonEmpty):
    """Disks to prepare on first boot."""

    filesystems: Annotated[list[Filesystem], Schema(items=(None, 100), atomic=True)] = Field(
        default_factory=list
    )
    partitions: Annotated[list[Partition], Schema(items=(None, 100), atomic=True)] = Field(
        default_factory=list
    )


class SecretFileSource(Model):
    """A key of a Secret in the machine's namespace."""

    key: Annotated[str, Schema(required=True, length=(1, 256))] = ""
    name: Annotated[str, Schema(required=True, length=(1, 253))] = ""


class FileSource(Model):
    """Where a file's content comes from."""

    secret: Annotated[SecretFileSource, Schema(required=True)] = Field(
        default_factory=SecretFileSource
    )


class File(Model):
    """A file to write on first boot."""

    append: bool | None = None
    content: Annotated[str | None, Schema(length=(1, 10240))] = None
    content_format: Annotated[str | None, Schema(enum=("Raw", "Template"))] = None
    content_from: FileSource | None = None
    encoding: Annotated[str | None, Schema(enum=("base64", "gzip", "gzip+base64"))] = None
    owner: Annotated[str | None, Schema(length=(1, 256))] = None
    path: Annotated[str, Schema(required=True, length=(1, 512))] = ""
    permissions: Annotated[str | None, Schema(length=(1, 16))] = None


class ContainerLinuxConfig(NonEmpty):
    """Additions to the Ignition configuration."""

    additional_config: Annotated[str | None, Schema(length=(1, 32768))] = None
    strict: bool | None = None


class IgnitionSpec(NonEmpty):
    """Settings that only Ignition reads."""

    container_linux_config: ContainerLinuxConfig = Field(default_factory=ContainerLinuxConfig)


class NTP(NonEmpty):
    """Time synchronisation."""

    enabled: bool | None = None
    servers: Annotated[
        list[str], Schema(items=(None, 100), atomic=True, each=Schema(length=(1, 512)))
    ] = Field(default_factory=list)


class User(Model):
    """A user account of the host."""

    gecos: Annotated[str | None, Schema(length=(1, 256))] = None
    groups: Annotated[str | None, Schema(length=(1, 256))] = None
    home_dir: Annotated[str | None, Schema(length=(1, 256))] = None
    inactive: bool | None = None
    lock_password: bool | None = None
    name: Annotated[str, Schema(required=True, length=(1, 256))] = ""
    passwd: Annotated[str | None, Schema(length=(1, 256))] = None
    passwd_from: FileSource | None = None
    primary_group: Annotated[str | None, Schema(length=(1, 256))] = None
    shell: Annotated[str | None, Schema(length=(1, 256))] = None
    ssh_authorized_keys: Annotated[
        list[str], Schema(items=(None, 100), atomic=True, each=Schema(length=(1, 2048)))
    ] = Field(default_factory=list)
    sudo: Annotated[str | None, Schema(length=(1, 256))] = None
