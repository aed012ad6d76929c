"""Copies end to end: one charge, certified steps, declared values only."""

import pickle
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import BudgetExhausted
from deniable.privacy import ConcentratedLoss
from deniable.release.certificate.verification import verify
from deniable.synth.copies import copy_run, early_checks, table_copy

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
    with session() as opened:
        yield opened.copy(epsilon=8, method="mst"), opened


def test_one_charge_at_the_price(copied):
    copy, opened = copied
    assert opened.remaining.epsilon >= 4
    assert len(opened.ledger.entries) == 1
    whole = ConcentratedLoss.calibrated(epsilon=8, delta=Fraction(1, 10**6)).rho
    spent = sum((release.plan.loss.rho for release in copy.releases), Fraction(0))
    assert whole * Fraction(9, 10) < spent <= whole
    opened.ledger.verify()


def test_every_step_is_certified(copied):
    copy, opened = copied
    assert len(copy.certificates) == len(copy.releases) == 1 + 3 + 1 + 2 + 1
    for release in copy.releases:
        assert verify(release.to_dict(), key=opened.ledger.public_key).signer_known


def test_rows_have_declared_values_only(copied):
    rows = copied[0].to_arrow()
    assert rows.column_names == ["sex", "gain", "smokes"]
    assert set(rows["sex"].to_pylist()) <= {"f", "m", None}
    assert all(value is None or 0 <= value <= 500 for value in rows["gain"].to_pylist())
    assert rows["gain"].type == pa.int64()
    assert rows["smokes"].type == pa.bool_()


def test_what_is_delivered_is_scored():
    """Rows that are all changed on their way out have a bad scorecard."""

    def change(plan, cells, codes, chance):
        return codes * 0, table_copy.draw_rows(plan, cells, codes * 0, chance)

    with session() as opened:
        plan = copy_run.plan_copy(opened, None, epsilon=8, delta=1e-6, method="mst")
        copy = copy_run.run_copy(
            opened, plan, early_checks.check_early(opened, plan), deliver=change
        )
    assert set(copy.rows["sex"].to_pylist()) == {"f"}
    assert copy.scorecard.mean > 0.9


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
    delivered = copy.to_arrow().to_pylist()
    scale = copy.total / len(delivered)
    for error in copy.scorecard.errors:
        if "gain" in error.columns:
            continue
        exact, own = {}, {}
        for rows, counts in ((FRAME.to_pylist(), exact), (delivered, own)):
            for row in rows:
                cell = tuple(row[name] for name in error.columns)
                counts[cell] = counts.get(cell, 0) + 1
        cells = {*exact, *own}
        apart = sum(abs(exact.get(c, 0) - own.get(c, 0) * scale) for c in cells)
        assert error.low - 1e-9 <= apart / copy.total <= error.high + 1e-9


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("person", [False, True])
def test_both_relations_and_units(neighbors, person):
    frame = FRAME if person else FRAME.drop_columns(["p"])
    limits = PERSON if person else {"unit": None, "max_rows_per_unit_per_group": None}
    with session(frame, neighbors=neighbors, **limits) as opened:
        copy = opened.copy(epsilon=8, columns=["sex", "smokes"], rows=50)
        assert len(copy) == 50
        assert len(copy.tree) == 1


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("columns", [["sex"], ["sex", "gain", "smokes"]])
def test_tables_of_no_and_one_row(rows, columns):
    with session(FRAME.slice(0, rows)) as opened:
        copy = opened.copy(epsilon=1, columns=columns)
        assert len(copy) >= 0
        assert len(copy.scorecard.errors) == (1 if len(columns) == 1 else 3)
        assert "A private copy of t" in str(copy)


def test_a_column_with_one_value():
    frame = pa.table({"a": ["x"] * 100, "b": [True] * 100})
    with dp.protect(frame, keys={"a": ["x"]}, epsilon=1, delta=1e-6) as opened:
        copy = opened.copy(epsilon=1, missing=False)
        assert set(copy.to_arrow()["a"].to_pylist()) == {"x"}


@pytest.mark.parametrize("method", ["mst", "aim"])
def test_columns_may_be_called_as_our_own(method):
    """Statements and answers have columns of these names, too."""
    wards = ["a"] * 300 + ["b"] * 700
    frame = pa.table({"n": wards, "k0": wards, "c1": wards, "n_low": range(1000)})
    keys = {name: ["a", "b"] for name in ("n", "k0", "c1")}
    with dp.protect(
        frame, keys=keys, bounds={"n_low": (0, 1000)}, epsilon=9, delta=1e-3
    ) as opened:
        copy = opened.copy(epsilon=9, method=method)
    assert copy.scorecard.mean < 0.6
    rows = copy.sql("SELECT n, COUNT(*) AS many FROM data WHERE n IS NOT NULL GROUP BY n")
    assert all(
        abs(row["many"] - {"a": 300, "b": 700}[row["n"]]) < 99 for row in rows.to_pylist()
    )
    same = copy.sql("SELECT AVG(CAST(n = k0 AND k0 = c1 AS INT)) AS same FROM data")
    assert same["same"][0].as_py() > 0.8


def test_what_does_not_fit_the_budget_reads_nothing():
    with session() as opened:
        with pytest.raises(BudgetExhausted):
            opened.copy(epsilon=13)
        assert opened.remaining.epsilon == 12


def test_two_copies_differ():
    with session() as opened:
        first, other = (opened.copy(epsilon=1, columns=["sex", "smokes"]) for _ in range(2))
        assert first.to_arrow() != other.to_arrow()


def test_a_workload_is_scored():
    with session() as opened:
        workload = [["sex"], ["smokes", "sex", "gain"]]
        copy = opened.copy(epsilon=4, workload=workload, cuts={"gain": [1, 100]})
        assert [e.columns for e in copy.scorecard.errors] == [
            ("sex",),
            ("sex", "gain", "smokes"),
        ]


def test_a_rehearsal_says_so():
    with session() as opened, dp.rehearse(opened.policy) as made_up:
        text = str(made_up.copy(epsilon=1))
        assert text.startswith("REHEARSAL")


def test_more_than_was_reserved_cannot_be_measured(copied):
    """A step beyond the reserved rho is refused, and its data is not read."""
    copy, _ = copied
    plan = copy.releases[1].plan
    with (
        session() as opened,
        opened.reserve_run(ConcentratedLoss(plan.loss.rho), delta=1e-6) as run,
    ):
        run.release(plan)
        with pytest.raises(BudgetExhausted):
            run.release(plan)


def test_keys_are_found_at_a_price_of_their_own():
    texts = (
        ["often"] * 1500 + ["also"] * 1000 + [None] * 300 + [f"rare {i}" for i in range(200)]
    )
    frame = FRAME.append_column("word", pa.array(texts))
    with session(frame) as opened:
        copy = opened.copy(epsilon=4, columns=["sex", "word"], keys_epsilon=2)
        assert 12 - 4 - 2 <= opened.remaining.epsilon < 6.001
        words = set(copy.to_arrow()["word"].to_pylist())
        assert {"often", "also", "other", None} <= words
        assert not any(str(word).startswith("rare") for word in words)
        assert copy.releases[0].plan.thresholding is not None
        assert 'Values of word that enough people have: 2. The rest: "other".' in str(copy)
        terms = {"columns": ["sex", "word"], "keys_epsilon": 2, "explain": True}
        text = str(opened.copy(epsilon=4, **terms))
        assert "in addition, epsilon 2, delta 1e-06 finds keys of word" in text


def test_forty_columns(size):
    """Checks and time grow with columns, so that forty are no trouble."""
    count = size(small=26, full=40, what="columns of a copy")
    names = [f"c{i}" for i in range(count)]
    frame = pa.table({name: RNG.integers(0, 2, 200) for name in names})
    with dp.protect(frame, keys=dict.fromkeys(names, (0, 1)), epsilon=2, delta=1e-6) as opened:
        copy = opened.copy(epsilon=2, missing=False)
        assert copy.plan.method == "mst"
        assert "columns take AIM very long" in copy.plan.why
        assert len(copy.tree) == count - 1
        assert len(copy.scorecard.errors) == count * (count - 1) // 2


def test_two_columns_spend_nothing_on_choosing_one_of_one_pair():
    with session() as opened:
        copy = opened.copy(epsilon=4, columns=["sex", "smokes"])
        assert len(copy.releases) == 2 + 1 + 1
        assert copy.plan.budget.choice == 0
        spent = sum((release.plan.loss.rho for release in copy.releases), Fraction(0))
        assert spent > copy.plan.rho * Fraction(999, 1000)


def test_progress_is_told():
    told = []
    with session() as opened:
        opened.copy(epsilon=4, columns=["sex", "smokes"], progress=told.append)
    assert told == sorted(told)
    assert 0 < told[0] < told[-1] <= 1


def test_weights_count_in_the_choice_and_the_mean():
    with session() as opened:
        workload = {("sex", "smokes"): 3, ("gain",): 1}
        copy = opened.copy(epsilon=4, workload=workload, method="mst", cuts={"gain": [1, 100]})
        assert copy.plan.weights == (64, 21)
        choice = next(r.plan.distances for r in copy.releases if r.plan.distances)
        assert [table.weight for table in choice.tables] == [0, 64, 0]
        pair, single = copy.scorecard.errors
        assert abs(copy.scorecard.mean - (64 * pair.error + 21 * single.error) / 85) < 1e-9


def test_a_copy_says_that_it_cannot_be_pickled(copied):
    with pytest.raises(TypeError, match="Pickle its rows"):
        pickle.dumps(copied[0])


@pytest.mark.parametrize(
    ("method", "neighbors", "most"), [("mst", "add-remove", 1), ("aim", "replace", 2)]
)
def test_scorecards_of_whole_copies_hold(size, method, neighbors, most):
    """All intervals together, the worst pair included, against the table itself."""
    copies = size(small=3, full=2000, what="small copies with their scorecards")
    held, worst = count_held(copies, method, neighbors, most)
    least = 0.95 - 4 * np.sqrt(0.95 * 0.05 / copies)
    assert held / copies > least
    assert worst / copies > least


def count_held(copies, method, neighbors, most):
    """In how many copies all intervals hold, and in how many that of the worst pair. Everybody
    has `most` rows, so that limits leave none out."""
    names, cells = ("a", "b", "c"), (3, 2, 3)
    rows = np.stack([RNG.integers(0, k, 400) for k in cells], axis=1)
    rows[:, 1] = (rows[:, 0] > 0) ^ (RNG.random(400) < 0.1)
    frame = pa.table({"p": np.arange(400) // most, **dict(zip(names, rows.T, strict=True))})
    keys = {name: range(k) for name, k in zip(names, cells, strict=True)}
    unit = {"unit": "p", "max_rows_per_unit_per_group": most, "neighbors": neighbors}
    terms = {"epsilon": 3 * most, "delta": 1e-5, "missing": False, "method": method}
    held = worst = 0
    with dp.protect(frame, keys=keys, epsilon=10**5, delta=0.1, **unit) as opened:
        plan = copy_run.plan_copy(opened, None, **terms)
        checked = early_checks.check_early(opened, plan)  # once: it depends on no row
        for _ in range(copies):
            copy = copy_run.run_copy(opened, plan, checked)
            copy_rows = np.stack([np.asarray(c) for c in copy.to_arrow().columns], axis=1)
            true = errors(rows, copy_rows, cells, copy.total)
            named = zip(copy.scorecard.errors, true, strict=True)
            right = {card.columns: card.low <= far <= card.high for card, far in named}
            held += all(right.values())
            worst += right[copy.scorecard.worst(1)[0].columns]
    return held, worst


def errors(rows, copy_rows, cells, total):
    """The true error of each pair."""
    for a, b in ((0, 1), (0, 2), (1, 2)):
        exact, own = (
            np.bincount(table[:, a] * cells[b] + table[:, b], minlength=cells[a] * cells[b])
            for table in (rows, copy_rows)
        )
        yield np.abs(exact - own * total / max(1, len(copy_rows))).sum() / total


def test_a_part_is_copied_alone():
    """Numbers are cut by questions that are about the part already."""
    frame = pa.table(
        {"w": ["A", "B"] * 500, "x": [True, False] * 500, "age": list(range(100)) * 10}
    )
    declared = {"keys": {"w": ["A", "B"]}, "bounds": {"age": (0, 100)}}
    with dp.protect(frame, epsilon=20, delta=1e-3, **declared) as opened:
        part = opened.partition("w", ["A", "B"])["A"]
        for columns in (["x"], ["x", "age"]):
            copy = part.copy(epsilon=5, columns=columns)
            assert 450 < len(copy) < 550
            assert copy.sql("SELECT COUNT(*) AS n FROM data WHERE x")["n"][0].as_py() > 450


def test_noise_makes_no_more_rows_than_are_possible(monkeypatch):
    monkeypatch.setattr(copy_run, "MOST_ROWS", 7)
    frame = pa.table({"x": [True, False] * 500, "y": [True] * 1000})
    with dp.protect(frame, epsilon=9, delta=1e-3) as opened:
        assert len(opened.copy(epsilon=9)) == 7
