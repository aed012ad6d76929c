"""Integers of any width arrive exactly."""

import decimal
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.engines.handover.exact_groups import (
    ExactGroups,
    JointCells,
    to_integer,
    to_integers,
)

WIDE = pa.decimal128(38, 0)


@given(st.lists(st.none() | st.integers(-(10**38) + 1, 10**38 - 1)))
def test_wide_integers_are_exact(values):
    with decimal.localcontext() as context:
        context.prec = 40
        column = pa.chunked_array(
            [[None if v is None else decimal.Decimal(v) for v in values]], WIDE
        )
    assert to_integers(column).tolist() == [v or 0 for v in values]


@pytest.mark.parametrize(
    ("value", "kind"), [(2**63 - 1, "i"), (-(2**63), "i"), (2**63, "O"), (-(2**63) - 1, "O")]
)
def test_only_what_does_not_fit_becomes_an_object(value, kind):
    integers = to_integers(
        pa.chunked_array([[decimal.Decimal(value), decimal.Decimal(1)]], WIDE)
    )
    assert integers.dtype.kind == kind
    assert integers.tolist() == [value, 1]


def test_chunks_slices_and_narrow_types():
    wide = pa.array([decimal.Decimal(v) for v in (1, 2**70, 3)], WIDE)
    assert to_integers(pa.chunked_array([wide[1:], wide[:1]])).tolist() == [2**70, 3, 1]
    assert to_integers(pa.chunked_array([pa.array([7, None], pa.int32())])).tolist() == [7, 0]
    assert to_integers(pa.chunked_array([], pa.int64())).tolist() == []


def test_it_does_not_print_and_knows_its_length():
    groups = ExactGroups((pa.array(["secret"]),), np.array([41]), {"n": np.array([42])})
    assert groups.groups == 1
    assert not any(text in f"{groups!r}{groups}" for text in ("secret", "41", "42"))


def test_every_type_of_column_becomes_integers():
    columns = [
        (pa.array([2**64 - 1, None], pa.uint64()), [2**64 - 1, 0]),
        (pa.array([1.9, math.nan, math.inf]), [1, 0, 2**127 - 1]),
        (pa.array([-math.inf, None]), [-(2**127 - 1), 0]),
        (pa.array([Decimal("-7.25"), None], pa.decimal128(9, 2)), [-7, 0]),
        (pa.array([Decimal(10**70)], pa.decimal256(76, 0)), [10**70]),
        (pa.array([True, None]), [1, 0]),
        (pa.array(["12", None]), [0, 0]),
        (pa.array([[1]], pa.list_(pa.int8())), [0]),
        (pa.nulls(2), [0, 0]),
    ]
    for column, integers in columns:
        assert to_integers(column).tolist() == integers
        assert to_integers(pa.chunked_array([column, column])).tolist() == integers * 2


def test_decimals_out_of_range_are_cut():
    assert to_integer(Decimal("NaN")) == to_integer(Decimal("sNaN")) == to_integer(None) == 0
    assert to_integer(Decimal("-Infinity")) == to_integer(Decimal("-1e999999")) == 1 - 2**127


@pytest.mark.parametrize(("most", "dtype"), [(2, "uint8"), (256, "uint8"), (300, "uint16")])
def test_joint_cells_take_few_bytes_and_are_added_up_without_overflow(most, dtype):
    sizes = (most, 300 if most == 300 else 2)
    batch = pa.record_batch(
        {"c0": [0, most - 1, most + 10**6], "c1": [1, sizes[1] - 1, -5], "n": [3, 200, 400]}
    )
    joint = JointCells.read([batch, batch], sizes, 10**12)
    assert joint.codes.dtype == dtype
    assert joint.table((0,)).tolist()[most - 1] == 1200
    both = joint.table((0, 1))
    assert (both.size, both.sum()) == (sizes[0] * sizes[1], 1206)
    assert both[-1] == 400
