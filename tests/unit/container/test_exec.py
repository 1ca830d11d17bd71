"""The byte stream of a command: taken apart at any cut, fed, and ended in time."""

import socket
import struct
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capd_py.container.exec import Frames, exchange


def frame(kind: int, text: bytes) -> bytes:
    """One frame as the engine sends it."""
    return struct.pack(">BxxxL", kind, len(text)) + text


@given(st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.binary(max_size=20))), st.data())
def test_outputs_do_not_depend_on_where_the_stream_is_cut(
    frames: list[tuple[int, bytes]], data: st.DataObject
) -> None:
    stream = b"".join(frame(kind, text) for kind, text in frames)
    taken = Frames()
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        taken.feed(stream[:size])
        stream = stream[size:]
    expected = [b"".join(t for k, t in frames if k == kind) for kind in (1, 2)]
    assert taken.texts() == tuple(text.decode(errors="replace") for text in expected)


def test_only_the_end_of_a_long_output_is_kept() -> None:
    taken = Frames()
    for _ in range(20):
        taken.feed(frame(1, b"x" * 65536))
    taken.feed(frame(1, b"end"))
    output = taken.texts()[0]
    assert len(output) == 512 * 1024
    assert output.endswith("end")


def test_stdin_goes_out_whole_and_ends_although_outputs_come_first() -> None:
    ours, theirs = socket.socketpair()
    received = bytearray()

    def command() -> None:
        theirs.sendall(frame(1, b"early"))
        while chunk := theirs.recv(65536):
            received.extend(chunk)
        theirs.sendall(frame(2, b"late"))
        theirs.close()

    thread = threading.Thread(target=command)
    thread.start()
    sent = [b"a" * 300_000, b"b" * 300_000]
    assert exchange(ours, sent, 10) == ("early", "late")
    thread.join()
    assert bytes(received) == b"".join(sent)
    ours.close()


def test_a_command_that_does_not_read_is_still_heard() -> None:
    ours, theirs = socket.socketpair()

    def command() -> None:
        theirs.sendall(frame(1, b"no thanks"))
        theirs.close()

    thread = threading.Thread(target=command)
    thread.start()
    thread.join()
    assert exchange(ours, [b"x" * 10], 10)[0] == "no thanks"
    ours.close()


def test_a_command_without_end_is_a_timeout() -> None:
    ours, theirs = socket.socketpair()
    with pytest.raises(TimeoutError):
        exchange(ours, [], 0.05)
    ours.close()
    theirs.close()
