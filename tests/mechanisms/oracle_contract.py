"""The contract of frequency oracles: small domains enumerated, large ones recovered."""

from collections import Counter
from fractions import Fraction
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.privacy import PureLoss
from tests.mechanisms.contract import THRESHOLD, Claims, fit
from tests.mechanisms.enumeration import check

PEOPLE = 200_000
GROUPS = 100


class OracleContract:
    design: ClassVar[Any]  # the class

    @pytest.mark.parametrize("odds", [Fraction(3, 2), 3, 9])
    @pytest.mark.parametrize("k", [2, 3, 4])
    def test_every_report_keeps_the_odds_and_some_attains_them(self, k, odds):
        design = self.design(odds=odds, categories=k)
        laws = [{r: design.pmf(r, x) for r in design.reports()} for x in range(k)]
        assert all(sum(law.values()) == 1 for law in laws)
        assert all(chance > 0 for law in laws for chance in law.values())
        worst = max(a[r] / b[r] for a, b in permutations(laws, 2) for r in a)
        assert design.loss == PureLoss(odds=worst)

    @pytest.mark.parametrize("odds", [Fraction(3, 2), 3, 9])
    @pytest.mark.parametrize("k", [2, 3, 4])
    def test_support_is_as_likely_as_stated(self, k, odds):
        design = self.design(odds=odds, categories=k)
        for truth in range(k):
            support = [Fraction(0)] * k
            for report in design.reports():
                speaks_for = design.aggregate(np.array([report]))
                for v in range(k):
                    support[v] += design.pmf(report, truth) * speaks_for[v]
            assert support == [design.p if v == truth else design.q for v in range(k)]

    def test_supports_are_what_is_counted(self):
        design = self.design(odds=3, categories=11)
        reports = design.randomize(np.arange(2000) % 11)
        supports = design.supports(reports)
        assert supports.shape == (2000, 11)
        assert tuple(supports.sum(axis=0).tolist()) == design.aggregate(reports).counts
        with pytest.raises(InvalidData):
            design.supports(reports[:, :0])

    def test_half_the_noise_is_caught(self):
        claimed = self.design(odds=3, categories=3)
        # A design of odds 3.1, over the reports that both designs have.
        broken = self.design(odds=Fraction(31, 10), categories=3)
        assert set(broken.reports()) == set(claimed.reports())
        assert check(Claims(broken, claimed), [range(3)], claimed.reports()).violated

    def test_the_sampler_follows_pmf_and_nothing_near_it(self):
        design = self.design(odds=3, categories=4)
        near = self.design(odds=Fraction(33, 10), categories=4)
        for answer in (0, 3):
            rows = design.randomize(np.full(PEOPLE, answer))
            counts = Counter(map(tuple, rows.tolist()))
            assert set(counts) <= set(design.reports())
            assert fit(counts, design, answer) > THRESHOLD
            assert fit(counts, near, answer) < THRESHOLD

    def test_shares_are_recovered_with_the_stated_error(self):
        k = 50
        design = self.design(epsilon=1, categories=k)
        truth = np.minimum(np.arange(PEOPLE) * 7919 % 97, k - 1)
        shares = np.bincount(truth, minlength=k) / PEOPLE
        per_group = PEOPLE // GROUPS
        tallies = [design.poll(some) for some in truth.reshape(GROUPS, per_group)]
        squares, theory = [], []
        for some, tally in zip(truth.reshape(GROUPS, per_group), tallies, strict=True):
            actual = np.bincount(some, minlength=k) / per_group
            raw = np.array(design.estimate(counts=tally).raw)
            squares.append((raw - actual) ** 2)
            theory.append(
                [
                    design.variance(x, respondents=per_group, population=False)
                    for x in actual.tolist()
                ]
            )
        # 5,000 cells: one standard deviation of the ratio is about 2 %.
        assert np.mean(squares) == pytest.approx(np.mean(theory), rel=0.1)
        whole = design.estimate(counts=sum(tallies), confidence=1 - 1e-10)
        assert whole.shares[0].respondents == PEOPLE
        for estimate, actual in zip(whole, shares, strict=True):
            assert estimate.interval[0] <= actual <= estimate.interval[1]

    def test_batches_add_up_to_the_whole(self):
        design = self.design(odds=3, categories=5)
        reports = design.randomize([0, 1, 2, 3, 4] * 20)
        parts = [design.aggregate(some) for some in np.split(reports, 4)]
        assert sum(parts) == design.aggregate(reports)
        assert sum(parts).respondents == 100

    def test_designs_do_not_mix(self):
        design, other = self.design(odds=3, categories=5), self.design(odds=4, categories=5)
        tally = design.poll([1, 2])
        with pytest.raises(InvalidParameter, match="one design"):
            tally + other.poll([1])
        with pytest.raises(InvalidParameter, match="tally"):
            other.estimate(counts=tally)
        with pytest.raises(InvalidParameter, match="tally"):
            design.estimate(counts=(1, 1, 0, 0, 0))

    def test_epsilon_is_never_exceeded(self):
        for epsilon in (0.1, 1, 3):
            loss = self.design(epsilon=epsilon, categories=7).loss
            assert loss.fits(PureLoss(epsilon))
            assert loss.epsilon() == pytest.approx(epsilon, rel=1e-12)

    def test_it_is_a_value(self):
        assert self.design(odds=3, categories=4) == self.design(odds=3.0, categories=4)
        assert hash(self.design(odds=3, categories=4)) == hash(
            self.design(odds=3, categories=4)
        )
        assert self.design(odds=3, categories=4) != self.design(odds=3, categories=5)

    @pytest.mark.parametrize("bad", [[], None, "yes", [0.5], [5], [-5], [[1], [1, 0]]], ids=str)
    def test_bad_answers_are_refused_without_being_quoted(self, bad):
        with pytest.raises(InvalidData) as caught:
            self.design(odds=3, categories=4).randomize(bad)
        assert "5" not in str(caught.value)

    @pytest.mark.parametrize(
        "bad", [np.zeros((0, 2)), np.zeros(3), np.full((2, 9), 1), np.zeros((2, 1), dtype="U1")]
    )
    def test_bad_reports_are_refused(self, bad):
        with pytest.raises(InvalidData, match=r"[Rr]eports"):
            self.design(odds=3, categories=4).aggregate(bad)

    def test_bad_designs_are_refused(self):
        for wrong in ({"odds": 1}, {"epsilon": 0}, {}, {"odds": 3, "epsilon": 1}):
            with pytest.raises(InvalidParameter):
                self.design(categories=4, **wrong)
        for wrong_k in (1, 0, 2.5, 1 << 40):
            with pytest.raises(InvalidParameter, match="categories"):
                self.design(odds=3, categories=wrong_k)
