"""A ledger belongs to its policy: only its owner begins another one, and says why."""

import shutil
from pathlib import Path

import pytest

import deniable as dp
from deniable.errors import InvalidParameter, LedgerBroken
from deniable.ledger.beginning import begin_ledger
from tools.postgresql import empty_place

TEXT = '[budget]\nepsilon = 1\n[tables.visits]\nsource = "visits.csv"\n'
COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "visits.csv").write_text("ward\nA\nB\n")
    path = tmp_path / "hospital.toml"
    path.write_text(TEXT)
    return path


def ask(path, epsilon=0.5):
    with dp.open(str(path)) as session:
        session.sql(COUNT, epsilon=epsilon)
        return session.remaining.epsilon


def test_the_first_session_names_the_ledger_in_the_policy(policy):
    ask(policy)
    text = policy.read_text()
    assert text.startswith(TEXT)
    assert text.count("id = ") == 1
    ask(policy)
    assert policy.read_text() == text


def test_a_renamed_policy_does_not_begin_again(policy, tmp_path):
    ask(policy)
    renamed = policy.rename(tmp_path / "clinic.toml")
    with pytest.raises(LedgerBroken, match="is missing"):
        dp.open(str(renamed))
    for one in list(tmp_path.glob("hospital.*")):  # its ledger moves with it
        one.rename(tmp_path / one.name.replace("hospital", "clinic"))
    assert ask(renamed, 0.25) == 0.25


def test_a_copy_elsewhere_does_not_begin_again(policy, tmp_path):
    ask(policy)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    shutil.copy(policy, folder)
    shutil.copy(tmp_path / "visits.csv", folder)
    with pytest.raises(LedgerBroken, match="is missing"):
        dp.open(str(folder / policy.name))


def test_a_link_leads_to_the_same_ledger(policy, tmp_path):
    ask(policy)
    link = tmp_path / "link.toml"
    link.symlink_to(policy)
    assert ask(link, 0.25) == 0.25


@pytest.mark.parametrize("left", ["sqlite", "key", "key.mark"])
def test_without_its_id_a_policy_is_refused_where_a_ledger_was(policy, tmp_path, left):
    ask(policy)
    policy.write_text(TEXT)
    for one in list(tmp_path.glob("hospital.ledger.*")):
        if one.name != f"hospital.ledger.{left}":
            one.unlink()
    with pytest.raises(LedgerBroken, match="no id of a ledger"):
        dp.open(str(policy))
    assert policy.read_text() == TEXT


def test_a_renamed_policy_without_its_id_does_not_begin_again(policy, tmp_path):
    ask(policy)
    policy.unlink()
    for settings in ("", '[ledger]\nstore = "new.sqlite"\nkey = "new.key"\n'):
        renamed = tmp_path / "clinic.toml"
        renamed.write_text(TEXT + settings)
        with pytest.raises(LedgerBroken, match="no policy in this folder names"):
            dp.open(str(renamed))
        assert renamed.read_text() == TEXT + settings
        with pytest.raises(InvalidParameter, match="--because"):
            begin_ledger(renamed)
    begin_ledger(renamed, because="another study")
    assert ask(renamed) == 0.5


def test_two_ledgers_cannot_be_swapped(policy, tmp_path):
    second = tmp_path / "clinic.toml"
    second.write_text(TEXT)
    ask(policy)
    ask(second, 0.1)
    for end in ("sqlite", "key", "key.mark", "key.pub"):
        shutil.copy(tmp_path / f"clinic.ledger.{end}", tmp_path / f"hospital.ledger.{end}")
    with pytest.raises(LedgerBroken, match="The policy names the ledger"):
        dp.open(str(policy))


def test_a_crash_between_mark_and_policy_is_mended(policy, tmp_path):
    with dp.open(str(policy)):
        pass
    named = policy.read_text()
    (tmp_path / "hospital.ledger.sqlite").unlink()
    mark = tmp_path / "hospital.ledger.key.mark"
    floor = mark.read_text()
    mark.write_text(floor.replace('"number": 0', '"number": -1'))
    policy.write_text(TEXT)
    assert ask(policy) == 0.5
    assert policy.read_text() == named


def test_the_owner_begins_another_one_and_says_why(policy, tmp_path):
    ask(policy)
    with pytest.raises(InvalidParameter, match="--because"):
        begin_ledger(policy)
    with pytest.raises(InvalidParameter, match="--because"):
        begin_ledger(policy, because="  ")
    ledger_id = begin_ledger(policy, because="the disk broke")
    assert (tmp_path / "hospital.ledger.1.sqlite").exists()  # the old one stays
    with dp.open(str(policy)) as session:
        assert session.remaining.epsilon == 1
        first = next(iter(session._ledger._journal.read_all()[0])).read()
        assert (first["begun"], first["because"]) == (ledger_id, "the disk broke")
        place = session.sql(COUNT, epsilon=0.5).certificate.statement["ledger"]
        assert (place["id"], place["because"]) == (ledger_id, "the disk broke")


def test_a_policy_that_cannot_be_written_says_what_to_add(policy, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(dp.LedgerUnavailable):
        dp.open(str(policy))


@pytest.mark.needs("postgresql")
def test_a_second_host_does_not_begin_again_after_the_tables_were_dropped(
    policy, tmp_path, postgresql
):
    import psycopg

    place = empty_place(postgresql)
    policy.write_text(f'{TEXT}[ledger]\nstore = "{place}"\n')
    ask(policy)
    second = tmp_path / "host 2"
    second.mkdir()
    for name in ("hospital.toml", "visits.csv", "hospital.ledger.key"):
        shutil.copy(tmp_path / name, second)
    assert ask(second / "hospital.toml", 0.25) == 0.25
    (second / "hospital.ledger.key.mark").unlink()  # a third host, which never asked
    address, _, schema = place.partition("#")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP TABLE {schema}.deniable_entries, {schema}.deniable_anchor")
    for folder in (tmp_path, second):
        with pytest.raises(LedgerBroken, match="is missing"):
            dp.open(str(folder / "hospital.toml"))
