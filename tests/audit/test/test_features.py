"""Features see what they are named after."""

import math

import numpy as np
import pytest

from deniable.audit.test.features import last_digit, list_features
from deniable.audit.test.outputs import OutputReader


def read(outputs, other=None):
    reader = OutputReader()
    batch = reader.read(outputs)
    listed = list_features(batch, batch if other is None else reader.read(other))
    return {feature.text: feature(batch).tolist() for feature in listed}


def test_the_last_binary_digit():
    values = [1.0, 3.0, 0.5, 2.0**-60, 1 + 2.0**-52, 0.1, -6.0, 0.0, math.inf, math.nan]
    digits = last_digit(np.array(values)).tolist()
    assert digits[:7] == [0, 0, -1, -60, -52, -55, 1]
    assert digits[7] > 1000
    assert all(math.isnan(reading) for reading in digits[8:])
    for value, digit in zip(values[:7], digits, strict=False):
        assert value / 2.0**digit % 1 == 0
        assert value / 2.0 ** (digit + 1) % 1 != 0


def test_relations_of_coordinates():
    values = read([(3, 1, 3), (0, 0, 7)])
    assert values["sum"] == [7, 7]
    assert values["index of the largest"] == [0, 2]
    assert values["number of distinct numbers"] == [2, 2]
    assert values["number of zeros"] == [0, 2]
    assert values["index of the first non-zero"] == [0, 2]
    assert values["output[0] - output[2]"] == [0, -7]


def test_mixed_outputs():
    values = read([("below", "below", 2.5), ("below",)])
    assert values["length"] == [3, 1]
    assert values["number of missing numbers"] == [2, 3]
    assert values["last number"][0] == 2.5
    assert values["kind of output[0]"][0] == values["kind of output[0]"][1]


def test_many_columns_are_thinned_to_those_that_differ():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 500, 60))
    b[:, 37] += 3
    reader = OutputReader()
    texts = [feature.text for feature in list_features(reader.read(a), reader.read(b))]
    assert "output[37]" in texts
    assert len(texts) < 80


@pytest.mark.parametrize("outputs", [[1, 2], [True, False]])
def test_whole_numbers_have_no_low_bits(outputs):
    assert list(read(outputs)) == ["output"]


def test_texts_that_were_not_seen_are_none_of_the_others():
    reader = OutputReader()
    sample = reader.read(["a", "b", "a"])
    kind = next(
        feature for feature in list_features(sample, sample) if feature.text == "kind of output"
    )
    assert sorted(kind.codes.values()) == ["'a'", "'b'"]
    assert np.isnan(kind(reader.read(["b", "c"]))).tolist() == [False, True]
