"""Whatever a mechanism returns becomes columns, and equal outputs stay equal."""

import numpy as np
import pytest

from deniable.audit.prove.comparable_outputs import Raised
from deniable.audit.test.outputs import OutputReader, join_batches


def test_numbers_and_arrays_are_taken_as_they_are():
    reader = OutputReader()
    for outputs in ([1, 2, 3], [1.5, 2.5, 3.5], np.array([1, 2, 3]), [True, False, True]):
        batch = reader.read(outputs)
        assert (batch.width, batch.kinds) == (1, None)
        assert batch.column(0).tolist() == [float(output) for output in outputs]
    assert reader.read(np.zeros((5, 2, 3))).width == 6
    assert reader.read([(1, 2), (3, 4)]).width == 2
    assert reader.read([1.5]).floating
    assert not reader.read([1]).floating


@pytest.mark.parametrize(
    "outputs",
    [
        [1, 1.0],
        [0, False],
        [0.0, -0.0],
        ["a", "b"],
        [None, "None"],
        [(1,), (1, 1)],
        [("a", 1), ("a", 1.0)],
        [{"a": 1}, {"a": 2}],
        [Raised("ValueError"), Raised("KeyError")],
        [(1, 2), (2, 1)],
        [np.array([1.0, 2.0]), np.array([1.0, 3.0])],
        [2**70, 2**70 + 2**60],
    ],
    ids=str,
)
def test_different_outputs_have_different_keys(outputs):
    batch = OutputReader().read([*outputs, *outputs])
    assert batch.keys[0] == batch.keys[2]
    assert batch.keys[1] == batch.keys[3]
    assert batch.keys[0] != batch.keys[1]


def test_all_nans_are_one():
    batch = OutputReader().read([("a", float("nan")), ("a", float("nan"))])
    assert batch.keys[0] == batch.keys[1]


def test_the_codebook_is_one_for_all_batches():
    reader = OutputReader()
    first, second = reader.read(["yes", "no"]), reader.read(["no", "maybe"])
    assert first.kind(0)[1] == second.kind(0)[0]
    assert reader.name(int(first.kind(0)[0])) == "'yes'"


def test_shorter_outputs_are_filled_up():
    reader = OutputReader()
    both = join_batches([reader.read([(1, 2, 3)]), reader.read([(1,), ()])])
    assert both.width == 3
    assert both.kind(2).tolist() == [0, -1, -1]
    assert both.lengths.tolist() == [3, 1, 0]
    assert np.isnan(both.column(7)).all()


def test_two_calls_side_by_side():
    reader = OutputReader()
    a, b = reader.read([1, 2]), reader.read([3, 3])
    assert a.pair_with(b).values.tolist() == [[1, 3], [2, 3]]
    assert len(set(a.pair_with(b).keys.tolist()) | set(b.pair_with(a).keys.tolist())) == 4
