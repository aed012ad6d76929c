"""`deniable kernel`: what one unit moves, derived again from the SQL alone."""

BY_WARD = "SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward"


def test_a_plan_is_saved_and_checked_before_anything_is_spent(run, hospital):
    before = {path.name for path in hospital.iterdir()}
    status, out, _ = run("explain", BY_WARD, "--epsilon", "0.5", "--save-plan", "plan.json")
    assert status == 0
    assert "SELECT" not in out
    assert {path.name for path in hospital.iterdir()} == before | {"plan.json"}
    status, out, err = run("kernel", "plan.json")
    assert (status, err) == (0, "")
    assert "✓ sum of cost: L1 60,000" in out
    assert "one patient moves these numbers by at most 60,000" in out


def test_a_release_is_checked_too(run):
    run("sql", BY_WARD, "--epsilon", "0.5", "--certificate", "release.json")
    assert "L1 60,000" in run("kernel", "release.json")[1]


def test_a_plan_that_moves_more_than_it_declares_is_refused(run, hospital):
    run("explain", BY_WARD, "--epsilon", "0.5", "--save-plan", "plan.json")
    file = hospital / "plan.json"
    file.write_text(file.read_text().replace("place <= 2", "place <= 9"))
    status, out, err = run("kernel", "plan.json")
    assert (status, out) == (2, "")
    assert "the plan declares" in err


def test_what_is_no_plan_is_told_in_one_line(run, hospital):
    (hospital / "other.json").write_text("{}")
    status, _, err = run("kernel", "other.json")
    assert status == 2
    assert "no release, certificate or plan" in err
