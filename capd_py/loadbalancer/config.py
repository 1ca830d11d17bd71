"""HAProxy's configuration for a cluster. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jinja2
import jinja2.sandbox

from capi_core.runtime.errors import CapiError

API_PORT = 6443
STATS_PORT = 8404
WEIGHT = 100
# The engine's default may be a million, and HAProxy sets memory aside for each.
OPEN_FILES = 16384
_FILES_WITHOUT_LIMIT = 4096
_RESERVED_FILES = 200

_TEMPLATE = """\
global
  log stdout format raw local0 notice
  maxconn {{ maxconn }}

defaults
  mode tcp
  log global
  timeout connect 5s
  timeout client 50s
  timeout server 50s
  timeout tunnel 1h
  timeout check 2s
  default-server check-ssl verify none inter 1s fastinter 200ms downinter 200ms rise 1 fall 3

frontend stats
  mode http
  bind *:{{ stats_port }}
  stats enable
  stats uri /

frontend control-plane
  bind *:{{ frontend_port }}
{%- if ipv6 %}
  bind :::{{ frontend_port }}
{%- endif %}
  default_backend kube-apiservers

backend kube-apiservers
  option httpchk GET /healthz
{%- for server in servers %}
  server {{ server.name }} {{ server.target }} weight {{ server.weight }} check
{%- endfor %}
"""


_ACTION = re.compile(r"\{\{(-?)(.*?)(-?)\}\}", re.DOTALL)
_RANGE = re.compile(r"range\s+\$(\w+)\s*,\s*\$(\w+)\s*:=\s*(\S+)")
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
# Nothing of HAProxy's own syntax may look like a template's.
_DELIMITERS = {
    "block_start_string": "\x01",
    "block_end_string": "\x02",
    "variable_start_string": "\x03",
    "variable_end_string": "\x04",
    "comment_start_string": "\x05",
    "comment_end_string": "\x06",
}


class InvalidTemplate(CapiError):
    """The user's HAProxy template cannot be rendered."""


@dataclass(frozen=True, slots=True)
class Backend:
    """An API server.

    Attributes:
        weight: 0 takes no new connections, which is how a Machine on its way out is spared.
    """

    name: str
    address: str
    weight: int = WEIGHT

    @property
    def target(self) -> str:
        """Address and port."""
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{host}:{API_PORT}"


def max_connections(open_files: int | None) -> int:
    """How many connections the limit of open files allows; each takes two."""
    return ((open_files or _FILES_WITHOUT_LIMIT) - _RESERVED_FILES) // 2


def render(
    backends: Sequence[Backend],
    *,
    port: int = API_PORT,
    open_files: int | None = OPEN_FILES,
    ipv6: bool = False,
) -> str:
    """The configuration that listens on ``port`` and spreads over ``backends``."""
    environment = jinja2.Environment(autoescape=False, keep_trailing_newline=True)
    return environment.from_string(_TEMPLATE).render(
        maxconn=max_connections(open_files),
        stats_port=STATS_PORT,
        frontend_port=port,
        servers=sorted(backends, key=lambda b: b.name),
        ipv6=ipv6,
    )


def render_custom(
    text: str, backends: Sequence[Backend], *, port: int = API_PORT, ipv6: bool = False
) -> str:
    """The user's Go template, of which the parts that load balancer templates use are understood.

    Raises:
        InvalidTemplate: it uses something else, or is malformed.
    """
    servers: Mapping[str, Mapping[str, object]] = {
        b.name: {"Address": b.address, "Weight": b.weight}
        for b in sorted(backends, key=lambda b: b.name)
    }
    environment = jinja2.sandbox.SandboxedEnvironment(
        autoescape=False,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        **_DELIMITERS,
    )
    try:
        return environment.from_string(_from_go(text)).render(
            FrontendControlPlanePort=str(port),
            BackendControlPlanePort=str(API_PORT),
            BackendServers=servers,
            IPv6=ipv6,
            JoinHostPort=_join_host_port,
        )
    except (jinja2.TemplateError, TypeError, ValueError) as error:
        raise InvalidTemplate(f"the HAProxy template cannot be rendered: {error}") from error


def _join_host_port(host: str, port: object) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _from_go(text: str) -> str:
    """Go's template actions as Jinja's.

    Raises:
        InvalidTemplate: an action is none of range, if, else, end, a field or a call.
    """
    ends: list[str] = []

    def action(match: re.Match[str]) -> str:
        left, body, right = match[1], match[2].strip(), match[3]
        if loop := _RANGE.fullmatch(body):
            ends.append("endfor")
            inner = f"for {loop[1]}, {loop[2]} in {_value(loop[3])}.items()"
        elif body.startswith("if "):
            ends.append("endif")
            inner = f"if {_value(body[3:])}"
        elif body == "else":
            inner = "else"
        elif body == "end" and ends:
            inner = ends.pop()
        elif body.startswith("/*"):
            return ""
        else:
            return f"\x03{left} {_value(body)} {right}\x04"
        return f"\x01{left} {inner} {right}\x02"

    return _ACTION.sub(action, text)


def _value(body: str) -> str:
    """A field, a variable, or a call with such arguments."""
    words = [word.lstrip("$.") for word in body.split()]
    if not words or not all(_NAME.fullmatch(word) for word in words):
        raise InvalidTemplate(f"the HAProxy template uses {{{{ {body} }}}}, which is not supported")
    return words[0] if len(words) == 1 else f"{words[0]}({', '.join(words[1:])})"
