"""Quantiles with intervals: private on every tiny table, and they cover on every table."""

from dataclasses import fields
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM
from deniable.mechanisms import QuantileIntervals
from deniable.mechanisms.quantiles.quantile_method import largest_distance
from tests.mechanisms.quantiles.laws import (
    BITS,
    histogram,
    limit,
    neighbors,
    of_rank,
    ratio,
    tables,
)

F = Fraction
RELATIONS = ("add-remove", "replace")
LEVELS = [(F(1, 2),), (F(1, 10), F(2, 3)), (F(0), F(1, 2), F(1)), (F(1),)]
CELLS = 4


def tiny(levels, relation, **options):
    """On a grid of four cells."""
    return QuantileIntervals(
        levels,
        epsilon=options.pop("epsilon", 1),
        bounds=(0, CELLS - 1),
        neighbors=relation,
        method="independent",
        **options,
    )


def targets(mechanism):
    """Of each draw: the level, and the offset from the first public row, in reaches."""
    for q in mechanism.quantiles:
        if not mechanism.brackets:
            yield q, {0: 2, 1: 0}.get(q, 1)
        else:
            yield from [(q, side) for side in (0, 2) if (q, side) not in {(0, 0), (1, 2)}]


def laws(
    mechanism,
    table,
    unit=None,
    reach_of=lambda mechanism, table: mechanism.reach,
    shortcut=False,
):
    """The law of every draw, by definition."""
    listed = []
    for q, side in targets(mechanism):
        offset = side * reach_of(mechanism, table)
        rank = q * len(table) + offset - mechanism.reach
        if shortcut and not 0 <= rank <= len(table):
            listed.append({0 if rank < 0 else CELLS - 1: (1 << BITS, 1 << BITS)})
        else:
            unit = unit or mechanism.unit
            listed.append(
                of_rank(table, CELLS, q, unit, offset=offset, outside=mechanism.reach)
            )
    return listed


def worst(mechanism, relation, **changes):
    """Bounds on the greatest odds of all draws together, over all neighbouring tables of at
    most four rows. The draws are independent, so their odds multiply."""
    known, least, most = {}, F(0), F(0)
    for pair in neighbors(relation, CELLS, 4):
        for table in pair:
            if table not in known:
                known[table] = laws(mechanism, table, **changes)
        low = high = F(1)
        for first, second in zip(*(known[table] for table in pair), strict=True):
            a, b = ratio(first, second)
            low, high = low * a, high * b
        least, most = max(least, low), max(most, high)
    return least, most


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("levels", LEVELS, ids=str)
@pytest.mark.parametrize("brackets", [True, False])
def test_no_release_gives_a_neighbour_away(relation, levels, brackets):
    """Whatever the reach is: targets inside of the table, and far outside."""
    for reach in (1, 2, 7):
        mechanism = tiny(levels, relation, reach=reach, brackets=brackets)
        _, most = worst(mechanism, relation)
        assert 1 < most <= limit(1)
    needed = tiny(levels, relation, brackets=brackets, epsilon=F(1, 2), confidence=F(1, 2))
    assert worst(needed, relation)[1] <= limit(F(1, 2))


@pytest.mark.parametrize("level", [F(1, 10), F(1, 2), F(1)])
def test_rows_that_come_and_go_cost_no_more_than_rows_that_change(level):
    mechanism = tiny((level,), "replace", reach=2)
    for relation in RELATIONS:
        assert worst(mechanism, relation)[1] <= limit(1)


BROKEN = {
    "three times the strength": {"unit": lambda mechanism: 3 * mechanism.unit},
    "each draw has all of epsilon": {"unit": lambda mechanism: mechanism.epsilon},
    "the reach is compared with the rows": {"shortcut": lambda mechanism: True},
    "the reach is a share of the rows": {
        "reach_of": lambda mechanism: lambda mechanism, table: mechanism.reach * len(table)
    },
}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("broken", BROKEN)
def test_broken_variants_are_caught(relation, broken):
    if relation == "replace" and "rows" in broken:
        relation = "add-remove"  # replacing a row does not change their number
    mechanism = tiny((F(1, 10), F(1, 2)), relation, reach=3)
    changes = {name: make(mechanism) for name, make in BROKEN[broken].items()}
    assert worst(mechanism, relation, **changes)[0] > limit(1)


def test_a_median_has_half_the_sensitivity_only_if_rows_are_added_or_removed():
    mechanism = tiny((F(1, 2),), "add-remove", reach=1)
    assert mechanism.unit == 2 * tiny((F(1, 2),), "replace", reach=1).unit
    assert worst(mechanism, "add-remove")[1] <= limit(1)
    assert worst(mechanism, "replace")[0] > limit(1)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("levels", LEVELS, ids=str)
@pytest.mark.parametrize("chance", [F(1, 2), F(1, 10)])
def test_intervals_fail_with_no_more_than_their_chance_on_every_tiny_table(
    relation, levels, chance
):
    """Exactly, for the quantile by every usual rule, and for all quantiles together."""
    mechanism = tiny(levels, relation, epsilon=4, confidence=1 - chance)
    for table in tables(CELLS, 4):
        if table:
            drawn = laws(mechanism, table)
            for pick in (0, 1, 2):
                failing = sum(
                    sum(hi for cell, (_, hi) in law.items() if fails(cell, v, side))
                    for (q, side), law in zip(targets(mechanism), drawn, strict=True)
                    for v in [true_quantiles(table, q)[pick]]
                )
                assert failing <= chance * 2**BITS


def fails(cell, value, side):
    """Whether an end is on the wrong side of the quantile."""
    return cell > value if side == 0 else cell < value


def true_quantiles(table, q):
    """The quantile of a table, in cells: the least and the largest value of its rank, and the
    one between two values that SQL calls continuous."""
    rows = np.sort(np.asarray(table))
    n = rows.size
    exact = F(q) * n
    least = rows[min(n - 1, max(0, -(-exact.numerator // exact.denominator) - 1))]
    largest = rows[min(n - 1, int(exact))]
    return float(least), float(largest), float(np.quantile(rows, float(q)))


def test_without_public_rows_small_tables_are_not_covered():
    """200 rows, quantile 0.1, a wide grid: what the public rows at the bounds are for."""
    mechanism = QuantileIntervals(
        F(1, 10), epsilon=F(1, 10), bounds=(0, 10**5), neighbors="add-remove"
    )
    data = histogram(np.arange(10, 210), 10**5 + 1)
    lows = [mechanism.draw(data, SYSTEM).ends[0][0] for _ in range(60)]
    assert max(lows) <= 29
    from deniable.mechanisms.quantiles.rank_draw import RankDraw

    bare = RankDraw(data)
    wrong = [
        bare.draw(F(1, 10), mechanism.unit, SYSTEM, offset=-mechanism.reach) for _ in range(60)
    ]
    assert sum(low > 29 for low in wrong) > 30


COLUMNS = {
    "uniform": lambda rng, n: rng.integers(0, 10_001, n),
    "log-normal": lambda rng, n: np.minimum(rng.lognormal(6, 0.7, n), 10_000),
    "two far atoms": lambda rng, n: np.where(rng.random(n) < 0.5, 3, 9_990),
    "mostly zeros": lambda rng, n: np.where(rng.random(n) < 0.7, 0, rng.exponential(500, n)),
    "at one bound": lambda rng, n: 10_000 - rng.geometric(0.05, n),
}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("count", [1, 3, 5, 9])
@pytest.mark.parametrize("relation", RELATIONS)
def test_intervals_cover(column, count, relation, size):
    """All quantiles of a release together, from 200 to 50,000 rows, on a coarse grid (where
    many quantiles are read from a curve) and on a fine one."""
    runs = size(small=5, full=400, what="releases of each column, size and grid")
    rng = np.random.default_rng(count)
    for rows, step in product((200, 3_000, 50_000), (1, 100)):
        mechanism = QuantileIntervals(
            [F(k, count + 1) for k in range(1, count + 1)],
            epsilon=1,
            bounds=(0, 10_000),
            step=step,
            neighbors=relation,
        )
        values = np.clip(np.round(COLUMNS[column](rng, rows) / step), 0, 10_000 // step)
        data = histogram(values.astype(np.int64), mechanism.grid.size)
        true = [true_quantiles(values, q) for q in mechanism.quantiles]
        covered = np.zeros(3)  # for each rule that says what a quantile is
        for _ in range(runs):
            drawn = mechanism.draw(data, SYSTEM)
            pairs = zip(drawn.cells, drawn.ends, true, strict=True)
            assert all(low <= cell <= high for cell, (low, high), _ in pairs)
            pairs = zip(drawn.ends, true, strict=True)
            inside = [[low <= v <= high for v in by] for (low, high), by in pairs]
            covered += np.all(inside, axis=0)
        assert covered.min() / runs >= 0.95 - 4 * (0.95 * 0.05 / runs) ** 0.5


def test_widths_fall_with_epsilon_and_the_median_is_sharp():
    """48,842 incomes, a grid of 1 from 0 to 500,000, add-remove."""
    rng = np.random.default_rng(7)
    incomes = np.clip(rng.lognormal(np.log(36_000), 0.7, 48_842), 0, 500_000).round()
    widths = []
    for epsilon in (0.2, 1, 5):
        mechanism = QuantileIntervals(
            0.5, epsilon=epsilon, bounds=(0, 500_000), neighbors="add-remove"
        )
        ends = [mechanism.release(incomes).ends[0] for _ in range(10)]
        widths.append(float(np.mean([high - low for low, high in ends])))
    assert widths[0] > 3 * widths[1] > 9 * widths[2]
    assert widths[1] < 0.01 * np.median(incomes)


def test_the_maximum_of_a_small_table_is_near_its_largest_values():
    mechanism = QuantileIntervals(1, epsilon=1, bounds=(0, 10_000), neighbors="add-remove")
    assert 24 <= mechanism.reach <= 28
    values = [mechanism.release(range(1000)) for _ in range(200)]
    inside = sum(899 <= release.values[0] <= 1099 for release in values)
    assert inside >= 190
    assert all(release.ends[0] == (release.values[0], 10_000) for release in values)


def test_the_typical_error_is_that_of_smooth_data():
    mechanism = QuantileIntervals(0.5, epsilon=0.2, bounds=(0, 10_000), neighbors="add-remove")
    values = np.arange(0, 10_000)
    errors = [abs(mechanism.release(values).values[0] - 5_000) for _ in range(200)]
    assert 0.2 * mechanism.typical < np.mean(errors) < 1.5 * mechanism.typical


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("cells", [100, 10**4, 10**6])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 9, 20, 40])
def test_brackets_alone_are_guaranteed_to_be_the_narrowest(relation, cells, count):
    """Drawing the quantiles too, or all ends in joint draws, needs a larger reach."""
    levels = [F(k, count + 1) for k in range(1, count + 1)]
    mechanism = QuantileIntervals(levels, epsilon=1, bounds=(0, cells - 1), neighbors=relation)
    alone = QuantileIntervals(
        levels, epsilon=1, bounds=(0, cells - 1), neighbors=relation, method="independent"
    )
    split = QuantileIntervals(
        levels,
        epsilon=F(2, 3),
        bounds=(0, cells - 1),
        neighbors=relation,
        method="independent",
    )
    assert mechanism.reach <= alone.reach < split.reach
    # All lows in one draw and all highs in another: the same shares of the rows lie between
    # their targets as between quantiles, so D moves by at most 2 (1 - least share); if a row
    # is replaced, by 2.
    least = float(min(levels)) if relation == "add-remove" else 0.0
    unit = 1 / 2 / (4 * (1 - least))
    assert mechanism.reach <= largest_distance(cells, 10**6, unit, 0.05, count) / 2


def test_for_many_quantiles_a_curve_of_all_ranks_is_better():
    levels = [F(k, 100) for k in range(1, 100)]
    mechanism = QuantileIntervals(levels, epsilon=1, bounds=(0, 999), neighbors="add-remove")
    assert mechanism.method == "tree"
    assert mechanism.loss.epsilon() == 1.0
    released = mechanism.release(np.arange(1000).repeat(50))
    lows, highs = zip(*released.ends, strict=True)
    assert list(released.values) == sorted(released.values)
    assert all(low <= 10 * (k + 1) <= high for k, (low, high) in enumerate(released.ends))
    assert max(high - low for low, high in zip(lows, highs, strict=True)) < 60


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_loss_is_epsilon(relation):
    for levels, brackets in product(LEVELS, (True, False)):
        mechanism = tiny(levels, relation, epsilon=F(3, 7), brackets=brackets)
        assert mechanism.loss.exact_epsilon.rational == F(3, 7)


def test_without_brackets_values_are_sharper():
    mechanism = QuantileIntervals(0.5, epsilon=1, bounds=(0, 10**6), neighbors="add-remove")
    assert mechanism.reach == 35
    assert mechanism.sharper_margin() == 18
    alone = QuantileIntervals(
        0.5, epsilon=1, bounds=(0, 10**6), neighbors="add-remove", brackets=False
    )
    assert (alone.reach, alone.release(range(1000)).ends) == (18, None)


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_small_tables_release_something(rows):
    mechanism = QuantileIntervals([0, 0.5, 1], epsilon=1, bounds=(0, 99), neighbors="replace")
    released = mechanism.release([7] * rows)
    assert released.ends[0][0] == 0
    assert released.ends[2][1] == 99
    assert released.ends[1] == (0, 99)


@pytest.mark.parametrize(
    ("changes", "because"),
    [
        ({"quantiles": [0.5, 0.1]}, "ascending"),
        ({"quantiles": []}, "ascending"),
        ({"quantiles": 1.5}, "from 0 to 1"),
        ({"epsilon": 1e-18}, "wider than any table"),
        ({"method": "joint"}, "method"),
        ({"method": "tree", "brackets": False}, "method"),
        ({"reach": -1}, "reach"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused(changes, because):
    given = {"quantiles": 0.5, "epsilon": 1, "bounds": (0, 9), "neighbors": "replace"}
    with pytest.raises(InvalidParameter, match=because):
        QuantileIntervals(**given | changes)


def test_it_is_made_again_from_its_own_fields():
    mechanism = QuantileIntervals([0.5, 1], epsilon=1, bounds=(0, 9), neighbors="add-remove")
    named = {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}
    grid = named.pop("grid")
    again = QuantileIntervals(bounds=(grid.value(0), grid.value(grid.size - 1)), **named)
    assert again == mechanism
