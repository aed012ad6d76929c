"""Plans of marginals: their sensitivity, and that the kernel agrees with no smaller one."""

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import PlanRefused
from deniable.mechanisms import Gaussian, Thresholding
from deniable.query.plan.contribution import Contribution
from deniable.query.plan.plan import Block
from deniable.query.planner.marginal_plans import MarginalPlanner
from deniable.release.certificate.sensitivity_checks import check_sensitivities
from deniable.synth.domain.column_cells import cells_of

FRAME = pa.table({"p": [1, 1, 2], "ward": ["A", "B", "A"], "old": [True, False, True]})
PLACES = {(): "rows", (0,): "rows by ward", (0, 1): "rows by ward, old"}


def session(neighbors="add-remove", most=5):
    limits = {"unit": "p", "max_rows_per_unit_per_group": most} if most else {}
    keys = {"ward": ["A", "B"]}
    return dp.protect(
        FRAME, name="t", keys=keys, epsilon=9, delta=1e-5, neighbors=neighbors, **limits
    )


def plan_of(opened, places=(0, 1)):
    table = opened.policy.tables["t"]
    counted = [cells_of(table, name).counted for name in ("ward", "old")]
    planner = MarginalPlanner(opened.policy, table, counted)
    price = {"mu_squared": Fraction(1, 2), "delta": Fraction(1, 10**6)}
    return planner.plan(places, **price, confidence=Fraction(19, 20))


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("most", [None, 5])
def test_all_rows_of_a_unit_may_be_in_one_cell(places, neighbors, most):
    with session(neighbors, most) as opened:
        plan = plan_of(opened, places)
        assert plan.blocks[0].about == PLACES[places]
        square = plan.blocks[0].mechanism.sensitivity ** 2
        exact = (most or 1) ** 2 * (1 if neighbors == "add-remove" else 2)
        assert exact <= square < exact * (1 + Fraction(1, 10**9))
        assert plan.blocks[0].mechanism.loss.mu_squared == Fraction(1, 2)
        assert "moves" in opened.describe_check(plan)
        check_sensitivities(plan)


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_the_kernel_refuses_noise_for_the_root_of_the_rows(neighbors):
    with session(neighbors) as opened:
        plan = plan_of(opened)
        block = plan.blocks[0]
        least = block.mechanism.sensitivity
        for declared in (least * Fraction(99, 100), Fraction(9, 4)):
            noise = Gaussian(variance=block.mechanism.variance, sensitivity=declared)
            small = replace(plan, blocks=(replace(block, mechanism=noise),))
            with pytest.raises(PlanRefused, match="declares"):
                opened.describe_check(small)


def test_the_price_is_the_epsilon_at_delta():
    with session() as opened:
        plan = plan_of(opened)
        assert plan.loss.fits(dp.ApproximateLoss(plan.epsilon, plan.delta))
        assert not plan.loss.fits(dp.ApproximateLoss(plan.epsilon * Fraction(99, 100), 1e-6))


def far_plans(opened):
    """A tree of choices, and noisy distances, from models of zeros."""
    table = opened.policy.tables["t"]
    counted = [cells_of(table, name).counted for name in ("ward", "old")]
    planner = MarginalPlanner(opened.policy, table, counted)
    level = {"scale": 8, "confidence": Fraction(19, 20)}
    first = planner.distance((0, 1), [0] * 9, ends=(0, 1), places=range(9), weight=3, bias=7)
    tree = planner.plan_choice([first], epsilon=Fraction(1, 2), **level)
    more = [planner.distance((0, 1), [0] * 9), planner.distance((0,), [0] * 3)]
    price = {"mu_squared": Fraction(1, 3), "delta": Fraction(1, 10**6)}
    return tree, planner.plan_distances(more, **price, **level)


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_the_kernel_refuses_smaller_distances(neighbors):
    with session(neighbors) as opened:
        for plan in far_plans(opened):
            assert "moves" in opened.describe_check(plan)
            check_sensitivities(plan)
            far = plan.distances
            times = 5 * 8 * (1 if neighbors == "add-remove" else 2)
            many = 2 if isinstance(far.mechanism, Gaussian) else 3**2
            exact = times**2 * many
            assert exact <= far.mechanism.sensitivity**2 < exact * (1 + Fraction(1, 10**9))
            less = far.mechanism.sensitivity * Fraction(99, 100)
            price = (
                {"variance": far.mechanism.variance}
                if isinstance(far.mechanism, Gaussian)
                else {"epsilon": far.mechanism.epsilon}
            )
            small = type(far.mechanism)(**price, sensitivity=less)
            with pytest.raises(PlanRefused, match="declares"):
                opened.describe_check(replace(plan, distances=replace(far, mechanism=small)))


def test_every_choice_of_a_tree_is_charged():
    with session() as opened:
        tree, _ = far_plans(opened)
        twice = replace(tree.distances, names=("one", "two"))
        with pytest.raises(PlanRefused, match="more than it charges"):
            opened.describe_check(replace(tree, distances=twice))


@pytest.mark.parametrize(
    "change",
    [
        {"model": (-(2**63), 0, 0)},
        {"model": (float("nan"), 0, 0)},
        {"places": (0, 1, 7)},
        {"places": (0, 1)},
        {"columns": (1, 0)},
        {"columns": (-1,)},
        {"weight": -1},
        {"weight": 2**21},
        {"weight": 0.5},
        {"bias": 2**63},
    ],
)
def test_the_kernel_refuses_models_that_do_not_fit(change):
    """A number could leave 64 bits, or one row be in a cell that the model lacks."""
    with session() as opened:
        _, noisy = far_plans(opened)
        first, second = noisy.distances.tables
        tables = (first, replace(second, **change))
        with pytest.raises(PlanRefused, match="A model has"):
            opened.describe_check(
                replace(noisy, distances=replace(noisy.distances, tables=tables))
            )


def test_the_kernel_refuses_joint_cells_that_are_no_keys():
    """Every column of the statement is a cell of its row, and the last one counts rows."""
    with session() as opened:
        _, noisy = far_plans(opened)
        sql = str(noisy.distances.sql)
        for wrong in (
            sql.replace("COUNT(*) AS n", "2 * COUNT(*) AS n"),
            sql.replace("AS c1", "AS c2"),
            sql.replace("COUNT(*) AS n", "COUNT(*) AS c2, COUNT(*) AS n"),
        ):
            assert wrong != sql
            with pytest.raises(PlanRefused):
                opened.describe_check(
                    replace(noisy, distances=replace(noisy.distances, sql=wrong))
                )


def test_the_kernel_refuses_scales_beyond_64_bits():
    with session() as opened:
        _, noisy = far_plans(opened)
        wide = replace(noisy.distances, scale=2**62)
        with pytest.raises(PlanRefused, match="a scale is not"):
            opened.describe_check(replace(noisy, distances=wide))


def test_columns_with_commas_have_tables_of_their_own():
    frame = pa.table({"a, b": ["x"], "c": ["x"], "a": ["x"], "b, c": ["x"]})
    keys = {name: ["x", "y"] for name in frame.column_names}
    with dp.protect(frame, keys=keys, epsilon=50, delta=1e-3) as opened:
        opened_copy = opened.copy(
            epsilon=20, delta=1e-4, workload=[["a, b", "c"], ["a", "b, c"]], missing=False
        )
    assert len(opened_copy.scorecard.errors) == 2
    about = [table.about for table in opened_copy.releases[-1].plan.distances.tables]
    assert len(set(about)) == 2


def test_distances_need_rows_of_one_answer():
    with session() as opened:
        tree, _ = far_plans(opened)
        for wrong in (
            replace(tree.distances, scale=0),
            replace(tree.distances, mechanism=dp.Laplace(epsilon=1)),
            replace(tree.distances, mechanism=dp.Exponential(epsilon=1, monotone=True)),
        ):
            with pytest.raises(PlanRefused):
                opened.describe_check(replace(tree, distances=wrong))


@pytest.mark.parametrize("sizes", [(0, 3), (-1, -3), (3, 2**31), (3.0, 3), (True, 3)])
def test_the_kernel_refuses_columns_without_cells(sizes):
    """With no cells, the code of a row would have no place, and a row could make it fail."""
    with session() as opened:
        _, noisy = far_plans(opened)
        table = replace(noisy.distances.tables[1], columns=(1,))
        wrong = replace(noisy.distances, sizes=sizes, tables=(table,))
        with pytest.raises(PlanRefused, match="no cells"):
            opened.describe_check(replace(noisy, distances=wrong))


def test_distances_stand_alone():
    """Nothing else may be in their plan: counts are kept by their one statement."""
    with session() as opened:
        _, noisy = far_plans(opened)
        table = opened.policy.tables["t"]
        ward = MarginalPlanner(opened.policy, table, [cells_of(table, "ward").counted])
        price = {"mu_squared": Fraction(1, 3), "delta": Fraction(1, 10**6)}
        level = {"scale": 8, "confidence": Fraction(19, 20)}
        plan = ward.plan_distances([ward.distance((0,), [0] * 3)], **price, **level)
        block = Block(
            *(("n",), "x", Gaussian(variance=10**6, sensitivity=5)),
            sql=str(plan.distances.sql).replace(" AS c0", " AS cell"),
            reach=Contribution(size=1, total=5, low=0, high=1),
        )
        rule = Thresholding(epsilon=1, delta=1e-6, groups=1)
        for more, why in (
            ({"blocks": (block,)}, "stand alone"),
            ({"thresholding": rule}, "stand alone|nothing pays"),
        ):
            with pytest.raises(PlanRefused, match=why):
                opened.describe_check(replace(noisy, **more, epsilon=9, delta=Fraction(1, 10)))


def test_kept_counts_are_of_the_same_cells():
    """One run, one statement, other numbers of cells: nothing is spread or cut twice."""
    frame = pa.table({"ward": ["A", "B"] * 500, "old": [True] * 1000})
    keys = {"ward": ["A", "B"]}
    with dp.protect(frame, name="t", keys=keys, epsilon=900, delta=1e-2) as opened:
        table = opened.policy.tables["t"]
        counted = [cells_of(table, name).counted for name in ("ward", "old")]
        planner = MarginalPlanner(opened.policy, table, counted)
        price = {"mu_squared": Fraction(1), "delta": Fraction(1, 10**6)}
        level = {"scale": 1, "confidence": Fraction(19, 20)}

        def plan(size):
            own = planner.distance((0,), [0] * size)
            distance_plan = planner.plan_distances([own], **price, **level)
            return replace(
                distance_plan, distances=replace(distance_plan.distances, sizes=(size, 3))
            )

        far = [
            replace(plan(3), distances=replace(plan(3).distances, tables=tables))
            for tables in [(planner.distance((1,), [0] * 3),)]
        ]
        with opened.reserve_run(dp.ConcentratedLoss(3), delta=1e-6) as run:
            for query_plan in (*far, plan(1), plan(1000), plan(3)):
                told = run.release(query_plan).to_arrow().to_pylist()[0]
                assert abs(next(iter(told.values())) - 1000) < 50


def test_a_step_has_no_public_text():
    """The text that runs may hold the salt: a session checks plans, and does not show it."""
    with session() as opened:
        assert opened.check(plan_of(opened)) is None
        assert not hasattr(opened, "prepare")
