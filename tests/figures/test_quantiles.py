import pytest

from deniable.figures import quantiles


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(quantiles, "TRIALS", 2)
    monkeypatch.setattr(quantiles, "COUNTS", (1, 9))


def test_every_method_has_a_line_in_every_panel():
    figure = quantiles.comparison()
    panels = figure.axes
    assert len(panels) == len(quantiles.LAWS) + 1
    for panel in panels[:-1]:
        assert [line.get_label() for line in panel.lines] == list(quantiles.METHODS)
        assert all(len(line.get_xdata()) == 2 for line in panel.lines)
    assert "fixed-target" not in [line.get_label() for line in panels[-1].lines]


def test_errors_are_ranks():
    law = "half zeros"
    assert quantiles.rank_error(law, 9, "replace", "independent", 10**6) < 1
    assert quantiles.rank_error(law, 9, "replace", "independent", 0.001) > 50
