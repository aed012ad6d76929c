"""Integers and keys out of range are cut, and the rest stays as it is."""

from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from deniable.engines.handover.exact_groups import CellCounts, ExactGroups
from deniable.release.answer import choices
from deniable.release.answer.saturation import MOST_SUM, cell_numbers, limit_rows, saturate
from tests.release.session.test_engine_run import QUESTIONS, not_utf8, plans


@cache
def asked_plans():
    return plans(1)


def grouped(*kinds):
    """A plan with keys of these kinds."""
    return next(
        plan for plan in asked_plans() if [key.kind for key in plan.keys] == list(kinds)
    )


def test_what_is_in_range_stays_as_it_is():
    exact = ExactGroups(
        (pa.array(["a", None]),), np.array([3, 4]), {"n": np.array([-1, 2**62])}
    )
    groups = saturate(grouped("text"), exact)
    assert groups.keys[0] is exact.keys[0]
    assert groups.units.tolist() == [3, 4]
    assert groups.features["n"] is exact.features["n"]


def test_sums_are_cut():
    wide = np.array([10**400, -(10**400), 5, 2.5, None, "x"], dtype=object)
    groups = saturate(asked_plans()[0], ExactGroups((), None, {"n": wide}))
    assert groups.features["n"].tolist() == [MOST_SUM, -MOST_SUM, 5, 2, 0, 0]


def test_text_that_is_not_utf8_is_mended():
    broken = not_utf8([b"ok", b"a\xff", None], pa.string(), pa.binary())
    groups = saturate(grouped("text"), ExactGroups((broken,), None, {}))
    assert groups.keys[0].to_pylist() == ["ok", "a\ufffd", None]
    assert groups.keys[0].type == pa.string()


def test_keys_of_another_kind_are_missing():
    for column in (pa.array([[1], None]), pa.array([b"\xff", None])):
        groups = saturate(grouped("text"), ExactGroups((column,), None, {}))
        assert groups.keys[0].to_pylist() == [None, None]
    wide = pa.array([2**64 - 1, None], pa.uint64())
    groups = saturate(grouped("number"), ExactGroups((wide,), None, {}))
    assert groups.keys[0].to_pylist() == [2**63 - 1, None]
    groups = saturate(grouped("boolean"), ExactGroups((pa.array(["x"]),), None, {}))
    assert groups.keys[0].to_pylist() == [None]


@pytest.mark.parametrize("type_", [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint32()])
def test_whole_keys_come_in_one_width(type_):
    exact = ExactGroups((pa.array([1, None, 7], type_),), None, {})
    (column,) = saturate(grouped("number"), exact).keys
    assert column.equals(pa.array([1, None, 7], pa.int64()))


def test_cells_and_counts_are_cut():
    plan = next(plan for plan in asked_plans() if plan.choices and not plan.keys)
    name, size = next(iter(cell_numbers(plan).items()))
    cells = CellCounts((), np.array([-4, 10**9, 1]), np.array([-1, 2**62, 7]))
    counts = saturate(plan, ExactGroups((), None, {}, {name: cells})).cells[name]
    assert counts.cell.tolist() == [0, size - 1, 1]
    assert counts.count.tolist() == [0, 2**53, 7]


def test_rows_beyond_the_limit_do_not_count():
    assert limit_rows(np.array([5, 7])).tolist() == [5, 7]
    assert limit_rows(np.array([2**53, 2**53, 1])).tolist() == [2**53, 0, 0]


def test_a_full_cell_takes_no_memory_for_each_row(monkeypatch):
    """With four quantiles and more, each row of a cell is drawn a place, up to a limit."""
    monkeypatch.setattr(choices, "MOST_IN_A_CELL", 1000)
    seen = []

    class Noting:
        method, quantiles = "recursive", ()

        def release_cells(self, cells, counts):
            seen.append(counts.tolist())

    plan = next(plan for plan in asked_plans() if any(len(c.names) > 3 for c in plan.choices))
    choice = replace(plan.choices[0], names=())
    drawn = choices.DrawnChoices({}, {})
    cells = iter([(np.array([1, 2]), np.array([2**40, 3]))])
    choices._draw_quantiles(choice, Noting(), cells, plan.confidence, drawn)
    assert seen == [[1000, 3]]


@pytest.mark.parametrize("place", range(len(QUESTIONS)))
def test_every_statement_of_cells_has_a_size(place):
    plan = asked_plans()[place]
    names = {statement.name for statement in plan.statements if statement.kind == "cells"}
    assert set(cell_numbers(plan)) == names
