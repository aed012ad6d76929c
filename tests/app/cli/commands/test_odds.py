"""`deniable odds`: figures worked out by hand, rounded up and never down."""

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
    assert "reveals everything" in told("1", "--delta", "1e-6")
    assert "reveals everything" not in told("1")


def test_a_delta_raises_the_accuracy():
    assert "right at most 73.2 %" in told("1")  # 73.106
    assert "right at most 86.6 %" in told("1", "--delta", "0.5")  # 1/2 + 73.106 / 2 = 86.553


@pytest.mark.parametrize(
    ("epsilon", "ceiling"), [("0", "10.0 %"), ("1e-9", "10.1 %"), ("1000", "100.0 %")]
)
def test_extremes(epsilon, ceiling):
    assert f"10 % {ceiling}" in told(epsilon)


def test_the_roc_bound():
    text = told("--odds", "3")
    assert "5 % 15.0 %" in text
    assert "10 % 30.0 %" in text
    assert "1 % 3.0 %" in text.rpartition("false alarms")[2]


def test_a_household():
    text = told("--odds", "3", "--group", "2")
    assert "any 2 people together by at most 9, so" in text
    assert "10 % 50.0 %" in text
    assert "probability 0.03" in told("--odds", "2", "--delta", "0.01", "--group", "2")


def test_a_guess_of_ones_own():
    assert "25 % 50.0 %" in told("--odds", "3", "--guess", "0.25")


def test_gaussian_and_concentrated_losses():
    text = told("--mu", "1", "--delta", "1e-6")
    assert "by at most 132.50" in text  # e**4.88655
    assert "5 % 26.0 %" in text  # P(N > 1.6449 - 1) = 0.2595
    assert "right at most 69.2 %" in text  # P(N < 1/2) = 0.69146
    assert "rho 0.1" in told("--rho", "0.1", "--delta", "1e-6")


@pytest.mark.parametrize(
    "words", [("--mu", "1"), ("--rho", "1"), ("1", "--mu", "1"), ("1", "--group", "0")]
)
def test_what_cannot_be_read_is_refused(words):
    result = CliRunner().invoke(app, ["odds", *words])
    assert result.exit_code != 0
