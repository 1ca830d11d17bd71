"""Whether the registry that Docker pulls from can be reached from here."""

from capd_py.engine.process import succeeds

# A registry that takes longer is no help: gigabytes are to come from it.
PROBE_TIMEOUT = 2.5


def registry_answers(image: str, timeout: float = PROBE_TIMEOUT) -> bool:
    """Ask the registry for an image's manifest, which is small."""
    return succeeds(["docker", "manifest", "inspect", image], timeout=timeout)
