"""`deniable ledger`: what was charged, and that nobody changed it."""

import json
import os
import re
import shutil
import sqlite3

import pytest

from deniable.ledger.stores import patience
from deniable.policy import load
from tests.ledger.old_formats import OLD, write_old

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def command(run, hospital):
    """Two questions were asked; the release of the first was kept."""
    run("sql", COUNT, "--epsilon", "0.5", "--certificate", "release.json")
    run("sql", COUNT, "--epsilon", "0.25")
    return run


def test_the_log(command):
    status, out, err = command("ledger", "log")
    assert (status, err) == (0, "")
    assert out.count("settled") == 2
    assert "visits" in out
    status, out, _ = command("ledger", "log", "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [entry["epsilon"] for entry in lines] == ["1/2", "1/4"]
    assert [entry["state"] for entry in lines] == ["settled", "settled"]
    status, out, _ = command("ledger", "log", "--json", "--analyst", "nobody")
    assert out == ""


def test_a_sound_ledger(command):
    status, out, err = command("ledger", "verify")
    assert (status, err) == (0, "")
    assert "sound. It has 5 entries" in out


def test_earlier_heads(command, hospital):
    (hospital / "head.json").write_text(command("ledger", "head")[1])
    words = ("--head", "release.json", "--head", "head.json")
    status, out, _ = command("ledger", "verify", *words)
    assert status == 0
    assert "2 earlier head" in out


def test_a_ledger_that_was_changed(command, hospital):
    path = hospital / "deniable.ledger.sqlite"
    with sqlite3.connect(path) as database:
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master")]
        table = next(name for name in tables if "entr" in name)
        changed = database.execute(
            f"UPDATE {table} SET body = replace(body, '1/4', '1/8') WHERE body LIKE '%1/4%'"
        ).rowcount
    database.close()
    assert changed
    status, _, err = command("ledger", "verify")
    assert status == 4
    assert "changed" in err


def lose(hospital):
    (hospital / "deniable.ledger.sqlite").unlink()


def test_looking_does_not_begin_a_ledger(run, hospital):
    """Its first entry fixes the budget, which the owner may still be writing down."""
    assert run("budget")[0] == 0
    for word in ("verify", "log", "head"):
        status, out, err = run("ledger", word)
        assert (status, out) == (4, "")
        assert "no question was asked" in err
    assert not (hospital / "deniable.ledger.sqlite").exists()


def test_a_ledger_that_was_set_back(command, hospital, run):
    (hospital / "head.json").write_text(command("ledger", "head")[1])
    lose(hospital)
    for words in (("sql", COUNT, "--epsilon", "0.5"), ("budget",), ("ledger", "verify")):
        status, _, err = run(*words)  # what was spent is not forgotten by accident
        assert status == 4
        assert "is missing" in err
    assert not (hospital / "deniable.ledger.sqlite").exists()
    assert run("ledger", "begin")[0] == 2  # not without a reason
    assert run("ledger", "begin", "--because", "the disk broke")[0] == 0
    run("sql", COUNT, "--epsilon", "0.5")  # a new one, under the same key
    assert command("ledger", "verify")[0] == 0
    for words in (("--head", "head.json"), ("--head", "release.json")):
        status, _, err = command("ledger", "verify", *words)
        assert status == 4
        assert "earlier head" in err


def test_an_edited_policy_that_gives_more_needs_its_owners_consent(command, hospital):
    policy = hospital / "deniable.toml"
    policy.write_text(
        policy.read_text() + '\n[tables.towns]\nsource = "visits.parquet"\npublic = true'
    )
    for words in (("sql", COUNT, "--epsilon", "0.1"), ("ledger", "amend"), ("budget",)):
        status, _, err = command(*words)
        assert status == 4
        assert 'deniable ledger amend --because "..."' in " ".join(err.split())
    status, out, _ = command("ledger", "amend", "--because", "towns are published")
    assert status == 0
    assert "table towns is public" in out
    assert command("sql", COUNT, "--epsilon", "0.1")[0] == 0
    assert command("ledger", "verify")[0] == 0


def test_a_ledger_without_its_mark_is_accepted_with_a_reason(command, hospital):
    (hospital / "deniable.ledger.key.mark").unlink()
    for words in (("sql", COUNT, "--epsilon", "0.1"), ("ledger", "accept")):
        status, _, err = command(*words)
        assert status == (4 if words[0] == "sql" else 2)
        assert "--because" in err
    status, out, _ = command("ledger", "accept", "--because", "the disk was replaced")
    assert (status, out.startswith("The ledger is accepted.")) == (0, True)
    assert command("sql", COUNT, "--epsilon", "0.1")[0] == 0
    assert command("ledger", "verify")[0] == 0


def test_a_stranger_needs_the_public_key_only(command, hospital):
    key = hospital / "deniable.ledger.key"
    public = f"{key}.pub"
    ledger_id = load(str(hospital / "deniable.toml")).ledger_id
    (hospital / "deniable.toml").unlink()
    key.unlink()
    words = ("ledger", "verify", "--store", "deniable.ledger.sqlite")
    status, out, _ = command(*words, "--key", public)
    assert status == 0
    assert "sound" in out
    assert f"Its id is {ledger_id}" in out
    assert command(*words)[0] == 2
    assert command(*words, "--key", "ab" * 32)[0] == 4


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"certificate": null}'])
def test_what_is_no_head(command, hospital, text):
    (hospital / "bad.json").write_text(text)
    status, _, err = command("ledger", "verify", "--head", "bad.json")
    assert status == 2
    assert err.count("\n") == 1


def test_a_ledger_of_an_older_format_is_migrated(run, hospital):
    begun = json.loads(OLD["entries"][0][1])["begun"]
    write_old(hospital / "old.sqlite", hospital / "old.key")
    (hospital / "old.toml").write_text(
        '[budget]\nepsilon = 100\n[analysts.Ann]\nepsilon = 2\n[analysts."*"]\nepsilon = 1\n'
        '[tables.data]\nsource = "visits.parquet"\n'
        f'[ledger]\nid = "{begun}"\nstore = "old.sqlite"\nkey = "old.key"\n'
    )
    words = ("--policy", "old.toml")
    assert "sound. It has 10 entries" in run("ledger", "verify", *words)[1]
    status, _, err = run("sql", "SELECT COUNT(*) AS n FROM data", "--epsilon", "1", *words)
    assert status == 4
    assert "deniable ledger migrate" in err
    for _ in range(2):
        assert run("ledger", "migrate", *words) == (0, "The ledger has format 3.\n", "")
    assert "sound. It has 12 entries" in run("ledger", "verify", *words)[1]
    assert run("ledger", "migrate", "--polcy", "old.toml")[0] != 0


def test_the_log_of_an_analyst_however_the_name_is_written(run, hospital):
    with (hospital / "deniable.toml").open("a") as policy:
        policy.write("\n[analysts.Ann]\nepsilon = 1\n")
    run("sql", COUNT, "--epsilon", "0.5", "--analyst", "ann ")
    status, out, _ = run("ledger", "log", "--json", "--analyst", "ANN")
    assert (status, len(out.splitlines())) == (0, 1)


def test_a_command_that_waits_for_another_session_says_so(run, hospital, monkeypatch):
    run("sql", COUNT, "--epsilon", "0.5")
    monkeypatch.setattr(patience, "TOLD_AFTER", 0.01)
    monkeypatch.setattr(patience, "LOCK_TIMEOUT", 0.05)
    other = sqlite3.connect(hospital / "deniable.ledger.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    status, out, err = run("sql", COUNT, "--epsilon", "0.25")
    other.close()
    assert (status, out) == (4, "")
    first, second = err.splitlines()
    assert first.startswith("deniable: Another session holds the lock of")
    assert second.startswith("deniable sql: Another session has held the lock")


def everything_in(folder):
    """Every file of a folder: its name, content and time, and the time of the folder."""
    files = {
        file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()
    }
    return files, folder.stat().st_mtime_ns


@pytest.mark.parametrize("writable", [True, False])
def test_looking_at_a_ledger_writes_nothing(command, hospital, monkeypatch, writable):
    for file in hospital.iterdir():
        file.chmod(0o600 if writable else 0o400)
    if not writable:  # root may write anywhere
        hospital.chmod(0o500)
        monkeypatch.setattr(os, "access", lambda path, mode, **_: mode != os.W_OK)
    before = everything_in(hospital)
    for words in (["head"], ["log"], ["verify"]):
        assert command("ledger", *words)[::2] == (0, "")
    assert command("budget")[0] == 0
    assert everything_in(hospital) == before
    hospital.chmod(0o700)


def test_a_stranger_verifies_a_copy_that_cannot_be_written(command, hospital, monkeypatch):
    copy = hospital / "copy"
    copy.mkdir()
    shutil.copy(hospital / "deniable.ledger.sqlite", copy / "ledger.sqlite")
    key = (hospital / "deniable.ledger.key.pub").read_text().strip()
    (copy / "ledger.sqlite").chmod(0o400)
    copy.chmod(0o500)
    monkeypatch.setattr(os, "access", lambda path, mode, **_: mode != os.W_OK)
    before = everything_in(copy)
    status, out, err = command(
        "ledger", "verify", "--store", "copy/ledger.sqlite", "--key", key
    )
    assert (status, err) == (0, "")
    assert "sound. It has 5 entries" in out
    assert re.search(r'id = "(\w+)"', (hospital / "deniable.toml").read_text())[1] in out
    assert everything_in(copy) == before
    copy.chmod(0o700)
