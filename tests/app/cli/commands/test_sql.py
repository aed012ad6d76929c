"""`deniable sql`: answers near the truth, in words, JSON and CSV; refusals in one line."""

import csv
import io
import json
import math
import os
import subprocess
import sys

import pytest

BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward"
PRIVATE = "SELECT diagnosis, COUNT(DISTINCT patient) AS n FROM visits GROUP BY diagnosis"

# Laplace noise of scale 2 groups * 3 rows / epsilon fails these bounds once in 10^9 runs.
REACH = math.log(2e9) * 6


def test_an_answer_in_words(run):
    status, out, err = run("sql", BY_WARD, "--epsilon", "1")
    lines = out.splitlines()
    assert (status, err) == (0, "")
    assert lines[0].split() == ["ward", "n", "cost"]
    assert [line.split()[0] for line in lines[2:5]] == ["A", "B", "C"]
    assert all(line.count("±") + line.count(" to ") == 2 for line in lines[2:5])
    assert "Cost: epsilon 1, delta 0. Left: epsilon 2" in out


def test_an_answer_in_json(run):
    status, out, err = run("sql", BY_WARD, "--epsilon", "1", "--json")
    told = json.loads(out)
    assert (status, err) == (0, "")
    assert told["cost"] == {"epsilon": "1", "delta": "0"}
    assert "left" not in told  # nobody signs it, and the next question makes it false
    assert told["confidence"] == 0.95
    assert [row["ward"] for row in told["rows"]] == ["A", "B", "C"]
    for row, truth in zip(told["rows"], (1500, 1500, 0), strict=True):
        assert abs(row["n"] - truth) < 3 * REACH  # three integers share the block's noise
        assert row[told["margins"]["n"]] > 0


def test_an_answer_in_csv(run):
    status, out, err = run("sql", BY_WARD, "--epsilon", "1", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert status == 0
    assert [row["ward"] for row in rows] == ["A", "B", "C"]
    assert float(rows[0]["n_margin"]) > 0
    assert "Cost: epsilon 1" in err


def test_private_keys_and_the_rest(run):
    _, out, _ = run("sql", PRIVATE, "--epsilon", "2", "--delta", "1e-7", "--json")
    told = json.loads(out)
    assert [row["diagnosis"] for row in told["rows"]] == ["flu"]  # one patient has the other
    assert told["cost"]["delta"] == "1/10000000"


def test_wishes_reach_the_plan(run):
    _, out, _ = run(
        "sql", BY_WARD, "--epsilon", "0.01", "--confidence", "0.9", "--nonnegative", "--other",
        "--json",
    )  # fmt: skip
    told = json.loads(out)
    assert told["confidence"] == 0.9
    assert len(told["rows"]) == 4
    assert all(row["n"] >= 0 for row in told["rows"])


def test_brackets_can_be_left_out(run):
    median = ("sql", "SELECT MEDIAN(cost) AS m FROM visits", "--epsilon", "1")
    assert " ranks" not in run(*median)[1].partition("Cost")[0]
    assert " ranks\n" in run(*median, "--no-brackets")[1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((BY_WARD,), "epsilon"),
        ((BY_WARD, "--epsilon", "much"), "must be a number"),
        ((BY_WARD, "--epsilon", "-1"), "positive"),
        ((BY_WARD, "--epsilon", "4"), "epsilon 3"),
        ((BY_WARD, "--epsilon", "1", "--json", "--csv"), "one of"),
        ((BY_WARD, "--epsilon", "1", "--policy", "absent.toml"), "deniable init"),
        ((BY_WARD.replace("cost", "cots"), "--epsilon", "1"), "cost"),
        (("SELECT * FROM visits", "--epsilon", "1"), "."),
        (("DROP TABLE visits", "--epsilon", "1"), "."),
        (("", "--epsilon", "1"), "."),
    ],
)
def test_what_cannot_be_answered_gets_one_line(run, words, told):
    status, out, err = run("sql", *words)
    assert (status, out) == (3 if "4" in words else 2, "")
    assert err.count("\n") == 1
    assert err.startswith("deniable sql: ")
    assert told in err


def test_a_column_that_is_gone_is_named_with_the_policys_line(run, hospital):
    policy = hospital / "deniable.toml"
    policy.write_text(policy.read_text().replace("ward =", "wrad ="))
    status, _, err = run("sql", BY_WARD, "--epsilon", "1")
    assert status == 2
    assert "deniable.toml, line 13: Table 'visits' has no column 'wrad'." in err
    assert "Did you mean `ward`?" in err


def test_a_source_that_is_gone_is_named_with_the_policys_line(run, hospital):
    (hospital / "visits.parquet").unlink()
    status, _, err = run("sql", BY_WARD, "--epsilon", "1")
    assert status == 2
    assert "deniable.toml, line 6: Source" in err


def test_the_budget_outlives_the_command(run):
    assert "Left: epsilon 2" in run("sql", BY_WARD, "--epsilon", "1")[1]
    _, again, _ = run("sql", BY_WARD, "--epsilon", "1")
    assert "this is the same answer" in again
    assert "Left: epsilon 2" in again
    assert "Left: epsilon 1" in run("sql", BY_WARD, "--epsilon", "1", "--fresh")[1]
    assert "Left: epsilon 0" in run("sql", BY_WARD, "--epsilon", "1", "--fresh")[1]
    status, _, err = run("sql", BY_WARD, "--epsilon", "1", "--fresh")
    assert status == 3
    assert "Nothing was spent" in err


def test_analysts_have_budgets_of_their_own(run, hospital):
    policy = hospital / "deniable.toml"
    policy.write_text(policy.read_text() + "\n[analysts.anna]\nepsilon = 1\n")
    status, out, _ = run("sql", BY_WARD, "--epsilon", "0.75", "--analyst", "anna")
    assert status == 0
    assert "Left: epsilon 0.25" in out
    for words in ((), ("--analyst", "bob")):
        assert run("sql", BY_WARD, "--epsilon", "0.5", *words)[0] == 2
    status, _, err = run("sql", BY_WARD, "--epsilon", "0.5", "--analyst", "anna")
    assert status == 3
    assert "epsilon 0.25, delta 0 are left to analyst anna" in err  # of both, the tightest


COUNT = "SELECT COUNT(DISTINCT patient) AS n FROM visits"


def test_an_accuracy_in_place_of_a_price(run):
    status, out, err = run("sql", COUNT, "--margin", "20", "--confidence", "0.9")
    assert (status, err) == (0, "")
    assert "Asked for ± 20 at 90 %: epsilon 0.113 is enough, and 1 % less is not." in out
    again = run("sql", f"{COUNT} WITHIN 20 CONFIDENCE 0.9")[1]
    assert "this is the same answer" in again
    assert again.splitlines()[:3] == out.splitlines()[:3]
    status, out, _ = run("explain", COUNT, "--relative", "0.02", "--of", "1000")
    assert (status, "Asked for ± 20 at 95 %" in out) == (0, True)


def test_neither_price_nor_accuracy(run):
    status, out, err = run("sql", COUNT)
    assert (status, out) == (2, "")
    assert "one of --epsilon 0.5, --margin 50" in err


def test_bounds_are_found_on_request(run, hospital):
    policy = hospital / "deniable.toml"
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text.replace("cost = { bounds = [0, 100], step = 0.01 }", ""))
    question = "SELECT SUM(CAST(cost AS DOUBLE)) AS cost FROM visits"
    status, out, _ = run("explain", question, "--epsilon", "2", "--find-bounds")
    assert (status, "20 % finds bounds of cost: epsilon 0.4" in out) == (0, True)
    status, out, _ = run("sql", question, "--epsilon", "2", "--find-bounds")
    assert status == 0
    assert "Finding bounds took 20 % of the budget: epsilon 0.4 of 2." in out
    assert "Left: epsilon 1" in out


def test_a_file_that_cannot_be_written_costs_nothing(run):
    for place in ("absent/release.json", "."):
        status, out, err = run("sql", BY_WARD, "--epsilon", "1", "--certificate", place)
        assert (status, out) == (2, "")
        assert "its folder does not exist" in err
    assert "0 charges so far" in run("budget")[1]


@pytest.mark.parametrize("command", ["sql", "explain"])
@pytest.mark.parametrize("given", [(), ("--epsilon", "1", "--margin", "5")])
def test_a_missing_price_is_told_in_the_words_of_the_command(run, command, given):
    status, out, err = run(command, BY_WARD, *given)
    assert (status, out) == (2, "")
    assert "--epsilon 0.5, --margin 50 and --relative 0.05 --of 10000" in err
    assert ("more than one" if given else "none of them") in err


def test_declared_keys_alone_need_no_price(run):
    text = "SELECT DISTINCT ward FROM visits"
    status, out, err = run("sql", text, "--csv")
    assert (status, out.split()) == (0, ["ward", "A", "B", "C"])
    assert "this costs nothing, and no row was read" in err
    status, out, err = run("explain", text)
    assert (status, err) == (0, "")
    assert "Answer at no cost" in out
    assert "0 charges so far" in run("budget")[1]


def test_other_questions_without_aggregates_need_a_price(run):
    status, out, err = run("sql", "SELECT DISTINCT diagnosis FROM visits")
    assert (status, out) == (2, "")
    assert "--epsilon 0.5, --margin 50 and --relative 0.05 --of 10000" in err


def test_a_question_from_a_file_or_from_standard_input(run, hospital, monkeypatch):
    text = "SELECT COUNT(*) AS n\nFROM visits"
    (hospital / "question.sql").write_text(text, encoding="utf-8")
    status, first, _ = run("sql", "--file", "question.sql", "--epsilon", "1")
    assert status == 0
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    status, again, _ = run("sql", "-", "--epsilon", "1")
    assert status == 0
    assert "charged before" in again
    assert first.splitlines()[2] == again.splitlines()[2]


def test_an_output_without_the_sign_of_a_margin_gets_a_plain_one(hospital):
    code = "from deniable.app.cli import main; main()"
    words = [sys.executable, "-c", code, "sql", "SELECT COUNT(*) AS n FROM visits"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    told = subprocess.run(
        [*words, "--epsilon", "1"], capture_output=True, env=environment, check=True
    )
    assert b" +- 9" in told.stdout
    assert told.stderr == b""
