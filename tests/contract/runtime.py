"""What every `Runtime` does, asked of the fake in the unit tier and of Docker in the e2e tier.

A test module imports the functions and gives them a ``bench`` fixture.
"""

import asyncio
import contextlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from capd_py.container.runtime import (
    Container,
    ContainerSpec,
    ImageMissing,
    Runtime,
    RuntimeFailure,
)

LABEL = "io.capd-py.contract"
MISSING = "localhost:1/capd-py/there-is-no-such-image:v0"


@dataclass
class Bench:
    """A runtime, with names and labels that no other test has.

    Attributes:
        command: keeps a container running.
    """

    runtime: Runtime
    image: str
    network: str
    command: Sequence[str]
    key: str = field(default_factory=lambda: uuid.uuid4().hex[:10])

    @property
    def labels(self) -> dict[str, str]:
        """What all containers of the test carry."""
        return {LABEL: self.key}

    def spec(self, name: str = "a", **fields: object) -> ContainerSpec:
        """A container to be made."""
        wanted: dict[str, object] = {
            "name": f"contract-{self.key}-{name}", "image": self.image, "network": self.network,
            "labels": self.labels, "entrypoint": tuple(self.command), **fields,
        }
        return ContainerSpec(**wanted)  # type: ignore[arg-type]

    async def run(self, name: str = "a", **fields: object) -> Container:
        """A container that runs."""
        return await self.runtime.run(self.spec(name, **fields))

    async def clean(self) -> None:
        """Remove what the test left."""
        for container in await self.runtime.find(self.labels):
            await self.runtime.remove(container)


async def test_a_container_runs_and_is_found(bench: Bench) -> None:
    made = await bench.run("a", labels={**bench.labels, "role": "x"}, publish=(6443,))
    assert made.running
    assert made.address
    assert made.ports.keys() == {6443}
    assert made.image == bench.image
    assert await bench.runtime.get(made.name) == made
    assert await bench.runtime.find(bench.labels) == [made]
    assert await bench.runtime.find({**bench.labels, "role": "x"}) == [made]
    assert await bench.runtime.find({**bench.labels, "role": "y"}) == []


async def test_containers_are_found_by_name_order_and_have_addresses_of_their_own(
    bench: Bench,
) -> None:
    second, first = await bench.run("b"), await bench.run("a")
    assert [c.name for c in await bench.runtime.find(bench.labels)] == [first.name, second.name]
    assert first.address != second.address


async def test_what_does_not_exist_is_none(bench: Bench) -> None:
    assert await bench.runtime.get(bench.spec().name) is None
    assert await bench.runtime.find(bench.labels) == []


async def test_removing_twice_is_no_error(bench: Bench) -> None:
    made = await bench.run()
    await bench.runtime.remove(made)
    assert await bench.runtime.get(made.name) is None
    await bench.runtime.remove(made)


async def test_removing_takes_that_container_and_not_the_next_of_its_name(bench: Bench) -> None:
    first = await bench.run()
    await bench.runtime.remove(first)
    second = await bench.run()
    assert second.id != first.id
    await bench.runtime.remove(first)
    assert await bench.runtime.get(second.name) == second


async def test_a_name_is_given_once(bench: Bench) -> None:
    made = await bench.run()
    with pytest.raises(RuntimeFailure, match="already in use"):
        await bench.run()
    assert await bench.runtime.find(bench.labels) == [made]


async def test_a_missing_image_is_told_by_name_and_leaves_nothing(bench: Bench) -> None:
    with pytest.raises(ImageMissing, match="there-is-no-such-image"):
        await bench.run("a", image=MISSING)
    with pytest.raises(ImageMissing, match="there-is-no-such-image"):
        await bench.runtime.ensure_image(MISSING)
    assert await bench.runtime.find(bench.labels) == []
    await bench.runtime.ensure_image(bench.image)


async def test_files_are_there_from_the_start_and_can_be_replaced(bench: Bench) -> None:
    made = await bench.run("a", files={"/usr/local/etc/first": b"\0one"})
    assert await bench.runtime.read_file(made, "/usr/local/etc/first") == b"\0one"
    assert await bench.runtime.read_file(made, "/usr/local/etc/none") is None
    for content in (b"two", b"", b"x" * 300_000):
        await bench.runtime.write_file(made, "/usr/local/etc/first", content)
        assert await bench.runtime.read_file(made, "/usr/local/etc/first") == content


async def test_commands_get_their_input_and_give_code_and_outputs(bench: Bench) -> None:
    made = await bench.run()
    script = "read line; echo out $line; echo err >&2; exit 7"
    done = await bench.runtime.execute(made, ["sh", "-c", script], stdin=b"hello\n")
    assert (done.code, done.output, done.errors, done.ok) == (7, "out hello\n", "err\n", False)
    done = await bench.runtime.execute(made, ["sh", "-c", "wc -c"], stdin=b"x" * 400_000)
    assert (done.code, done.output.strip(), done.ok) == (0, "400000", True)
    done = await bench.runtime.execute(made, ["sh", "-c", "echo no input"])
    assert done.output == "no input\n"


async def test_a_command_without_end_fails_in_time(bench: Bench) -> None:
    made = await bench.run()
    with pytest.raises(RuntimeFailure, match=r"did not end within 0\.3 s"):
        await bench.runtime.execute(made, ["sleep", "20"], timeout=0.3)


async def test_nothing_runs_in_a_container_that_is_gone(bench: Bench) -> None:
    made = await bench.run()
    await bench.runtime.remove(made)
    with pytest.raises(RuntimeFailure):
        await bench.runtime.execute(made, ["true"])
    with pytest.raises(RuntimeFailure):
        await bench.runtime.logs(made)


async def test_events_tell_the_life_of_a_container(bench: Bench) -> None:
    seen: list[tuple[str, str]] = []
    connected = asyncio.Event()

    async def follow() -> None:
        async for event in bench.runtime.events(bench.labels):
            seen.append((event.action, event.name))
            connected.set()
            if event.action != "connected":
                assert event.labels[LABEL] == bench.key

    task = asyncio.create_task(follow())
    try:
        await asyncio.wait_for(connected.wait(), 5)
        made = await bench.run()
        await bench.run("other", labels={})
        await bench.runtime.remove(made)
        async with asyncio.timeout(10):
            while ("destroy", made.name) not in seen:
                await asyncio.sleep(0.02)
        assert seen[0] == ("connected", "")
        assert [s for s in seen if s[0] != "die"][1:] == [
            ("start", made.name), ("destroy", made.name)
        ]
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        if other := await bench.runtime.get(bench.spec("other").name):
            await bench.runtime.remove(other)
