import json
from contextlib import nullcontext

import pyarrow.parquet
import pytest

import deniable as dp
from deniable.app.cli.commands import publish

COLUMNS = ("--columns", "ward,cost")


def test_rows_in_a_file_and_a_scorecard(run, tmp_path):
    status, out, err = run("copy", *COLUMNS, "--epsilon", "2", "--out", "copy.parquet")
    assert (status, err) == (0, "")
    assert "A private copy of visits: " in out
    assert "Cost: epsilon 2, delta 1e-08. Left: epsilon 1" in out
    assert "The worst:" in out
    rows = pyarrow.parquet.read_table(tmp_path / "copy.parquet")
    assert rows.column_names == ["ward", "cost"]
    assert set(rows["ward"].to_pylist()) <= {"A", "B", "C", None}


def test_explain_spends_nothing(run):
    status, out, _ = run("copy", *COLUMNS, "--epsilon", "3", "--explain")
    assert status == 0
    assert "5 % cuts cost at 31 private quantiles" in out
    assert run("copy", *COLUMNS, "--epsilon", "3", "--out", "copy.csv")[0] == 0


def test_what_cannot_be_copied_is_said_before_the_charge(run):
    status, _, err = run("copy", "--epsilon", "1", "--out", "copy.csv")
    assert status == 2
    assert "The cells of diagnosis are not known" in err
    assert "leave it out with --columns" in err


def test_a_file_and_a_price_are_needed(run):
    assert "--epsilon 1" in run("copy", *COLUMNS)[2]
    assert "--out copy.parquet" in run("copy", *COLUMNS, "--epsilon", "1")[2]
    words = ("copy", *COLUMNS, "--epsilon", "1", "--out")
    assert ".parquet or .csv" in run(*words, "copy.xls")[2]
    assert "cannot be written" in run(*words, "none/copy.csv")[2]


def test_a_misspelt_option(run):
    status, _, err = run("copy", "--epsilom", "1")
    assert status == 2
    assert "--epsilon" in err


def test_tables_with_margins(run, tmp_path):
    words = ("crosstabs", "ward", "--epsilon", "1", "--save", "tables.json")
    status, out, err = run(*words)
    assert (status, err) == (0, "")
    assert "Cost: epsilon 1, delta " in out
    assert "±" in out
    assert "CANARY" not in out
    assert json.loads((tmp_path / "tables.json").read_text())["epsilon"] == "1"


def test_explaining_tables_spends_nothing(run):
    status, out, _ = run("crosstabs", "ward", "--epsilon", "1", "--explain")
    assert status == 0
    assert "standard deviation" in out
    assert "Left: epsilon 2" in run("crosstabs", "ward", "--epsilon", "1")[1]


def test_cuts(run):
    status, out, _ = run("crosstabs", "ward,cost", "--cuts", "cost=18,65", "--epsilon", "1")
    assert status == 0
    assert "18 to 65" in out
    words = ("crosstabs", "cost", "--epsilon", "1", "--cuts", "18")
    assert "Write cuts as COLUMN=VALUES" in run(*words)[2]


def test_tables_need_a_price(run):
    status, _, err = run("crosstabs", "ward")
    assert status == 2
    assert "--epsilon 1" in err


def test_a_misspelt_option_of_tables(run):
    status, _, err = run("crosstabs", "ward", "--epsilom", "1")
    assert status == 2
    assert "--epsilon" in err


def test_a_certificate_keeps_its_name_and_is_verified_and_labelled(run, tmp_path):
    words = ("copy", *COLUMNS, "--epsilon", "2", "--out", "copy.csv")
    assert run(*words, "--certificate", "signed.copy")[0] == 0
    assert not (tmp_path / "signed.json").exists()
    key = ("--key", "deniable.ledger.key.pub")
    status, out, _ = run("verify", "signed.copy", *key)
    assert status == 0
    assert "the scorecard follows from the last step" in out
    assert run("verify", "signed.copy")[0] == 1
    status, out, _ = run("label", "signed.copy", "--html", "label.html", *key)
    assert status == 0
    assert "How far the rows are from the table" in out
    assert "A private copy of visits" in (tmp_path / "label.html").read_text("utf-8")


def test_the_steps_of_a_copy_are_its_progress(run, monkeypatch):
    shares = []
    monkeypatch.setattr(publish, "show_progress", lambda doing: nullcontext(shares.append))
    assert run("copy", *COLUMNS, "--epsilon", "2", "--out", "copy.csv")[0] == 0
    assert len(shares) > 3
    assert shares == sorted(shares)


TOWNS = """\
[budget]
epsilon = 9
delta = 1e-6
[tables.towns]
source = "towns.csv"
[tables.towns.columns]
city = { keys = ["Paris", "Lyon"] }
state = { keys = ["IDF", "ARA"] }
sex = { keys = ["f", "m"] }
smokes = { keys = ["yes", "no"] }
"""


def write_towns(folder):
    (folder / "towns.toml").write_text(TOWNS, encoding="utf-8")
    rows = ["Paris,IDF,f,yes", "Lyon,ARA,m,no", "Lyon,ARA,f,no", "Paris,IDF,m,no"]
    text = "\n".join(["city,state,sex,smokes", *rows * 100, ""])
    (folder / "towns.csv").write_text(text, encoding="utf-8")
    (folder / "cities.csv").write_text("state,city\nIDF,Paris\nARA,Lyon\n", encoding="utf-8")
    return ("copy", "--epsilon", "2", "--policy", "towns.toml", "--out", "copy.parquet")


@pytest.mark.parametrize("depends", ["state=city:Paris=IDF,Lyon=ARA", "state=city:cities.csv"])
def test_what_is_known_beforehand(run, tmp_path, depends):
    words = write_towns(tmp_path)
    rules = ("--depends", depends, "--impossible", "sex=m,smokes=yes")
    status, _, err = run(*words, *rules)
    assert (status, err) == (0, "")
    rows = pyarrow.parquet.read_table(tmp_path / "copy.parquet").to_pylist()
    assert len(rows) > 300
    states = {"Paris": "IDF", "Lyon": "ARA", None: None}
    assert all(row["state"] == states[row["city"]] for row in rows)
    assert not any(row["sex"] == "m" and row["smokes"] == "yes" for row in rows)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (("--depends", "state=city"), "Write dependencies as COLUMN=OTHER:VALUES"),
        (("--depends", "state=city:none.csv"), "'none.csv' cannot be read"),
        (("--depends", "sex=city:cities.csv"), "must name city and sex"),
        (("--depends", "state=city:Paris=IDF"), "every value of city needs"),
        (("--impossible", "sex"), "Write a combination as"),
        (("--impossible", "sex=x,smokes=yes"), "sex has no value 'x'"),
    ],
)
def test_faulty_rules_are_refused_before_the_charge(run, tmp_path, rules, message):
    words = write_towns(tmp_path)
    status, _, err = run(*words, *rules)
    assert status == 2
    assert message in err
    with dp.open("towns.toml") as session:
        assert session.remaining.epsilon == 9
