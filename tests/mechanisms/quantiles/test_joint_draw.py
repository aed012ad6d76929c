"""The joint draw against its law, written out: 6-cell grids, every tuple, every proposal."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.stats import chisquare

from deniable.exact.bits import SYSTEM
from deniable.exact.enclosures import exp_neg
from deniable.mechanisms.quantiles import joint_draw
from deniable.mechanisms.quantiles.joint_draw import JointDraw
from deniable.mechanisms.quantiles.order_statistics import OrderStatistics
from tests.mechanisms.quantiles.laws import BITS, histogram, missed, of_places

SIZE = 6
THRESHOLD = 1e-9
TABLES = [(), (2,), (0, 0, 0, 0), (1, 1, 4), (0, 2, 2, 5), (5, 5, 5), (0, 1, 2, 3, 4, 5)]
TARGETS = [[1, 1], [0, 3], [Fraction(1, 3)] * 3, [2, Fraction(1, 2), 1], [1, 0, 0, 1, 2]]
UNITS = [Fraction(1, 4), Fraction(3), Fraction(1, 1000)]


def prepared(records, targets, unit, grain=0.0):
    whole = OrderStatistics(histogram(records, SIZE), SYSTEM, place_bits=0).all_records()
    return JointDraw(whole, [Fraction(t) for t in targets], unit, grain=grain)


def paths(draw, last=None, before=None):
    """Every list of blocks that can be proposed, with the chance of each."""
    last = draw.count if last is None else last
    if last == 0:
        yield [], Fraction(1)
        return
    step = draw.choices(last, draw.data.rows if before is None else before)
    for index in np.flatnonzero(step.weights):
        block = draw.block(step, int(index), last)
        chance = Fraction(int(step.weights[index]), step.total)
        for rest, more in paths(draw, last - block.count, block.interval):
            yield [block, *rest], chance * more


def ranks_of(blocks):
    return [block.interval for block in reversed(blocks) for _ in range(block.count)]


@pytest.mark.parametrize("grain", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("targets", TARGETS, ids=str)
def test_every_tuple_is_kept_in_proportion_to_its_weight(targets, unit, grain):
    """Forced: the coarser the grain, the less the floats say and the more the exact coin."""
    for records in TABLES:
        draw = prepared(records, targets, unit, grain)
        rank = [sum(record < place for record in records) for place in range(SIZE)]
        tuples = Counter(
            tuple(rank[place] for place in chosen)
            for chosen in combinations_with_replacement(range(SIZE), draw.count)
        )
        bounds, kept = {}, Fraction(0)
        for blocks, chance in paths(draw):
            ranks = tuple(ranks_of(blocks))
            assert ranks not in bounds
            distance = draw.distance(blocks)
            assert distance == missed(ranks, draw.targets, len(records))
            lo, hi = exp_neg(unit * distance, BITS)
            share = draw.acceptance(blocks)
            assert share * lo <= 1 << BITS  # a coin, surely
            bounds[ranks] = (chance * share * lo, chance * share * hi)
            kept += chance * share * lo
        assert bounds.keys() == tuples.keys()
        # What is kept, tuple by tuple: the law, up to one common factor.
        law = of_places(records, draw.targets, unit, SIZE)
        by_rank = Counter()
        for chosen, (lo, _) in law.items():
            by_rank[tuple(rank[place] for place in chosen)] += lo
        for ranks, (lo, hi) in bounds.items():
            wanted = Fraction(by_rank[ranks], 1 << BITS)
            assert lo / kept <= wanted * (1 + Fraction(1, 2**80))
            assert wanted <= hi / kept * (1 + Fraction(1, 2**80))
        share_kept = float(kept / (1 << BITS))
        if grain == 0:
            assert share_kept > 1 - 2**-20
        elif unit * len(records) > 1:
            assert share_kept < 1 - 2**-6


def sampled(draw, count):
    return Counter(tuple(draw.draw(SYSTEM)[0]) for _ in range(count))


def fit(counts, law):
    """The chi-square p-value; rare tuples share one cell."""
    n = counts.total()
    wanted = {key: n * lo / (1 << BITS) for key, (lo, _) in law.items()}
    often = [key for key in law if wanted[key] >= 10]
    observed = [counts[key] for key in often]
    expected = [wanted[key] for key in often]
    if (rest := n - sum(expected)) > 5:
        observed, expected = [*observed, n - sum(observed)], [*expected, rest]
    else:
        expected = [mass * sum(observed) / sum(expected) for mass in expected]
    return chisquare(observed, expected).pvalue


@pytest.mark.parametrize("grain", [0.0, 2.0])
def test_draws_follow_the_law_and_nothing_near_it(grain, size):
    count = size(small=1_500, full=30_000, what="joint draws")
    records, targets, unit = (0, 2, 2, 5), [Fraction(4, 3)] * 3, Fraction(1, 2)
    counts = sampled(prepared(records, targets, unit, grain), count)
    assert fit(counts, of_places(records, targets, unit, SIZE)) > THRESHOLD
    assert fit(counts, of_places(records, targets, unit * 2, SIZE)) < THRESHOLD
    assert fit(counts, of_places(records, [1, 2, 1], unit, SIZE)) < THRESHOLD


def test_tuples_outside_of_the_windows_are_drawn_too(monkeypatch, size):
    count = size(small=3_000, full=30_000, what="joint draws with narrow windows")
    monkeypatch.setattr(joint_draw, "_SPARE_BITS", -2)
    monkeypatch.setattr(joint_draw, "_MOST_OUTSIDE", 1000)
    records, targets, unit = (0, 1, 1, 2, 3, 3, 4, 5), [2, 6], Fraction(1, 4)
    draw = prepared(records, targets, unit)
    assert draw._outside > 0
    counts = sampled(draw, count)
    law = of_places(records, targets, unit, SIZE)
    assert fit(counts, law) > THRESHOLD
    low, high = draw._windows[0]
    outside = [
        outcome for outcome in law if not low <= sum(r < outcome[0] for r in records) <= high
    ]
    assert sum(counts[outcome] for outcome in outside) > count / 20


def test_windows_leave_out_next_to_nothing():
    records = [k // 40 for k in range(240)]
    draw = prepared(records, [Fraction(240, 5)] * 5, Fraction(40))
    assert draw._windows != [(0, 240)] * 4
    assert 0 < draw._outside < draw._inside / 2**20
    places, ranks = draw.draw(SYSTEM)
    assert places == sorted(places)
    assert ranks == [sum(r < place for r in records) for place in places]


def test_bounds_hold_where_floats_are_worst(size):
    """Long gaps, tiny and huge decays: the coin is never asked for more than 1 or much less."""
    count = size(small=1, full=100, what="joint draws from large tables")
    for unit in (Fraction(1, 10**6), Fraction(1, 7), Fraction(50)):
        for rows in (3_000, 60_000):
            cells = np.arange(0, 1000, 3)
            data = histogram(np.repeat(cells, rows // cells.size + 1), 1 << 20)
            whole = OrderStatistics(data, SYSTEM).all_records()
            draw = JointDraw(whole, [Fraction(data.rows, 13)] * 13, unit)
            for _ in range(count):
                blocks = draw._propose(SYSTEM)
                x = unit * draw.distance(blocks)
                bits = 256 + 2 * int(x)
                chance = draw.acceptance(blocks) * Fraction(exp_neg(x, bits)[0], 1 << bits)
                assert 1 - 2**-16 < chance < 1
