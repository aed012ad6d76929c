"""Outputs are told apart by type and value."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from deniable.audit import prove
from deniable.audit.prove.comparable_outputs import TypedNumber, freeze, keep_type


@pytest.mark.parametrize(
    "pair",
    [
        (1, True),
        (1, 1.0),
        (True, 1.0),
        (0.0, -0.0),
        (1.0, Fraction(1)),
        (1, Decimal(1)),
        ([1, 2], [1, 2.0]),
        ({"a": 1}, {"a": True}),
        (float("nan"), "nan"),
    ],
    ids=str,
)
def test_outputs_that_python_takes_for_equal_tell_inputs_apart(pair):
    def leaks(x, flip):
        return pair[x] if flip(Fraction(1, 2)) else None

    proof = prove(leaks, [(0, 1)])
    assert proof.odds == math.inf
    assert len(proof.outputs) == 3


def test_the_same_output_is_one():
    for value in (1, True, 1.0, float("nan"), Fraction(1, 2), Decimal("0.1"), (1, (True, 2.5))):
        proof = prove(lambda _, flip, v=value: (v, flip(Fraction(1, 2)))[0], [(0, 1)])
        assert proof.odds == 1
        assert len(proof.outputs) == 1
    assert freeze(np.float64(0.5)) == freeze(0.5)
    assert freeze(np.bool_(True)) == True  # noqa: E712
    assert freeze(float("nan")) == freeze(float("nan"))


def test_tables_are_asked_with_plain_values():
    def answers(x, flip):
        return bool(x) if flip(Fraction(3, 4)) else not x

    proof = prove(answers, [(0, 1)])
    assert proof.table[0][False] == Fraction(3, 4)
    assert 0 not in proof.table[0]
    assert proof.outputs == (False, True)
    assert str(proof.outputs) == "(False, True)"


def test_order_and_looks():
    assert sorted([keep_type(2.5), 1, keep_type(True), keep_type(1.0), 3]) == [
        keep_type(True),
        keep_type(1.0),
        1,
        2.5,
        3,
    ]
    assert (str(keep_type(0.5)), repr(keep_type(True)), bool(keep_type(False))) == (
        "0.5",
        "True",
        False,
    )
    with pytest.raises(TypeError):
        assert TypedNumber(1.0) < "a"
