"""`deniable compare`: what it prints, what it refuses before the charge, and its picture."""

import json

import pytest
from typer.testing import CliRunner

from deniable.app.cli import app, main

POLICY = """
[budget]
epsilon = 100

[tables.visits]
source = "visits.csv"
unit = "id"
expected_rows = 3000

[tables.visits.columns]
ward = { keys = ["A", "B", "C"] }
sick = { bounds = [0, 1], step = 1 }
stay = { bounds = [0, 60], step = 1 }
"""
ASK = "SELECT ward, AVG(sick) AS share FROM visits GROUP BY ward"


@pytest.fixture
def policy(tmp_path):
    rows = "".join(
        f"{i},{'ABC'[i % 3]},{int(i % 3 == 0 or i % 4 == 0)},{i % 7 + 20 * (i % 3 == 0)}\n"
        for i in range(3000)
    )
    (tmp_path / "visits.csv").write_text("id,ward,sick,stay\n" + rows)
    path = tmp_path / "deniable.toml"
    path.write_text(POLICY)
    return path


def told(policy, *words):
    result = CliRunner().invoke(app, ["compare", *words, "--policy", str(policy)])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_two_groups(policy, tmp_path):
    picture = tmp_path / "pairs.svg"
    text = told(policy, ASK, "A", "B", "--epsilon", "20", "--picture", str(picture))
    first, target, left, path = text.strip().splitlines()
    assert first.startswith("AVG(sick) of A less that of B: 0.7")
    assert "from sampling" in first
    assert target.startswith("Target: the population")
    assert left == "Left: epsilon 80, delta 0."
    assert path == str(picture)
    assert picture.read_text().count("<path") > 10


def test_all_pairs_and_ratios(policy):
    assert told(policy, ASK, "--epsilon", "20").count(" less that of ") == 3
    assert " over that of " in told(policy, ASK, "A", "B", "--epsilon", "20", "--as", "ratio")
    (comparison,) = json.loads(told(policy, ASK, "A", "B", "--epsilon", "20", "--json"))
    assert comparison["interval"][0] < 0.75 < comparison["interval"][1]
    counts = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    text = told(policy, counts, "A", "B", "--epsilon", "20", "--noise-only")
    assert "Target: these rows" in text


@pytest.mark.parametrize("words", [("A", "B"), (), ("A", "B", "--noise-only")])
def test_medians_are_asked_with_room_for_their_comparison(policy, words):
    """The noise of each group takes a part of the error, which the command leaves."""
    text = "SELECT ward, MEDIAN(stay) AS m FROM visits GROUP BY ward"
    comparisons = json.loads(told(policy, text, *words, "--epsilon", "20", "--json"))
    assert len(comparisons) == (1 if words else 3)
    assert comparisons[0]["what"] == "MEDIAN(stay) of A less that of B"
    assert 15 < comparisons[0]["interval"][0] <= 20 <= comparisons[0]["interval"][1] < 25
    assert comparisons[0]["p_value"] == 0.05


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([ASK, "A", "D"], "There is no group 'D'. The groups are A B C."),
        ([ASK, "A", "B", "--value", "sick"], "no number 'sick' in the answer. It has share,"),
        ([ASK, "A"], "Name two groups after the question"),
        ([ASK, "A", "B", "--as", "quotient"], "--as is difference, ratio or odds-ratio"),
        (["SELECT AVG(sick) AS s FROM visits", "A", "B"], "group the question by a key"),
        (["SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "A", "B"], "of unknown size"),
    ],
)
def test_what_is_refused_costs_nothing(policy, words, message, capsys):
    with pytest.raises(SystemExit):
        main(["compare", *words, "--epsilon", "20", "--policy", str(policy)])
    assert message in capsys.readouterr().err
    assert "Left: epsilon 80" in told(policy, ASK, "A", "B", "--epsilon", "20")
