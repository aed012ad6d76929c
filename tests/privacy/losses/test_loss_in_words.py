"""Every figure is computed again with 50 digits, and never below the truth."""

import re
from fractions import Fraction

import pytest
from mpmath import mp

from deniable.errors import InvalidParameter
from deniable.privacy import ApproximateLoss, ConcentratedLoss, GaussianLoss, PureLoss
from deniable.privacy.losses.loss_in_words import (
    GUESSES,
    PRECISE_END,
    PRIVATE_END,
    STOPS,
    chance_up,
    explain_loss,
    find_stop,
    of_100_up,
)

EPSILONS = ["0.01", "0.0953", "0.5", "1", "1.0986", "2", "4.7", "30"]
MILLIONTH = Fraction(1, 10**6)


def exact(number):
    return mp.mpf(number.numerator) / number.denominator


@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_beliefs_are_rounded_up(epsilon, guess):
    with mp.workdps(50):
        odds = mp.exp(mp.mpf(epsilon)) * exact(guess)
        truth = 100 * odds / (odds + 1 - exact(guess))
        shown = of_100_up(PureLoss(Fraction(epsilon)), guess)
        assert truth <= shown < truth + 1 + mp.mpf(10) ** -40


@pytest.mark.parametrize("delta", [Fraction(0), MILLIONTH, Fraction(3, 100)])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_every_figure_of_the_sentences_is_an_upper_bound(epsilon, delta):
    words = explain_loss(ApproximateLoss(Fraction(epsilon), delta), unit="patient")
    with mp.workdps(50):
        odds = mp.exp(mp.mpf(epsilon))
        # With chance delta all is told; otherwise the odds at even guesses decide.
        right = exact(delta) + (1 - exact(delta)) * odds / (1 + odds)
        assert 100 * right <= words.right < 100 * right + 1 + mp.mpf(10) ** -12
        for before, after in words.guesses:
            share = mp.mpf(before) / 100
            truth = 100 * odds * share / (1 - share + odds * share)
            assert truth <= after < truth + 1 + mp.mpf(10) ** -40
        assert odds <= mp.mpf(words.odds.replace(",", ""))
        if delta:
            [one_in] = re.findall(r"1 in ([\d,]+)", words.exception)
            assert exact(delta) <= 1 / mp.mpf(one_in.replace(",", ""))


def test_the_figures_of_gaussian_noise_are_upper_bounds():
    words = explain_loss(GaussianLoss(1), unit=None, delta=MILLIONTH)
    with mp.workdps(50):
        right = mp.ncdf(mp.mpf(1) / 2)  # the best test of N(0, 1) against N(1, 1)
        assert 100 * right <= words.right < 100 * right + 1
        # The least epsilon at this delta: Phi(1/2 - epsilon) - e^epsilon Phi(-1/2 - epsilon).
        half = mp.mpf(1) / 2
        epsilon = mp.findroot(
            lambda x: mp.ncdf(half - x) - mp.exp(x) * mp.ncdf(-half - x) - exact(MILLIONTH),
            mp.mpf(5),
        )
        assert mp.exp(epsilon) <= mp.mpf(words.odds) < mp.exp(epsilon) * mp.mpf("1.001")


@pytest.mark.parametrize("stop", STOPS)
def test_a_stop_never_exceeds_its_odds(stop):
    with mp.workdps(50):
        epsilon = exact(stop.epsilon)
        assert epsilon <= mp.log(exact(stop.odds)) < epsilon + mp.mpf("1e-4")
    assert find_stop(stop.odds) is stop
    words = explain_loss(PureLoss(stop.epsilon), unit="patient")
    assert words.stop is stop
    assert stop.label in words.place
    assert stop.meaning in words.place


def test_the_scale_has_the_five_stops_and_words_for_both_ends():
    odds = [Fraction(text) for text in ("1.1", "1.5", "3", "10", "100")]
    assert [stop.odds for stop in STOPS] == odds
    assert "private" in PRIVATE_END
    assert "precise" in PRECISE_END
    assert "private" in STOPS[0].label
    assert "precise" in STOPS[-1].label


def every_explanation():
    losses = [
        *(PureLoss(Fraction(epsilon)) for epsilon in EPSILONS),
        ApproximateLoss(1, MILLIONTH),
        GaussianLoss(1),
        ConcentratedLoss(Fraction(1, 2)),
    ]
    for loss in losses:
        for delta in (None, MILLIONTH):
            for unit in (None, "patient"):
                yield explain_loss(loss, unit=unit, delta=delta)
                yield explain_loss(loss, unit=unit, delta=delta, whole="all answers together")
                yield explain_loss(loss, unit=unit, delta=delta, whole="all reports together")


def test_unit_and_whole_are_named_and_nothing_is_called_safe():
    for words in every_explanation():
        text = " ".join(words.sentences)
        rows = "" if words.local else ", with all of its rows"
        phrase = f"one patient{rows}" if words.unit else "one row"
        assert phrase in text
        assert words.whole in text
        assert ("The owner of the data sees the true rows" in text) != words.local
        assert ("No one but the person sees" in text) == words.local
        assert not re.search("safe|secure|anonym|proves nothing|harmless|delta|epsilon", text)
        assert "more likely to be identified" not in text
        assert len(words.guesses) <= 3
        assert f"at most {words.right}" in words.picture
        assert "50" in words.picture


def test_delta_is_told_in_words_and_never_as_zero():
    tiny = explain_loss(ApproximateLoss(1, Fraction(1, 10**12)), unit="patient")
    assert "1 in 1,000,000,000,000" in " ".join(tiny.sentences)
    assert "1 in 1,000,000,000,000" in tiny.short
    assert chance_up(Fraction(7, 10)) == "1 in 1"
    assert "This holds for every answer." in explain_loss(PureLoss(1), unit=None).sentences


def test_a_loss_without_a_limit_on_the_odds_says_so():
    words = explain_loss(GaussianLoss(1), unit="patient")
    assert words.odds is None
    assert "There is no limit on the odds." in words.sentences
    assert not any("holds for every answer" in sentence for sentence in words.sentences)
    assert words.guesses == ((1, 100), (10, 100), (50, 100))
    assert "beyond the last stop" in words.place


def test_a_delta_below_that_of_the_loss_is_refused():
    with pytest.raises(InvalidParameter, match="at least that of the loss"):
        explain_loss(ApproximateLoss(1, MILLIONTH), unit=None, delta=0)


def syllables(word):
    vowels = re.findall("[aeiouy]+", word.lower())
    silent = word.lower().endswith("e") and not word.lower().endswith("le")
    return max(1, len(vowels) - (silent and len(vowels) > 1))


def reading_grade(text):
    """Flesch and Kincaid's grade of a text: years of school."""
    sentences = [part for part in re.split(r"[.:;!?]+(?:\s|$)", text) if part.strip()]
    words = re.findall(r"[A-Za-z]+|\d[\d,.]*", text)
    return (
        0.39 * len(words) / len(sentences)
        + 11.8 * sum(map(syllables, words)) / len(words)
        - 15.59
    )


def test_the_measure_of_reading_tells_plain_from_hard():
    plain = "The dog ran home. It was wet. The sun came out."
    hard = (
        "Differential privacy guarantees indistinguishability of neighbouring databases "
        "notwithstanding arbitrary auxiliary information available to adversaries."
    )
    assert reading_grade(plain) < 3
    assert reading_grade(hard) > 16


def test_the_sentences_read_at_grade_eight_at_most():
    for words in every_explanation():
        assert reading_grade(" ".join(words.sentences)) <= 8
        assert reading_grade(words.short) <= 8
        for sentence in words.sentences:
            assert reading_grade(sentence) <= 10
