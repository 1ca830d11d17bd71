"""Where the CRDs differ from upstream's on purpose; everything else that differs is a defect."""

from typing import NamedTuple


class Intended(NamedTuple):
    """A cell of a table that is meant to differ; ``kind`` and ``path`` may be ``*``."""

    kind: str
    path: str
    column: str
    reason: str


INTENDED = (
    Intended(
        "*",
        "kinds.tsv",
        "versions",
        "v1beta2 alone is served; v1beta1 needs a conversion webhook, and the Docker kinds are "
        "not deprecated here",
    ),
)
