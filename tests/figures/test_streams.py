"""The pictures of streams show their numbers."""

import numpy as np

from deniable.figures import streams


def test_bands_are_value_and_margin():
    year = streams.clinic_year()
    upper, lower = streams.watched(year, streams.clinic_truth()).axes
    assert upper.lines[0].get_ydata().tolist() == list(year.values)
    assert lower.lines[0].get_ydata().tolist() == list(year.totals)
    corners = upper.collections[0].get_paths()[0].vertices[:, 1]
    assert min(np.subtract(year.values, year.margins)) in corners
    assert max(np.add(year.values, year.margins)) in corners


def test_the_band_of_the_clinic_covers_most_weeks():
    year, truth = streams.clinic_year(), streams.clinic_truth()
    inside = np.abs(np.subtract(year.values, truth)) <= year.margins
    assert inside.mean() > 0.85
    inside = np.abs(np.subtract(year.totals, np.cumsum(truth))) <= year.total_margins
    assert inside.mean() > 0.85


def test_regret_is_drawn_with_both_bounds():
    axes = streams.regret((0.9, 0.3), horizon=3000, epsilon=1, runs=2).axes[0]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "episodes, private" in labels
    assert any(label.startswith("proven for elimination: at most") for label in labels)
    least = axes.lines[4].get_ydata()
    assert least[-1] > 0
