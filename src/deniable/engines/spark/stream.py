"""Groups out of Spark as a stream of Arrow batches, of which few are in memory at once.

Spark's driver hands batches on as partitions end, in whatever order; PySpark's `toArrow`
waits for the last to put them in order. Groups have no order, so each is taken as it comes.
A stream that breaks off is told from one that ends: Spark closes with the number of batches.
"""

import contextlib
import struct
from collections.abc import Iterator
from typing import IO, Any

import pyarrow as pa


def stream_batches(frame: Any) -> "Iterator[pa.RecordBatch]":
    """What a frame finds, in no order: one batch or more, of which one may be empty."""
    if "connect" in type(frame).__module__:
        return _stream_from_connect(frame)
    return _stream_from_driver(frame) if hasattr(frame, "_jdf") else _fetch_all(frame)


class ArrowStreamReader:
    """Reads what Spark's driver sends: Arrow's stream, then how many batches it held."""

    def load_stream(self, stream: IO[bytes]) -> "Iterator[pa.RecordBatch]":
        reader = pa.ipc.open_stream(stream)
        number = 0
        for batch in reader:
            number += 1
            yield batch
        told = stream.read(4)
        if len(told) < 4 or struct.unpack("!i", told)[0] != number:
            raise EOFError("Spark's driver broke off.")
        if not number:
            yield pa.RecordBatch.from_pylist([], schema=reader.schema)


def _stream_from_driver(frame: Any) -> "Iterator[pa.RecordBatch]":
    from pyspark import util

    port, secret, server = frame._jdf.collectAsArrowToPython()
    opened: Any = util._load_from_socket((port, secret), ArrowStreamReader())  # type: ignore[arg-type]
    with contextlib.ExitStack() as stack:
        # A context in PySpark 4.1 and later; before, the batches themselves.
        found = stack.enter_context(opened) if hasattr(opened, "__enter__") else opened
        yield from found
        server.getResult()  # waits for the driver's end of it; what failed there is raised


def _stream_from_connect(frame: Any) -> "Iterator[pa.RecordBatch]":
    client, asked = frame.sparkSession.client, frame._plan
    empty = True
    for found in client.to_table_as_iterator(asked.to_proto(client), asked.observations):
        if isinstance(found, pa.Table):
            for batch in found.to_batches():
                empty = False
                yield batch
    if empty:
        yield from _fetch_all(frame.limit(0))


def _fetch_all(frame: Any) -> "Iterator[pa.RecordBatch]":
    found = frame.toArrow()
    yield from found.to_batches() or [pa.RecordBatch.from_pylist([], schema=found.schema)]
