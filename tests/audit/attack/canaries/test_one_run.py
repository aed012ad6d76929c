"""The audit in one run: it catches broken mechanisms, and rarely accuses right ones."""

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dp
from deniable.audit.attack import one_run

CELLS = 1000
SURE = 1 - 1e-9  # a right mechanism fails a test at this confidence once in 1e9 runs


def histogram(noise):
    return lambda included: noise.release(np.bincount(included, minlength=CELLS))


def responses(epsilon):
    coins = dp.RandomizedResponse(epsilon=epsilon)

    def respond(included):
        answers = np.zeros(CELLS, dtype=bool)
        answers[included] = True
        return coins.randomize(answers)

    return respond


GAUSSIAN = dp.Gaussian.calibrated(epsilon=1, delta=1e-5)
RIGHT = {
    "Laplace": (histogram(dp.Laplace(epsilon=1)), dp.PureLoss(1), {}),
    "randomized response": (responses(1), dp.PureLoss(1), {}),
    "Gaussian": (histogram(GAUSSIAN), dp.ApproximateLoss(1, 1e-5), {"guesses": 200}),
    "several guesses": (
        histogram(dp.Laplace(epsilon=1)),
        dp.PureLoss(1),
        {"guesses": [1000, 900, 700, 500, 300, 100]},
    ),
    "tuned": (histogram(dp.Laplace(epsilon=1)), dp.PureLoss(1), {"tune": True}),
}


def audit(mechanism, claim, **options):
    return one_run(mechanism, range(CELLS), score=lambda noisy: noisy, claim=claim, **options)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_mechanism_is_rarely_accused(name, size):
    runs = size(small=60, full=1000, what=f"audits in one run of {name}")
    mechanism, claim, options = RIGHT[name]
    above = sum(audit(mechanism, claim, **options).violated for _ in range(runs))
    # At full size: 80 of 1,000. At any size a failure must mean a bug.
    assert above <= max(binom.isf(1e-9, runs, 0.05) if runs < 1000 else 80, 1)


def test_a_histogram_with_half_the_noise_is_caught():
    finding = audit(histogram(dp.Laplace(epsilon=2)), dp.PureLoss(1), confidence=SURE)
    assert finding.violated
    assert finding.at_least < 2
    assert finding.power > 3


def test_residuals_that_are_not_clipped_are_caught():
    """A step of a regression: sums of residuals by cell, with noise for targets up to 10."""
    noise = dp.Gaussian.calibrated(epsilon=1, delta=1e-6, sensitivity=10)
    claim = dp.ApproximateLoss(1, 1e-6)

    def step(most):
        def release(included):
            sums = np.zeros(CELLS, dtype=np.int64)
            sums[included] = min(105, most)  # the targets of the canaries are 105
            return noise.release(sums)

        return release

    assert audit(step(most=1000), claim, guesses=400).violated
    assert not audit(step(most=10), claim, guesses=400, confidence=SURE).violated


def test_several_thresholds_divide_the_error():
    exact = histogram(dp.Laplace(epsilon=50))
    single = audit(exact, None, guesses=100)
    several = audit(exact, None, guesses=[100, 90, 80, 70])
    assert (single.guesses, several.guesses) == (100, 100)
    assert several.power < single.power
    assert several.at_least == several.power


def test_tuning_judges_the_other_half():
    finding = audit(histogram(dp.Laplace(epsilon=50)), None, tune=True)
    assert finding.canaries == CELLS // 2
    assert 1.5 < finding.at_least <= finding.power


def test_tuning_does_not_see_the_coins_that_are_judged():
    """A release that reveals the coins of the tuned half alone shows nothing."""

    def release(included):
        scores = np.zeros(CELLS)
        scores[included] = 1
        scores[1::2] = 0
        return scores

    assert audit(release, None, tune=True, confidence=SURE).at_least == 0


def test_guesses_of_one_side():
    """Presence shows, absence does not: half of the canaries that are in are revealed."""

    def release(included):
        scores = np.zeros(CELLS)
        scores[included[::2]] = 1
        return scores

    assert audit(release, None, guesses=200, sides="in").at_least > 4
    assert audit(release, None, guesses=1000).at_least < 2


def test_a_single_number_is_refused_with_the_other_form():
    with pytest.raises(dp.InvalidParameter, match="two_sample"):
        one_run(len, range(4), score=lambda count: [count] * 4)


def test_wrong_arguments_are_refused():
    with pytest.raises(dp.InvalidParameter, match="one number for each"):
        one_run(len, range(100), score=lambda count: [count])
    with pytest.raises(dp.InvalidParameter, match="sides"):
        one_run(len, range(100), score=lambda count: [count] * 100, sides="out")


def test_what_was_released_is_not_in_the_finding():
    finding = one_run(lambda included: "SECRET", range(10), score=lambda _: np.zeros(10))
    assert "SECRET" not in str(finding) + repr(finding) + repr(vars(finding))


def test_the_finding_says_at_least_and_what_it_could_show():
    text = str(audit(histogram(dp.Laplace(epsilon=1)), dp.PureLoss(1)))
    assert "at least" in text
    assert "can show" in text
    assert "A low figure proves nothing" in text
    assert "at most 1." not in text
