"""Linkage: compared with counting by hand, and fast enough for a census."""

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.audit.attack import linkage
from deniable.audit.attack.rows.owned_sources import OwnedRows
from deniable.policy import Table

CELLS = st.lists(
    st.tuples(*[st.one_of(st.none(), st.integers(0, 3))] * 5), min_size=1, max_size=30
)


def by_hand(rows, columns):
    cells = [tuple(row[i] for i in columns) for row in rows]
    counts = Counter(cells)
    return sum(counts[cell] == 1 for cell in cells), len(counts)


@given(CELLS)
def test_every_set_is_counted_as_by_hand(rows):
    columns = {f"c{i}": pa.array([row[i] for row in rows], pa.int64()) for i in range(5)}
    owned = OwnedRows(pa.table(columns), Table("data"))  # opens no engine
    by_columns = {entry.columns: entry for entry in linkage(owned).sets}
    whole = [set(entry.columns) for entry in by_columns.values() if entry.alone == len(rows)]
    for size in range(1, 5):
        for places in combinations(range(5), size):
            names = tuple(f"c{i}" for i in places)
            if any(entry < set(names) for entry in whole):
                assert names not in by_columns  # a smaller set singles out everybody
                continue
            alone, cells = by_hand(rows, places)
            assert (by_columns[names].alone, by_columns[names].matches) == (alone, cells)
            assert sum(by_columns[names].histogram) == len(rows)


def test_people_with_several_rows_are_singled_out_by_any_of_them():
    visits = pa.table({"who": ["a", "a", "b"], "day": [1, 2, 1]})
    finding = linkage(visits, unit="who")
    assert (finding.people, finding.sets[0].alone) == (2, 1)
    assert [entry.columns for entry in finding.sets] == [("day",)]


def test_chunks_with_missing_values_are_one_column():
    chunks = pa.chunked_array([["x", None], [None, "y"]])
    assert linkage(pa.table({"a": chunks})).sets[0].histogram[:2] == (2, 2)


def test_the_worst_set_comes_first_and_smaller_ones_before_larger():
    rows = pa.table({"id": range(50), "sex": ["f", "m"] * 25})
    first = linkage(rows).sets[0]
    assert (first.columns, first.alone) == (("id",), 50)


def test_a_set_that_was_not_examined_is_told():
    with pytest.raises(dp.InvalidParameter, match="not examined"):
        linkage(pa.table({"a": [1]})).share("b")
    with pytest.raises(dp.InvalidParameter, match="no column"):
        linkage(pa.table({"a": [1]}), columns=["b"])


def test_zip_code_birth_date_and_sex(size):
    """About 87 % of a made-up country are unique, as Sweeney found of the United States."""
    people = size(small=100_000, full=2_000_000, what="people of a made-up country")
    rng = np.random.default_rng(2)
    towns = people // 8500 + 1
    country = pa.table(
        {
            "zip": rng.integers(0, towns, people),
            "born": rng.integers(0, 365 * 79, people),
            "sex": rng.integers(0, 2, people),
        }
    )
    finding = linkage(country, most_columns=3)
    assert finding.share("zip", "born", "sex") == pytest.approx(0.86, abs=0.02)
    assert finding.share("zip", "sex") < 0.01


def test_all_sets_of_twenty_columns(size):
    people = size(small=1_000, full=100_000, what="people with 20 columns")
    rng = np.random.default_rng(3)
    columns = {f"c{i}": rng.integers(0, 2 + i // 3, people) for i in range(20)}
    finding = linkage(pa.table(columns))
    assert finding.examined == 20 + 190 + 1140 + 4845
