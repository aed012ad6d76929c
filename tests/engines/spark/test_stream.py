"""What Spark's driver sends is taken as it comes, and a stream that broke off is no answer."""

import io
import socket
import struct
import threading

import pyarrow as pa
import pytest

from deniable.engines.spark.stream import ArrowStreamReader, stream_batches

SCHEMA = pa.schema({"n": pa.int64()})


def sent(batches, number, order=()):
    """The bytes that a driver sends: Arrow's stream, the number of batches, their order."""
    kept = io.BytesIO()
    with pa.ipc.new_stream(kept, SCHEMA) as writer:
        for values in batches:
            writer.write_batch(pa.record_batch({"n": pa.array(values, pa.int64())}))
    return kept.getvalue() + struct.pack(f"!{1 + len(order)}i", number, *order)


def arrived(told):
    return [
        batch["n"].to_pylist() for batch in ArrowStreamReader().load_stream(io.BytesIO(told))
    ]


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


class Driver:
    """A driver that serves one connection at each request, except the first ones, when it has
    given up waiting before we are there."""

    def __init__(self, too_late):
        self.too_late, self.requests, self.waited = too_late, 0, False

    def collectAsArrowToPython(self):
        self.requests += 1
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        if self.requests <= self.too_late:
            listener.close()
        else:
            threading.Thread(target=self._serve, args=(listener,), daemon=True).start()
        return port, "secret", self

    def _serve(self, listener):
        connection, _ = listener.accept()
        with listener, connection:
            connection.recv(4 + len("secret"))
            connection.sendall(struct.pack("!i", 2) + b"ok" + sent([[1, 2], [3]], 2))

    def getResult(self):
        self.waited = True


class Frame:
    def __init__(self, driver):
        self._jdf = driver


@pytest.mark.parametrize("too_late", [0, 1, 2])
def test_a_driver_that_gave_up_waiting_is_asked_again(too_late):
    """As after a suspended process: PySpark itself fails with an UnboundLocalError."""
    driver = Driver(too_late)
    batches = [batch["n"].to_pylist() for batch in stream_batches(Frame(driver))]
    assert batches == [[1, 2], [3]]
    assert (driver.requests, driver.waited) == (too_late + 1, True)


def test_a_driver_that_never_listens_is_a_failure():
    with pytest.raises(ConnectionError):
        list(stream_batches(Frame(Driver(99))))
