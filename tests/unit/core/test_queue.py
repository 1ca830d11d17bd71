"""The work queue: each key once, none lost, delays and back-off."""

import asyncio

import pytest

from capi_core.runtime.queue import WorkQueue
from capi_core.runtime.store import Key

A, B = Key("default", "a"), Key("default", "b")


async def soon(queue: WorkQueue, seconds: float = 1.0) -> Key:
    """The next key, within a time."""
    return await asyncio.wait_for(queue.get(), seconds)


async def nothing(queue: WorkQueue) -> None:
    """No key is due."""
    with pytest.raises(TimeoutError):
        await soon(queue, 0.05)


async def test_keys_come_once_in_order() -> None:
    queue = WorkQueue("test")
    for key in (A, B, A):
        queue.add(key)
    assert [await soon(queue), await soon(queue)] == [A, B]
    await nothing(queue)


async def test_a_key_added_during_its_work_comes_again_afterwards_and_not_before() -> None:
    queue = WorkQueue("test")
    queue.add(A)
    assert await soon(queue) == A
    queue.add(A)
    queue.add(A)
    await nothing(queue)
    queue.done(A)
    assert await soon(queue) == A
    queue.done(A)
    await nothing(queue)


async def test_the_shortest_delay_wins() -> None:
    queue = WorkQueue("test")
    queue.add_after(A, 60)
    queue.add_after(A, 0.05)
    queue.add_after(A, 30)
    assert len(queue) == 0
    assert await soon(queue) == A
    queue.done(A)
    await nothing(queue)


async def test_a_delay_that_ends_during_the_work_is_not_lost() -> None:
    queue = WorkQueue("test")
    queue.add(A)
    await soon(queue)
    queue.add_after(A, 0.02)
    await nothing(queue)
    queue.done(A)
    assert await soon(queue) == A


async def test_failures_double_the_delay_up_to_a_limit_until_a_success() -> None:
    queue = WorkQueue("test")
    delays = [queue.retry(A) for _ in range(14)]
    assert delays[:4] == pytest.approx([0.02, 0.04, 0.08, 0.16])
    assert delays[-1] == 60
    queue.forget(A)
    assert queue.retry(A) == pytest.approx(0.02)
    assert queue.retry(B) == pytest.approx(0.02)


async def test_a_worker_that_is_cancelled_as_a_key_comes_ends() -> None:
    queue = WorkQueue("test")
    worker = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add(A)
    worker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await worker
    assert await soon(queue) == A


async def test_many_workers_share_the_keys_and_never_one_key() -> None:
    queue, active, worked = WorkQueue("test"), set[Key](), dict[Key, int]()
    keys = [Key("default", str(number)) for number in range(50)]

    async def work() -> None:
        while True:
            key = await queue.get()
            assert key not in active
            active.add(key)
            await asyncio.sleep(0.001)
            worked[key] = worked.get(key, 0) + 1
            active.discard(key)
            queue.done(key)

    workers = [asyncio.create_task(work()) for _ in range(8)]
    for _ in range(3):
        for key in keys:
            queue.add(key)
        await asyncio.sleep(0.005)
    async with asyncio.timeout(5):
        while len(queue) or active:
            await asyncio.sleep(0.01)
    for worker in workers:
        assert not worker.done() or worker.exception() is None
        worker.cancel()
    assert worked.keys() == set(keys)
