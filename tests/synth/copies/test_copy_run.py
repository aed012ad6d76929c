"""Copies end to end: one charge, certified steps, declared values only."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import BudgetExhausted
from deniable.privacy import ConcentratedLoss
from deniable.release.certificate.verification import verify

RNG = np.random.default_rng(8)
ROWS = 3000
SEX = RNG.choice(["f", "m"], ROWS)
FRAME = pa.table(
    {
        "p": np.arange(ROWS) // 2,
        "sex": pa.array([None if i % 50 == 0 else s for i, s in enumerate(SEX)]),
        "gain": np.where(RNG.random(ROWS) < 0.8, 0, RNG.integers(0, 500, ROWS)),
        "smokes": (SEX == "f") ^ (RNG.random(ROWS) < 0.1),
    }
)
DECLARED = {"name": "t", "keys": {"sex": ["f", "m"]}, "bounds": {"gain": (0, 500)}}
PERSON = {"unit": "p", "max_rows_per_unit_per_group": 2}


def session(frame=FRAME, **more):
    budget = {"epsilon": 12, "delta": 1e-4}
    return dp.protect(frame, **{**DECLARED, **PERSON, **budget, **more})


@pytest.fixture(scope="module")
def copied():
    with session() as one:
        yield one.copy(epsilon=8), one


def test_one_charge_at_the_price(copied):
    copy, one = copied
    assert one.remaining.epsilon >= 4
    assert len(one.ledger.entries) == 1
    whole = ConcentratedLoss.calibrated(epsilon=8, delta=Fraction(1, 10**6)).rho
    spent = sum((release.plan.loss.rho for release in copy.releases), Fraction(0))
    assert whole * Fraction(9, 10) < spent <= whole
    one.ledger.verify()


def test_every_step_is_certified(copied):
    copy, one = copied
    assert len(copy.certificates) == len(copy.releases) == 1 + 3 + 1 + 2 + 1
    for release in copy.releases:
        assert verify(release.to_dict(), key=one.ledger.public_key).signer_known


def test_rows_have_declared_values_only(copied):
    rows = copied[0].to_arrow()
    assert rows.column_names == ["sex", "gain", "smokes"]
    assert set(rows["sex"].to_pylist()) <= {"f", "m", None}
    assert all(value is None or 0 <= value <= 500 for value in rows["gain"].to_pylist())
    assert rows["gain"].type == pa.int64()
    assert rows["smokes"].type == pa.bool_()


def test_a_copy_looks_like_the_table(copied):
    copy, _ = copied
    assert abs(copy.total - ROWS) < 5 * copy.total_deviation
    assert ("sex", "smokes") in copy.tree
    both = copy.sql("SELECT AVG(CAST((sex = 'f') = smokes AS INT)) AS same FROM t")["same"][
        0
    ].as_py()
    assert both > 0.75
    zero = copy.sql("SELECT AVG(CAST(gain = 0 AS INT)) AS zero FROM t")["zero"][0].as_py()
    assert 0.7 < zero < 0.9
    assert copy.scorecard.mean < 0.35


def test_the_scorecard_is_about_the_delivered_rows(copied):
    """Its intervals hold for the true errors, computed from the table (row by row, so the
    table has no limits here)."""
    copy, _ = copied
    made = copy.to_arrow().to_pylist()
    scale = copy.total / len(made)
    for one in copy.scorecard.errors:
        if "gain" in one.columns:
            continue
        exact, own = {}, {}
        for rows, counts in ((FRAME.to_pylist(), exact), (made, own)):
            for row in rows:
                cell = tuple(row[name] for name in one.columns)
                counts[cell] = counts.get(cell, 0) + 1
        cells = {*exact, *own}
        apart = sum(abs(exact.get(c, 0) - own.get(c, 0) * scale) for c in cells)
        assert one.low - 1e-9 <= apart / copy.total <= one.high + 1e-9


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("person", [False, True])
def test_both_relations_and_units(neighbors, person):
    frame = FRAME if person else FRAME.drop_columns(["p"])
    limits = PERSON if person else {"unit": None, "max_rows_per_unit_per_group": None}
    with session(frame, neighbors=neighbors, **limits) as one:
        copy = one.copy(epsilon=8, columns=["sex", "smokes"], rows=50)
        assert len(copy) == 50
        assert len(copy.tree) == 1


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("columns", [["sex"], ["sex", "gain", "smokes"]])
def test_tables_of_no_and_one_row(rows, columns):
    with session(FRAME.slice(0, rows)) as one:
        copy = one.copy(epsilon=1, columns=columns)
        assert len(copy) >= 0
        assert len(copy.scorecard.errors) == (1 if len(columns) == 1 else 3)
        assert "A private copy of t" in str(copy)


def test_a_column_with_one_value():
    frame = pa.table({"a": ["x"] * 100, "b": [True] * 100})
    with dp.protect(frame, keys={"a": ["x"]}, epsilon=1, delta=1e-6) as one:
        copy = one.copy(epsilon=1, missing=False)
        assert set(copy.to_arrow()["a"].to_pylist()) == {"x"}


def test_what_does_not_fit_the_budget_reads_nothing():
    with session() as one:
        with pytest.raises(BudgetExhausted):
            one.copy(epsilon=13)
        assert one.remaining.epsilon == 12


def test_two_copies_differ():
    with session() as one:
        first, other = (one.copy(epsilon=1, columns=["sex", "smokes"]) for _ in range(2))
        assert first.to_arrow() != other.to_arrow()


def test_a_workload_is_scored():
    with session() as one:
        asked = [["sex"], ["smokes", "sex", "gain"]]
        copy = one.copy(epsilon=4, workload=asked, cuts={"gain": [1, 100]})
        assert [e.columns for e in copy.scorecard.errors] == [
            ("sex",),
            ("sex", "gain", "smokes"),
        ]


def test_a_rehearsal_says_so():
    with session() as one, dp.rehearse(one.policy) as made_up:
        text = str(made_up.copy(epsilon=1))
        assert text.startswith("REHEARSAL")


def test_more_than_was_reserved_cannot_be_measured(copied):
    """A step beyond the reserved rho is refused, and its data is not read."""
    copy, _ = copied
    plan = copy.releases[1].plan
    with session() as one, one.reserve_run(ConcentratedLoss(plan.loss.rho), delta=1e-6) as run:
        run.release(plan)
        with pytest.raises(BudgetExhausted):
            run.release(plan)


def test_keys_are_found_at_a_price_of_their_own():
    texts = (
        ["often"] * 1500 + ["also"] * 1000 + [None] * 300 + [f"rare {i}" for i in range(200)]
    )
    frame = FRAME.append_column("word", pa.array(texts))
    with session(frame) as one:
        copy = one.copy(epsilon=4, columns=["sex", "word"], keys_epsilon=2)
        assert 12 - 4 - 2 <= one.remaining.epsilon < 6.001
        words = set(copy.to_arrow()["word"].to_pylist())
        assert {"often", "also", "other", None} <= words
        assert not any(str(word).startswith("rare") for word in words)
        assert copy.releases[0].plan.thresholding is not None
        asked = {"columns": ["sex", "word"], "keys_epsilon": 2, "explain": True}
        text = str(one.copy(epsilon=4, **asked))
        assert "in addition, epsilon 2, delta 1e-06 finds keys of word" in text
