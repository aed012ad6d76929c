"""Statements that take too long: interrupted, or left behind."""

import threading

import pytest

from deniable.engines.ibis.time_limit import call_within, interrupt_after

PATIENCE = 60  # seconds


class _Connection:
    """Says when it was interrupted."""

    def __init__(self):
        self.interrupted = threading.Event()

    def interrupt(self):
        self.interrupted.set()


def test_duckdb_is_interrupted():
    slow, quick = _Connection(), _Connection()
    with interrupt_after(0.01, slow):
        assert slow.interrupted.wait(PATIENCE)
    with interrupt_after(PATIENCE, quick):
        pass
    assert not quick.interrupted.is_set()


def test_a_function_that_does_not_return_is_left_behind():
    ended = threading.Event()
    with pytest.raises(TimeoutError):
        call_within(0.01, lambda: ended.wait(PATIENCE))
    ended.set()
    assert call_within(PATIENCE, lambda: 7) == 7
    with pytest.raises(KeyboardInterrupt):  # whatever it raises, not only Exceptions
        call_within(PATIENCE, _interrupt)


def _interrupt():
    raise KeyboardInterrupt
