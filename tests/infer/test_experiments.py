from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from tests.infer import naive
from tests.infer.simulated import few_errors, laplace, released_shares, wrong_differences


def protect(bought=(1, 0, 0, 0), arms=("a", "b"), **options):
    rows = {"id": list(range(4000)), "arm": ["a", "b"] * 2000, "bought": list(bought) * 1000}
    return dp.protect(
        pa.table(rows),
        name="shop",
        unit="id",
        bounds={"bought": (0, 1)},
        keys={"arm": list(arms)},
        epsilon=2,
        **options,
    )


def test_one_look_reports_each_arm_less_the_control():
    trial = protect().experiment("shop", arm="arm", outcome="bought", epsilon=1)
    report = trial.run()
    assert report.decided
    assert report.arms == ("b",)
    assert report.effects[0].low < -0.5 < report.effects[0].high
    other = protect().experiment("shop", arm="arm", outcome="bought", epsilon=1, control="b")
    assert other.run().effects[0].low < 0.5 < other.run().effects[0].high


def test_the_target_is_named_and_a_fraction_makes_no_error_smaller():
    """Which arm a unit is in was chance, also if everybody was asked."""
    trials = [
        protect(bought=(1, 1, 0, 0), sample=sample).experiment(
            "shop", arm="arm", outcome="bought", epsilon=1
        )
        for sample in (None, {"fraction": 1})
    ]
    first, second = (trial.run().effects[0] for trial in trials)
    assert second.high - second.low == pytest.approx(first.high - first.low, rel=0.1)
    assert "of which the ids are independent draws" in first.target
    assert first.target.endswith("of each id its mean outcome counts, once")
    by_arm = {"by": "arm", "fraction": {"a": 0.5, "b": 0.1}}
    report = protect(sample=by_arm).experiment("shop", arm="arm", outcome="bought", epsilon=1)
    assert "in strata of arm; values are cut" in str(report.run()).splitlines()[-1]


def test_all_looks_are_one_charge():
    shop = protect(bought=(1, 1, 0, 0))
    trial = shop.experiment("shop", arm="arm", outcome="bought", epsilon=1, looks=4)
    with trial.reserve() as looks:
        assert str(shop.remaining) == "epsilon 1, delta 0"
        reports = [looks.next() for _ in range(4)]
        with pytest.raises(dp.UsedUp, match="All 4 looks"):
            looks.next()
    assert str(shop.remaining) == "epsilon 1, delta 0"
    assert not any(report.decided for report in reports)
    assert {report.effects[0].confidence for report in reports} == {1 - 0.05 / 4}
    assert len({report.release.answer.table["n"].to_pylist()[0] for report in reports}) > 1


def test_several_looks_need_a_reservation():
    shop = protect()
    trial = shop.experiment("shop", arm="arm", outcome="bought", epsilon=1, looks=2)
    with pytest.raises(InvalidParameter, match="has 2 looks"):
        trial.run()
    assert str(shop.remaining) == "epsilon 2, delta 0"


@pytest.mark.parametrize(
    ("options", "wanted", "message"),
    [
        ({"arms": ("a",)}, {}, "Declare two or more keys of arm"),
        ({}, {"control": "c"}, "no group 'c'"),
    ],
)
def test_what_cannot_be_reported_is_not_charged(options, wanted, message):
    shop = protect(**options)
    trial = shop.experiment("shop", arm="arm", outcome="bought", epsilon=1, **wanted)
    with pytest.raises(InvalidParameter, match=message):
        trial.run()
    with pytest.raises(InvalidParameter, match=message), trial.reserve():
        pass
    assert str(shop.remaining) == "epsilon 2, delta 0"


def test_planned_power_is_what_simulations_find():
    trial = protect().experiment("shop", arm="arm", outcome="bought", epsilon=0.1)
    planned = trial.power(baseline=0.3, effect=0.12, units=400)
    rng = np.random.default_rng(6)
    low, high = (
        released_shares(rng, units=400, share=share, epsilon=0.1, releases=400)
        for share in (0.3, 0.42)
    )
    power = wrong_differences(low, high, Fraction(19, 20)).mean()
    assert abs(power - planned.private) < 0.12
    assert planned.private < planned.plain - 0.15


LOOKS = [  # units of each arm at each look, epsilon of a look, share
    ((10, 10), 5, 0.3),
    ((100, 100), 0.2, 0.3),
    ((10, 100), 1, 0.05),
    ((10_000, 1_000), 0.1, 0.002),
    ((10_000, 10_000), 5, 0.3),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("units", "epsilon", "share"), LOOKS)
def test_many_looks_at_nothing_seldom_decide(units, epsilon, share, size, figure):
    """Five looks at a growing table, each with a fifth of the error."""
    trials = size(small=200, full=10_000, what="simulated experiments")
    rng = np.random.default_rng(9)
    empty = released_shares(rng, units=1, share=share, epsilon=epsilon, releases=trials)
    arms = np.array(units)[:, None]
    having = rng.binomial(arms, share, (5, 2, trials)).cumsum(0)
    decided, plain = np.zeros((2, trials), dtype=bool)
    for look in range(5):
        above = (having[look] + laplace(rng, epsilon, (2, trials))).astype(float)
        others = arms * (look + 1) - having[look] + laplace(rng, epsilon, (2, trials))
        seen = [replace(empty, above=above[i], below=above[i] + others[i]) for i in (0, 1)]
        decided |= wrong_differences(*seen, Fraction(99, 100))
        plain |= naive.shares_differ(seen)
    assert few_errors(figure, decided, plain)


def test_more_units_are_needed_with_noise():
    trial = protect().experiment("shop", arm="arm", outcome="bought", epsilon=0.05)
    needed = trial.units_needed(baseline=0.1, effect=0.05)
    assert needed.private > needed.plain > 600
    assert trial.power(baseline=0.1, effect=0.05, units=int(needed.private)).private >= 0.8
    assert str(needed).endswith(f"(without noise {needed.plain:,.4g})")
    with pytest.raises(InvalidParameter, match="must be shares"):
        trial.power(baseline=0.99, effect=0.05, units=10)
    with pytest.raises(InvalidParameter, match="`looks` must be a whole number"):
        protect().experiment("shop", arm="arm", outcome="bought", epsilon=1, looks=0)


def spending(epsilon=2):
    """4,000 units who spend 0 to 200: 20 more in b, with a deviation of 25."""
    rng = np.random.default_rng(2)
    spent = np.clip(rng.normal([60, 80], 25, (2000, 2)).ravel(), 0, 200)
    rows = {"id": list(range(4000)), "arm": ["a", "b"] * 2000, "spent": spent}
    return dp.protect(
        pa.table(rows),
        name="shop",
        unit="id",
        bounds={"spent": (0, 200)},
        step={"spent": 1},
        keys={"arm": ["a", "b"]},
        epsilon=epsilon,
    )


def test_how_much_means_vary_is_measured():
    trial = spending().experiment("shop", arm="arm", outcome="spent", epsilon=1)
    (effect,) = trial.run().effects
    assert effect.what == "AVG(spent) of b less that of a"
    assert effect.low < 20 < effect.high
    assert effect.high - effect.low < 6  # by the public range alone: 17
    assert not effect.notes


def test_the_power_for_means():
    trial = spending(100).experiment("shop", arm="arm", outcome="spent", epsilon=0.2)
    planned = trial.power(baseline=60, effect=3, units=2000, deviation=25)
    assert planned.plain == pytest.approx(0.967, abs=0.002)
    assert planned.private < planned.plain
    needed = trial.units_needed(baseline=60, effect=3, deviation=25)
    assert 1080 < needed.plain < 1100 < needed.private
    many = spending(100).experiment("shop", arm="arm", outcome="spent", epsilon=12, looks=60)
    with many.reserve() as looks:
        effects = [looks.next().effects[0].value for _ in range(60)]
    noise = trial._errors(60, 20, 25)[1] / 2000**2
    assert np.std(effects) == pytest.approx(noise**0.5, rel=0.35)
    for deviation in (None, 0, 101):
        with pytest.raises(InvalidParameter, match="`deviation`: how much outcomes"):
            trial.power(baseline=60, effect=3, units=2000, deviation=deviation)


def test_the_power_knows_how_many_arms_are_declared():
    told = {"baseline": 0.3, "effect": 0.12, "units": 400}
    two, three = (
        protect(arms=arms).experiment("shop", arm="arm", outcome="bought", epsilon=0.5)
        for arms in ("ab", "abc")
    )
    assert three.power(**told).private < two.power(**told).private
    effects = three.run().effects
    assert [effect.confidence for effect in effects] == [0.975, 0.975]


def test_a_unit_in_two_arms_is_left_out_by_its_own_rows():
    """Units 0 to 999 are in a, 1000 to 1999 in b, 2000 to 2999 in both, 3000 without an arm."""
    people = [*range(3000), *range(2000, 3000), 3000]
    arms = ["a"] * 1000 + ["b"] * 1000 + ["a"] * 1000 + ["b"] * 1000 + [None]
    rows = pa.table({"id": people, "arm": arms, "bought": [1] * 1000 + [0] * 1000 + [1] * 2001})
    for limits in ({}, {"max_groups_per_unit": 2, "max_rows_per_unit_per_group": 3}):
        shop = dp.protect(
            rows,
            name="shop",
            unit="id",
            bounds={"bought": (0, 1)},
            keys={"arm": ["a", "b"]},
            epsilon=50,
            **limits,
        )
        trial = shop.experiment("shop", arm="arm", outcome="bought", epsilon=20)
        counted = trial.run().release.answer.table["n"].to_pylist()
        assert counted == pytest.approx([1000, 1000], abs=5)


def test_of_each_unit_the_mean_outcome_counts_once():
    people = [*range(1000), *[0] * 500]
    rows = pa.table({"id": people, "arm": ["a", "b"] * 500 + ["a"] * 500, "bought": [1] * 1500})
    shop = dp.protect(
        rows,
        name="shop",
        unit="id",
        bounds={"bought": (0, 1)},
        keys={"arm": ["a", "b"]},
        max_rows_per_unit_per_group=600,
        epsilon=50,
    )
    release = shop.experiment("shop", arm="arm", outcome="bought", epsilon=20).run().release
    assert release.answer.table["n"].to_pylist() == pytest.approx([500, 500], abs=5)
    assert release.plan.max_rows_per_unit_per_group == 1
