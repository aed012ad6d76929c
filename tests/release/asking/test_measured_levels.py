"""ROLLUP and the like: levels measured one by one fit together, with margins that hold."""

from math import sqrt

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidQuery
from deniable.release.asking.measured_levels import LevelPart
from deniable.release.asking.outer_margins import compute_outer
from deniable.release.asking.outer_question import plan_outer
from deniable.release.asking.released_part import seeds_of

WARDS, MONTHS = 30, 12
TEXT = "SELECT ward, month, COUNT(x) AS n, SUM(x) AS s, AVG(x) AS m FROM t GROUP BY {}"
ROLLUP = TEXT.format("ROLLUP (ward, month)")


def make_table(people):
    draw = np.random.default_rng(2)
    rows = 9_000
    return pa.table(
        {
            "u": draw.integers(0, people, rows),
            "ward": draw.integers(0, WARDS, rows),
            "month": draw.integers(1, MONTHS + 1, rows),
            "x": draw.integers(-10, 30, rows),
        }
    )


def protect(unit=None, **limits):
    keys = {"ward": list(range(WARDS)), "month": list(range(1, MONTHS + 1))}
    facts = {"name": "t", "unit": unit, "epsilon": 10**6, "bounds": {"x": (-10, 30)}}
    return dp.protect(make_table(3_000), keys=keys, **facts, **limits)


@pytest.fixture(scope="module")
def session():
    return protect()


def levels(answer: pa.Table):
    """The rows of each level: the total, the wards, and the finest groups."""
    rows = answer.to_pylist()
    total = [row for row in rows if row["ward"] is None]
    finest = [row for row in rows if row["month"] is not None]
    return total, [r for r in rows if r not in total and r not in finest], finest


def test_counts_and_sums_of_all_levels_fit_together(session):
    answer = session.sql(ROLLUP, epsilon=1)
    total, wards, finest = levels(answer.to_arrow())
    assert (len(total), len(wards), len(finest)) == (1, WARDS, WARDS * MONTHS)
    for name in ("n", "s"):
        for rows in (wards, finest):
            assert sum(row[name] for row in rows) == pytest.approx(total[0][name])
    for row in (*total, *wards, *finest):
        assert row["m"] == pytest.approx(row["s"] / row["n"])
    assert "fit together, by least squares" in str(answer)


def test_one_charge_of_the_whole_price(session):
    before = session.remaining.epsilon
    answer = session.sql(ROLLUP, epsilon=3)
    assert before - session.remaining.epsilon == 3
    assert answer.loss.epsilon(0) <= 3
    assert len(answer.inner) == 3
    tree = str(session.explain(ROLLUP, epsilon=3))
    assert "in 3 private parts" in tree
    assert "the level (ward) of the finest groups" in tree


def test_its_certificate_is_verified(session):
    answer = session.sql(ROLLUP, epsilon=1)
    verification = dp.verify(answer.to_dict())
    assert len(verification.inner) == 3


def test_a_few_groups_are_added_up_because_that_is_more_accurate(session):
    answer = session.sql(
        "SELECT month, COUNT(*) AS n FROM t GROUP BY ROLLUP (month)", epsilon=1
    )
    *parts, total = answer.to_arrow()["n"].to_pylist()
    assert len(answer.inner) == 1
    assert total == sum(parts)
    assert str(answer.to_arrow()["n"].type) == "int64"


def test_sets_without_the_finest_groups_do_not_pay_for_them(session):
    answer = session.sql(TEXT.format("GROUPING SETS ((ward), (month))"), epsilon=1)
    assert [len(part.plan.keys) for part in answer.inner.values()] == [1, 1]
    rows = answer.to_arrow().to_pylist()
    by_ward = sum(row["n"] for row in rows if row["month"] is None)
    by_month = sum(row["n"] for row in rows if row["month"] is not None)
    assert by_ward == pytest.approx(by_month)


def test_all_levels_keep_the_same_rows_of_a_person():
    limits = {"max_groups_per_unit": 2, "max_rows_per_unit_per_group": 1}
    limited = protect("u", **limits)
    answer = limited.sql(ROLLUP, epsilon=10**5)
    total, wards, _ = levels(answer.to_arrow())
    # Levels with limits of their own would keep more rows in wards than in the finest groups.
    alone = limited.sql("SELECT ward, COUNT(*) AS n FROM t GROUP BY ward", epsilon=10**5)
    finest = limited.sql(
        "SELECT ward, month, COUNT(*) AS n FROM t GROUP BY ward, month", epsilon=9e4
    )
    kept = sum(finest.to_arrow()["n"].to_pylist())
    assert total[0]["n"] == pytest.approx(kept, abs=1)
    assert sum(row["n"] for row in wards) == pytest.approx(kept, abs=1)
    assert sum(alone.to_arrow()["n"].to_pylist()) != kept


def test_private_keys_are_added_up_from_the_groups_that_are_shown():
    table = make_table(3_000)
    keys = {"ward": "private", "month": list(range(1, MONTHS + 1))}
    private = dp.protect(table, name="t", epsilon=100, delta=0.01, keys=keys)
    text = "SELECT ward, month, COUNT(*) AS n FROM t GROUP BY ROLLUP (ward, month)"
    assert len(private.sql(text, epsilon=5, delta=1e-3).inner) == 1


def test_a_statement_that_reads_the_finest_groups_elsewhere_measures_them(session):
    finest = (
        "SELECT ward AS ward, month AS month, COUNT(*) AS part_0 FROM t GROUP BY ward, month"
    )
    text = (
        f"SELECT a.n, b.part_0 FROM (SELECT ward, month, COUNT(*) AS n FROM t GROUP BY "
        f"GROUPING SETS ((ward), (month))) AS a, ({finest}) AS b"
    )
    answer = session.sql(text, epsilon=1)
    assert [len(part.plan.keys) for part in answer.inner.values()] == [2]


def test_errors_of_levels_are_drawn_as_wide_as_their_noise(session):
    outer_plan = plan_outer(session, ROLLUP, {"epsilon": 1}, InvalidQuery("not one question"))
    releases = {name: session.release(plan) for name, plan in outer_plan.plans.items()}
    ((name, measured),) = outer_plan.measured.items()
    part = LevelPart(name, measured, releases, seeds_of(releases))
    redrawn = part.redraw(999)
    for own, variances in part.variances.items():
        total = variances[
            measured.levels.index(())
        ]  # it was measured, and is nearly all there is
        spread = redrawn[own].errors.sum(axis=1).std()
        assert 0.75 * sqrt(total) < spread < 1.15 * sqrt(total)


def test_margins_of_all_levels_hold(session, size):
    trials = size(small=8, full=300, what="answers with three levels")
    exact = session.sql(ROLLUP, epsilon=10**5)
    true = [[(r["n"], r["s"], r["m"]) for r in rows] for rows in levels(exact.to_arrow())]
    misses, shown = np.zeros((3, 3)), np.zeros((3, 3))
    outer_plan = plan_outer(session, ROLLUP, {"epsilon": 1}, InvalidQuery("not one question"))
    for _ in range(trials):
        parts = {
            name: session.release(plan, fresh=True) for name, plan in outer_plan.plans.items()
        }
        answer, _ = compute_outer(outer_plan.divided, parts, outer_plan.measured)
        for i, rows in enumerate(levels(answer.table)):
            for row, values in zip(rows, true[i], strict=True):
                for j, name in enumerate(("n", "s", "m")):
                    half = row[f"{name}_margin"]
                    if half is not None:
                        shown[i, j] += 1
                        misses[i, j] += abs(row[name] - values[j]) > half + 0.02 * (j < 2)
    assert (shown[:, :2] > 0).all()
    # Values of one level share noise, so an answer counts as one of each level.
    bound = 0.05 + 4 * sqrt(0.05 * 0.95 / trials)
    assert (misses / np.maximum(shown, 1) <= bound).all()
    total = session.sql(ROLLUP, epsilon=1).to_arrow().to_pylist()[-1]
    assert total["n_margin"] < 40  # added up from 360 groups it would be more than 100
