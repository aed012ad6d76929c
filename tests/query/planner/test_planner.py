"""Plans: their prices add up, and what cannot be private is refused with what can."""

from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter, InvalidQuery, UnboundedColumn
from deniable.mechanisms import Gaussian, Laplace
from deniable.privacy import ApproximateLoss
from deniable.query.language.parse import parse
from deniable.query.plan.statement_text import levels_of
from deniable.query.planner.planner import plan
from tests.query.hospital import policy

F = Fraction


def planned(sql, *, epsilon=0.5, person=True, delta=1e-6, changes=None, **options):
    return plan(
        parse(sql),
        policy(person=person, delta=delta, **(changes or {})),
        epsilon=epsilon,
        **options,
    )


QUESTIONS = [
    "SELECT COUNT(*) FROM visits",
    "SELECT ward, COUNT(*), AVG(cost) FROM visits GROUP BY ward",
    "SELECT ward, AVG(cost), AVG(age), AVG(weight), SUM(age + 1) AS s FROM visits GROUP BY 1",
    "SELECT diagnosis, COUNT(*), STDDEV(age) FROM visits GROUP BY diagnosis",
    "SELECT diagnosis, COUNT(DISTINCT patient) FROM visits GROUP BY diagnosis",
    "SELECT HISTOGRAM(age, 5), VARIANCE(cost) FROM visits",
]


@pytest.mark.parametrize("sql", QUESTIONS)
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("epsilon", [0.05, 1, 4])
@pytest.mark.parametrize("max_groups_per_unit", [2, 60])
def test_the_whole_loss_stays_within_what_is_charged(
    sql, neighbors, epsilon, max_groups_per_unit
):
    changes = {"neighbors": neighbors, "max_groups_per_unit": max_groups_per_unit}
    query_plan = planned(sql, epsilon=epsilon, changes=changes)
    assert query_plan.epsilon == F(str(epsilon))
    assert query_plan.loss.fits(ApproximateLoss(query_plan.epsilon, query_plan.delta))
    spent = sum(
        (
            block.mechanism.epsilon
            for block in query_plan.blocks
            if isinstance(block.mechanism, Laplace)
        ),
        F(0),
    )
    if query_plan.thresholding is not None:
        spent += query_plan.thresholding.epsilon
    if not any(isinstance(block.mechanism, Gaussian) for block in query_plan.blocks):
        assert spent == query_plan.epsilon  # to the last digit, and nothing is wasted


def test_plans_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        planned(QUESTIONS[0]).epsilon = 7


def test_count_and_average_are_paid_once():
    query_plan = planned("SELECT COUNT(*), COUNT(cost), SUM(cost), AVG(cost) FROM visits")
    assert len(query_plan.blocks) == 1
    assert query_plan.blocks[0].mechanism.epsilon == F(1, 2)


def test_gaussian_noise_is_taken_where_it_is_smaller():
    many = ", ".join(f"SUM(age + {i}) AS s{i}" for i in range(30))
    assert isinstance(planned(f"SELECT {many} FROM visits").blocks[0].mechanism, Gaussian)
    assert isinstance(planned("SELECT SUM(age) FROM visits").blocks[0].mechanism, Laplace)
    without = planned(f"SELECT {many} FROM visits", delta=0)
    assert isinstance(without.blocks[0].mechanism, Laplace)


def test_weights_make_margins_smaller():
    sql = "SELECT AVG(age) AS a, AVG(cost) AS c FROM visits"
    even, heavy = planned(sql), planned(sql, weights={"a": 3})
    assert even.blocks[0].mechanism.epsilon == even.blocks[1].mechanism.epsilon == F(1, 4)
    ratio = heavy.blocks[0].mechanism.epsilon / heavy.blocks[1].mechanism.epsilon
    assert ratio == pytest.approx(3, rel=0.02)
    with pytest.raises(InvalidParameter, match="`weights` names z"):
        planned(sql, weights={"z": 1})


def test_even_split_of_margins_over_public_ranges():
    query_plan = planned("SELECT AVG(age) AS a, VARIANCE(cost) AS v FROM visits WHERE age > 3")
    age, spread = query_plan.outputs
    assert age.margin / 120 == pytest.approx(spread.margin / (10_000**2 / 4), rel=0.1)


def test_margins_of_averages_need_expected_rows():
    sql = "SELECT COUNT(*), AVG(age) FROM visits"
    count, mean = planned(sql).outputs
    assert (count.estimated, mean.estimated) == (False, True)
    open_ended = planned(sql, changes={"expected_rows": None})
    assert open_ended.outputs[1].margin is None
    assert open_ended.outputs[0].margin == pytest.approx(count.margin)


def test_groups_are_limited_by_what_is_declared():
    changes = {"max_groups_per_unit": 50}
    assert planned(QUESTIONS[1], changes=changes).max_groups_per_unit == 3
    assert planned(QUESTIONS[0], changes=changes).max_groups_per_unit == 1
    assert planned(QUESTIONS[4], changes=changes).max_groups_per_unit == 50
    assert planned(QUESTIONS[1], person=False).max_groups_per_unit == 1


def test_delta_is_a_stated_share_of_the_budget():
    query_plan = planned(QUESTIONS[4])
    assert query_plan.delta == F(1, 10**8)
    assert any("hundredth" in note for note in query_plan.notes)
    assert planned(QUESTIONS[4], delta=0.01, changes={}).delta == F(1, 10**4)
    assert planned(QUESTIONS[0]).delta == 0


@pytest.mark.parametrize(
    ("sql", "kind", "because"),
    [
        ("SELECT COUNT(*) FROM visit", InvalidQuery, "Did you mean `visits`"),
        ("SELECT COUNT(*) FROM '/etc/passwd'", InvalidQuery, "no table /etc/passwd"),
        ("SELECT SUM(csot) FROM visits", InvalidQuery, "Did you mean `cost`"),
        ("SELECT ward FROM visits", InvalidQuery, "no aggregate"),
        ("SELECT age, COUNT(*) FROM visits", InvalidQuery, "nor in GROUP BY"),
        ("SELECT SUM(ward) FROM visits", InvalidQuery, "only numbers"),
        ("SELECT SUM(ward) FROM visits", InvalidQuery, "ward = { bounds = "),
        ("SELECT MEDIAN(patient) FROM visits", UnboundedColumn, "patient has no limit"),
        ("SELECT SUM(patient) FROM visits", UnboundedColumn, "patient = { bounds"),
        ("SELECT AVG(cost / age) FROM visits", UnboundedColumn, "CLAMP"),
        ("SELECT COUNT(*) FROM visits WHERE admitted = 3", InvalidQuery, "mixes kinds"),
        ("SELECT COUNT(*) FROM visits WHERE age", InvalidQuery, "is not a condition"),
        ("SELECT COUNT(*) FROM visits WHERE SUM(age) > 3", InvalidQuery, "in HAVING"),
        ("SELECT SUM(SUM(age)) FROM visits", InvalidQuery, "single row"),
        ("SELECT COUNT(DISTINCT NULL) FROM visits", InvalidQuery, "only NULL to count"),
        ("SELECT weight, COUNT(*) FROM visits GROUP BY weight", InvalidQuery, "no grid"),
        ("SELECT HISTOGRAM(note) FROM visits", InvalidQuery, "Declare them"),
        ("SELECT 1 + HISTOGRAM(age) FROM visits", InvalidQuery, "on its own"),
        ("SELECT SQRT(age) FROM visits", InvalidQuery, "no aggregate"),
        ("SELECT COUNT(*) FROM visits WHERE admitted::TEXT = 'x'", InvalidQuery, "to text"),
        ("SELECT CLIPPED(patient) FROM visits", InvalidQuery, "no bounds"),
        ("SELECT COUNT(*) + 'a' FROM visits", InvalidQuery, "kinds number, text"),
    ],
)
def test_refusals_name_the_reason(sql, kind, because):
    with pytest.raises(kind, match=because):
        planned(sql)


def test_private_keys_need_a_delta():
    with pytest.raises(InvalidQuery, match=r"keys = \[.*or give the budget a delta"):
        planned(QUESTIONS[4], delta=0)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), "1", None])
def test_epsilon_must_be_positive(bad):
    with pytest.raises(InvalidParameter, match="`epsilon`"):
        planned(QUESTIONS[0], epsilon=bad)


def test_names_are_found_in_any_case_and_make_equal_plans():
    lower = planned("select avg(COST) as c from VISITS where Age > 3")
    assert lower == planned("SELECT AVG(cost) AS c FROM visits WHERE age > 3")


def test_hostile_column_names_do_not_meet_our_own():
    from deniable.policy import Policy, Table

    names = ["u", "k0", "x0", 'a"b', "c1"]
    table = Table.declare("t", unit="u", bounds=dict.fromkeys(names[1:], (0, 9)))
    odd = Policy([table.with_schema(dict.fromkeys(names, "BIGINT"))], epsilon=1)
    sql = (
        'SELECT SUM(k0) AS a, SUM(x0) AS b, SUM("a""b") AS c, SUM(c1) AS d, SUM(u) AS e FROM t'
    )
    with pytest.raises(UnboundedColumn):
        plan(parse(sql), odd, epsilon=1)
    query_plan = plan(parse(sql.replace(", SUM(u) AS e", "")), odd, epsilon=1)
    import duckdb

    con = duckdb.connect()
    con.execute('CREATE TABLE t AS SELECT 1 u, 2 k0, 3 x0, 4 "a""b", 5 c1')
    assert con.execute(query_plan.engine_sql).fetchall() == [(2, 3, 4, 5)]


def test_short_texts_that_stand_for_huge_trees_are_refused():
    nested = "age"
    for _ in range(25):
        nested = f"CASE WHEN {nested} BETWEEN 1 AND 2 THEN 1 ELSE 0 END"
    with pytest.raises(InvalidQuery, match="written out"):
        planned(f"SELECT COUNT(*) FROM visits WHERE {nested} = 1")
    clamped = "age"
    for _ in range(25):
        clamped = f"CLAMP({clamped}, 0, 5)"
    with pytest.raises(InvalidQuery, match="written out"):
        planned(f"SELECT SUM({clamped}) FROM visits")


def test_grids_are_never_finer_than_noise_can_be_drawn():
    changes = {"max_groups_per_unit": 1000, "max_rows_per_unit_per_group": 100_000}
    query_plan = planned(
        "SELECT VARIANCE(cost) AS v, SUM(cost) AS s FROM visits", changes=changes
    )
    assert all(
        block.mechanism.release([0] * len(block.features)) for block in query_plan.blocks
    )
    with pytest.raises(InvalidQuery, match="too large to draw"):
        planned(QUESTIONS[5], epsilon=1e-12, changes=changes)


@pytest.mark.parametrize(
    ("aggregate", "values"),
    [("VAR_POP", [0, 10]), ("VAR_SAMP", [0, 10]), ("STDDEV", [0, 10]), ("STDDEV_POP", [0, 10])],
)
def test_the_widest_spread_there_can_be_is_not_cut(aggregate, values):
    session = dp.protect(pa.table({"x": values}), bounds={"x": (0, 10)}, epsilon=10**6)
    answer = session.sql(f"SELECT {aggregate}(x) AS s FROM data", epsilon=10**5)
    spread = np.std(values, ddof="POP" not in aggregate)
    assert answer.value == pytest.approx(spread if "STD" in aggregate else spread**2, rel=1e-4)


@pytest.mark.parametrize(
    "wishes",
    [
        {"epsilon": F(1, 10**400)},
        {"epsilon": 1e308},
        {"epsilon": F(10**5000 // 2, 10**5000 + 1)},
        {"delta": F(1, 10**5000)},
        {"confidence": F(10**5000 - 1, 10**5000)},
    ],
    ids=["tiny", "huge", "long", "long delta", "long confidence"],
)
def test_numbers_that_nobody_means_are_refused(wishes):
    with pytest.raises(InvalidParameter, match="useful range"):
        planned("SELECT ward, COUNT(*) FROM visits GROUP BY ward", **wishes)


def test_long_sums_nest_no_deeper_than_short_ones():
    long = plan(
        parse(f"SELECT SUM({' + '.join(['cost'] * 60)}) AS s FROM visits"), policy(), epsilon=1
    )
    short = plan(parse("SELECT SUM(cost + cost) AS s FROM visits"), policy(), epsilon=1)
    assert levels_of(long.engine_sql) == levels_of(short.engine_sql)
    assert "((" not in long.engine_sql.replace("CAST((", "")


def test_what_nests_too_deeply_is_refused_by_the_planner():
    """Parsers recurse: no engine and no kernel gets a statement that could exhaust a stack."""
    for levels in (5, 40):
        inside = "NOT " * levels + "cost > 3"
        question = parse(f"SELECT COUNT(*) AS n FROM visits WHERE {inside}")
        if levels == 5:
            assert plan(question, policy(), epsilon=1).statements
            continue
        with pytest.raises(InvalidQuery, match="nests too deeply"):
            plan(question, policy(), epsilon=1)


def test_a_difference_of_averages_has_a_public_range():
    query_plan = planned("SELECT AVG(age) - AVG(cost) AS d, AVG(age) + 1 AS s FROM visits")
    age, cost = (
        planned(f"SELECT AVG({name}) AS m FROM visits").outputs[0] for name in ("age", "cost")
    )
    difference, shifted = query_plan.outputs
    assert (difference.low, difference.high) == (age.low - cost.high, age.high - cost.low)
    assert (shifted.low, shifted.high) == (age.low + 1, age.high + 1)
    assert planned("SELECT SUM(cost) - AVG(age) AS d FROM visits").outputs[0].low is None
