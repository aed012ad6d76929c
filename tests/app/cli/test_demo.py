"""`deniable demo`: facts, by bounds that fail less than once in 10^9 runs."""

import math
import re

import pytest
from typer.testing import CliRunner

from deniable.app.cli import app
from deniable.app.cli.demo import DOPING, INJURED, TRIATHLETES


@pytest.fixture(scope="module")
def told():
    result = CliRunner().invoke(app, ["demo"], env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_the_estimate_is_near_the_truth(told):
    """Hoeffding: P(|share - mean| >= t) <= 2 exp(-2 n t**2), and the slope is 1/2."""
    found = float(re.search(r"by estimate (\S+) %", told)[1]) / 100
    reach = 2 * math.sqrt(math.log(2e9) / (2 * TRIATHLETES)) + 0.0005  # printed to 0.1 %
    assert abs(found - DOPING / TRIATHLETES) < reach
    assert f"in truth (made up) {DOPING / TRIATHLETES:.1%}".replace("%", " %") in told


def test_the_estimate_has_its_margin(told):
    value, margin, low, high = map(
        float,
        re.search(r"estimate (\S+) % ± (\S+) % \(95 %: (\S+) % to (\S+) %\)", told)
        .groups(),
    )  # fmt: skip
    assert low < value < high
    assert margin == pytest.approx(max(value - low, high - value), abs=0.151)  # three roundings
    assert 1.5 < margin < 2.2


@pytest.mark.parametrize(("epsilon", "margin"), [("0.1", 30), ("1", 3)])
def test_counts_are_near_the_truth_and_have_their_margins(told, epsilon, margin):
    """P(|noise| > m) < 2 exp(-epsilon m)."""
    published = re.search(rf"\s{re.escape(epsilon)} (\S+) ± {margin}\b", told)[1]
    error = abs(int(published.replace(",", "")) - INJURED)
    assert error <= math.log(2e9) / float(epsilon)


def test_it_says_what_was_protected(told):
    assert re.search(r"Each answer: .* by at most 3\. ", told)
    assert re.search(r"Each injury: .* by at most 3\.01\. ", told)
    assert "deniable odds 1.1" in told
