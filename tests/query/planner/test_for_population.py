"""FOR POPULATION: what is added to a question, and what is refused before the charge."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter, InvalidQuery
from deniable.query.planner.for_population import (
    asked_for_population,
    split_population_clause,
)

ROWS = pa.table(
    {
        "id": [i // 2 for i in range(400)],
        "ward": ["A", "A", "B", "B"] * 100,
        "cost": [float(i % 10) for i in range(400)],
        "sick": [i % 2 for i in range(400)],
    }
)


def protect(**options):
    return dp.protect(
        ROWS,
        name="visits",
        unit="id",
        bounds={"cost": (0, 10), "sick": (0, 1)},
        keys={"ward": ["A", "B"]},
        epsilon=1000,
        **options,
    )


def names(session, text):
    return [output.name for output in session.plan(text, epsilon=1).outputs]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT AVG(cost) AS m FROM visits FOR POPULATION",
        "SELECT AVG(cost) AS m FROM visits for population ;",
    ],
)
def test_the_clause_is_read_from_the_end(text):
    assert split_population_clause(text)[1]
    assert "opulation" not in split_population_clause(text)[0]
    assert asked_for_population(protect().plan(text, epsilon=1))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT population FROM visits",
        'SELECT COUNT(*) AS n FROM visits FOR "population"',
        "SELECT COUNT(*) AS n FROM visits -- FOR POPULATION",
    ],
)
def test_other_words_are_left_alone(text):
    assert split_population_clause(text) == (text, False)


def test_one_row_a_unit_needs_counts_and_deviations():
    visits = protect()
    text = "SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward FOR POPULATION"
    assert names(visits, text) == ["ward", "m", "m: rows", "m: deviation"]
    text = "SELECT AVG(sick) AS s, COUNT(sick) AS n FROM visits FOR POPULATION"
    assert names(visits, text) == ["s", "n"]


def test_several_rows_a_unit_need_sums_of_squares():
    visits = protect(max_rows_per_unit_per_group=2, max_groups_per_unit=2)
    for keys, shown in (("ward", "ward"), ("w", "ward AS w"), ("1", "ward"), ("ALL", "ward")):
        text = f"SELECT {shown}, AVG(cost) AS m FROM visits GROUP BY {keys} FOR POPULATION"
        plan = visits.plan(text, epsilon=1)
        assert [output.name for output in plan.outputs][1:] == [
            "m",
            "m: sum",
            "m: rows",
            "m: sum sum",
            "m: sum rows",
            "m: rows rows",
        ]
        assert plan.keys[0].values == ("A", "B")
        assert (plan.max_groups_per_unit, plan.max_rows_per_unit_per_group) == (2, 1)
        # (m B)**2, m**2 B and m**2: one unit adds at most that, in each of two groups.
        reaches = [
            block.reach.high * weight
            for block, weight in zip(plan.blocks, _steps(plan), strict=True)
        ]
        assert reaches == [20, 2, 400, 40, 4]


def _steps(plan):
    from deniable.query.margins.linear_forms import form

    return [form(output.node).weights[0][1] for output in plan.outputs[2:]]


def test_a_count_before_its_mean_is_measured_once():
    """The mean takes the count that is there, and that one gets the weight."""
    session = protect(max_groups_per_unit=1, max_rows_per_unit_per_group=2)
    text = "SELECT COUNT(cost) AS n, AVG(cost) AS m, AVG(cost) AS k FROM visits FOR POPULATION"
    assert names(session, text) == [
        *("n", "m", "m: sum", "m: sum sum", "m: sum rows", "m: rows rows", "k")
    ]


def test_where_chooses_rows_before_they_are_taken_together():
    visits = protect(max_rows_per_unit_per_group=2)
    text = "SELECT AVG(cost) AS m FROM visits WHERE sick = 1 AND ward = 'A' FOR POPULATION"
    release = visits.sql(text, epsilon=500)
    chosen = [
        c
        for c, s, w in zip(
            *(ROWS[n].to_pylist() for n in ("cost", "sick", "ward")), strict=True
        )
        if s == 1 and w == "A"
    ]
    assert release.answer.table["m"][0].as_py() == pytest.approx(
        sum(chosen) / len(chosen), abs=0.1
    )
    assert release.answer.table["m: rows"][0].as_py() == pytest.approx(len(chosen), abs=2)


def test_units_with_more_rows_than_count_keep_their_mean():
    """Of a unit with two rows one counts: the mean of both, once."""
    rows = pa.table({"id": [i // 4 for i in range(4000)], "x": [0.0, 10.0] * 2000})
    data = dp.protect(
        rows,
        name="v",
        unit="id",
        bounds={"x": (0, 10)},
        epsilon=1000,
        max_rows_per_unit_per_group=2,
    )
    release = data.sql("SELECT AVG(x) AS m FROM v FOR POPULATION", epsilon=500)
    assert release.answer.table["m"][0].as_py() == pytest.approx(5, abs=0.1)
    assert release.answer.table["m: rows"][0].as_py() == pytest.approx(2000, abs=20)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward LIMIT 1", "HAVING, LIMIT or"),
        ("SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward HAVING m > 1", "HAVING, LIMIT"),
        (
            "SELECT AVG(a.cost) AS m FROM visits a JOIN visits b ON a.id = b.id",
            "about one table",
        ),
        ("SELECT STDDEV(cost) AS d FROM visits", "is not one of them"),
        ("SELECT COUNT(*) AS n FROM visits", "sample of unknown size"),
        ("SELECT AVG(cost) AS m FROM visits GROUP BY ward ORDER BY m", "order by a key"),
    ],
)
def test_what_cannot_be_said_is_refused_before_the_charge(text, message):
    visits = protect(max_rows_per_unit_per_group=2)
    with pytest.raises(InvalidQuery, match=message):
        visits.sql(f"{text} FOR POPULATION", epsilon=1)
    with pytest.raises(InvalidQuery, match=message):
        visits.explain(f"{text} FOR POPULATION", epsilon=1)
    assert str(visits.remaining) == "epsilon 1000, delta 0"


def test_it_takes_a_price_and_rows_without_a_unit_are_averages():
    text = "SELECT AVG(cost) AS m FROM visits FOR POPULATION"
    with pytest.raises(InvalidParameter, match="takes a price"):
        protect().sql(text, margin=1)
    rows = dp.protect(ROWS, name="visits", bounds={"cost": (0, 10)}, epsilon=10)
    with pytest.raises(InvalidQuery, match="as an average"):
        rows.sql("SELECT SUM(cost) / COUNT(*) AS m FROM visits FOR POPULATION", epsilon=1)


def test_strata_are_asked_for_before_the_charge():
    visits = protect(sample={"by": "ward", "fraction": {"A": 0.1, "B": 0.2}})
    with pytest.raises(InvalidQuery, match="Group by ward"):
        visits.sql("SELECT AVG(cost) AS m FROM visits FOR POPULATION", epsilon=1)
    text = "SELECT ward AS w, AVG(cost) AS m FROM visits GROUP BY w FOR POPULATION"
    assert len(visits.sql(text, epsilon=1).population()) == 2
