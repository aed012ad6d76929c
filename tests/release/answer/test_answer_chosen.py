"""Margins of groups that a threshold showed, and of rows that HAVING or LIMIT chose."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.engines.handover.exact_groups import ExactGroups
from deniable.release.answer.answer import draw_answer


@pytest.fixture
def session():
    visits = pa.table({"person": ["a", "b"], "doctor": ["x", "y"], "ward": ["A", "B"]})
    return dp.protect(
        visits,
        unit="person",
        keys={"ward": [f"w{i}" for i in range(200)]},
        max_groups_per_unit=1,
        max_rows_per_unit_per_group=1,
        epsilon=1000,
        delta=0.1,
    )


def answer(plan, keys, **integers):
    """The answer of a plan whose groups all have these integers."""
    count = len(keys)
    features = {name: np.full(count, integers["rows"]) for name in plan.features}
    units = np.full(count, integers["units"]) if plan.thresholding is not None else None
    return draw_answer(plan, ExactGroups((pa.array(keys),), units, features)).table


def test_shown_groups_have_the_margins_of_shown_groups(session):
    plan = session.plan(
        "SELECT doctor, COUNT(DISTINCT person) AS people FROM data GROUP BY doctor",
        epsilon=0.5,
        delta=1e-3,
    )
    units = plan.thresholding.threshold - plan.thresholding.margin(0.95) - 1
    keys = [f"d{i:06}" for i in range(30_000)]
    table = answer(plan, keys, units=units, rows=units)
    assert table.num_rows > 100
    people, margin = (np.asarray(table[name]) for name in ("people", "people_margin"))
    assert (np.abs(people - units) <= margin).mean() > 0.9
    assert not (np.abs(people - units) <= plan.thresholding.margin(0.95)).any()


def test_chosen_rows_are_covered_together(session):
    keys = [f"w{i}" for i in range(200)]
    count = "SELECT ward, COUNT(*) AS n FROM data GROUP BY ward"
    for chosen in (f"{count} ORDER BY n DESC LIMIT 5", f"{count} HAVING COUNT(*) > 1003"):
        plan = session.plan(chosen, epsilon=1)
        tables = [answer(plan, keys, rows=1000) for _ in range(300)]
        covered = [
            (np.abs(np.asarray(table["n"]) - 1000) <= np.asarray(table["n_margin"])).all()
            for table in tables
        ]
        assert np.mean(covered) >= 0.9
        assert plan.outputs[1].margin == np.asarray(tables[0]["n_margin"])[0]


def test_rows_in_the_order_of_keys_have_margins_of_their_own(session):
    plan = session.plan(
        "SELECT ward, COUNT(*) AS n FROM data GROUP BY ward ORDER BY ward LIMIT 5", epsilon=1
    )
    assert plan.outputs[1].margin == 3


def test_the_answer_says_what_its_margins_promise(session):
    count = "SELECT ward, COUNT(*) AS n FROM data GROUP BY ward"
    each, together = (
        str(session.sql(sql, epsilon=1)) for sql in (count, f"{count} HAVING COUNT(*) > 3")
    )
    assert "Margins hold at 95 % each." in each
    assert "for all groups of a column together" in together
