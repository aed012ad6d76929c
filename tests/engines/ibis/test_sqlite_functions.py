"""DuckDB's functions for SQLite: wide integers, patterns, hashes."""

import math

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.engines.ibis.sqlite_functions import FUNCTIONS, WideSum, from_wide, to_wide

WIDE = st.integers(-(2**127) + 1, 2**127 - 1)


def call(name, *values):
    return FUNCTIONS[f"deniable_{name}"](*values)


@given(WIDE, WIDE)
def test_wide_integers_are_sorted_as_numbers_and_divided_towards_zero(left, right):
    assert from_wide(to_wide(left)) == left
    assert (to_wide(left) < to_wide(right)) == (left < right)
    quotient = call("wide_divide", to_wide(left), to_wide(right))
    if right == 0:
        assert quotient is None
    else:
        assert from_wide(quotient) == int(math.copysign(1, left) * math.copysign(1, right)) * (
            abs(left) // abs(right)
        )


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_sums_of_parts_are_the_sum(values):
    parts = [sum(value >> 48 for value in values)]
    parts += [sum((value >> shift) & 0xFFFF for value in values) for shift in (32, 16, 0)]
    assert from_wide(call("wide_parts", *parts)) == sum(values)
    added = WideSum()
    for value in (None, *values):
        added.step(None if value is None else to_wide(value))
    assert from_wide(added.finalize()) == sum(values)
    assert WideSum().finalize() is None


@given(WIDE)
def test_a_wide_integer_is_duckdbs_double(number):
    ((known,),) = duckdb.sql(f"SELECT {number}::HUGEINT::DOUBLE").fetchall()
    assert call("wide_double", to_wide(number)) == known


@given(st.text("ab%_", max_size=9), st.text("ab%_", max_size=6))
def test_like_is_duckdbs(text, pattern):
    ((known,),) = duckdb.execute("SELECT $1 LIKE $2", [text, pattern]).fetchall()
    assert call("like", text, pattern) == known


def test_a_pattern_of_many_parts_takes_no_long_time():
    assert not call("like", "a" * 60_000, "%a" * 500 + "%b%a")
    assert not call("like", "a" * 2_000, "%a_" * 50 + "%b")


def test_a_hash_depends_on_the_salt_and_all_values_and_on_no_sign_of_zero():
    salts = 2**62, 2**62 + 1
    first, other = (call("hash", salt, 1, "a", None) for salt in salts)
    assert first != other
    assert first != call("hash", salts[0], "1", "a", None)
    assert call("hash", salts[0], 0.0) == call("hash", salts[0], -0.0)
    assert 0 <= first < 2**63


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in {"deniable_hash"}])
def test_nothing_of_null_fails(name):
    assert FUNCTIONS[name](None, None, None) is None
