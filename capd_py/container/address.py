"""Addresses and ports that stay: chosen here, because what an engine chooses changes on restart."""

import ipaddress
import secrets
from collections.abc import Collection

Network = ipaddress.IPv4Network


def dynamic_range(subnet: Network) -> Network:
    """The lower half of ``subnet``: what the engine may hand out on its own."""
    return next(iter(subnet.subnets(prefixlen_diff=1)))


def choose_address(subnet: Network, used: Collection[str], avoid: Collection[str] = ()) -> str:
    """A free address in the upper half of ``subnet``.

    Raises:
        ValueError: all are taken.
    """
    upper = list(subnet.subnets(prefixlen_diff=1))[1]
    taken = {ipaddress.ip_address(a) for a in (*used, *avoid)}
    first, last = int(upper.network_address), int(upper.broadcast_address) - 1
    start = secrets.randbelow(last - first + 1)
    # A random start keeps two managers that choose at once apart.
    for offset in range(last - first + 1):
        address = ipaddress.ip_address(first + (start + offset) % (last - first + 1))
        if address not in taken:
            return str(address)
    raise ValueError(f"no free address in {upper}")


def contains(subnet: Network, address: str) -> bool:
    """Whether ``address`` is one of ``subnet``; what is none of version 4 never is."""
    return is_address(address) and ipaddress.ip_address(address) in subnet


def is_address(host: str) -> bool:
    """Whether ``host`` is an address and no name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def choose_port() -> int:
    """A host port below those that systems give to clients, so it is still free after a reboot."""
    return 20000 + secrets.randbelow(12000)
