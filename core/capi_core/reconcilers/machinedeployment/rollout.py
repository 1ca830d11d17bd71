"""Rollout arithmetic: how many replicas each MachineSet should have next. Pure.

Invariants, whatever happens to the Machines: the sum never exceeds replicas + maxSurge, available
Machines are never taken below replicas - maxUnavailable, and repeated application ends.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SetState:
    """One MachineSet as the arithmetic sees it.

    Attributes:
        spec: the replicas asked for.
        status: the Machines that exist.
        available: those that are available.
    """

    name: str
    spec: int
    status: int
    available: int

    @property
    def certain(self) -> int:
        """The available Machines that are left when those on their way out are all available."""
        return max(self.available - max(self.status - self.spec, 0), 0)


def resolve(value: int | str, replicas: int, *, round_up: bool) -> int:
    """A number or percentage of ``replicas`` as a number."""
    if isinstance(value, int):
        return value
    share = int(value.rstrip("%")) * replicas / 100
    return math.ceil(share) if round_up else math.floor(share)


def fenceposts(max_surge: int | str, max_unavailable: int | str, replicas: int) -> tuple[int, int]:
    """maxSurge and maxUnavailable as numbers; never both 0, or nothing could move."""
    surge = resolve(max_surge, replicas, round_up=True)
    unavailable = min(resolve(max_unavailable, replicas, round_up=False), replicas)
    return (surge, 1) if surge == 0 and unavailable == 0 else (surge, unavailable)


def scale_up_new(new: SetState, old: Sequence[SetState], replicas: int, surge: int) -> int:
    """The next size of the new MachineSet."""
    if new.spec >= replicas:
        return replicas
    total = sum(max(s.spec, s.status) for s in (new, *old))
    room = replicas + surge - total
    return min(new.spec + max(room, 0), replicas)


def scale_down_old(
    new: SetState, old: Sequence[SetState], replicas: int, unavailable: int
) -> dict[str, int]:
    """The next sizes of the old MachineSets, oldest first in ``old``."""
    sizes = {s.name: s.spec for s in old}
    pending = sum(max(s.status - s.spec, 0) for s in (new, *old))
    total = sum(max(s.spec, s.status) for s in (new, *old))
    budget = total - pending - (replicas - unavailable) - max(new.spec - new.available, 0)
    spare = sum(s.certain for s in (new, *old)) - (replicas - unavailable)

    def cut(s: SetState, wish: int) -> None:
        # Which Machine of a set goes is the set's choice: count on losing available ones.
        nonlocal budget, spare
        size = max(min(wish, budget), 0)
        left = max(s.certain - (s.spec - sizes[s.name]), 0)
        size = size if min(size, left) <= spare else max(spare, 0)
        sizes[s.name] -= size
        budget -= size
        spare -= min(size, left)

    for s in old:
        cut(s, max(s.spec - s.available, 0))
    for s in old:
        cut(s, sizes[s.name])
    return sizes


def break_deadlock(
    new: SetState, old: Sequence[SetState], sizes: dict[str, int], replicas: int
) -> dict[str, int]:
    """Let one old, unavailable Machine go when nothing else would ever move."""
    moving = any(s.spec != s.status for s in (new, *old)) or any(
        sizes[s.name] != s.spec for s in old
    )
    if moving or new.available < new.spec or new.spec >= replicas:
        return sizes
    for s in old:
        if s.available < s.spec:
            return {**sizes, s.name: s.spec - 1}
    return sizes
