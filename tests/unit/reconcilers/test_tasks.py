"""Tasks that outlast a reconcile: started once, told once, ended on request."""

import asyncio

from capd_py.reconcilers.tasks import Tasks
from capi_core.runtime.store import Key

KEY = Key("default", "a")


async def test_a_task_starts_once_and_its_result_is_told_once() -> None:
    ended, starts, gate = list[Key](), 0, asyncio.Event()
    tasks = Tasks(ended.append)

    async def work() -> str:
        nonlocal starts
        starts += 1
        await gate.wait()
        return "result"

    assert not tasks.run(KEY, "step", work, retry=0).done
    await asyncio.sleep(0)
    assert not tasks.run(KEY, "step", work, retry=0).done
    assert tasks.running(KEY, "step")
    gate.set()
    await asyncio.sleep(0.01)
    assert (starts, ended) == (1, [KEY])
    state = tasks.run(KEY, "step", work, retry=0)
    assert (state.done, state.result) == (True, "result")
    assert not tasks.run(KEY, "step", work, retry=0).done


async def test_errors_are_told() -> None:
    tasks = Tasks(lambda key: None)

    async def work() -> None:
        raise ValueError("no")

    tasks.run(KEY, "step", work, retry=0)
    await asyncio.sleep(0.01)
    assert str(tasks.run(KEY, "step", work, retry=0).error) == "no"


async def test_a_failure_is_told_for_a_while_before_another_start() -> None:
    tasks, starts = Tasks(lambda key: None), 0

    async def work() -> None:
        nonlocal starts
        starts += 1
        raise ValueError("no")

    tasks.run(KEY, "step", work, retry=0.05)
    await asyncio.sleep(0.01)
    for _ in range(3):
        state = tasks.run(KEY, "step", work, retry=0.05)
        assert (str(state.error), state.retry_in > 0) == ("no", True)
    assert starts == 1
    await asyncio.sleep(0.06)
    assert not tasks.run(KEY, "step", work, retry=0.05).done
    await asyncio.sleep(0)
    assert starts == 2
    await tasks.cancel(KEY)
    assert not tasks.run(KEY, "step", work, retry=0.05).done


async def test_cancelling_waits_until_tasks_have_let_go_and_tells_nobody() -> None:
    ended, let_go = list[Key](), False
    tasks = Tasks(ended.append)

    async def work() -> None:
        nonlocal let_go
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            let_go = True

    tasks.run(KEY, "step", work, retry=0)
    await asyncio.sleep(0)
    await tasks.cancel(KEY)
    assert let_go
    assert ended == []
    assert not tasks.running(KEY, "step")
