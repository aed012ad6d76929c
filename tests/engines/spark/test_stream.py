"""What Spark's driver sends is taken as it comes, and a stream that broke off is no answer."""

import io
import struct

import pyarrow as pa
import pytest

from deniable.engines.spark.stream import ArrowStreamReader

SCHEMA = pa.schema({"n": pa.int64()})


def sent(batches, number, order=()):
    """The bytes that a driver sends: Arrow's stream, the number of batches, their order."""
    kept = io.BytesIO()
    with pa.ipc.new_stream(kept, SCHEMA) as writer:
        for values in batches:
            writer.write_batch(pa.record_batch({"n": pa.array(values, pa.int64())}))
    return kept.getvalue() + struct.pack(f"!{1 + len(order)}i", number, *order)


def arrived(told):
    return [one["n"].to_pylist() for one in ArrowStreamReader().load_stream(io.BytesIO(told))]


def test_batches_come_in_the_order_in_which_they_are_sent():
    assert arrived(sent([[1, 2], [3]], 2, (1, 0))) == [[1, 2], [3]]


def test_a_batch_is_read_before_the_next_is_sent():
    whole = io.BytesIO(sent([[1], [2], [3]], 3))
    first = next(ArrowStreamReader().load_stream(whole))
    assert first["n"].to_pylist() == [1]
    assert whole.tell() < len(whole.getvalue()) // 2


def test_nothing_is_one_empty_batch():
    assert arrived(sent([], 0)) == [[]]


def test_wherever_it_breaks_off_it_is_a_failure():
    whole = sent([[1, 2], [3]], 2)
    for length in range(len(whole)):
        with pytest.raises((EOFError, OSError, pa.ArrowInvalid)):
            arrived(whole[:length])


@pytest.mark.parametrize("number", [-1, 1, 3])
def test_a_failure_of_the_driver_is_one_here(number):
    with pytest.raises(EOFError):
        arrived(sent([[1, 2], [3]], number))
