"""kopf as the host of the process's watches: every event goes into a store, nothing else.

Only ``on.event`` handlers are registered, so kopf writes neither annotations nor finalizers.
"""

import asyncio
from typing import Any

import kopf

from capi_core.runtime.access import Access
from capi_core.runtime.store import Store


def settings() -> kopf.OperatorSettings:
    """kopf's settings with everything off that the stores, queues and Leases do here."""
    result = kopf.OperatorSettings()
    result.peering.standalone = True
    result.posting.enabled = False
    result.queueing.worker_limit = None
    result.queueing.idle_timeout = 1.0
    result.watching.server_timeout = 300
    result.watching.client_timeout = 330
    result.watching.connect_timeout = 10
    result.watching.reconnect_backoff = 0.5
    result.watching.chunk_size = 500
    result.networking.request_timeout = 30
    result.networking.error_backoffs = (0.5, 1, 2, 4, 8)
    result.scanning.disabled = False
    # Its tasks are cancelled by `run`, after which kopf would kill whatever process they were in.
    result.process.ultimate_exiting_timeout = None
    # No handler here stores anything; were one added by mistake, this names the culprit.
    result.persistence.finalizer = "capd-py.invalid/unused"
    return result


def registry(access: Access, stores: list[Store]) -> kopf.OperatorRegistry:
    """Handlers that put each event of the stores' resources into their store."""
    result = kopf.OperatorRegistry()

    @kopf.on.login(registry=result)
    def login(**_: Any) -> kopf.ConnectionInfo:  # pyright: ignore[reportUnusedFunction]
        return kopf.ConnectionInfo(
            server=access.server,
            ca_data=access.ca or None,
            certificate_data=access.client_certificate or None,
            private_key_data=access.client_key or None,
            token=access.bearer() or None,
            scheme="Bearer" if access.bearer() else None,
        )

    for store in stores:
        _register(result, store)
    return result


def _register(registry: kopf.OperatorRegistry, store: Store) -> None:
    resource = store.resource

    @kopf.on.event(
        resource.group, resource.version, resource.plural, registry=registry, id=resource.plural
    )
    async def take_in(  # pyright: ignore[reportUnusedFunction]
        type: str | None, event: Any, **_: Any
    ) -> None:
        obj = dict(event["object"])
        obj.setdefault("apiVersion", resource.api_version)
        obj.setdefault("kind", resource.kind)
        if type == "DELETED":
            store.discard(obj)
        else:
            store.put(obj)


async def run(
    access: Access, stores: list[Store], *, namespace: str | None, stop: asyncio.Event
) -> None:
    """Watch until ``stop`` is set.

    kopf's own runner would take seconds to end and cancel every other task of the loop with it.
    """
    tasks = await kopf.spawn_tasks(
        registry=registry(access, stores),
        settings=settings(),
        namespaces=[namespace] if namespace else (),
        clusterwide=namespace is None,
        standalone=True,
    )
    stopped = asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait({*tasks, stopped}, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in (*tasks, stopped):
            task.cancel()
        await asyncio.gather(*tasks, stopped, return_exceptions=True)
