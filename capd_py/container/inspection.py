"""The engine's own JSON: what it says of a container, and what a machine asks of it. Pure."""

from typing import Any

from capd_py.container.runtime import Container

_MODULES = "/lib/modules:/lib/modules:ro"
# These storage drivers need the host's devices inside of a node.
_MAPPER_DRIVERS, _MAPPER = ("btrfs", "zfs"), "/dev/mapper:/dev/mapper:ro"


def read_container(info: dict[str, Any]) -> Container:
    """A container from its inspection."""
    state, networks = info["State"], info["NetworkSettings"]["Networks"] or {}
    addresses = [n.get("IPAddress") for n in networks.values()]
    addresses += [n.get("GlobalIPv6Address") for n in networks.values()]
    ports: dict[int, int] = {}
    for port, bindings in (info["HostConfig"].get("PortBindings") or {}).items():
        for binding in bindings or []:
            if binding.get("HostPort"):
                ports[int(port.split("/")[0])] = int(binding["HostPort"])
    limits = info["HostConfig"].get("Ulimits") or []
    return Container(
        id=info["Id"],
        name=info["Name"].lstrip("/"),
        image=info["Config"]["Image"],
        labels=info["Config"]["Labels"] or {},
        running=bool(state["Running"]),
        addresses=tuple(a for a in addresses if a) if state["Running"] else (),
        ports=ports,
        open_files=next((u["Soft"] for u in limits if u["Name"] == "nofile"), None),
        exit_code=state.get("ExitCode") or 0,
        started_at=state.get("StartedAt") or "",
    )


def machine_binds(engine: dict[str, Any]) -> list[str]:
    """Host paths that every machine sees, from the engine's info."""
    return [_MODULES, *([_MAPPER] if engine.get("Driver") in _MAPPER_DRIVERS else [])]


def machine_options(engine: dict[str, Any]) -> dict[str, Any]:
    """Options of a container with an init and all privileges, from the engine's info."""
    options: dict[str, Any] = {
        "privileged": True,
        "security_opt": ["seccomp=unconfined", "apparmor=unconfined"],
        "init": False,
        "tmpfs": {"/tmp": "", "/run": ""},
        "cgroupns": "private",
    }
    security = " ".join(engine.get("SecurityOptions") or [])
    if "name=userns" in security:
        options["userns_mode"] = "host"
    if "name=rootless" in security:
        options["devices"] = ["/dev/fuse:/dev/fuse:rwm"]
    return options
