import os
import threading
import time

import pytest

from deniable.app.server.children.messages import PipeBroken, PipeTimeout, receive, send


@pytest.fixture
def pipe():
    ends = list(os.pipe())
    yield ends
    for end in ends:
        if end is not None:
            os.close(end)


def test_a_long_message_arrives_whole(pipe):
    body = os.urandom(3_000_000)
    sender = threading.Thread(target=send, args=(pipe[1], {"n": "ä"}, body))
    sender.start()
    told, received = receive(pipe[0], time.monotonic() + 600)
    sender.join()
    assert told == {"n": "ä"}
    assert bytes(received) == body


def test_half_a_message_is_an_end(pipe):
    os.write(pipe[1], b"\0" * 20)
    os.close(pipe[1])
    pipe[1] = None
    with pytest.raises(PipeBroken):
        receive(pipe[0])


@pytest.mark.parametrize("head", [b"\xff" * 16, b"\0" * 7 + b"\x02" + b"\0" * 8 + b"[]"])
def test_what_is_not_ours_is_refused(pipe, head):
    os.write(pipe[1], head)
    with pytest.raises(PipeBroken):
        receive(pipe[0], time.monotonic() + 600)


def test_silence_ends_at_the_deadline(pipe):
    with pytest.raises(PipeTimeout):
        receive(pipe[0], time.monotonic())


def test_nobody_listens(pipe):
    os.close(pipe[0])
    pipe[0] = None
    with pytest.raises(PipeBroken):
        send(pipe[1], {})


def test_who_does_not_read_is_not_waited_for_beyond_the_deadline(pipe):
    """A pipe takes some bytes that nobody reads, and then none."""
    os.set_blocking(pipe[1], False)  # so that a write that would wait is an error
    with pytest.raises(PipeTimeout):
        send(pipe[1], {}, bytes(10_000_000), time.monotonic() + 0.01)
    with pytest.raises(PipeTimeout):
        send(pipe[1], {}, deadline=time.monotonic())


def test_a_long_message_arrives_whole_before_its_deadline(pipe):
    body = os.urandom(3_000_000)
    until = time.monotonic() + 600
    sender = threading.Thread(target=send, args=(pipe[1], {}, body, until))
    sender.start()
    assert bytes(receive(pipe[0], until)[1]) == body
    sender.join()
