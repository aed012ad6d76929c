"""Slices make up the whole, each taken once, whichever thread takes it."""

import threading

import numpy as np
import pytest

from deniable.release.answer.slices import LENGTH, in_slices


@pytest.mark.parametrize(
    "count", [0, 1, LENGTH - 1, LENGTH, LENGTH + 1, 9 * LENGTH + 7, 40 * LENGTH]
)
def test_every_place_is_in_one_slice(count):
    seen = np.zeros(count, dtype=int)

    def mark(part):
        seen[part] += 1

    in_slices(count, mark)
    assert (seen == 1).all()


def test_a_failure_is_not_lost():
    def fail(part):
        if part.start == 3 * LENGTH:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        in_slices(50 * LENGTH, fail)


def test_few_groups_stay_on_the_callers_thread():
    threads = set()
    in_slices(LENGTH, lambda part: threads.add(threading.get_ident()))
    assert threads == {threading.get_ident()}
