"""`deniable verify`: what holds is listed, what does not is told in one line."""

import json

import pytest

from deniable.release.certificate.certificate import document_text

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def release(run, hospital):
    run("sql", COUNT, "--epsilon", "0.5", "--certificate", "release.json")
    return json.loads((hospital / "release.json").read_text())


def test_a_release_that_holds(run, release):
    """Without --key: all holds, but who signed is not known, and the status says so."""
    status, out, err = run("verify", "release.json")
    assert (status, err) == (1, "")
    assert out.count("✓") == 11
    assert "Signed, but by whom is unknown" in out
    assert release["certificate"]["signature"]["key"] in out


@pytest.mark.parametrize("given", ["file", "digits"])
def test_with_the_owners_key(run, release, given):
    key = "deniable.ledger.key.pub"
    if given == "digits":
        key = release["certificate"]["signature"]["key"]
    status, out, _ = run("verify", "release.json", "--key", key)
    assert status == 0
    assert "the key given" in out
    assert "unknown" not in out


def test_with_another_key(run, release):
    status, out, err = run("verify", "release.json", "--key", "ab" * 32)
    assert (status, out) == (2, "")
    assert "another key" in err


def test_a_release_that_was_changed(run, release, hospital):
    release["rows"][0]["n"] += 1
    (hospital / "bad.json").write_text(document_text(release))
    status, out, err = run("verify", "bad.json")
    assert (status, out) == (2, "")
    assert "rows" in err


def test_the_json_of_sql_is_a_release(run, hospital):
    _, out, _ = run("sql", COUNT, "--epsilon", "0.5", "--json")
    (hospital / "answer.json").write_text(out)
    assert run("verify", "answer.json", "--key", "deniable.ledger.key.pub")[0] == 0


def test_a_file_that_is_not_there(run):
    status, _, err = run("verify", "absent.json")
    assert status == 2
    assert "cannot be read" in err
