"""``capi-manager``: starts the providers that it is told to, as one process.

A provider is a module with ``register(manager)``, named by ``--provider``; so core imports none
and a third party's needs no change here. The same program runs one provider in its own Deployment
or all four on a laptop.
"""

import asyncio
import importlib
import logging
import os
import socket
import sys
import uuid
from typing import Annotated, Any

import structlog
import typer

from capi_core.runtime import intake
from capi_core.runtime.access import load_access
from capi_core.runtime.client import Client
from capi_core.runtime.errors import CapiError
from capi_core.runtime.manager import Manager, Options
from capi_core.runtime.store import Store

app = typer.Typer(add_completion=False)


def configure_logging(level: str, *, json: bool) -> None:
    """Send structlog's and the standard library's records to stderr in one form."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    last: Any = structlog.processors.JSONRenderer() if json else structlog.dev.ConsoleRenderer()
    structlog.configure(
        processors=[*shared, last],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(processor=last, foreign_pre_chain=shared)
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


def build(provider_modules: list[str], client: Client, options: Options) -> Manager:
    """A manager with the given providers registered."""

    async def take_in(stores: list[Store], *, stop: asyncio.Event) -> None:
        await intake.run(client.access, stores, namespace=options.namespace, stop=stop)

    manager = Manager(client, take_in, options)
    for name in provider_modules:
        importlib.import_module(name).register(manager)
    return manager


@app.command()
def start(
    provider: Annotated[list[str], typer.Option(help="Module of a provider; may be repeated.")],
    kubeconfig: Annotated[str | None, typer.Option(help="Of the management cluster.")] = None,
    namespace: Annotated[str, typer.Option(help="Watch this namespace only; empty: all.")] = "",
    watch_filter: Annotated[
        str, typer.Option(help="Reconcile only objects with this watch-filter label.")
    ] = "",
    leader_elect: Annotated[bool, typer.Option(help="Work only while holding the Lease.")] = True,
    health_addr: Annotated[str, typer.Option(help="Of the probes; 0: none.")] = "0.0.0.0:9440",
    metrics_addr: Annotated[str, typer.Option(help="Of /metrics; 0: none.")] = "0.0.0.0:8080",
    webhook_port: Annotated[int, typer.Option(help="Of admission; 0: none.")] = 9443,
    webhook_host: Annotated[
        str, typer.Option(help="Host name of this process for the API server; empty: a Service.")
    ] = "",
    concurrency: Annotated[int | None, typer.Option(help="Workers of each controller.")] = None,
    sync_period: Annotated[float, typer.Option(help="Seconds between audits.")] = 300.0,
    setting: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE for a provider; may be repeated.")
    ] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
    log_format: Annotated[str, typer.Option(help="json or console.")] = "json",
) -> None:
    """Run the managers of the given providers until told to stop."""
    configure_logging(log_level, json=log_format == "json")
    try:
        access = load_access(kubeconfig)
    except CapiError as error:
        raise typer.BadParameter(str(error)) from error
    names = "-".join(module.split(".")[0].replace("_", "-") for module in provider)
    options = Options(
        namespace=namespace or None,
        watch_filter=watch_filter,
        own_namespace=os.environ.get("POD_NAMESPACE") or access.namespace,
        identity=f"{names}_{os.environ.get('POD_NAME') or socket.gethostname()}_{uuid.uuid4()}",
        leader_elect=leader_elect,
        health_address=health_addr,
        metrics_address=metrics_addr,
        webhook_port=webhook_port,
        webhook_host=webhook_host,
        concurrency=concurrency,
        sync_period=sync_period,
        settings=dict(item.split("=", 1) for item in setting or []),
    )
    asyncio.run(_run(provider, Client(access, user_agent=names), options))


async def _run(modules: list[str], client: Client, options: Options) -> None:
    manager = build(modules, client, options)
    # kopf's watches end at SIGTERM and SIGINT, and the manager with them.
    await manager.run(asyncio.Event())


def main() -> None:
    """The console entry point."""
    app()
