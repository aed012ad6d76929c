"""`deniable demo`: facts, by bounds that fail less than once in 10^9 runs."""

import math
import re

import pytest
from typer.testing import CliRunner

from deniable.app.cli import app
from deniable.app.cli.commands import demo
from deniable.engines.duckdb.example_hospital import WARDS


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    picture = tmp_path_factory.mktemp("demo") / "new" / "demo.png"
    words = ["demo", "--picture", str(picture)]
    result = CliRunner().invoke(app, words, env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    return result.output


def test_three_questions_are_paid_from_one_budget(told):
    left = re.findall(r"Cost: epsilon 0.5, .* Left: epsilon (\S+),", told)
    assert left == ["2.5", "2", "1.5"]


def test_every_ward_has_its_numbers_and_margins(told):
    for ward in WARDS:
        assert re.search(rf"^{ward} +[\d,]+ ± [\d,]+ +[\d,.]+ ± [\d,.]+$", told, re.MULTILINE)


def test_rare_diseases_are_hidden(told):
    """A key with 11 patients appears with probability below 1e-8: far below its threshold."""
    assert "flu" in told
    assert "rare disease" not in told
    assert re.search(r"\d+ rare groups of the exact answer are hidden", told)


def test_margins_hold_the_truth_nearly_always(told):
    """27 margins of 95 %: that fewer than 9 hold has a probability far below 1e-9."""
    found = re.findall(r"within (\d+) of (\d+) margins", told)
    assert sum(int(total) for _, total in found) == 27
    assert sum(int(inside) for inside, _ in found) >= 9


def test_the_survey_is_near_the_truth(told):
    """Hoeffding: P(|share - mean| >= t) <= 2 exp(-2 n t**2), and the slope is 1/2."""
    text = " ".join(told.split())
    found = float(re.search(r"by estimate: (\S+) % ±", text)[1]) / 100
    reach = 2 * math.sqrt(math.log(2e9) / (2 * demo.ATHLETES)) + 0.0005  # printed to 0.1 %
    assert abs(found - demo.DOPING / demo.ATHLETES) < reach


def test_it_says_what_was_protected(told):
    text = " ".join(told.split())
    assert "at most 4.49" in text  # e**1.5
    assert "at most 3." in text
    assert "deniable odds 1.5" in text


def test_without_pictures_it_says_how_to_get_them(monkeypatch, tmp_path):
    class Answer:
        def plot(self, column):
            raise ImportError("pip install 'deniable[figures]'")

    assert "pip install" in demo.draw_picture(Answer(), tmp_path / "demo.png")
