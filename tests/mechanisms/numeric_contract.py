"""The contract of designs for numbers: every report enumerated on small grids."""

from collections import Counter
from fractions import Fraction
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.privacy import PureLoss
from tests.mechanisms.contract import THRESHOLD, fit

PEOPLE = 200_000


def law(design, answer):
    """The probability of every report. Where the answer lies on the grid is found once."""
    (place,) = design._places(answer)
    chances = [design._probability(report, int(place)) for report in range(design.outputs)]
    some = {*range(0, design.outputs, 97), design.outputs - 1}
    assert all(design.pmf(report, answer) == chances[report] for report in some)
    return chances


class NumericContract:
    design: ClassVar[Any]
    power: ClassVar[Fraction] = Fraction(33, 10)

    @pytest.mark.parametrize("odds", [Fraction(3, 2), 3, 9])
    @pytest.mark.parametrize("steps", [1, 2, 3])
    def test_every_report_keeps_the_odds_and_some_attains_them(self, steps, odds):
        design = self.design(odds=odds, low=5, high=5 + steps)
        answers, reports = range(5, 6 + steps), range(design.outputs)
        laws = [law(design, x) for x in answers]
        assert all(sum(law) == 1 for law in laws)
        possible = [y for y in reports if laws[0][y]]
        assert all((law[y] > 0) == (y in possible) for law in laws for y in reports)
        worst = max(a[y] / b[y] for a, b in permutations(laws, 2) for y in possible)
        assert design.loss == PureLoss(odds=worst)

    def test_the_sampler_follows_pmf_and_nothing_near_it(self):
        design = self.design(odds=3, low=0, high=3)
        near = self.design(odds=self.power, low=0, high=3)
        for answer in (0, 3):
            counts = Counter(design.randomize(np.full(PEOPLE, answer)).tolist())
            assert fit(counts, design, answer) > THRESHOLD
            if near.outputs == design.outputs:
                assert fit(counts, near, answer) < THRESHOLD

    def test_answers_are_clipped_and_rounded(self):
        design = self.design(odds=3, low=0, high=4, step=2)
        for answer, same in ((-100, 0), (100, 4), (0.9, 0), (1, 2), (3.5, 4), (1e300, 4)):
            some = {*range(0, design.outputs, 97), design.outputs - 1}
            assert [design.pmf(y, answer) for y in some] == [design.pmf(y, same) for y in some]

    def test_batches_add_up_to_the_whole(self):
        design = self.design(odds=3, low=0, high=9)
        reports = design.randomize(np.arange(100) % 10)
        parts = [design.aggregate(some) for some in np.split(reports, 4)]
        assert sum(parts) == design.aggregate(reports)

    def test_bad_data_and_parameters_are_refused(self):
        design = self.design(odds=3, low=0, high=9)
        for bad in ([], [float("nan")], ["5"], None):
            with pytest.raises(InvalidData) as caught:
                design.randomize(bad)
            assert "5" not in str(caught.value)
        for bad in ([], [-1], [design.outputs], [0.5]):
            with pytest.raises(InvalidData):
                design.aggregate(bad)
        for wrong in (
            {"low": 3, "high": 3},
            {"low": 0, "high": 1, "step": 0.3},
            {"low": 0, "high": 10, "step": 1e-9},
            {"low": 0, "high": 1, "step": 0},
        ):
            with pytest.raises(InvalidParameter):
                self.design(odds=3, **wrong)
        assert design.pmf(design.outputs, 3) == 0


class MeanContract(NumericContract):
    def test_a_report_is_unbiased_and_has_the_stated_variance(self):
        design = self.design(odds=5, low=0, high=3)
        for answer in range(4):
            chances = np.array(law(design, answer), dtype=float)
            read = design.readings()
            mean = float(chances @ read)
            assert mean == pytest.approx(answer, abs=1e-9)
            assert float(chances @ (read - mean) ** 2) == pytest.approx(
                design.variance(answer, respondents=1), rel=1e-9
            )

    def test_means_of_200_000_people_are_recovered_with_the_stated_error(self):
        design = self.design(epsilon=1.5, low=0, high=50)
        answers = (np.arange(PEOPLE) * 7919 % 97) % 51
        reports = design.randomize(answers)
        whole = design.estimate(reports, confidence=1 - 1e-10)
        assert whole.interval[0] < answers.mean() < whole.interval[1]
        assert whole.raw == pytest.approx(design.readings()[reports].mean())
        errors = (design.readings()[reports] - answers).reshape(10_000, 20).mean(axis=1)
        each = np.array([design.variance(x, respondents=20) for x in range(51)])
        # The standard deviation of the ratio is 1.4 %.
        assert np.square(errors).mean() == pytest.approx(each[answers].mean(), rel=0.1)

    def test_intervals_cover(self):
        design = self.design(epsilon=2, low=-10, high=10)
        answers = np.full((500, 300), 3)
        intervals = [
            design.estimate(y).interval for y in design.randomize(answers).reshape(500, 300)
        ]
        covered = sum(low <= 3 <= high for low, high in intervals)
        assert covered >= 445  # 475 expected, standard deviation 5
