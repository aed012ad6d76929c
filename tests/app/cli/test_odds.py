"""`deniable odds`: the figures of the issue, rounded up and never down."""

import pytest
from typer.testing import CliRunner

from deniable.app.cli import app


def told(*words):
    result = CliRunner().invoke(app, ["odds", *words], env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_what_one_point_one_means():
    text = told("1.1")
    assert "by at most 3.01" in text  # e**1.1 = 3.00417
    assert "10 % 25.1 %" in text  # 25.026
    assert "1 % 3.0 %" in text  # 2.945
    assert "50 % 75.1 %" in text  # 75.026
    assert "right at most 75.1 %" in text
    assert "100 in 1,000 to at most 251 in 1,000" in text


def test_two_coins_are_exact():
    text = told("--odds", "3")
    assert "by at most 3, so" in text
    assert "10 % 25.0 %" in text
    assert "50 % 75.0 %" in text


def test_a_delta_is_explained():
    assert "tells all" in told("1", "--delta", "1e-6")
    assert "tells all" not in told("1")


def test_a_delta_raises_the_accuracy():
    assert "right at most 73.2 %" in told("1")  # 73.106
    assert "right at most 86.6 %" in told("1", "--delta", "0.5")  # 1/2 + 73.106 / 2 = 86.553


@pytest.mark.parametrize(
    ("epsilon", "ceiling"), [("0", "10.0 %"), ("1e-9", "10.1 %"), ("1000", "100.0 %")]
)
def test_extremes(epsilon, ceiling):
    assert f"10 % {ceiling}" in told(epsilon)
