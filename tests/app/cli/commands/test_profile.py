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
    assert status == 2
    assert out == ""
    assert "This answer costs epsilon 4" in err
