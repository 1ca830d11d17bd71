"""The byte stream of a command in a container: stdin out, stdout and stderr in, with a deadline.

The engine multiplexes both outputs as frames: one byte for which, three zeros, four for the length.
"""

import contextlib
import selectors
import socket
import struct
import time
from collections.abc import Iterable
from typing import Any

_KEPT = 512 * 1024
_CHUNK = 64 * 1024


class Frames:
    """Takes the stream apart; keeps the end of each output."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._outputs = {1: bytearray(), 2: bytearray()}

    def feed(self, data: bytes) -> None:
        """Take in some bytes of the stream."""
        self._buffer += data
        while len(self._buffer) >= 8:
            kind, length = struct.unpack(">BxxxL", self._buffer[:8])
            if len(self._buffer) < 8 + length:
                return
            output = self._outputs.get(kind)
            if output is not None:
                output += self._buffer[8 : 8 + length]
                del output[:-_KEPT]
            del self._buffer[: 8 + length]

    def texts(self) -> tuple[str, str]:
        """Both outputs so far."""
        return (
            self._outputs[1].decode(errors="replace"),
            self._outputs[2].decode(errors="replace"),
        )


def exchange(stream: Any, stdin: Iterable[bytes], timeout: float) -> tuple[str, str]:
    """Send ``stdin`` and collect the outputs until the command ends.

    Args:
        stream: what the SDK's ``exec_start(socket=True)`` gives.

    Raises:
        TimeoutError: ``timeout`` seconds passed.
    """
    raw: socket.socket = getattr(stream, "_sock", stream)
    raw.setblocking(False)
    frames = Frames()
    frames.feed(_read_ahead(stream))
    source = iter(stdin)
    pending: memoryview | None = memoryview(b"")
    deadline, sending = time.monotonic() + timeout, True
    with selectors.DefaultSelector() as selector:
        selector.register(raw, selectors.EVENT_READ | selectors.EVENT_WRITE)
        while True:
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            events = ready[0][1]
            if sending and events & selectors.EVENT_WRITE:
                if not pending:
                    pending = memoryview(next(source, b""))
                try:
                    pending = pending[raw.send(pending[:_CHUNK]) :] if pending else None
                except BlockingIOError:
                    continue
                except OSError:
                    # The command does not want more.
                    pending = None
                if pending is None:
                    sending = False
                    # Only half of the connection ends: the outputs are still to come.
                    with contextlib.suppress(OSError):
                        raw.shutdown(socket.SHUT_WR)
                    selector.modify(raw, selectors.EVENT_READ)
            if events & selectors.EVENT_READ:
                data = raw.recv(_CHUNK)
                if not data:
                    return frames.texts()
                frames.feed(data)


def _read_ahead(stream: Any) -> bytes:
    """What was read together with the response's headers."""
    response = getattr(stream, "_response", None)
    reader = getattr(getattr(getattr(response, "raw", None), "_fp", None), "fp", None)
    if reader is None:
        return b""
    with contextlib.suppress(OSError, ValueError):
        return reader.peek() or b""
    return b""
