"""Rollout arithmetic: within its limits whatever Machines do, and it ends."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capi_core.reconcilers.machinedeployment.rollout import (
    SetState,
    break_deadlock,
    fenceposts,
    resolve,
    scale_down_old,
    scale_up_new,
)


@dataclass
class Simulated:
    """A MachineSet with its Machines: True for an available one."""

    name: str
    spec: int
    machines: list[bool] = field(default_factory=list)

    def state(self) -> SetState:
        """As the arithmetic sees it."""
        return SetState(self.name, self.spec, len(self.machines), sum(self.machines))

    def work(self, *, lose_available: bool) -> None:
        """Make or delete one Machine, if that is called for."""
        if len(self.machines) < self.spec:
            self.machines.append(False)
        elif len(self.machines) > self.spec:
            self.machines.sort(reverse=not lose_available)
            self.machines.pop()


@dataclass
class Rollout:
    """A MachineDeployment with its MachineSets."""

    replicas: int
    surge: int
    unavailable: int
    new: Simulated
    old: list[Simulated]

    @property
    def sets(self) -> list[Simulated]:
        """All MachineSets."""
        return [self.new, *self.old]

    def step(self, *, breaker: bool) -> bool:
        """One pass of the controller; returns whether it changed a size."""
        new, old = self.new.state(), [s.state() for s in self.old]
        size = scale_up_new(new, old, self.replicas, self.surge)
        sizes = scale_down_old(new, old, self.replicas, self.unavailable)
        if breaker and size == new.spec:
            sizes = break_deadlock(new, old, sizes, self.replicas)
        changed = size != new.spec or any(sizes[s.name] != s.spec for s in old)
        self.new.spec = size
        for s in self.old:
            assert 0 <= sizes[s.name] <= s.spec, "an old MachineSet must not grow"
            s.spec = sizes[s.name]
        return changed

    def check_sizes(self) -> None:
        """Never more than may be."""
        total = sum(max(s.spec, len(s.machines)) for s in self.sets)
        assert total <= self.replicas + self.surge
        assert 0 <= self.new.spec <= self.replicas

    @property
    def available(self) -> int:
        """Available Machines."""
        return sum(sum(s.machines) for s in self.sets)

    @property
    def done(self) -> bool:
        """Whether all Machines are new."""
        return len(self.new.machines) == self.replicas and not any(s.machines for s in self.old)


@st.composite
def rollouts(draw: st.DrawFn) -> Rollout:
    """A rollout of replicas spread over up to three old MachineSets, some not available."""
    replicas = draw(st.integers(0, 8))
    surge, unavailable = fenceposts(
        draw(st.integers(0, 4)), draw(st.integers(0, 4)), replicas
    )
    machines = draw(st.lists(st.booleans(), min_size=replicas, max_size=replicas))
    cuts = sorted(draw(st.lists(st.integers(0, replicas), min_size=2, max_size=2)))
    parts = [machines[: cuts[0]], machines[cuts[0] : cuts[1]], machines[cuts[1] :]]
    old = [Simulated(f"old-{n}", len(part), part) for n, part in enumerate(parts)]
    return Rollout(replicas, surge, unavailable, Simulated("new", 0), old)


ACTIONS = st.lists(
    st.tuples(st.sampled_from(["control", "work", "available", "break"]), st.integers(0, 50)),
    max_size=60,
)


@settings(max_examples=300)
@given(rollouts(), ACTIONS)
def test_limits_hold_whatever_machines_do(rollout: Rollout, actions: list[tuple[str, int]]) -> None:
    floor = rollout.replicas - rollout.unavailable
    for action, number in actions:
        some = rollout.sets[number % len(rollout.sets)]
        before = rollout.available
        match action:
            case "control":
                rollout.step(breaker=False)
            case "work":
                # The set loses available Machines first: the worst that it can do.
                some.work(lose_available=True)
                assert rollout.available >= min(before, floor)
            case "available" if False in some.machines:
                some.machines[some.machines.index(False)] = True
            case "break" if True in some.machines and before > floor:
                # Only while no deletion is under way can nobody be blamed for the sum of both.
                if all(len(s.machines) <= s.spec for s in rollout.sets):
                    some.machines[some.machines.index(True)] = False
            case _:
                pass
        rollout.check_sizes()


@settings(max_examples=300)
@given(rollouts())
def test_it_ends_when_new_machines_become_available(rollout: Rollout) -> None:
    for _ in range(10 * (rollout.replicas + 2)):
        rollout.step(breaker=True)
        rollout.check_sizes()
        for s in rollout.sets:
            # Unhealthy Machines go first.
            s.work(lose_available=False)
        rollout.new.machines = [True] * len(rollout.new.machines)
        if rollout.done:
            break
    assert rollout.done
    assert not rollout.step(breaker=True)


@pytest.mark.parametrize(
    ("value", "replicas", "up", "down"),
    [(2, 10, 2, 2), ("25%", 10, 3, 2), ("0%", 10, 0, 0), ("100%", 3, 3, 3), ("1%", 3, 1, 0),
     ("29%", 100, 29, 29), ("7%", 100, 7, 7), ("57%", 100, 57, 57)],
)
def test_percentages(value: int | str, replicas: int, up: int, down: int) -> None:
    assert resolve(value, replicas, round_up=True) == up
    assert resolve(value, replicas, round_up=False) == down


@pytest.mark.parametrize(
    ("surge", "unavailable", "replicas", "expected"),
    [(1, 0, 3, (1, 0)), (0, 0, 3, (0, 1)), ("0%", "10%", 3, (0, 1)), ("25%", "25%", 4, (1, 1)),
     (0, 9, 3, (0, 3)), (2, 9, 3, (2, 3))],
)
def test_fenceposts(
    surge: int | str, unavailable: int | str, replicas: int, expected: tuple[int, int]
) -> None:
    assert fenceposts(surge, unavailable, replicas) == expected


def test_a_new_set_that_is_too_large_is_cut_at_once() -> None:
    assert scale_up_new(SetState("new", 5, 5, 5), [], 3, 1) == 3


def test_the_deadlock_of_unavailable_old_machines_is_broken() -> None:
    new, old = SetState("new", 1, 1, 1), SetState("old", 2, 2, 0)
    sizes = scale_down_old(new, [old], 3, 0)
    assert break_deadlock(new, [old], {"old": 2}, 3) == {"old": 1}
    assert sizes["old"] <= 2
