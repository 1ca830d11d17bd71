"""A queue of keys that deduplicates, delays and backs off.

A key that is added while it is being worked on is worked on once more afterwards, so no event is
lost and no key is worked on twice at the same time.
"""

import asyncio
import contextlib
import heapq
import time

from capi_core.runtime.metrics import QUEUE_ADDS, QUEUE_DEPTH, QUEUE_RETRIES, QUEUE_SECONDS
from capi_core.runtime.store import Key

_BASE_DELAY, _MAX_DELAY = 0.02, 60.0


class WorkQueue:
    """Keys to reconcile, in the order in which they became due.

    Args:
        name: the controller's name, for metrics.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._ready: dict[Key, float] = {}
        self._active: set[Key] = set()
        self._dirty: set[Key] = set()
        self._delayed: list[tuple[float, Key]] = []
        self._due: dict[Key, float] = {}
        self._failures: dict[Key, int] = {}
        self._wake = asyncio.Event()

    def __len__(self) -> int:
        return len(self._ready)

    def add(self, key: Key) -> None:
        """Work on ``key`` as soon as a worker is free."""
        QUEUE_ADDS.labels(self.name).inc()
        if key in self._active:
            self._dirty.add(key)
        elif key not in self._ready:
            self._ready[key] = time.monotonic()
            QUEUE_DEPTH.labels(self.name).set(len(self._ready))
            self._wake.set()

    def add_after(self, key: Key, seconds: float) -> None:
        """Work on ``key`` after ``seconds``; of several delays the shortest wins."""
        if seconds <= 0:
            self.add(key)
            return
        due = time.monotonic() + seconds
        if due < self._due.get(key, float("inf")):
            self._due[key] = due
            heapq.heappush(self._delayed, (due, key))
            self._wake.set()

    def retry(self, key: Key) -> float:
        """Work on ``key`` again after a delay that doubles with each failure; returns it."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        delay = min(_BASE_DELAY * 2 ** min(failures, 20), _MAX_DELAY)
        QUEUE_RETRIES.labels(self.name).inc()
        self.add_after(key, delay)
        return delay

    def forget(self, key: Key) -> None:
        """Reset the back-off of ``key`` after a success."""
        self._failures.pop(key, None)

    async def get(self) -> Key:
        """Wait for a key; the caller owes a ``done``."""
        while True:
            now = time.monotonic()
            while self._delayed and self._delayed[0][0] <= now:
                due, key = heapq.heappop(self._delayed)
                if self._due.get(key) == due:
                    del self._due[key]
                    self.add(key)
            if self._ready:
                key, since = next(iter(self._ready.items()))
                del self._ready[key]
                self._active.add(key)
                QUEUE_DEPTH.labels(self.name).set(len(self._ready))
                QUEUE_SECONDS.labels(self.name).observe(now - since)
                return key
            self._wake.clear()
            timeout = self._delayed[0][0] - now if self._delayed else None
            # Not wait_for: in Python 3.11 it swallows a cancellation that comes with the wake-up.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self._wake.wait()

    def done(self, key: Key) -> None:
        """End the work on ``key``; if it was added meanwhile it is due again."""
        self._active.discard(key)
        if key in self._dirty:
            self._dirty.discard(key)
            self.add(key)
        # Several workers share one wake-up flag: pass it on while keys are left.
        if self._ready:
            self._wake.set()
