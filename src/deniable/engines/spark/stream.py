"""Reads groups from Spark as a stream of Arrow batches, with few in memory at once.

Spark's driver sends batches as partitions end, in any order. PySpark's `toArrow` waits for the
last one to sort them. Groups have no order, so each batch is used as it arrives. A stream that
breaks off is detected: at its end Spark sends the number of batches.
"""

import contextlib
import struct
from collections.abc import Iterator
from typing import IO, Any

import pyarrow as pa

_ATTEMPTS = 3  # to connect to the driver


def stream_batches(frame: Any) -> "Iterator[pa.RecordBatch]":
    """The rows of a frame, in no order: one batch or more, which may be empty."""
    if "connect" in type(frame).__module__:
        return _stream_from_connect(frame)
    return _stream_from_driver(frame) if hasattr(frame, "_jdf") else _fetch_all(frame)


class ArrowStreamReader:
    """Reads what Spark's driver sends: an Arrow stream, then its number of batches."""

    def load_stream(self, stream: IO[bytes]) -> "Iterator[pa.RecordBatch]":
        reader = pa.ipc.open_stream(stream)
        number = 0
        for batch in reader:
            number += 1
            yield batch
        count = stream.read(4)
        if len(count) < 4 or struct.unpack("!i", count)[0] != number:
            raise EOFError("Spark's driver ended the stream too early.")
        if not number:
            yield pa.RecordBatch.from_pylist([], schema=reader.schema)


def _stream_from_driver(frame: Any) -> "Iterator[pa.RecordBatch]":
    with contextlib.ExitStack() as stack:
        received, server = _connect_to_driver(frame, stack)
        yield from received
        server.getResult()  # waits for the driver, and raises its failure


def _connect_to_driver(frame: Any, stack: contextlib.ExitStack) -> tuple[Any, Any]:
    """The batches that the driver will send, and the driver's side of the connection.

    The driver waits 15 seconds for us, and reads no row before we are there. If this process
    was suspended, or the machine is too busy, nobody listens any more: PySpark then fails with
    an UnboundLocalError. So we ask again.
    """
    from pyspark import util

    for _ in range(_ATTEMPTS):
        port, secret, server = frame._jdf.collectAsArrowToPython()
        with contextlib.suppress(OSError, UnboundLocalError, RuntimeError):
            opened: Any = util._load_from_socket((port, secret), ArrowStreamReader())  # type: ignore[arg-type]
            # In PySpark 4.1 and later a context manager; before, the batches themselves.
            entered = hasattr(opened, "__enter__")
            return stack.enter_context(opened) if entered else opened, server
    raise ConnectionError("Spark's driver does not listen for us.")


def _stream_from_connect(frame: Any) -> "Iterator[pa.RecordBatch]":
    client, plan = frame.sparkSession.client, frame._plan
    empty = True
    for received in client.to_table_as_iterator(plan.to_proto(client), plan.observations):
        if isinstance(received, pa.Table):
            for batch in received.to_batches():
                empty = False
                yield batch
    if empty:
        yield from _fetch_all(frame.limit(0))


def _fetch_all(frame: Any) -> "Iterator[pa.RecordBatch]":
    table = frame.toArrow()
    yield from table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
