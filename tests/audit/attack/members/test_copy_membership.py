"""Membership in copies."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit.attack import copy_membership

RNG = np.random.default_rng(10)


def test_exact_tables_tell_members_and_a_private_copy_does_not():
    rows = {f"q{i}": RNG.integers(0, 4, 300) for i in range(16)}
    keys = {name: [0, 1, 2, 3] for name in rows}
    finding = copy_membership(pa.table(rows), keys=keys, copy={"method": "mst"})
    assert finding.exact.auc > 0.75
    assert finding.private.auc < 0.75  # 60 members and 60 others: a coin's deviation is 0.053
    assert finding.private.about == "the private copy"


def test_numbers_of_many_values_and_missing_ones_are_compared_in_parts():
    rows = {"age": [None, *RNG.uniform(0, 100, 299)], "sex": ["f", None, "m"] * 100}
    limits = {"bounds": {"age": (0, 100)}, "keys": {"sex": ["f", "m"]}}
    finding = copy_membership(pa.table(rows), copy={"method": "mst"}, **limits)
    assert finding.facts == 10 + 3 + 30
    assert 0.2 < finding.private.auc < 0.8


def test_people_with_several_rows_are_refused():
    with pytest.raises(dp.InvalidParameter, match="one row for each person"):
        copy_membership(pa.table({"who": range(30)}), unit="who")
