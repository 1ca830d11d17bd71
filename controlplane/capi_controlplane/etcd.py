"""Reads the members of a workload cluster's etcd through its JSON gateway.

The managers reach etcd at the Node's address with a client certificate signed by the etcd CA.
"""

import asyncio
from dataclasses import dataclass

import aiohttp
import orjson

from capi_core.contract.secrets import KeyPair, make_client_certificate
from capi_core.runtime.access import Access
from capi_core.runtime.errors import CapiError

_PORT = 2379
_DIAL_SECONDS, _CALL_SECONDS = 3.0, 5.0
_DAYS = 30


class EtcdUnreachable(CapiError):
    """No etcd member answered."""


@dataclass(frozen=True, slots=True)
class Member:
    """One etcd member; a member that has not joined yet has no name."""

    id: str
    name: str
    learner: bool


@dataclass(frozen=True, slots=True)
class MemberList:
    """etcd's members and the alarms raised, as ``(member id, alarm)``."""

    members: tuple[Member, ...]
    alarms: tuple[tuple[str, str], ...] = ()

    def by_name(self, name: str) -> Member | None:
        """The member of a Node."""
        return next((m for m in self.members if m.name == name), None)

    def alarms_of(self, member: Member) -> list[str]:
        """The alarms of one member."""
        return [alarm for owner, alarm in self.alarms if owner == member.id]


async def client_access(ca: KeyPair, address: str) -> Access:
    """How to authenticate to the etcd at ``address``."""
    pair = await asyncio.to_thread(
        make_client_certificate, ca, common_name="cluster-api.x-k8s.io", days=_DAYS
    )
    host = f"[{address}]" if ":" in address else address
    return Access(
        server=f"https://{host}:{_PORT}",
        ca=ca.certificate.decode(),
        client_certificate=pair.certificate.decode(),
        client_key=pair.key.decode(),
    )


async def list_members(access: Access) -> MemberList:
    """Ask one member for all.

    Raises:
        EtcdUnreachable: it does not answer.
    """
    timeout = aiohttp.ClientTimeout(total=_CALL_SECONDS, connect=_DIAL_SECONDS)
    try:
        connector = aiohttp.TCPConnector(ssl=access.ssl_context())
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
            members = await _call(session, f"{access.server}/v3/cluster/member/list", {})
            alarms = await _call(
                session, f"{access.server}/v3/maintenance/alarm", {"action": "GET"}
            )
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise EtcdUnreachable(f"etcd at {access.server} does not answer: {error}") from error
    return MemberList(
        tuple(
            Member(str(m["ID"]), m.get("name", ""), bool(m.get("isLearner")))
            for m in members.get("members") or []
        ),
        tuple(
            (str(a.get("memberID", "")), str(a.get("alarm", "")))
            for a in alarms.get("alarms") or []
        ),
    )


async def _call(session: aiohttp.ClientSession, url: str, body: dict[str, str]) -> dict[str, list]:
    async with session.post(url, data=orjson.dumps(body)) as response:
        response.raise_for_status()
        return orjson.loads(await response.read())
