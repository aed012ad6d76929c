from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from deniable.mechanisms.local.bit_rows import (
    count_columns,
    draw_rows,
    pack_row,
    set_bits,
    unpack_row,
)


@given(st.integers(0, 70), st.integers(1, 20))
def test_columns_are_counted(rows, bits):
    marks = (np.arange(rows * bits).reshape(rows, bits) * 2654435761 >> 7) & 1
    counts = count_columns(np.packbits(marks.astype(np.uint8), axis=1), bits)
    assert counts.tolist() == marks.sum(axis=0).tolist()


@pytest.mark.parametrize("q", [Fraction(1, 4), Fraction(1, 3), Fraction(9, 10)])
def test_bits_have_their_probability_and_are_independent(q):
    rows = draw_rows(q, 50_000, 11)
    ones = np.unpackbits(rows, axis=1)
    assert not ones[:, 11:].any()
    for column in (0, 7, 8, 10):
        assert binomtest(int(ones[:, column].sum()), 50_000, float(q)).pvalue > 1e-9
    both = int((ones[:, 0] & ones[:, 1]).sum())
    assert binomtest(both, 50_000, float(q * q)).pvalue > 1e-9
    across = int((ones[:, 7] & ones[:, 8]).sum())
    assert binomtest(across, 50_000, float(q * q)).pvalue > 1e-9


def test_one_bit_is_set_or_cleared():
    rows = np.full((2, 2), 0b10101010, dtype=np.uint8)
    set_bits(rows, np.array([0, 9]), np.array([False, True]))
    assert rows.tolist() == [[0b00101010, 0b10101010], [0b10101010, 0b11101010]]


def test_packing_and_back():
    assert unpack_row(np.array(pack_row([1, 0, 0, 1, 1, 0, 1, 0, 1])), 9) == [
        1,
        0,
        0,
        1,
        1,
        0,
        1,
        0,
        1,
    ]
