"""Slices make up the whole, each taken once, whichever thread takes it."""

import threading

import numpy as np
import pytest

from deniable.release.answer.answer import SLICE_LENGTH, run_in_slices


@pytest.mark.parametrize(
    "count",
    [
        0,
        1,
        SLICE_LENGTH - 1,
        SLICE_LENGTH,
        SLICE_LENGTH + 1,
        9 * SLICE_LENGTH + 7,
        40 * SLICE_LENGTH,
    ],
)
def test_every_place_is_in_one_slice(count):
    seen = np.zeros(count, dtype=int)

    def mark(part):
        seen[part] += 1

    run_in_slices(count, mark)
    assert (seen == 1).all()


def test_a_failure_is_not_lost():
    def fail(part):
        if part.start == 3 * SLICE_LENGTH:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_in_slices(50 * SLICE_LENGTH, fail)


def test_few_groups_stay_on_the_callers_thread():
    threads = set()
    run_in_slices(SLICE_LENGTH, lambda part: threads.add(threading.get_ident()))
    assert threads == {threading.get_ident()}
