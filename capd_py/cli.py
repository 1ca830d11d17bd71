"""``capd``: clusters on this machine from one command."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from capd_py.engine import EngineError, Severity, ensure_engine, preflight
from capd_py.images.versions import DEFAULT_VERSION

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)
image = typer.Typer(no_args_is_help=True, help="Node, load balancer and manager images.")
engine = typer.Typer(no_args_is_help=True, help="The Docker engine.")
app.add_typer(image, name="image")
app.add_typer(engine, name="engine")
console = Console(soft_wrap=True)

Version = Annotated[str, typer.Option("--kubernetes-version", help="Release, as in v1.34.4.")]
Name = Annotated[str, typer.Option(help="Of the management cluster.")]
Single = Annotated[
    bool, typer.Option("--single-process", help="All four providers in one manager.")
]
Namespace = Annotated[str, typer.Option("--namespace", "-n", help="Of the workload cluster.")]
DEFAULT_NAME = "capd-py"
STYLES = {Severity.OK: "green", Severity.WARNING: "yellow", Severity.ERROR: "red"}


def say(text: str) -> None:
    """Print a line of progress."""
    console.print(text, highlight=False, markup=False)


@image.command("build")
def image_build(
    kubernetes_version: Version = DEFAULT_VERSION,
    from_source: Annotated[bool, typer.Option(help="Even where a registry answers.")] = False,
    manager: Annotated[bool, typer.Option(help="The managers' image of this clone, too.")] = True,
    node_only: Annotated[
        bool, typer.Option("--node-only", help="Nothing but the node image, for an upgrade say.")
    ] = False,
) -> None:
    """Make sure of the images: pull them, or build them from Debian and Go modules."""
    from capd_py.dev.up import project_root
    from capd_py.images import ensure_images

    ensure_engine(say)
    root = project_root() if manager else None
    images = ensure_images(
        kubernetes_version,
        project_root=root,
        say=say,
        from_source=from_source,
        node_only=node_only,
    )
    for name in filter(None, (images.node, images.load_balancer, images.manager)):
        say(name)


@image.command("list")
def image_list() -> None:
    """The images that are here, and whether they are what would be made now."""
    from capd_py.dev.up import project_root
    from capd_py.images.listing import list_images

    table = Table("image", Column("MB", justify="right"), "state")
    for item in list_images(project_root()):
        table.add_row(item.name, f"{item.megabytes:.0f}", item.state)
    console.print(table)


@engine.command("ensure")
def engine_ensure() -> None:
    """Find, install or start a Docker engine that runs privileged containers."""
    found = ensure_engine(say)
    say(f"Docker {found.version}, cgroup v{found.cgroup_version}")


@app.command("preflight")
def show_preflight() -> None:
    """Look at everything that a local cluster needs; each fault with its cure."""
    findings = preflight()
    # A cure of its own line is not broken on a terminal of 80 columns, and can be copied.
    finding = Column("finding, and its cure", overflow="fold")
    table = Table("check", "", finding, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for item in findings:
        severity = Text(item.severity.value, STYLES[item.severity])
        table.add_row(item.check, severity, Text(item.message))
        if item.cure:
            table.add_row("", "", Text(item.cure, "bold"))
    console.print(table)
    if any(item.severity is Severity.ERROR for item in findings):
        raise typer.Exit(1)


@app.command()
def up(
    kubernetes_version: Version = DEFAULT_VERSION,
    name: Name = DEFAULT_NAME,
    single_process: Single = False,
) -> None:
    """Bring up a management cluster with the managers in it, ready to accept manifests."""
    from capd_py.dev.up import bring_up

    bring_up(say, version=kubernetes_version, name=name, single_process=single_process)


@app.command()
def quickstart(
    kubernetes_version: Version = DEFAULT_VERSION,
    name: Name = DEFAULT_NAME,
    single_process: Single = False,
) -> None:
    """`capd up`, then a workload cluster with three nodes, told step by step."""
    from capd_py.dev.quickstart import run_quickstart
    from capd_py.dev.up import bring_up

    kubeconfig = bring_up(
        say, version=kubernetes_version, name=name, single_process=single_process
    )
    run_quickstart(kubeconfig, console)


@app.command()
def kubeconfig(
    cluster: str, namespace: Namespace = "default", name: Name = DEFAULT_NAME
) -> None:
    """Write a workload cluster's kubeconfig, good on this host, and print its path."""
    from capd_py.dev.kubeconfig import write_kubeconfig

    say(str(write_kubeconfig(_management(name), namespace, cluster)))


@app.command()
def why(cluster: str, namespace: Namespace = "default", name: Name = DEFAULT_NAME) -> None:
    """What a workload cluster waits for: one question after another, down to the first no."""
    from capd_py.dev.kubectl import Kubectl
    from capd_py.dev.why import ask

    for answer in ask(Kubectl(_management(name)), namespace, cluster):
        say(f"{answer.question} {'yes' if answer.yes else 'no'}")
        if answer.yes:
            continue
        for line in answer.evidence:
            say(f"  {line}")
        if answer.look:
            say(f"  look at: {answer.look}")


@app.command()
def down(name: Name = DEFAULT_NAME) -> None:
    """Remove the management cluster and all that it made: no container, volume or network stays."""
    from capd_py.dev.down import take_down

    take_down(say, name=name)


def _management(name: str) -> Path:
    from capd_py.dev.up import kubeconfig_path

    path = kubeconfig_path(name)
    if not path.exists():
        raise EngineError(f"there is no management cluster {name}", "make dev-up")
    return path


def main() -> None:
    """The console entry point: a known failure is one message with its cure, not a traceback."""
    try:
        app()
    except EngineError as error:
        Console(stderr=True, soft_wrap=True).print(str(error), style="red", markup=False)
        sys.exit(1)
