"""Shares, areas and gaps from noisy histograms: right without noise, and covered with it."""

from math import sqrt

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.learn.evaluation.ratio_intervals import NoiseLaw
from deniable.learn.evaluation.score_histogram import ScoreHistogram, equal_edges, read_counts

BINS = 20


def make_counts(chance, rows=4_000):
    """Two groups, two classes, scores that tell them apart."""
    shares = np.zeros((2, 2, BINS))
    middle = (np.arange(BINS) + 0.5) / BINS
    for group, tilt in enumerate((3.0, 2.0)):
        shares[group, 0] = 3 * np.exp(-tilt * middle)
        shares[group, 1] = np.exp(tilt * (middle - 1)) * (1 + group)
    return chance.multinomial(rows, (shares / shares.sum()).ravel()).reshape(shares.shape)


def histogram(counts, law):
    return ScoreHistogram(counts, law, equal_edges(BINS), groups=("a", "b"))


def test_without_noise_shares_are_those_of_the_rows():
    chance = np.random.default_rng(1)
    counts = make_counts(chance).astype(float)
    evaluation = histogram(counts, NoiseLaw(1e-9))
    scores = np.repeat(np.tile(np.arange(BINS), 4), counts.ravel().astype(int))
    classes = np.repeat(np.repeat([0, 1, 0, 1], BINS), counts.ravel().astype(int))
    chosen = scores >= 10
    assert evaluation.accuracy().value == pytest.approx((chosen == classes).mean())
    assert evaluation.rate("precision").value == pytest.approx(classes[chosen].mean())
    assert evaluation.rate("true_positive").value == pytest.approx(chosen[classes == 1].mean())
    ones, zeros = scores[classes == 1], scores[classes == 0]
    above = (ones[:, None] > zeros).mean() + (ones[:, None] == zeros).mean() / 2
    assert evaluation.auc().value == pytest.approx(above)
    assert evaluation.lift().value == pytest.approx(classes[chosen].mean() / classes.mean())
    confusion = {name: reading.value for name, reading in evaluation.confusion().items()}
    assert confusion[1, 0] == pytest.approx(((classes == 1) & ~chosen).sum())
    assert sum(confusion.values()) == pytest.approx(len(scores))


def test_the_roc_curve_rises_from_corner_to_corner():
    scores = histogram(make_counts(np.random.default_rng(2)).astype(float), NoiseLaw(1e-9))
    points = [(false.value, true.value) for false, true in scores.roc()]
    assert points[0] == (0.0, 0.0)
    assert points[-1] == (1.0, 1.0)
    assert points == sorted(points)
    area = np.trapezoid([y for _, y in points], [x for x, _ in points])
    assert area == pytest.approx(scores.auc().value)


MEASURES = {
    "accuracy": lambda scores: scores.accuracy(),
    "precision": lambda scores: scores.rate("precision", threshold=0.8),
    "auc": lambda scores: scores.auc(),
    "group auc": lambda scores: scores.auc("b"),
    "gap": lambda scores: scores.gap("true_positive", "a", "b"),
    "largest gap": lambda scores: scores.gap("selected", "b", "a"),
    "lift": lambda scores: scores.lift(),
    "calibration": lambda scores: scores.calibration(5)[3][2],
    "calibration error": lambda scores: scores.calibration_error(5),
    "roc": lambda scores: scores.roc()[7][1],
    "confusion": lambda scores: scores.confusion()[1, 0],
}


@pytest.mark.parametrize(
    ("kind", "deviation"), [("gaussian", 2.0), ("gaussian", 30.0), ("laplace", 10.0)]
)
def test_intervals_cover_what_the_exact_table_gives(size, kind, deviation):
    draws = size(small=200, full=5_000, what=f"noisy histograms, {kind} {deviation}")
    chance = np.random.default_rng(7)
    counts = make_counts(chance)
    exact = {name: ask(histogram(counts, NoiseLaw(1e-12))) for name, ask in MEASURES.items()}
    covered = dict.fromkeys(MEASURES, 0)
    for _ in range(draws):
        if kind == "gaussian":
            noise = chance.normal(scale=deviation, size=counts.shape)
        else:
            noise = chance.laplace(scale=deviation / sqrt(2), size=counts.shape)
        scores = histogram(counts + noise, NoiseLaw(deviation, kind))
        for name, ask in MEASURES.items():
            reading = ask(scores)
            covered[name] += reading.low <= exact[name].value <= reading.high
    least = 0.95 - 4 * sqrt(0.95 * 0.05 / draws)
    print({name: hits / draws for name, hits in covered.items()}, "at least", round(least, 4))
    assert {name for name, hits in covered.items() if hits / draws < least} == set()


def test_half_the_noise_would_not_cover():
    chance, hits = np.random.default_rng(3), 0
    counts = make_counts(chance)
    exact = histogram(counts, NoiseLaw(1e-12)).auc().value
    for _ in range(300):
        noisy = counts + chance.normal(scale=10, size=counts.shape)
        reading = histogram(noisy, NoiseLaw(5.0)).auc()
        hits += reading.low <= exact <= reading.high
    assert hits / 300 < 0.85


def test_intervals_about_people_cover_the_population(size):
    draws = size(small=200, full=5_000, what="samples of rows, with noise")
    chance, hits = np.random.default_rng(11), {"accuracy": 0, "auc": 0}
    whole = make_counts(chance, 10**7)
    exact = histogram(whole, NoiseLaw(1e-12))
    law = NoiseLaw(2.0, rows_per_unit=1)
    for _ in range(draws):
        rows = chance.multinomial(2_000, whole.ravel() / whole.sum()).reshape(whole.shape)
        scores = histogram(rows + chance.normal(scale=2, size=rows.shape), law)
        for name in hits:
            reading, right = getattr(scores, name)(), getattr(exact, name)().value
            hits[name] += reading.low <= right <= reading.high
    least = 0.95 - 4 * sqrt(0.95 * 0.05 / draws)
    assert min(hits.values()) / draws >= least


def test_the_largest_gap_is_named():
    scores = histogram(make_counts(np.random.default_rng(4)).astype(float), NoiseLaw(1.0))
    first, second, gap = scores.largest_gap("positive")
    assert (first, second) == ("b", "a")
    assert gap.value == pytest.approx(scores.gap("positive", "b", "a").value)
    assert gap.low <= gap.value <= gap.high


def test_empty_and_negative_tables_give_an_answer():
    for counts in (np.zeros((2, 2, BINS)), np.full((2, 2, BINS), -3.0)):
        scores = histogram(counts, NoiseLaw(5.0))
        for ask in MEASURES.values():
            reading = ask(scores)
            assert np.isfinite([reading.value, reading.low]).all()
            assert reading.low <= reading.value <= reading.high


def test_bad_names_are_refused():
    scores = histogram(np.ones((2, 2, BINS)), NoiseLaw(1.0))
    with pytest.raises(InvalidParameter, match="Unknown group"):
        scores.auc("c")
    with pytest.raises(InvalidParameter, match="Unknown share"):
        scores.rate("fairness")
    with pytest.raises(InvalidParameter, match="shape"):
        ScoreHistogram(np.ones((1, 2, 3)), NoiseLaw(1.0), equal_edges(4))
    with pytest.raises(InvalidParameter, match="two or more groups"):
        ScoreHistogram(np.ones((1, 2, 4)), NoiseLaw(1.0), equal_edges(4)).largest_gap(
            "selected"
        )
    assert read_counts(range(8), 2, 2).tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
