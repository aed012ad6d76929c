import json


def test_a_first_look(run, tmp_path):
    status, out, err = run("profile", "visits", "--epsilon", "2", "--page", "look.html")
    assert (status, err) == (0, "")
    assert "visits: " in out
    assert "Cost: epsilon 2, delta " in out
    assert "Left: epsilon 1" in out
    assert "CANARY" not in out
    page = (tmp_path / "look.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "CANARY" not in page


def test_one_table_needs_no_name(run):
    status, out, _ = run("profile")
    assert status == 0
    assert "Cost: epsilon 1, delta " in out


def test_too_dear(run):
    status, out, err = run("profile", "--epsilon", "4")
    assert status == 3
    assert out == ""
    assert "This answer costs epsilon 4" in err


def test_limits_print_a_table_and_a_recommendation(run, tmp_path):
    words = ("limits", "visits", "--by", "ward", "--epsilon", "1")
    status, out, err = run(*words, "--page", "limits.html")
    assert (status, err) == (0, "")
    assert "visits: what limits on one patient leave out, by ward (3 groups)" in out
    assert "  max_groups_per_unit = " in out
    assert "Left: epsilon 2" in out
    assert "<svg" in (tmp_path / "limits.html").read_text(encoding="utf-8")
    status, out, _ = run(*words)
    assert "(charged before). Left: epsilon 2" in out


def test_limits_as_json(run):
    status, out, err = run("limits", "--epsilon", "1", "--max-rows", "5", "--json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert [row["limit"] for row in document["rows"]] == [1, 2, 3, 4, 5]


def test_misspelt_options_of_limits(run):
    status, out, err = run("limits", "--bye", "ward")
    assert (status, out) == (2, "")
    assert "Unknown option --bye. Did you mean `--by`?" in err
    status, out, err = run("limits", "--by", "wart")
    assert (status, out) == (2, "")
    assert "Did you mean `ward`?" in err
