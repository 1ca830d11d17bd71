"""What a machine needs before a cluster can run on it: a Docker engine, kind, kubectl, room."""

from capd_py.engine.daemon import Engine, ensure_engine, find_engine
from capd_py.engine.errors import EngineError
from capd_py.engine.preflight import Finding, Severity, preflight
from capd_py.engine.tools import KIND_VERSION, ensure_kind, ensure_kubectl, find_kubectl

__all__ = [
    "KIND_VERSION",
    "Engine",
    "EngineError",
    "Finding",
    "Severity",
    "ensure_engine",
    "ensure_kind",
    "ensure_kubectl",
    "find_engine",
    "find_kubectl",
    "preflight",
]
