"""The contract that every mechanism inherits."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.stats import chisquare

from deniable.audit import check
from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import rational

THRESHOLD = 1e-9


class Claims:
    """One mechanism's output under another one's loss: how a broken mechanism is built."""

    def __init__(self, broken: Any, claim: Any) -> None:
        self.broken, self.loss = broken, claim.loss

    def pmf_bounds(self, output: Any, value: Any, bits: int = 256) -> tuple[int, int]:
        return self.broken.pmf_bounds(output, value, bits)


def fit(counts: Counter[Any], mechanism: Any, value: Any) -> float:
    """The chi-square p-value of drawn outputs against `pmf`; rare outputs share one cell."""
    n = counts.total()
    expected = {output: n * float(mechanism.pmf(output, value)) for output in counts}
    cells = [output for output in counts if expected[output] >= 10]
    observed = [counts[output] for output in cells]
    wanted = [expected[output] for output in cells]
    rest = n - sum(wanted)
    if rest >= 1:
        observed.append(n - sum(observed))
        wanted.append(rest)
    else:
        wanted = [mass * sum(observed) / sum(wanted) for mass in wanted]
    return float(chisquare(observed, wanted).pvalue)


class MechanismContract:
    """Subclasses give the data; these tests do the work."""

    mechanism: ClassVar[Any]
    neighbors: ClassVar[tuple[tuple[Any, ...], ...]]
    outputs: ClassVar[Any]
    must_be_told_apart: ClassVar[Any]  # power: 10 % off, same sample, rejected
    half_noise: ClassVar[Any]
    draws: ClassVar[int] = 200_000

    def draw(self, mechanism: Any, value: Any) -> Counter[Any]:
        return Counter(mechanism.release(np.full(self.draws, value)).tolist())

    def test_no_output_gives_a_neighbour_away(self):
        verdict = check(self.mechanism, self.neighbors, self.outputs)
        assert verdict.private, verdict.event
        assert verdict.missing < 1e-6

    def test_half_the_noise_is_caught(self):
        broken = Claims(self.half_noise, self.mechanism)
        assert check(broken, self.neighbors, self.outputs).violated

    def test_the_sampler_follows_pmf_and_nothing_near_it(self):
        value = self.neighbors[0][0]
        counts = self.draw(self.mechanism, value)
        assert fit(counts, self.mechanism, value) > THRESHOLD
        assert fit(counts, self.must_be_told_apart, value) < THRESHOLD

    def test_it_is_a_value(self):
        again = replace(self.mechanism)
        assert again == self.mechanism
        assert hash(again) == hash(self.mechanism)
        assert self.mechanism not in (self.must_be_told_apart, self.half_noise)


class AdditiveContract(MechanismContract):
    """For noise on a grid of step 1, with integer neighbours."""

    @pytest.mark.parametrize("confidence", [0.1, 0.5, 0.9, 0.95, 0.999])
    def test_margin_is_honest_and_least(self, confidence):
        margin = self.mechanism.margin(confidence)
        assert self.within(0, margin)[0] >= rational(confidence)
        assert margin == 0 or self.within(0, margin - 1)[1] < rational(confidence)

    @pytest.mark.parametrize("confidence", [0.1, 0.5, 0.9, 0.95, 0.999])
    def test_margin_of_a_real_covers_wherever_it_lies_and_is_least(self, confidence):
        margin = self.mechanism.margin(confidence, real=True)
        places = [-0.5, -0.49, -0.25, 0.0, 0.125, 0.49, 0.4999999]
        assert min(self.within(x, margin)[0] for x in places) >= rational(confidence)
        assert min(self.within(x, margin - 0.001)[1] for x in places) < rational(confidence)

    @pytest.mark.parametrize(
        ("step", "values"), [(Fraction(5), [5, 7, 7.5]), (Fraction(1, 4), [1, 0.125, 0.3])]
    )
    @pytest.mark.parametrize("said", [{}, {"real": False}, {"real": True}])
    def test_on_other_grids_margins_cover_what_must_be_rounded(self, step, values, said):
        mechanism = replace(self.mechanism, step=step)
        margin = rational(mechanism.margin(0.9, **said))
        if said == {"real": False}:  # then floats are not meant
            values = [number for number in values if isinstance(number, int)]
        for value in values:
            low = math.ceil((rational(value) - margin) / step)
            high = math.floor((rational(value) + margin) / step)
            grid = [float(k * step) for k in range(low, high + 1)]
            inside = sum(mechanism.pmf_bounds(output, value)[0] for output in grid)
            assert Fraction(inside, 2**256) >= Fraction(9, 10)

    def within(self, value: float, margin: float) -> tuple[Fraction, Fraction]:
        """Bounds on P(|released - value| <= margin)."""
        low, high = int(np.ceil(value - margin)), int(np.floor(value + margin))
        bounds = [self.mechanism.pmf_bounds(z, value) for z in range(low, high + 1)]
        return Fraction(sum(lo for lo, _ in bounds), 2**256), Fraction(
            sum(hi for _, hi in bounds), 2**256
        )

    def test_margin_of_several_at_once(self):
        margin = self.mechanism.margin(0.9, values=2, jointly=True)
        apart = self.mechanism.margin(0.9, values=2)

        def both(m: int) -> float:
            law = self.mechanism.noise(2)
            return (1 - law.outside(m, 128)[1] / 2**128) ** 2

        assert margin >= apart
        assert both(margin) >= 0.9 > both(margin - 1)

    def test_the_same_shape_comes_back(self):
        release = self.mechanism.release
        assert type(release(3)) is int
        assert type(release(np.int64(3))) is int
        assert type(release(2.5)) is int
        listed = release([[1, 2], [3, 4]])
        assert [len(row) for row in listed] == [2, 2]
        assert {type(value) for row in listed for value in row} == {int}
        array = release(np.zeros((2, 3, 4), dtype=np.int32))
        assert array.shape == (2, 3, 4)
        assert array.dtype == np.int64
        assert release(np.array(7)).shape == ()
        assert release(np.zeros(5, dtype=np.float32)).shape == (5,)

    def test_noise_is_fresh_for_every_value(self):
        assert len(set(self.mechanism.release([0] * 1000))) > 1

    def test_pmf_is_a_distribution_and_joint_for_lists(self):
        pmf = self.mechanism.pmf
        assert sum(pmf(z, 0) for z in self.outputs) == pytest.approx(1, abs=1e-6)
        assert pmf(0.5, 0) == 0
        law = self.mechanism.noise(2)
        first, second = (law.pmf(z, 128)[0] / 2**128 for z in (1, -2))
        assert pmf([1, 3], [0, 5]) == pytest.approx(first * second, rel=1e-12)

    @pytest.mark.parametrize(
        "bad",
        [
            [],
            np.array([]),
            "7",
            None,
            True,
            [1, "2"],
            [1, None],
            [[1, 2], [3]],
            {"a": 1},
            float("nan"),
            [1.0, float("inf")],
            [1, float("nan")],
            np.array([np.nan, 1]),
            np.array([1 + 2j]),
            np.array([True, False]),
            np.ma.masked_array([7, 8], mask=[False, True]),
            np.array(["2026-11-15"], dtype="M8[D]"),
        ],
        ids=str,
    )
    def test_bad_data_is_refused_without_being_quoted(self, bad):
        with pytest.raises(InvalidData) as caught:
            self.mechanism.release(bad)
        assert "1" not in str(caught.value)

    @pytest.mark.parametrize("name", ["sensitivity", "step"])
    @pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "1", None, True])
    def test_bad_parameters_are_refused_by_name(self, name, bad):
        with pytest.raises(InvalidParameter, match=name):
            replace(self.mechanism, **{name: bad})

    @pytest.mark.parametrize("bad", [0, 1, -1, 2, "x", float("nan")])
    def test_a_margin_needs_a_confidence(self, bad):
        with pytest.raises(InvalidParameter, match="confidence"):
            self.mechanism.margin(bad)

    def test_large_numbers_do_not_wrap_around(self):
        big = 2**63 - 1
        out = self.mechanism.release([big, -big, 2**80])
        assert [abs(a - b) < 10**6 for a, b in zip(out, [big, -big, 2**80], strict=True)] == [
            True
        ] * 3
        array = self.mechanism.release(np.array([big, -big] * 20))
        assert all(
            abs(int(a) - b) < 10**6 for a, b in zip(array, [big, -big] * 20, strict=True)
        )
        assert (
            abs(self.mechanism.release(np.array([2**64 - 1], dtype=np.uint64))[0] - 2**64) < 1e6
        )
