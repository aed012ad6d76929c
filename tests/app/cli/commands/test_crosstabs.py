import json


def test_tables_with_margins(run, tmp_path):
    words = ("crosstabs", "ward", "--epsilon", "1", "--save", "tables.json")
    status, out, err = run(*words)
    assert (status, err) == (0, "")
    assert "Cost: epsilon 1, delta " in out
    assert "±" in out
    assert "CANARY" not in out
    assert json.loads((tmp_path / "tables.json").read_text())["epsilon"] == "1"


def test_explain_spends_nothing(run):
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


def test_a_price_is_needed(run):
    status, _, err = run("crosstabs", "ward")
    assert status == 2
    assert "--epsilon 1" in err


def test_a_misspelt_option(run):
    status, _, err = run("crosstabs", "ward", "--epsilom", "1")
    assert status == 2
    assert "--epsilon" in err
