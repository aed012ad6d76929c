"""Messages over a pipe: JSON of a known length, then bytes of a known length.

Nothing is pickled, so a child that was taken over cannot run code in the server.
"""

import json
import os
import select
import struct
import time
from typing import Any

_HEAD = struct.Struct(">QQ")
LONGEST_JSON = 256 << 20  # a plan with a million declared keys takes about 20 MB
LONGEST_BODY = 8 << 30
_CHUNK = 1 << 20


class PipeBroken(Exception):
    """The other side has ended, or does not speak like one of ours."""


class PipeTimeout(Exception):
    """The other side has not answered in time."""


def send(
    handle: int,
    message: dict[str, Any],
    body: bytes | memoryview = b"",
    deadline: float | None = None,
) -> None:
    """Writes one message; waits until the other side has taken it, until a moment of
    `time.monotonic` at most."""
    text = json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")
    # As much as a pipe that is ready takes without waiting for who reads it.
    most = _CHUNK if deadline is None else select.PIPE_BUF
    poll = select.poll()
    poll.register(handle, select.POLLOUT)
    for part in (_HEAD.pack(len(text), len(body)), text, body):
        left = memoryview(part)
        while left:
            _wait(poll, deadline)
            try:
                left = left[os.write(handle, left[:most]) :]
            except OSError:
                raise PipeBroken from None


def receive(handle: int, deadline: float | None = None) -> tuple[dict[str, Any], bytearray]:
    """Reads one message, until a moment of `time.monotonic` at most."""
    json_length, body_length = _HEAD.unpack(_read_exactly(handle, _HEAD.size, deadline))
    if json_length > LONGEST_JSON or body_length > LONGEST_BODY:
        raise PipeBroken
    text = _read_exactly(handle, json_length, deadline)
    body = _read_exactly(handle, body_length, deadline)
    try:
        message = json.loads(text)
    except ValueError:
        raise PipeBroken from None
    if not isinstance(message, dict):
        raise PipeBroken
    return message, body


def _wait(poll: "select.poll", deadline: float | None) -> None:
    """Waits for a pipe to be ready, until the deadline."""
    if deadline is not None:
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            raise PipeTimeout


def _read_exactly(handle: int, length: int, deadline: float | None) -> bytearray:
    read = bytearray()
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    while len(read) < length:
        _wait(poll, deadline)
        try:
            part = os.read(handle, min(_CHUNK, length - len(read)))
        except OSError:
            raise PipeBroken from None
        if not part:
            raise PipeBroken
        read += part
    return read
