"""Images from the registry that the engine pulls from, where one answers soon."""

import subprocess
from collections.abc import Callable
from threading import Timer

# A registry that takes longer to say what an image is made of is no help: gigabytes are to follow.
PATIENCE = 10.0
PULL_LIMIT = 900.0


def pull(
    image: str,
    say: Callable[[str], None],
    *,
    patience: float = PATIENCE,
    limit: float = PULL_LIMIT,
) -> bool:
    """Pull an image; where it does not come, say why in one line and return False.

    The engine is asked, not the registry: only it knows its mirrors and proxies.

    Args:
        patience: seconds until the first answer.
        limit: seconds from then on until the image has to be here.
    """
    try:
        process = subprocess.Popen(
            ["docker", "pull", image], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
        )
    except OSError as error:
        say(f"{image} cannot be pulled ({error})")
        return False
    last = ""
    timer = _end_after(patience, process)
    with process:
        for line in process.stdout or ():
            if not last:
                timer.cancel()
                timer = _end_after(limit, process)
            last = line.strip() or last
    timer.cancel()
    if process.returncode:
        say(f"{image} cannot be pulled ({last or f'no answer in {patience:.0f} s'})")
    return process.returncode == 0


def _end_after(seconds: float, process: "subprocess.Popen[str]") -> Timer:
    timer = Timer(seconds, process.kill)
    timer.daemon = True
    timer.start()
    return timer
