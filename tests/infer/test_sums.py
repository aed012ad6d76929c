"""Sums and shares of released numbers: margins that hold, and that are not padded."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from deniable.infer.groups.readings import GroupAmounts
from deniable.infer.sums import ratio_ends
from deniable.mechanisms.noise.laplace import LaplaceNoise
from tests.infer.simulated import at_most

LEVEL = Fraction(19, 20)
WARDS = ["A", "B", "C", "D"]
TRUTH = np.array([400.0, 60.0, 250.0, 90.0])
SCALE = 4


@pytest.fixture(scope="module")
def counts():
    ward = ["A"] * 400 + ["B"] * 60 + ["C"] * 250 + ["D"] * 90
    rows = pa.table({"ward": ward, "cost": [1] * 800})
    visits = dp.protect(
        rows, bounds={"cost": (0, 10)}, keys={"ward": WARDS}, epsilon=10, name="visits"
    )
    text = (
        "SELECT ward, COUNT(*) AS n, SUM(cost) AS c, AVG(cost) AS m FROM visits GROUP BY ward"
    )
    return visits.sql(text, epsilon=1)


def amounts(values):
    noises = {"n": LaplaceNoise(Fraction(SCALE))}
    return GroupAmounts(
        tuple(WARDS), values, {"n": Fraction(1)}, noises, "COUNT(*)", count=True
    )


def draw(rng, shape):
    """Discrete Laplace noise of the scale above: a difference of two geometric numbers."""
    p = 1 - np.exp(-1 / SCALE)
    return rng.geometric(p, shape) - rng.geometric(p, shape)


def test_sums_are_those_of_the_released_numbers(counts):
    released = dict(zip(counts["ward"], counts["n"], strict=True))
    assert infer.total(counts, value="n").value == sum(released.values())
    some = infer.total(counts, ["A", "C"], less=["B"], value="n")
    assert some.value == released["A"] + released["C"] - released["B"]
    assert some.what == "COUNT(*) of A and C less that of B"
    assert infer.total(counts, value="n").what == "COUNT(*) of all groups"
    part = infer.share(counts, ["A"], ["A", "B"], value="n")
    assert part.value == released["A"] / (released["A"] + released["B"])
    over = infer.share(counts, ["A"], ["B"], value="n")
    assert (over.value, over.interval) == (
        infer.ratio(counts, "A", "B", value="n").value,
        infer.ratio(counts, "A", "B", value="n").interval,
    )


def test_one_group_keeps_its_own_margin(counts):
    estimate = infer.total(counts, ["B"], value="n")
    at = counts["ward"].index("B")
    assert estimate.interval == (counts["n_low"][at], counts["n_high"][at])


def test_the_margin_of_a_sum_covers_and_is_not_the_sum_of_margins(size):
    draws = size(small=20_000, full=1_000_000, what="draws of four noises")
    rng = np.random.default_rng(5)
    errors = np.abs(draw(rng, (draws, 4)) @ np.array([1, 1, -1, 1]))
    release = released(TRUTH)
    estimate = infer.total(release, ["A", "B", "D"], less=["C"])
    half = estimate.high - estimate.value
    missed = (errors > half).mean()
    assert at_most(missed, draws)
    assert (errors > half - 2).mean() > 0.05  # hardly shorter would be too short
    alone = infer.total(release, ["A"]).high - 400
    assert half < 4 * alone * 0.7


def released(values):
    """A release of these counts, with noise of the scale above."""
    rows = pa.table(
        {"ward": [w for w, n in zip(WARDS, TRUTH, strict=True) for _ in range(int(n))]}
    )
    visits = dp.protect(rows, keys={"ward": WARDS}, epsilon=10)
    release = visits.sql("SELECT ward, COUNT(*) AS n FROM data GROUP BY ward", epsilon=0.25)
    table = release.answer.table
    place = table.column_names.index("n")
    table = table.set_column(place, "n", pa.array([int(v) for v in values]))
    return replace(release, answer=replace(release.answer, table=table))


@pytest.mark.parametrize(
    ("above", "below"), [([0], [0, 1, 2, 3]), ([1, 3], [0, 1, 2, 3]), ([1], [3])]
)
def test_shares_cover_and_know_what_noise_is_the_same(above, below, size):
    draws = size(small=120, full=20_000, what="simulated releases")
    rng = np.random.default_rng(7)
    truth = TRUTH[above].sum() / TRUTH[below].sum()
    missed, widths, apart = 0, [], []
    for noise in draw(rng, (draws, 4)):
        measured = amounts(TRUTH + noise)
        low, high = ratio_ends(measured, above, below, LEVEL)
        missed += not low <= truth <= high
        widths.append(high - low)
    assert at_most(missed / draws, draws)
    if above == [0]:  # a share of the whole: half of the noise cancels
        for noise in draw(rng, (20, 5)):
            other = GroupAmounts(
                tuple("abcde"),
                np.append(TRUTH, TRUTH[0]) + noise,
                {"n": Fraction(1)},
                {"n": LaplaceNoise(Fraction(SCALE))},
                "COUNT(*)",
                count=True,
            )
            low, high = ratio_ends(other, [4], below, LEVEL)  # as if its noise was another
            apart.append(high - low)
        assert np.mean(widths) < 0.9 * np.mean(apart)


def test_a_share_of_counts_lies_between_nothing_and_all():
    estimate = infer.share(released(np.array([800.0, 1.0, 0.0, 1.0])), ["A"])
    assert estimate.high == 1.0
    none = infer.share(released(np.array([800.0, 0.0, 100.0, 1.0])), ["B"])
    assert none.low == 0.0
    odd = infer.share(released(np.array([900.0, -300.0, 0.0, 0.0])), ["A"])
    assert (odd.value, odd.high) == (1.0, 1.0)  # though 900 over 600 were released


def test_what_cannot_be_added_is_refused(counts):
    with pytest.raises(InvalidParameter, match="is a mean"):
        infer.total(counts, value="m")
    with pytest.raises(InvalidParameter, match="both added and subtracted"):
        infer.total(counts, ["A"], less=["A"], value="n")
    with pytest.raises(InvalidParameter, match="no group 'X'"):
        infer.share(counts, ["X"], value="n")
    with pytest.raises(InvalidParameter, match="above the line"):
        infer.share(counts, [], value="n")
