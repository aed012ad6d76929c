from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import Unsupported
from deniable.query.margins.evaluation import OPERATIONS, evaluate
from deniable.query.margins.released_texts import TEXT_OPERATIONS
from deniable.query.plan.plan import (
    Constant,
    Feature,
    KeyColumn,
    Number,
    Operation,
)

A, B = Feature("a", 0), Feature("b", 0)
FEATURES = {"a": np.array([4.0, -9.0, 0.0]), "b": np.array([2.0, 0.0, 5.0])}
TWO = Number(Fraction(2))
UNKNOWN = Operation("=", (Operation("/", (A, B)), TWO))  # true, NULL, false
THIRDS = [1.3, -3, 0]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("+", (A, B, TWO), [8, -7, 7]),
        ("-", (A, B), [2, -9, -5]),
        ("-", (A,), [-4, 9, 0]),
        ("negative", (A,), [-4, 9, 0]),
        ("*", (A, TWO), [8, -18, 0]),
        ("/", (A, B), [2, None, 0]),
        ("/", (A, Number(Fraction(0))), [None, None, None]),
        ("power", (A, TWO), [16, 81, 0]),
        ("power", (A, Number(Fraction(1, 2))), [2, None, 0]),
        ("sqrt", (A,), [2, 0, 0]),
        ("abs", (A,), [4, 9, 0]),
        ("round", (Operation("/", (A, Number(Fraction(3)))),), [1, -3, 0]),
        ("floor", (Operation("/", (A, Number(Fraction(3)))),), [1, -3, 0]),
        ("ceil", (Operation("/", (A, Number(Fraction(3)))),), [2, -3, 0]),
        ("least", (A, B), [2, -9, 0]),
        ("greatest", (A, B), [4, 0, 5]),
        ("clamp", (A, Number(Fraction(0)), TWO), [2, 0, 0]),
        ("coalesce", (Operation("/", (A, B)), TWO), [2, 2, 0]),
        (">", (A, B), [1, 0, 0]),
        (">=", (A, B), [1, 0, 0]),
        ("<", (A, B), [0, 1, 1]),
        ("<=", (A, B), [0, 1, 1]),
        ("=", (A, B), [0, 0, 0]),
        ("<>", (A, B), [1, 1, 1]),
        ("in", (B, TWO, Number(Fraction(5))), [1, 0, 1]),
        ("is null", (Operation("/", (A, B)),), [0, 1, 0]),
        ("not", (Operation(">", (A, B)),), [0, 1, 1]),
        ("and", (Operation("<", (A, B)), Operation("<", (B, TWO))), [0, 1, 0]),
        ("or", (Operation(">", (A, B)), Operation("<", (B, TWO))), [1, 1, 0]),
        ("case", (Operation(">", (A, B)), TWO, B), [2, 0, 5]),
        ("case", (Operation(">", (A, B)), TWO), [2, None, None]),
        ("cast integer", (Operation("/", (A, Number(Fraction(3)))),), [1, -3, 0]),
        ("cast number", (A,), [4, -9, 0]),
        ("round", (Operation("/", (A, Number(Fraction(8)))),), [1, -1, 0]),
        ("round to", (Operation("/", (A, Number(Fraction(3)))), Number(Fraction(1))), THIRDS),
        ("trunc", (Operation("/", (A, TWO)),), [2, -4, 0]),
        ("sign", (A,), [1, -1, 0]),
        ("exp", (Operation("*", (A, Number(Fraction(1000)))),), [None, 0, 1]),
        ("ln", (Operation("-", (A, Number(Fraction(3)))),), [0, None, None]),
        ("log10", (Operation("-", (A, Number(Fraction(3)))),), [0, None, None]),
        ("log2", (A,), [2, None, None]),
        ("mod", (A, TWO), [0, -1, 0]),
        ("mod", (A, B), [0, None, 0]),
        ("nullif", (B, TWO), [None, 0, 5]),
        ("is distinct", (A, B), [1, 1, 1]),
        ("is distinct", (Operation("/", (A, B)), Constant(None)), [1, 0, 1]),
        ("=", (Operation("/", (A, B)), TWO), [1, None, 0]),
        ("not", (Operation("=", (Operation("/", (A, B)), TWO)),), [0, None, 1]),
        ("and", (UNKNOWN, Constant(False)), [0, 0, 0]),
        ("and", (UNKNOWN, Constant(True)), [1, None, 0]),
        ("or", (UNKNOWN, Constant(True)), [1, 1, 1]),
        ("or", (UNKNOWN, Constant(False)), [1, None, 0]),
        ("in", (Operation("/", (A, B)), TWO, Number(Fraction(3))), [1, None, 0]),
    ],
)
def test_operations(name, arguments, expected):
    actual = evaluate(Operation(name, arguments), FEATURES)
    shown = [
        None if np.isnan(float(number)) else float(number) for number in np.atleast_1d(actual)
    ]
    assert shown == (expected if np.ndim(actual) else expected[:1])


def test_every_operation_is_tested_above():
    marks = test_operations.pytestmark[0].args[1]
    assert {case[0] for case in marks} == OPERATIONS - set(TEXT_OPERATIONS)


def test_keys_are_constants_of_their_group():
    keys = (np.array([10.0, 20.0, 30.0]), np.array(["x", "y", None], dtype=object))
    assert evaluate(Operation("+", (A, KeyColumn(0))), FEATURES, keys).tolist() == [14, 11, 30]
    assert evaluate(KeyColumn(1), FEATURES, keys).tolist() == ["x", "y", None]
    assert evaluate(Operation("is null", (KeyColumn(1),)), FEATURES, keys).tolist() == [0, 0, 1]


def test_what_is_unknown_is_refused():
    with pytest.raises(Unsupported, match="READ_CSV"):
        evaluate(Operation("read_csv", (A,)), FEATURES)


def test_a_power_beyond_all_doubles_is_none():
    actual = evaluate(Operation("power", (A, Number(Fraction(1000)))), FEATURES)
    np.testing.assert_array_equal(actual, [np.nan, np.nan, 0.0])
