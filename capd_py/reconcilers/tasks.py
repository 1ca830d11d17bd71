"""Work that takes longer than a reconcile: started once, looked at by the passes that follow."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from capi_core.runtime.store import Key


@dataclass(frozen=True, slots=True)
class TaskState:
    """How a task fares; ``result`` and ``error`` once it is done.

    Attributes:
        retry_in: seconds until a task that failed may be started again.
    """

    done: bool
    result: Any = None
    error: BaseException | None = None
    retry_in: float = 0.0


class Tasks:
    """The running tasks by object and name.

    Args:
        finished: called with the key when a task has ended.
    """

    def __init__(self, finished: Callable[[Key], None]) -> None:
        self._finished = finished
        self._tasks: dict[Key, dict[str, asyncio.Task[Any]]] = {}
        self._failed: dict[Key, dict[str, tuple[float, BaseException]]] = {}

    def run(
        self, key: Key, name: str, work: Callable[[], Coroutine[Any, Any, Any]], *, retry: float
    ) -> TaskState:
        """Start ``work`` if it has not been; a result is told once, then forgotten.

        Args:
            retry: seconds for which a failure is told before the work is started again, however
                often one asks: telling a failure changes the object, which asks at once.
        """
        if (failure := self._failed.get(key, {}).get(name)) is not None:
            if (remaining := failure[0] - time.monotonic()) > 0:
                return TaskState(done=True, error=failure[1], retry_in=remaining)
            del self._failed[key][name]
        tasks = self._tasks.setdefault(key, {})
        task = tasks.get(name)
        if task is None:
            task = asyncio.create_task(work(), name=f"{name} {key}")
            task.add_done_callback(lambda t: None if t.cancelled() else self._finished(key))
            tasks[name] = task
        if not task.done():
            return TaskState(done=False)
        del tasks[name]
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is not None:
            self._failed.setdefault(key, {})[name] = (time.monotonic() + retry, error)
            return TaskState(done=True, error=error, retry_in=retry)
        return TaskState(done=True, result=task.result())

    def running(self, key: Key, name: str) -> bool:
        """Whether the task is under way."""
        task = self._tasks.get(key, {}).get(name)
        return task is not None and not task.done()

    def forget(self, key: Key, name: str) -> None:
        """Nobody wants to know how the task ended."""
        self._failed.get(key, {}).pop(name, None)
        if not self.running(key, name):
            self._tasks.get(key, {}).pop(name, None)

    async def cancel(self, key: Key) -> None:
        """End the object's tasks and wait until they have let go."""
        self._failed.pop(key, None)
        tasks = list(self._tasks.pop(key, {}).values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """End all tasks."""
        for key in list(self._tasks):
            await self.cancel(key)
