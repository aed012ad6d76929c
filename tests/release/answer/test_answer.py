"""From the engine's integers to what is released: the noise is the plan's, once, and honest."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binomtest, kstest

import deniable as dp
from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.handover.exact_groups import ExactGroups
from deniable.mechanisms import Gaussian, Laplace
from deniable.query.language.parse import parse
from deniable.query.margins.evaluation import evaluate
from deniable.query.margins.margins import shown_values
from deniable.query.plan.plan import (
    Block,
    Feature,
    GroupKey,
    KeyColumn,
    Number,
    Operation,
    Output,
)
from deniable.query.planner.planner import plan as planned
from deniable.release.answer.answer import draw_answer
from tests.ledger.contract import plan
from tests.query.hospital import policy, visits

DRAWS = 60_000  # 20,000 are asked for; more make a chance failure impossible
LEVEL = Fraction(19, 20)


def repeated(query_plan, exact, draws=DRAWS):
    """The same integers as `draws` groups, so that one release draws them so often."""
    places = tuple(range(draws))
    key = GroupKey("draw", "number", places, Fraction(1))
    features = {
        name: np.array([values[0]] * draws, dtype=values.dtype)
        for name, values in exact.features.items()
    }
    engine = ExactGroups((pa.array(places, pa.int64()),), None, features)
    return draw_answer(replace(query_plan, keys=(key,)), engine)


def everybody(rows=4000):
    """More visits than the golden hospital has, all in one engine call."""
    return visits(rows)


AGGREGATES = [
    "COUNT(*)",
    "COUNT(age)",
    "COUNT(DISTINCT patient)",
    "SUM(cost)",
    "SUM(weight)",
    "SUM(age + 1)",
    "AVG(age)",
    "AVG(cost), COUNT(*)",
    "VAR_SAMP(age)",
    "VAR_POP(cost)",
    "STDDEV_SAMP(age)",
    "STDDEV_POP(weight)",
    "HISTOGRAM(age, 3)",
    "SUM(cost) / COUNT(*)",
    "POWER(AVG(age), 2)",
    "1 + SUM(age)",
    "CLIPPED(cost)",
    "COVAR_POP(cost, age), COVAR_SAMP(cost, age)",
    "REGR_SLOPE(cost, age), REGR_INTERCEPT(cost, age)",
    "CORR(ABS(age - 40), age)",
    "CORR(age * age, age)",
]


@pytest.fixture(scope="module")
def engine():
    with DuckDB.open({"visits": everybody()}) as opened:
        yield opened


@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("noise", ["Laplace", "Gaussian"])
def test_margins_cover_and_are_not_padded(engine, aggregate, noise, size):
    """Against the clipped and bounded aggregate. Of 20,000 draws a right margin covers less
    than is asked for once in ten million times."""
    draws = size(small=20_000, full=60_000, what="draws of an answer")
    query_plan = planned(parse(f"SELECT {aggregate} FROM visits"), policy(), epsilon=2)
    if noise == "Gaussian":
        blocks = [
            replace(block, mechanism=Gaussian(mu=2, sensitivity=block.mechanism.sensitivity))
            for block in query_plan.blocks
        ]
        query_plan = replace(query_plan, blocks=tuple(blocks))
    exact = engine.run(query_plan).reveal_to(lambda integers: integers)
    answer = repeated(query_plan, exact, draws)
    integers = {name: values.astype(np.float64) for name, values in exact.features.items()}
    for output in query_plan.outputs:
        true = float(shown_values(output.node, integers, low=output.low, high=output.high)[0])
        value = np.asarray(answer.table[output.name], dtype=np.float64)
        margin = np.asarray(answer.table[answer.margins[output.name]], dtype=np.float64)
        error = np.abs(value - true)
        assert np.mean(error <= margin) >= 0.942, output.name
        step = 1 if output.count else 0
        assert np.mean(margin) <= 1.25 * np.quantile(error, 0.95) + step, output.name


def test_the_noise_is_that_of_the_mechanism():
    """Power: the law that was paid for fits, and one a tenth off does not."""
    scale = 1000
    query_plan = plan(1, blocks=(Block(("n",), "rows", Laplace(epsilon=1, sensitivity=scale)),))
    answer = repeated(query_plan, ExactGroups((), None, {"n": np.array([10**6])}), 200_000)
    noise = np.asarray(answer.table["n"]) - 10**6
    assert kstest(noise, "laplace", (0, scale)).pvalue > 1e-9
    assert kstest(noise, "laplace", (0, 1.1 * scale)).pvalue < 1e-9


def test_blocks_and_groups_have_noise_of_their_own():
    blocks = (
        Block(("a", "b"), "two", Laplace(epsilon=Fraction(1, 2), sensitivity=50)),
        Block(("c",), "one", Laplace(epsilon=Fraction(1, 2), sensitivity=50)),
    )
    outputs = tuple(
        Output(name, name, Feature(name, 0), None, None, True, None, False) for name in "abc"
    )
    query_plan = plan(1, blocks=blocks, outputs=outputs)
    zero = {name: np.array([0]) for name in "abc"}
    answer = repeated(query_plan, ExactGroups((), None, zero), 5000).table
    columns = np.array([np.asarray(answer[name]) for name in "abc"])
    apart = np.corrcoef(columns)
    assert np.abs(apart[np.triu_indices(3, 1)]).max() < 0.1
    assert abs(np.corrcoef(columns[0][1:], columns[0][:-1])[0, 1]) < 0.1


def test_a_key_of_one_unit_is_shown_with_probability_delta_at_most():
    """However many rows it has: exactly, from the plan; and in a million runs."""
    table = pa.table(
        {
            "patient": [1] * 500 + list(range(2, 502)),
            "diagnosis": ["rare"] * 500 + ["often"] * 500,
        }
    )
    known = policy(delta=1e-2)
    query_plan = planned(
        parse("SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis"),
        known,
        epsilon=2,
        delta=1e-3,
    )
    whole = visits(1)
    columns = {name: table.column(name) for name in table.column_names}
    for field in whole.schema:
        if field.name not in columns:
            columns[field.name] = pa.nulls(1000, field.type)
    with DuckDB.open({"visits": pa.table(columns)}) as opened:
        exact = opened.run(query_plan).reveal_to(lambda integers: integers)
    units = dict(zip(exact.keys[0].to_pylist(), exact.units.tolist(), strict=True))
    assert units == {"rare": 1, "often": 500}

    chance = query_plan.thresholding.keep_bounds(1)[1] / 2**256
    assert 0 < chance <= query_plan.delta
    runs = 1_000_000
    lonely = ExactGroups(
        (pa.array(np.arange(runs)).cast(pa.string()),),
        np.ones(runs, dtype=np.int64),
        {name: np.full(runs, 3) for name in query_plan.features},
    )
    released = draw_answer(query_plan, lonely).table.num_rows
    assert binomtest(released, runs, chance).pvalue > 1e-9
    assert (
        binomtest(released, runs, float(query_plan.delta), alternative="greater").pvalue > 1e-9
    )


KEYS = (GroupKey("ward", "text", ("A", "B", "C")),)
N = Feature("n", 0)
WARD = Output("ward", "ward", KeyColumn(0), None, None, False, None, False)
COUNT = Output("n", "COUNT(*)", N, Fraction(0), None, True, None, False)


def grouped(n, **changes):
    query_plan = plan(1, keys=KEYS, outputs=(WARD, COUNT), **changes)
    engine = ExactGroups((pa.array(["A", "B", "C"]),), None, {"n": np.array(n)})
    return draw_answer(query_plan, engine).table


def test_having_order_and_limit_see_noisy_values_only():
    many = Operation(">", (N, Number(Fraction(500))))
    table = grouped([0, 1000, 2000], having=many, order=((N, True),))
    assert table["ward"].to_pylist() == ["C", "B"]
    assert grouped([3000, 1000, 2000], order=((N, False),), limit=2)["ward"].to_pylist() == [
        "B",
        "C",
    ]
    assert grouped([1, 1, 1], order=((KeyColumn(0), True),))["ward"].to_pylist() == list("CBA")
    assert grouped([1, 1, 1], limit=0).num_rows == 0
    nearly = Operation(">", (N, Number(Fraction(100))))
    kept = [grouped([100, 100, 100], having=nearly).num_rows for _ in range(60)]
    assert len(set(kept)) > 1  # the true values would all be treated alike
    for row in grouped([100, 100, 100], having=nearly).to_pylist():
        assert row["n"] > 100


def test_columns_and_their_types():
    table = grouped([1, 2, 3])
    assert table.column_names == ["ward", "n", "n_margin", "n_low", "n_high"]
    assert [str(kind) for kind in table.schema.types] == ["string", *["int64"] * 4]
    assert set(table["n_margin"].to_pylist()) == {3}
    for row in table.to_pylist():
        assert (row["n_low"], row["n_high"]) == (row["n"] - 3, row["n"] + 3)


def test_names_that_clash_stay_apart():
    outputs = (WARD, COUNT, replace(COUNT, name="n_margin"), COUNT)
    query_plan = plan(1, keys=KEYS, outputs=outputs)
    engine = ExactGroups((pa.array(["A"]),), None, {"n": np.array([5])})
    names = draw_answer(query_plan, engine).table.column_names
    assert len(set(names)) == len(names) == 13
    taken = (WARD, COUNT, replace(COUNT, name="n_low"), replace(COUNT, name="n_low"))
    answer = draw_answer(replace(query_plan, outputs=taken), engine)
    assert len({*answer.table.column_names}) == 13
    assert answer.margins["n_low_"] == "n_low__margin"  # as before there were ends
    assert answer.shown == ("ward", "n", "n_low", "n_low_")


def test_negative_counts_are_shown_unless_asked_otherwise():
    assert min(min(grouped([0, 0, 0])["n"].to_pylist()) for _ in range(60)) < 0
    nonnegative = [
        min(grouped([0, 0, 0], nonnegative=True)["n"].to_pylist()) for _ in range(60)
    ]
    assert min(nonnegative) == 0


def test_a_number_that_is_cut_to_zero_keeps_its_margin_on_both_sides():
    rows = [row for _ in range(60) for row in grouped([0, 0, 0], nonnegative=True).to_pylist()]
    assert {(row["n_low"], row["n_high"]) for row in rows if row["n"] == 0} == {(-3, 3)}


def test_counts_from_a_mean_are_whole_numbers():
    outputs = (
        replace(
            COUNT,
            node=Operation(
                "*", (Number(Fraction(1, 1000)), Operation("+", (N, Feature("m", 0))))
            ),
        ),
    )
    block = Block(("n", "m"), "mean", Laplace(epsilon=1, sensitivity=1000))
    query_plan = plan(1, blocks=(block,), outputs=outputs)
    table = draw_answer(
        query_plan, ExactGroups((), None, {"n": np.array([4000]), "m": np.array([6000])})
    ).table
    assert str(table["n"].type) == "int64"
    assert table["n_margin"].to_pylist() == [5]


def test_what_has_no_value_is_null():
    nothing = Output(
        "r",
        "1 / 0",
        Operation("/", (N, Operation("-", (N, N)))),
        None,
        None,
        False,
        None,
        False,
    )
    query_plan = plan(1, outputs=(nothing,))
    table = draw_answer(query_plan, ExactGroups((), None, {"n": np.array([5])})).table
    assert table.to_pylist() == [dict.fromkeys(("r", "r_margin", "r_low", "r_high"))]


def test_a_number_without_noise_needs_no_margin():
    decade = GroupKey("decade", "number", (0, 10), Fraction(10))
    outputs = (
        Output(
            "next",
            "decade + 10",
            Operation("+", (KeyColumn(0), Number(Fraction(10)))),
            None,
            None,
            False,
            None,
            False,
        ),
        COUNT,
    )
    query_plan = plan(1, keys=(decade,), outputs=outputs)
    engine = ExactGroups((pa.array([0, 1]),), None, {"n": np.array([5, 6])})
    table = draw_answer(query_plan, engine).table
    assert table.column_names == ["next", "n", "n_margin", "n_low", "n_high"]
    assert table["next"].to_pylist() == [10, 20]


def test_an_average_of_everybody_is_twice_as_good_as_two_half_budgets(engine):
    """AVG, add-remove, same epsilon, against half for the count, half for the centred sum."""
    known = policy(person=False)
    query_plan = planned(parse("SELECT AVG(age) AS age FROM visits"), known, epsilon=0.1)
    exact = engine.run(query_plan).reveal_to(lambda integers: integers)
    value = np.asarray(repeated(query_plan, exact).table["age"])
    integers = {name: values.astype(np.float64) for name, values in exact.features.items()}
    mean = float(evaluate(query_plan.outputs[0].node, integers)[0])
    n = round(sum(values[0] for values in integers.values()) / 120)
    count = Laplace(epsilon=0.05).release(np.full(DRAWS, n))
    total = Laplace(epsilon=0.05, sensitivity=60).release(
        np.full(DRAWS, round(n * (mean - 60)))
    )
    rival = np.clip(total / count + 60, 0, 120)
    assert np.mean((value - mean) ** 2) <= 0.55 * np.mean((rival - mean) ** 2)


@pytest.mark.parametrize(("most", "kind"), [(10**6, pa.int64()), (2**60, pa.float64())])
def test_the_type_of_a_column_is_the_plans_not_the_draws(most, kind):
    frame = pa.table({"x": [1, 2, 3]})
    opened = dp.protect(frame, name="t", bounds={"x": (0, most)}, step={"x": 1}, epsilon=10**6)
    for _ in range(50):
        table = opened.sql("SELECT SUM(x) AS s FROM t", epsilon=100, fresh=True).to_arrow()
        assert table.schema.field("s").type == kind
        assert table.schema.field("s_margin").type == kind
