"""Statements that take too long are interrupted."""

import threading

from deniable.engines.ibis.connection import interrupt_after

PATIENCE = 60  # seconds


class _Driver:
    """Says when it was interrupted."""

    def __init__(self):
        self.interrupted = threading.Event()

    def interrupt(self):
        self.interrupted.set()


def test_a_driver_is_interrupted_when_the_time_is_up_and_not_before():
    slow, quick = _Driver(), _Driver()
    with interrupt_after(0.01, slow):
        assert slow.interrupted.wait(PATIENCE)
    with interrupt_after(PATIENCE, quick):
        pass
    assert not quick.interrupted.is_set()
