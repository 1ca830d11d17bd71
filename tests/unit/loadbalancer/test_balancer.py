"""The load balancer's container: found, made, mended; its configuration applied or kept."""

import pytest

from capd_py.container.fake import FakeRuntime
from capd_py.container.identity import Identity
from capd_py.container.runtime import Container, RuntimeFailure
from capd_py.loadbalancer import balancer
from capd_py.loadbalancer.balancer import (
    CONFIG_PATH,
    LoadBalancers,
    ReloadFailed,
    Settings,
    backends_of,
)

IDENTITY = Identity("uid", "default", "quick")
SETTINGS = Settings(image="haproxy", network="kind")


def node(name: str, *, running: bool = True, address: str = "10.0.0.1") -> Container:
    """A control plane's container."""
    addresses = (address,) if running else ()
    return Container("id", name, "node", {}, running, addresses)


async def config(runtime: FakeRuntime, container: Container) -> bytes | None:
    """What HAProxy would load."""
    return await runtime.read_file(container, CONFIG_PATH)


def test_weights_spare_machines_that_leave_unless_all_do() -> None:
    nodes = [node("a"), node("b"), node("c", running=False)]
    assert [(b.name, b.weight) for b in backends_of(nodes)] == [("a", 100), ("b", 100)]
    assert [(b.name, b.weight) for b in backends_of(nodes, ["a"])] == [("a", 0), ("b", 100)]
    assert [(b.name, b.weight) for b in backends_of(nodes, ["a", "b"])] == [("a", 100), ("b", 100)]


async def test_it_is_made_once_and_started_again_at_its_address() -> None:
    runtime = FakeRuntime()
    balancers = LoadBalancers(runtime)
    first = await balancers.ensure(IDENTITY, SETTINGS)
    assert (first.name, first.ports.keys()) == ("quick-lb", {6443})
    assert await balancers.ensure(IDENTITY, SETTINGS) == first
    runtime.stop("quick-lb")
    again = await balancers.ensure(IDENTITY, SETTINGS)
    assert (again.id, again.address, again.running) == (first.id, first.address, True)


async def test_one_that_does_not_start_is_made_anew_at_the_address_of_the_endpoint() -> None:
    runtime = FakeRuntime()
    balancers = LoadBalancers(runtime)
    first = await balancers.ensure(IDENTITY, SETTINGS)
    runtime.stop("quick-lb")
    runtime.failures["start"] = RuntimeFailure("no")
    settings = Settings(image="haproxy", network="kind", known_address=first.address)
    second = await balancers.ensure(IDENTITY, settings)
    assert second.id != first.id
    assert second.address == first.address


async def test_an_endpoint_that_is_a_name_is_no_address_to_ask_for() -> None:
    runtime = FakeRuntime()
    settings = Settings(image="haproxy", network="kind", known_address="api.example")
    await LoadBalancers(runtime).ensure(IDENTITY, settings)
    assert runtime.specs["quick-lb"].address == ""


async def test_the_name_is_shared_out_between_namespaces() -> None:
    runtime = FakeRuntime()
    balancers = LoadBalancers(runtime)
    other = Identity("uid", "other", "quick")
    first, second = [await balancers.ensure(i, SETTINGS) for i in (IDENTITY, other)]
    assert first.name == "quick-lb"
    assert second.name == other.unique_name("quick-lb")
    assert await balancers.find(other) == second


async def test_one_of_another_management_cluster_is_known_by_its_address_only() -> None:
    runtime = FakeRuntime()
    balancers = LoadBalancers(runtime)
    made = await balancers.ensure(Identity("before", "default", "quick"), SETTINGS)
    assert await balancers.find(IDENTITY) is None
    assert await balancers.find(IDENTITY, "10.1.1.1") is None
    assert await balancers.find(IDENTITY, made.address) == made


async def test_a_configuration_is_applied_once() -> None:
    runtime = FakeRuntime()
    balancers = LoadBalancers(runtime)
    container = await balancers.ensure(IDENTITY, SETTINGS)
    assert await balancers.apply(IDENTITY, container, "new") is True
    assert await config(runtime, container) == b"new"
    runtime.failures["signal"] = AssertionError("reloaded again")
    assert await balancers.apply(IDENTITY, container, "new") is False
    assert await LoadBalancers(runtime).apply(IDENTITY, container, "new") is False


async def test_what_haproxy_refuses_is_told_and_taken_back() -> None:
    runtime = FakeRuntime()
    balancers = LoadBalancers(runtime)
    container = await balancers.ensure(IDENTITY, SETTINGS)
    await balancers.apply(IDENTITY, container, "good")
    runtime.refuse_reload = "[ALERT] unknown keyword 'bad'\nLoading failure!\n"
    for _ in range(2):
        with pytest.raises(ReloadFailed, match="unknown keyword 'bad'"):
            await balancers.apply(IDENTITY, container, "bad")
        assert await config(runtime, container) == b"good"
    runtime.refuse_reload = ""
    assert await balancers.apply(IDENTITY, container, "bad") is True


async def test_a_manager_that_ended_before_the_reload_is_made_up_for() -> None:
    runtime = FakeRuntime()
    container = await LoadBalancers(runtime).ensure(IDENTITY, SETTINGS)
    await LoadBalancers(runtime).apply(IDENTITY, container, "old")
    await runtime.write_file(container, CONFIG_PATH, b"new")
    assert await LoadBalancers(runtime).apply(IDENTITY, container, "new") is True


async def test_a_failure_to_signal_is_tried_again() -> None:
    runtime = FakeRuntime()
    balancers = LoadBalancers(runtime)
    container = await balancers.ensure(IDENTITY, SETTINGS)
    runtime.failures["signal"] = RuntimeFailure("engine restarts")
    with pytest.raises(RuntimeFailure, match="engine restarts"):
        await balancers.apply(IDENTITY, container, "new")
    assert await balancers.apply(IDENTITY, container, "new") is True


async def test_silence_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balancer, "_RELOAD_SECONDS", 0.1)
    runtime = FakeRuntime()
    balancers = LoadBalancers(runtime)
    container = await balancers.ensure(IDENTITY, SETTINGS)
    runtime.refuse_reload = "\n"
    with pytest.raises(ReloadFailed, match="no answer to SIGHUP"):
        await balancers.apply(IDENTITY, container, "new")
