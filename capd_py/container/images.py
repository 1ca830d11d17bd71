"""Upstream's names of the images that containers are made from; those built here have the same."""


def kind_node_image(version: str) -> str:
    """kind's node image of a Kubernetes version; a tag cannot hold the + of build metadata."""
    return f"kindest/node:{version.replace('+', '_')}"


def haproxy_image(repository: str | None = None, tag: str | None = None) -> str:
    """The load balancer's image: that of manifests and tools, unless a part is given."""
    return f"{repository or 'kindest'}/haproxy:{tag or 'v20230606-42a2262b'}"
