"""Quantiles and modes as plans: one joint release, its price, its grid, what is refused."""

from dataclasses import replace
from fractions import Fraction

import pytest

from deniable.errors import InvalidParameter, InvalidQuery, UnboundedColumn
from deniable.ledger.charges import check_price
from deniable.mechanisms import QuantileIntervals, Quantiles
from deniable.mechanisms.quantiles.independent import IndependentQuantiles
from deniable.privacy import ApproximateLoss, PureLoss
from deniable.query.language.parse import parse
from deniable.query.planner.explain import explain
from deniable.query.planner.planner import plan
from tests.mechanisms.quantiles.laws import greatest, limit, of_independent
from tests.mechanisms.quantiles.laws import neighbors as pairs
from tests.query.hospital import policy

F = Fraction


def planned(select, *, epsilon=0.5, person=True, delta=0, changes=None, **options):
    return plan(
        parse(f"SELECT {select}"),
        policy(person=person, **(changes or {})),
        epsilon=epsilon,
        delta=delta,
        **options,
    )


QUESTIONS = [
    "MEDIAN(age) FROM visits",
    "QUANTILE_CONT(cost, [0.1, 0.25, 0.5, 0.75, 0.9]) FROM visits",
    "ward, MIN(age), MAX(age), COUNT(*), MODE(urgent) FROM visits GROUP BY ward",
    "TOP_K(ward, 3), AVG(cost), COUNT(DISTINCT age) FROM visits",
    "diagnosis, MEDIAN(cost), TOP_K(ward, 2), STDDEV(age) FROM visits GROUP BY diagnosis",
]


@pytest.mark.parametrize("sql", QUESTIONS)
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("epsilon", [0.05, 1, 4])
@pytest.mark.parametrize("max_groups_per_unit", [2, 60])
def test_the_whole_loss_is_what_is_charged(sql, neighbors, epsilon, max_groups_per_unit):
    delta = F(1, 10**6) if "diagnosis" in sql else 0
    changes = {"neighbors": neighbors, "max_groups_per_unit": max_groups_per_unit}
    query_plan = planned(sql, epsilon=epsilon, delta=delta, changes=changes)
    assert query_plan.loss.fits(ApproximateLoss(query_plan.epsilon, query_plan.delta))
    check_price(query_plan)
    if delta == 0:
        assert (
            query_plan.loss.exact_epsilon == PureLoss(F(str(epsilon))).exact_epsilon
        )  # and nothing is wasted


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_the_whole_loss_is_what_is_charged_without_brackets(neighbors):
    for sql in QUESTIONS[:3]:
        query_plan = planned(sql, epsilon=1, changes={"neighbors": neighbors}, brackets=False)
        check_price(query_plan)
        assert query_plan.loss.exact_epsilon == PureLoss(1).exact_epsilon


def test_a_plan_that_understates_its_choices_is_refused():
    query_plan = planned("MEDIAN(age) FROM visits")
    (choice,) = query_plan.choices
    assert choice.changes == 3
    with pytest.raises(InvalidParameter, match="costs more"):
        check_price(replace(query_plan, choices=(replace(choice, changes=4),)))


@pytest.mark.parametrize("sql", QUESTIONS)
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_a_plan_that_takes_a_unit_for_less_than_it_is_is_refused(sql, neighbors):
    """Also where its mechanisms cost less than is charged."""
    delta = F(1, 10**6) if "diagnosis" in sql else 0
    query_plan = planned(sql, delta=delta, changes={"neighbors": neighbors})
    for place, choice in enumerate(query_plan.choices):
        assert choice.changes == query_plan.least_changes(choice)
        if choice.changes > 1:
            less = replace(choice, changes=choice.changes - 1)
            choices = (*query_plan.choices[:place], less, *query_plan.choices[place + 1 :])
            with pytest.raises(InvalidParameter, match="can make"):
                check_price(replace(query_plan, choices=choices))


@pytest.mark.parametrize("level", [F(1, 10), F(1, 3), F(1, 2), F(9, 10)])
def test_rows_that_come_and_go_cost_no_more_than_rows_that_change(level):
    """Under "replace" the number of rows need not be public: with NULLs or WHERE a row that
    changes may come or go. All tables of up to four rows over four values, exactly."""
    method = IndependentQuantiles((level,), F(1), "replace", 4)

    def law(table):
        return of_independent(method, table)

    for relation in ("replace", "add-remove"):
        _, most = greatest(law, pairs(relation, 4, 4))
        assert most <= limit(1)


def test_quantiles_of_one_column_are_one_release():
    query_plan = planned(
        "MEDIAN(age), QUANTILE_CONT(age, [0.1, 0.5]), QUANTILE_CONT(age, 0.9), "
        "MEDIAN(cost) FROM visits"
    )
    ages, costs = query_plan.choices
    assert ages.mechanism.quantiles == (F(1, 10), F(1, 2), F(9, 10))
    assert costs.mechanism.quantiles == (F(1, 2),)
    nodes = {output.name: output.node.name for output in query_plan.outputs}
    assert nodes["median_age"] == nodes["quantiles_age[0.5]"] == "q0_1"


@pytest.mark.parametrize(
    ("neighbors", "keyed", "levels", "changes", "relation"),
    [
        ("add-remove", False, 1, 3, "add-remove"),
        ("add-remove", True, 1, 6, "add-remove"),
        ("replace", False, 1, 3, "replace"),
        ("replace", False, 4, 3, "replace"),
        ("replace", False, 30, 6, "add-remove"),  # by the noisy curve of all ranks
        ("replace", True, 1, 12, "add-remove"),
    ],
)
def test_how_many_rows_one_unit_can_be(neighbors, keyed, levels, changes, relation):
    listed = ", ".join(str(i / 100) for i in range(1, levels + 1))
    text = f"QUANTILE_CONT(age, [{listed}]) FROM visits {'GROUP BY ward' * keyed}"
    (choice,) = planned(text, changes={"neighbors": neighbors}).choices
    assert choice.changes == changes
    assert choice.mechanism.neighbors == relation
    assert choice.mechanism.epsilon * changes == F(1, 2)


@pytest.mark.parametrize(
    ("neighbors", "keyed", "changes", "monotone"),
    [
        ("add-remove", False, 1, True),
        ("add-remove", True, 2, True),
        ("replace", False, 1, False),
        ("replace", True, 4, True),
    ],
)
def test_how_far_one_unit_moves_a_choice(neighbors, keyed, changes, monotone):
    text = f"MODE(ward) FROM visits {'GROUP BY urgent' * keyed}"
    (choice,) = planned(text, changes={"neighbors": neighbors}).choices
    assert (choice.changes, choice.mechanism.monotone) == (changes, monotone)
    assert choice.mechanism.sensitivity == 3
    assert choice.mechanism.epsilon * changes == F(1, 2)


def test_extremes_are_aimed_at_a_public_rank_and_say_so():
    query_plan = planned("MIN(age), MAX(age) FROM visits", epsilon=4, person=False)
    (choice,) = query_plan.choices
    assert choice.mechanism.quantiles == (0, 1)
    said = " ".join(query_plan.notes)
    assert f"MAX(age) is aimed at the value with {choice.margin} rows above it" in said
    assert f"MIN(age) is aimed at the value with {choice.margin} rows below it" in said
    assert "one person's own" in said
    assert [(output.margin_in, output.margin) for output in query_plan.outputs] == [
        ("ranks", choice.margin)
    ] * 2
    more = planned("MAX(age) FROM visits", epsilon=40, person=False).choices[0]
    assert more.margin < choice.margin  # a larger epsilon reaches further out
    other = planned("MAX(age) FROM visits", epsilon=40, person=False, brackets=False).choices[0]
    assert other.margin == more.margin  # one end of the interval is a bound, and costs nothing


def test_an_extreme_is_released_with_other_quantiles():
    query_plan = planned(
        "QUANTILE_CONT(age, 0.1) AS q, MIN(age) AS m FROM visits", epsilon=F(1, 100)
    )
    q, m = (output.node.name for output in query_plan.outputs)
    assert query_plan.choices[0].mechanism.quantiles == (0, F(1, 10))
    assert query_plan.choices[0].about == "quantiles MIN, 0.1 of age"
    assert (q, m) == ("q0_1", "q0_0")


def test_quantiles_have_intervals_unless_these_are_not_wanted():
    (drawn,) = planned("MEDIAN(cost) AS m FROM visits").choices
    assert isinstance(drawn.mechanism, QuantileIntervals)
    assert drawn.mechanism.brackets
    (sharp,) = planned("MEDIAN(cost) AS m FROM visits", brackets=False).choices
    assert isinstance(sharp.mechanism, Quantiles)
    assert sharp.margin < drawn.margin
    shown = str(explain(planned("MEDIAN(cost) AS m FROM visits")))
    assert f"{drawn.margin} ranks to either side; brackets=False: no intervals" in shown
    assert "for the rows after limits and cuts. On smooth data" in shown


@pytest.mark.parametrize("sql", ["MEDIAN(cost) AS m FROM visits", "MAX(cost) AS m FROM visits"])
def test_no_guess_of_the_number_of_rows_moves_an_interval(sql):
    drawn = [planned(sql, changes={"expected_rows": n}).choices for n in (None, 200, 10**6)]
    assert drawn[0] == drawn[1] == drawn[2]


@pytest.mark.parametrize(
    "sql",
    [
        "MEDIAN(cost) / 2 AS m FROM visits",
        "ward FROM visits GROUP BY ward HAVING MEDIAN(cost) > 3",
        "ward, COUNT(*) FROM visits GROUP BY ward ORDER BY MEDIAN(cost)",
    ],
)
def test_no_interval_is_paid_for_that_is_not_shown(sql):
    (choice,) = planned(sql).choices
    assert isinstance(choice.mechanism, Quantiles)


def test_margins_are_in_the_unit_of_the_column_if_ends_are_drawn():
    alone = planned("MEDIAN(cost) AS m FROM visits").outputs[0]
    assert (alone.margin_in, alone.estimated) == ("", True)
    assert 0 < alone.margin <= 10_000
    unknown = planned("MEDIAN(cost) FROM visits", changes={"expected_rows": None}).outputs[0]
    assert (unknown.margin_in, unknown.margin) == ("", None)


def test_margins_are_in_ranks_unless_others_are_released_beside():
    def sharp(select, **options):
        return planned(select, brackets=False, **options)

    alone = sharp("MEDIAN(cost) AS m FROM visits").outputs[0]
    assert alone.margin_in == "ranks"
    assert alone.margin == sharp("MEDIAN(cost) FROM visits").choices[0].margin
    assert not alone.estimated
    assert 0 < alone.likely <= 10_000
    several = sharp("QUANTILE_CONT(cost, [0.1, 0.3, 0.5, 0.9]) AS q FROM visits").outputs
    assert [output.margin_in for output in several] == ["ranks", "", "", "ranks"]
    assert several[1].estimated
    unknown = sharp("MEDIAN(cost) FROM visits", changes={"expected_rows": None}).outputs[0]
    assert unknown.likely is None
    assert unknown.margin == alone.margin


@pytest.mark.parametrize("far", ["1e20", "-1e20", "1e30", "0.5 + 1e30"])
def test_a_grid_is_no_finer_than_doubles_can_tell(far):
    (choice,) = planned(f"MEDIAN({far} + age) FROM visits").choices
    grid = choice.mechanism.grid
    highest = grid.lowest + (grid.size - 1) * grid.step
    assert max(-grid.lowest, highest) / grid.step < 2**53


def test_a_grid_that_nobody_declared_is_coarse_enough():
    (choice,) = planned("MEDIAN(weight) FROM visits").choices
    assert choice.mechanism.grid.size <= 1 << 22
    (other,) = planned("MEDIAN(weight * 1000000) FROM visits").choices
    assert other.mechanism.grid.size <= 1 << 22


def test_weights_move_the_budget():
    sql = "MEDIAN(age) AS m, COUNT(*) AS n FROM visits"
    even = planned(sql).choices[0].mechanism.epsilon
    assert planned(sql, weights={"m": 5}).choices[0].mechanism.epsilon > even
    assert planned(sql, weights={"n": 5}).choices[0].mechanism.epsilon < even


@pytest.mark.parametrize(
    ("sql", "error", "because"),
    [
        ("MEDIAN(note) FROM visits", InvalidQuery, "only numbers"),
        ("MEDIAN(cost * age) FROM visits", InvalidQuery, "coarser step"),
        ("MEDIAN(patient) FROM visits", UnboundedColumn, "no limit"),
        ("MODE(diagnosis) FROM visits", InvalidQuery, "ORDER BY n DESC LIMIT 1"),
        ("MODE(note) FROM visits", InvalidQuery, "chooses among declared values"),
        ("MODE(cost) FROM visits", InvalidQuery, "chooses among declared values"),
        ("TOP_K(ward, 4) FROM visits", InvalidQuery, "3 declared"),
        ("QUANTILE_CONT(age, [0.1, 0.9]) + 1 FROM visits", InvalidQuery, "on its own"),
        ("TOP_K(ward, 2) = 'A' FROM visits", InvalidQuery, "on its own"),
        ("AVG(MEDIAN(age)) FROM visits", InvalidQuery, "single row"),
        ("COUNT(*) FROM visits WHERE MEDIAN(age) > 3", InvalidQuery, "in HAVING"),
        ("ward, COUNT(DISTINCT age) FROM visits GROUP BY ward", InvalidQuery, "no `other`"),
    ],
)
def test_refusals_name_the_reason(sql, error, because):
    with pytest.raises(error, match=because):
        planned(sql, other="DISTINCT" in sql)
