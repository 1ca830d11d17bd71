"""Addresses that stay: in the half of the subnet that the engine does not hand out."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capd_py.container.address import (
    Network,
    choose_address,
    choose_port,
    contains,
    dynamic_range,
    is_address,
)


@given(st.integers(16, 28))
def test_a_chosen_address_is_free_and_outside_the_dynamic_range(length: int) -> None:
    subnet = Network(f"172.18.0.0/{length}")
    upper = list(subnet.subnets(prefixlen_diff=1))[1]
    some = [str(address) for address in list(upper)[:5]]
    chosen = choose_address(subnet, some[:3], avoid=some[3:])
    assert chosen not in some
    assert ipaddress.ip_address(chosen) in upper
    assert ipaddress.ip_address(chosen) not in dynamic_range(subnet)
    assert chosen != str(subnet.broadcast_address)


def test_the_last_free_address_is_found_and_none_is_an_error() -> None:
    subnet = Network("10.0.0.0/29")
    assert choose_address(subnet, ["10.0.0.4", "10.0.0.6"]) == "10.0.0.5"
    with pytest.raises(ValueError, match="no free address"):
        choose_address(subnet, ["10.0.0.4", "10.0.0.5", "10.0.0.6"])


def test_ports_are_below_the_range_of_clients() -> None:
    assert all(20000 <= choose_port() < 32000 for _ in range(100))


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("10.0.0.1", True), ("fd00::1", True), ("localhost", False), ("1.example", False),
        ("", False),
    ],
)
def test_names_and_addresses_are_told_apart(host: str, expected: bool) -> None:
    assert is_address(host) is expected


def test_only_addresses_of_the_subnet_can_be_asked_for() -> None:
    subnet = Network("10.0.0.0/24")
    assert contains(subnet, "10.0.0.7")
    assert not contains(subnet, "10.0.1.7")
    assert not contains(subnet, "api.example")
    assert not contains(subnet, "fd00::1")
