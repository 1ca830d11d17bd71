"""The endpoints for probes and Prometheus: /healthz, /readyz and /metrics."""

from collections.abc import Callable

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest


class Endpoints:
    """Serves probes on one address and metrics on another.

    Attributes:
        ready: whether the stores are filled.
        alive: returns why the process should be restarted, or the empty string.
    """

    def __init__(self, health_address: str, metrics_address: str) -> None:
        self.ready = False
        self.alive: Callable[[], str] = lambda: ""
        self._addresses = (health_address, metrics_address)
        self._runners: list[web.AppRunner] = []

    async def start(self) -> None:
        """Listen; an address of ``0`` turns an endpoint off."""
        health, metrics = self._addresses
        await self._serve(health, {"/healthz": self._healthz, "/readyz": self._readyz})
        await self._serve(metrics, {"/metrics": self._metrics})

    async def _serve(self, address: str, routes: dict[str, Callable[..., object]]) -> None:
        if address == "0":
            return
        host, _, port = address.rpartition(":")
        app = web.Application()
        for path, handler in routes.items():
            app.router.add_get(path, handler)  # pyright: ignore[reportArgumentType]
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, host or None, int(port)).start()
        self._runners.append(runner)

    async def stop(self) -> None:
        """Stop listening."""
        for runner in self._runners:
            await runner.cleanup()

    async def _healthz(self, _: web.Request) -> web.Response:
        problem = self.alive()
        return web.Response(text=problem or "ok", status=500 if problem else 200)

    async def _readyz(self, _: web.Request) -> web.Response:
        if self.ready:
            return web.Response(text="ok")
        return web.Response(text="the stores are not filled yet", status=503)

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})
