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

    device: Annotated[str, Schema("Device or partition.", required=True, length=(1, 256))] = ""
    extra_opts: Annotated[
        list[str],
        Schema(
            "Further options of mkfs.", items=(None, 100), atomic=True, each=Schema(length=(1, 256))
        ),
    ] = Field(default_factory=list)
    filesystem: Annotated[str, Schema("Type, such as ext4.", required=True, length=(1, 128))] = ""
    label: Annotated[str | None, Schema("Label of the file system.", length=(1, 512))] = None
    overwrite: Annotated[bool | None, Schema("Whether an existing file system is overwritten.")] = (
        None
    )
    partition: Annotated[
        str | None, Schema("Which partition: a number, auto, any or none.", length=(1, 128))
    ] = None
    replace_fs: Annotated[
        str | None, Schema("Type of file system that is to be replaced.", length=(1, 128))
    ] = Field(alias="replaceFS", default=None)


class DiskLayoutEntry(Model):
    """A partition's share of the disk."""

    partition_type: Annotated[
        str | None,
        Schema("Name of a type, or a GUID for GPT.", length=(1, 36), rules=(PARTITION_TYPE,)),
    ] = None
    percentage: Annotated[
        int | None, Schema("Share of the disk.", required=True, between=(1, 100))
    ] = None


class Partition(Model):
    """The partition table of a disk."""

    bounds: ClassVar[Schema] = Schema(rules=(LAYOUT_OR_DISK_LAYOUT,))

    device: Annotated[str, Schema("Device.", required=True, length=(1, 256))] = ""
    disk_layout: Annotated[
        list[DiskLayoutEntry], Schema("Partitions in their order.", items=(1, 100), atomic=True)
    ] = Field(default_factory=list)
    layout: Annotated[bool | None, Schema("Whether to make one partition of the whole disk.")] = (
        None
    )
    overwrite: Annotated[bool | None, Schema("Whether an existing table is overwritten.")] = None
    table_type: Annotated[str | None, Schema("Kind of partition table.", enum=("mbr", "gpt"))] = (
        None
    )


class DiskSetup(NonEmpty):
    """Disks to prepare on first boot."""

    filesystems: Annotated[
        list[Filesystem], Schema("File systems to make.", items=(None, 100), atomic=True)
    ] = Field(default_factory=list)
    partitions: Annotated[
        list[Partition], Schema("Disks to partition.", items=(None, 100), atomic=True)
    ] = Field(default_factory=list)


class SecretFileSource(Model):
    """A key of a Secret in the machine's namespace."""

    key: Annotated[str, Schema("Key of the data.", required=True, length=(1, 256))] = ""
    name: Annotated[str, Schema("Name of the Secret.", required=True, length=(1, 253))] = ""


class FileSource(Model):
    """Where a file's content comes from."""

    secret: Annotated[SecretFileSource, Schema("A key of a Secret.", required=True)] = Field(
        default_factory=SecretFileSource
    )


class File(Model):
    """A file to write on first boot."""

    append: Annotated[bool | None, Schema("Whether to append to a file that exists.")] = None
    content: Annotated[str | None, Schema("The content.", length=(1, 10240))] = None
    content_format: Annotated[
        str | None, Schema("Raw, or a template of the provider's.", enum=("Raw", "Template"))
    ] = None
    content_from: Annotated[FileSource | None, Schema("Where the content comes from.")] = None
    encoding: Annotated[
        str | None, Schema("How the content is encoded.", enum=("base64", "gzip", "gzip+base64"))
    ] = None
    owner: Annotated[str | None, Schema("Owner, as user:group.", length=(1, 256))] = None
    path: Annotated[str, Schema("Where to write.", required=True, length=(1, 512))] = ""
    permissions: Annotated[str | None, Schema("Mode, as 0640.", length=(1, 16))] = None


class ContainerLinuxConfig(NonEmpty):
    """Additions to the Ignition configuration."""

    additional_config: Annotated[
        str | None, Schema("Merged into the generated configuration.", length=(1, 32768))
    ] = None
    strict: Annotated[bool | None, Schema("Whether unknown settings are errors.")] = None


class IgnitionSpec(NonEmpty):
    """Settings that only Ignition reads."""

    container_linux_config: Annotated[
        ContainerLinuxConfig, Schema("Additions to the configuration.")
    ] = Field(default_factory=ContainerLinuxConfig)


class NTP(NonEmpty):
    """Time synchronisation."""

    enabled: Annotated[bool | None, Schema("Whether time is synchronised.")] = None
    servers: Annotated[
        list[str],
        Schema("Servers to ask.", items=(None, 100), atomic=True, each=Schema(length=(1, 512))),
    ] = Field(default_factory=list)


class User(Model):
    """A user account of the host."""

    gecos: Annotated[str | None, Schema("Full name and the like.", length=(1, 256))] = None
    groups: Annotated[str | None, Schema("Further groups, comma-separated.", length=(1, 256))] = (
        None
    )
    home_dir: Annotated[str | None, Schema("Home directory.", length=(1, 256))] = None
    inactive: Annotated[bool | None, Schema("Whether the account is locked.")] = None
    lock_password: Annotated[bool | None, Schema("Whether login by password is refused.")] = None
    name: Annotated[str, Schema("Login name.", required=True, length=(1, 256))] = ""
    passwd: Annotated[str | None, Schema("Hashed password.", length=(1, 256))] = None
    passwd_from: Annotated[FileSource | None, Schema("Where the hashed password comes from.")] = (
        None
    )
    primary_group: Annotated[str | None, Schema("Primary group.", length=(1, 256))] = None
    shell: Annotated[str | None, Schema("Login shell.", length=(1, 256))] = None
    ssh_authorized_keys: Annotated[
        list[str],
        Schema(
            "Public keys that may log in.",
            items=(None, 100),
            atomic=True,
            each=Schema(length=(1, 2048)),
        ),
    ] = Field(default_factory=list)
    sudo: Annotated[str | None, Schema("Rule for sudo.", length=(1, 256))] = None
