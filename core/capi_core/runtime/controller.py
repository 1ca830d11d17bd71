"""Workers that call a reconciler for each key of a queue.

A reconciler is level-triggered: it gets a key only, compares what is with what should be, and
returns when to look again. An exception means back-off; ``Terminal`` means count and wait for a
change; ``NotReady`` names its own delay.
"""

import asyncio
import time
import uuid
from dataclasses import dataclass
from typing import Protocol

import structlog

from capi_core.runtime import metrics
from capi_core.runtime.errors import Conflict, NotReady, Terminal
from capi_core.runtime.queue import WorkQueue
from capi_core.runtime.store import Key

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Result:
    """What a reconcile leaves behind: look again after ``requeue_after`` seconds, or not."""

    requeue_after: float | None = None


class Reconciler(Protocol):
    """Anything that can bring one object closer to its desired state."""

    async def reconcile(self, key: Key) -> Result:
        """Bring the object of ``key`` closer to its desired state."""
        ...


class Controller:
    """One queue, one reconciler, a bounded number of workers.

    Args:
        name: used in logs and metrics, upstream's controller name where there is one.
        concurrency: how many keys are worked on at the same time.
        timeout: seconds after which one reconcile is cancelled and retried.
    """

    def __init__(
        self, name: str, reconciler: Reconciler, *, concurrency: int = 10, timeout: float = 120.0
    ) -> None:
        self.name = name
        self.queue = WorkQueue(name)
        self._reconciler = reconciler
        self._concurrency = concurrency
        self._timeout = timeout
        metrics.MAX_CONCURRENT.labels(name).set(concurrency)

    def enqueue(self, key: Key) -> None:
        """Ask for a reconcile of ``key``."""
        self.queue.add(key)

    async def run(self) -> None:
        """Work until cancelled; a reconcile under way is given up at its next await."""
        async with asyncio.TaskGroup() as workers:
            for _ in range(self._concurrency):
                workers.create_task(self._work())

    async def _work(self) -> None:
        while True:
            key = await self.queue.get()
            try:
                await self._reconcile(key)
            finally:
                self.queue.done(key)

    async def _reconcile(self, key: Key) -> None:
        started = time.monotonic()
        with (
            structlog.contextvars.bound_contextvars(
                controller=self.name, object=str(key), reconcileID=uuid.uuid4().hex[:12]
            ),
            metrics.ACTIVE_WORKERS.labels(self.name).track_inprogress(),
        ):
            try:
                async with asyncio.timeout(self._timeout):
                    result = await self._reconciler.reconcile(key)
            except Exception as error:
                outcome = self._failed(key, error)
            else:
                self.queue.forget(key)
                outcome = "success"
                if result.requeue_after is not None:
                    self.queue.add_after(key, result.requeue_after)
                    outcome = "requeue_after"
        metrics.RECONCILE_TOTAL.labels(self.name, outcome).inc()
        metrics.RECONCILE_SECONDS.labels(self.name).observe(time.monotonic() - started)

    def _failed(self, key: Key, error: Exception) -> str:
        if isinstance(error, NotReady):
            self.queue.add_after(key, error.requeue_after)
            log.debug("not ready", reason=str(error))
            return "requeue_after"
        if isinstance(error, Conflict):
            self.queue.retry(key)
            log.debug("conflict, trying again")
            return "requeue"
        metrics.RECONCILE_ERRORS.labels(self.name).inc()
        if isinstance(error, Terminal):
            metrics.TERMINAL_ERRORS.labels(self.name).inc()
            log.error("reconcile failed for good until the object changes", error=str(error))
            return "error"
        delay = self.queue.retry(key)
        known = isinstance(error, ExceptionGroup) or type(error).__module__.startswith("cap")
        log.warning(
            "reconcile failed",
            error=describe(error),
            retry_in=round(delay, 2),
            exc_info=None if known else error,
        )
        return "error"


def describe(error: BaseException) -> str:
    """The error's text; those of a group joined, as a condition or log line shows them."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(dict.fromkeys(describe(child) for child in error.exceptions))
    return str(error) or type(error).__name__
