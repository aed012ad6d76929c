from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import BudgetExhausted, InvalidParameter, InvalidQuery, Unsupported
from deniable.ledger.durable_ledger import open_ledger
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget
from deniable.release.public_session import Session

pytestmark = pytest.mark.usefixtures("plans_checked_once")

ROWS = 20_000
COSTS = np.random.default_rng(5).lognormal(3, 1, ROWS)
SUM = "SELECT SUM(cost) AS total FROM data"


@pytest.fixture
def costs():
    with dp.protect(pa.table({"cost": COSTS}), epsilon=4, expected_rows=ROWS) as opened:
        yield opened


def test_bounds_are_found_and_paid_for(costs):
    answer = costs.sql(SUM, epsilon=1, bounds="find")
    assert costs.remaining.epsilon == 3
    assert answer.plan.epsilon == Fraction(4, 5)
    # Clipping and noise together: the bound found is 256 or so, and few rows lie beyond.
    assert abs(answer.value - COSTS.sum()) < 0.05 * COSTS.sum()
    told = str(answer)
    assert "Finding bounds took 20 % of the budget: epsilon 0.2 of 1." in told
    assert "cost is clipped to the bounds found" in told
    assert "no margin covers" in told


def test_both_steps_go_through_the_one_door(costs, monkeypatch):
    plans = []
    door = type(costs)._run
    monkeypatch.setattr(
        type(costs),
        "_run",
        lambda self, ready, **more: plans.append(ready.plan) or door(self, ready, **more),
    )
    costs.sql(SUM, epsilon=1, bounds=["cost"])
    assert [float(plan.epsilon) for plan in plans] == [0.2, 0.8]
    assert len(plans[0].features) == 122
    (entry,) = costs.ledger.entries  # one charge for both
    assert (entry.epsilon, entry.state) == (1, "settled")
    costs.ledger.verify()


def test_explain_states_the_share(costs):
    told = str(costs.explain(SUM, epsilon=1, bounds="find"))
    assert "Answer at epsilon 1, in two steps" in told
    assert "20 % finds bounds of cost: epsilon 0.2" in told
    assert "80 % answers within them: epsilon 0.8" in told
    assert costs.remaining.epsilon == 4


def test_the_python_door_finds_bounds_too(costs):
    ready = costs.table("data").agg(total=dp.sum("cost"))
    assert "two steps" in str(ready.explain(epsilon=1, bounds="find"))
    assert ready.release(epsilon=1, bounds="find").plan.epsilon == Fraction(4, 5)


def test_the_whole_price_is_checked_before_the_first_step(costs):
    with pytest.raises(BudgetExhausted, match="costs epsilon 5, delta 0, and epsilon 4"):
        costs.sql(SUM, epsilon=5, bounds="find")
    assert costs.remaining.epsilon == 4


def test_a_wrong_question_costs_nothing(costs):
    with pytest.raises(InvalidQuery):
        costs.sql(
            "SELECT SUM(cost) AS s FROM data HAVING nothing > 3", epsilon=1, bounds="find"
        )
    assert costs.remaining.epsilon == 4


def test_margins_cannot_be_asked_before_bounds_are_known(costs):
    with pytest.raises(InvalidParameter, match="needs `epsilon`, not a margin"):
        costs.sql(SUM, margin=100, bounds="find")


def test_an_answer_by_accuracy_is_as_near_as_asked(costs):
    answer = costs.sql("SELECT COUNT(*) AS n FROM data WITHIN 50 CONFIDENCE 0.99")
    assert answer.margin <= 50
    assert costs.remaining.epsilon == 4 - answer.plan.epsilon
    near = costs.sql("SELECT COUNT(*) AS n FROM data", relative=0.001, of=answer)
    assert near.margin <= 0.001 * abs(answer.value)


def test_impossible_within_the_budget_is_an_answer(costs):
    with pytest.raises(BudgetExhausted) as refused:
        costs.sql("SELECT COUNT(*) AS n FROM data WITHIN 0.5 CONFIDENCE 0.9999")
    told = str(refused.value)
    assert "than your budget has left. Asked for ± 0.5 at 99.99 %: epsilon 10" in told
    assert "What is left, epsilon 4, delta 0, pays for n ± 2." in told
    assert costs.remaining.epsilon == 4


def test_nothing_left_is_said(costs):
    costs.sql("SELECT COUNT(*) AS n FROM data", epsilon=4)
    with pytest.raises(BudgetExhausted, match="Nothing is left"):
        costs.sql("SELECT COUNT(*) AS n FROM data", margin=10)


def test_a_part_of_the_table_finds_its_own_bounds():
    frame = pa.table({"ward": ["A", "B"] * 5000, "cost": [3.0, 900.0] * 5000})
    with dp.protect(frame, epsilon=4) as whole:
        wards = whole.partition("ward", ["A", "B"])
        releases = [ward.sql(SUM, epsilon=1, bounds="find") for ward in wards.values()]
        assert whole.remaining.epsilon == 3
    assert ["2 to 4" in str(releases[0]), "512 to 1024" in str(releases[1])] == [True, True]


def test_a_range_that_is_too_wide_is_narrowed_by_quantiles():
    """One search in some thousands lands in the empty part of the range: not all three do."""
    declared = {"bounds": {"cost": (0, 10**6)}, "expected_rows": ROWS}
    with dp.protect(pa.table({"cost": COSTS}), epsilon=4, **declared) as session:
        told = str(session.explain(SUM, epsilon=1, bounds=["cost"]))
        answers = [session.sql(SUM, epsilon=1, bounds=["cost"], fresh=True) for _ in range(3)]
        assert session.remaining.epsilon == 1
    assert "in its declared range, ± " in told
    assert all("cost is clipped to the bounds found" in str(answer) for answer in answers)
    # Without the search one row may add a million: a margin of some millions.
    assert min(answer.margin for answer in answers) < 0.05 * COSTS.sum()


def test_the_second_step_takes_no_more_delta_than_was_checked(costs):
    frame = pa.table({"cost": COSTS})
    with dp.protect(frame, epsilon=4, delta=1e-5, expected_rows=ROWS) as session:
        session.sql(SUM, epsilon=1, delta=1e-6, bounds="find")
        assert session.remaining.delta >= Fraction(9, 10**6)


REPEATS = {
    "within": ("SELECT COUNT(*) AS n FROM data WITHIN 50", {}),
    "margin": ("SELECT COUNT(*) AS n FROM data", {"margin": 50}),
    "relative": ("SELECT COUNT(*) AS n FROM data", {"relative": 0.05, "of": 1000}),
    "bounds": (SUM, {"epsilon": 1, "bounds": "find"}),
}


@pytest.mark.parametrize("name", REPEATS)
def test_the_same_question_again_is_free_when_nothing_is_left(costs, name):
    question, wishes = REPEATS[name]
    first = costs.sql(question, **wishes)
    costs.sql("SELECT COUNT(*) AS z FROM data", epsilon=costs.remaining.epsilon)
    assert costs.remaining.epsilon == 0
    again = costs.sql(question, **wishes)
    assert (first.repeated, again.repeated, again.value) == (False, True, first.value)
    assert again.plan == first.plan
    spent = len(costs.ledger.entries)
    with pytest.raises(BudgetExhausted):
        costs.sql(question, fresh=True, **wishes)
    assert len(costs.ledger.entries) == spent


def test_after_half_of_it_the_other_half_is_paid_or_refused(costs):
    """The bounds were found and the answer was not: what is kept is not paid again."""
    answer = costs.sql(SUM, epsilon=1, bounds="find")
    costs.sql("SELECT COUNT(*) AS z FROM data", epsilon=Fraction(11, 5))
    assert costs.remaining.epsilon == Fraction(4, 5)
    options = {"epsilon": 1, "bounds": "find", "confidence": 0.9}
    other = costs.sql(SUM, **options)  # the same first step, another second one
    assert not other.repeated
    assert other.plan.epsilon == answer.plan.epsilon
    assert costs.remaining.epsilon == 0
    with pytest.raises(BudgetExhausted, match=r"costs epsilon 0.8, .* and epsilon 0"):
        costs.sql(SUM, **{**options, "confidence": 0.8})


def test_another_filter_has_room_for_what_the_epsilons_have_not():
    policy = Policy(
        [Table.declare("data", pa.table({"cost": COSTS}))],
        epsilon=1,
        delta=1e-6,
        filters=["pure", "zcdp"],
    )
    with Session(policy, DuckDB.open(policy), open_ledger(policy)) as session:
        small = session.plan("SELECT COUNT(*) AS small FROM data", epsilon=0.01)
        session.ledger.reserve_all([small] * 100)
        assert session.remaining.epsilon == 0
        assert session.sql("SELECT COUNT(*) AS n FROM data", margin=500).margin <= 500
        assert "bounds found" in str(session.sql(SUM, epsilon=0.02, bounds="find"))
        with pytest.raises(BudgetExhausted):
            session.sql(SUM, epsilon=0.9, bounds="find")


def test_what_others_found_is_had_for_the_analysts_own_budget_alone():
    table = Table.declare("data", pa.table({"cost": COSTS}))
    budgets = {"epsilon": 1, "analysts": {"eve": Budget(0.5), "*": Budget(1)}}
    policy = Policy([table], **budgets)
    ledger, engine = open_ledger(policy), DuckDB.open(policy)
    options = {"epsilon": 1, "bounds": "find"}
    answer = Session(policy, engine, ledger, analyst="ann").sql(SUM, **options)
    bob = Session(policy, engine, ledger, analyst="bob")
    assert bob.sql(SUM, **options).value == answer.value
    assert [
        record.spent for record in ledger.filter_usages() if record.account == "analyst:bob"
    ] == [1]
    with pytest.raises(BudgetExhausted, match=r"costs epsilon 1, .* left to analyst eve"):
        Session(policy, engine, ledger, analyst="eve").sql(SUM, **options)
    assert not [record for record in ledger.entries if record.analyst == "eve"]
    bob.close()


KEYED = [
    ({"bounds": {"age": (0, 120)}, "keys": {"age": [10, 90]}}, ["age"]),
    ({"keys": {"age": [10, 90]}}, "find"),
]


@pytest.mark.parametrize(("declared", "option"), KEYED)
def test_bounds_that_could_cut_off_declared_keys_are_refused_at_no_cost(declared, option):
    with dp.protect(pa.table({"age": [30, 40] * 100}), epsilon=4, **declared) as session:
        with pytest.raises(InvalidParameter, match="age has declared keys"):
            session.sql("SELECT SUM(age) AS s FROM data", epsilon=1, bounds=option)
        assert session.remaining.epsilon == 4


def test_a_question_that_the_bounds_found_do_not_suit_is_answered_all_the_same():
    frame = pa.table({"age": [100] * 5000})
    sql = "SELECT TOP_K(age, 100) FROM data"
    with dp.protect(frame, epsilon=4, bounds={"age": (0, 600)}) as session:
        answer = session.sql(sql, epsilon=1, bounds=["age"])
        assert session.remaining.epsilon == 3
    assert "64 to 128" in str(answer)
    assert "the widest bounds are used" in str(answer)


def test_bounds_found_for_integers_hold_integers():
    """The first bin, from 0.5 to 1, holds no integer."""
    frame = pa.table({"age": [-7] * 5000})
    with dp.protect(frame, epsilon=4, bounds={"age": (0.5, 3.5)}) as session:
        answer = session.sql(
            "SELECT age, COUNT(*) AS n FROM data GROUP BY age", epsilon=1, bounds=["age"]
        )
    assert answer.to_arrow()["age"].to_pylist() == [0, 1]


def test_a_question_that_the_engine_cannot_run_costs_nothing(costs, monkeypatch):
    write = costs._engine.prepare

    def refuse(plan):
        if len(plan.features) < 100:
            raise Unsupported("Not here.")
        return write(plan)

    monkeypatch.setattr(costs._engine, "prepare", refuse)
    with pytest.raises(Unsupported):
        costs.sql(SUM, epsilon=1, bounds="find")
    assert costs.remaining.epsilon == 4


def test_a_range_that_drowns_the_answer_is_warned_of_before_the_charge():
    from datetime import date

    days = pa.table({"a": [date(2026, 1, 1)] * 9, "b": [date(2026, 1, 4)] * 9})
    question = "SELECT AVG(DATE_DIFF('day', a, b)) AS days FROM data"
    with dp.protect(days, epsilon=1) as data:
        with pytest.raises(
            dp.AnswerWarning, match=r"CLAMP\(DATE_DIFF\('day', a, b\), 0, 365\)"
        ):
            data.sql(question, epsilon=1)  # here warnings are errors, so it was not charged
        assert data.remaining.epsilon == 1
        with pytest.warns(dp.AnswerWarning):
            data.sql(question, epsilon=1)
        assert data.remaining.epsilon == 0
