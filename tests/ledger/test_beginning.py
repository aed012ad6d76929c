"""A ledger belongs to its policy: only its owner begins another one, and says why."""

import shutil
from pathlib import Path

import pytest

import deniable as dp
from deniable.errors import InvalidParameter, LedgerBroken
from deniable.ledger.beginning import accept_ledger, begin_ledger, load_with_ledger
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
    for file in list(tmp_path.glob("hospital.*")):  # its ledger moves with it
        file.rename(tmp_path / file.name.replace("hospital", "clinic"))
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
    for file in list(tmp_path.glob("hospital.ledger.*")):
        if file.name != f"hospital.ledger.{left}":
            file.unlink()
    with pytest.raises(LedgerBroken, match="no id of a ledger"):
        dp.open(str(policy))
    assert policy.read_text() == TEXT


def test_a_ledger_with_a_name_of_its_own_is_found_too(policy, tmp_path):
    settings = '[ledger]\nstore = "own.sqlite"\n'
    policy.write_text(TEXT + settings)
    ask(policy)
    policy.write_text(TEXT + settings)
    (tmp_path / "own.key.mark").unlink()
    (tmp_path / "own.key").unlink()
    with pytest.raises(LedgerBroken, match=r"own.sqlite' exists"):
        dp.open(str(policy))


def test_an_id_that_its_mark_does_not_know_begins_nothing(policy):
    load_with_ledger(policy)
    policy.write_text(f'{TEXT}[ledger]\nid = "{"7" * 32}"\n')
    with pytest.raises(LedgerBroken, match="is missing"):
        dp.open(str(policy))


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
    begin_ledger(second, because="a second study")
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


def origin(path):
    with dp.open(str(path)) as session:
        return session.ledger.origin, session.remaining.epsilon


def test_a_ledger_in_memory_is_no_way_around_an_id(policy):
    ask(policy, 1)
    named = policy.read_text()
    for text in (
        named.replace("[ledger]", '[ledger]\nstore = "memory"'),
        f'{TEXT}[ledger]\nstore = "memory"\n',  # without its id
    ):
        policy.write_text(text)
        with pytest.raises(LedgerBroken, match=r"`store` is memory|no id of a ledger"):
            dp.open(str(policy))
    policy.write_text(named)
    with dp.open(str(policy)) as session:
        assert session.remaining.epsilon == 0


def copy_as_text(policy, copy):
    copy.write_text(f"# {policy.read_text().splitlines()[-1]}\n{TEXT}")  # the id in a comment


def link_hard(policy, copy):
    copy.hardlink_to(policy)


@pytest.mark.parametrize("make", [copy_as_text, link_hard])
@pytest.mark.parametrize("settings", ["", '[ledger]\nstore = "new.sqlite"\n'])
def test_a_second_policy_about_the_same_rows_needs_a_reason(policy, tmp_path, make, settings):
    copy = tmp_path / "copy.toml"
    if make is link_hard:
        make(policy, copy)
    ask(policy, 1)
    if make is copy_as_text:
        make(policy, copy)
        copy.write_text(copy.read_text() + settings)
    before = copy.read_text()
    with pytest.raises(LedgerBroken, match=r"hospital.toml.* policy about the same rows"):
        dp.open(str(copy))
    assert copy.read_text() == before
    with pytest.raises(InvalidParameter, match="--because"):
        begin_ledger(copy)
    ledger_id = begin_ledger(copy, because="a second study")
    assert origin(copy) == ((ledger_id, "a second study"), 1)
    assert origin(policy)[1] == 0


def test_an_id_in_a_comment_names_no_ledger(policy, tmp_path):
    ask(policy, 1)
    clinic = tmp_path / "clinic.toml"
    copy_as_text(policy, clinic)
    clinic.write_text(clinic.read_text().replace("visits.csv", "others.csv"))
    policy.unlink()
    with pytest.raises(LedgerBroken, match="no policy in this folder names"):
        dp.open(str(clinic))


@pytest.mark.parametrize("turn", [1, -1], ids=["its own table", "a neighbour's table"])
def test_several_policies_about_different_rows_share_a_folder(policy, tmp_path, turn):
    """A public table with the rows of another policy spends nothing. Either may begin first."""
    (tmp_path / "notes.mark").write_text("a file of another program")
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (tmp_path / "broken.toml").write_text("[tables\n")
    (tmp_path / "others.csv").write_text("ward\nA\n")
    others = tmp_path / "others.toml"
    others.write_text(
        TEXT.replace("visits.csv", "others.csv").replace(
            "[tables.visits]",
            '[tables.public]\nsource = "visits.csv"\npublic = true\n[tables.visits]',
        )
    )
    for spent in (0.5, 0.25):
        assert [ask(path, spent) for path in (policy, others)[::turn]] == [spent, spent]


@pytest.mark.parametrize("left", ["key", "sqlite", "key.mark"])
def test_what_no_policy_names_stops_a_policy_about_other_rows_too(policy, tmp_path, left):
    ask(policy, 1)
    policy.unlink()
    for file in list(tmp_path.glob("hospital.ledger.*")):
        if file.name != f"hospital.ledger.{left}":
            file.unlink()
    other = tmp_path / "other.toml"
    other.write_text(TEXT.replace("visits.csv", "others.csv"))
    with pytest.raises(LedgerBroken, match=rf"hospital.ledger.{left}' belongs to a ledger"):
        dp.open(str(other))


class Crash(BaseException):
    """The process ends here."""


def crash(*_, **__):
    raise Crash


@pytest.mark.parametrize(
    "at",
    [
        "deniable.ledger.beginning.write_ledger_id",
        "deniable.ledger.beginning.DurableLedger",
        "deniable.ledger.durable_ledger._set_aside",
        "deniable.ledger.stores.signing_keys.SigningKey.read_or_create",
        "deniable.ledger.chained_ledger.ChainedLedger.__init__",
    ],
)
def test_a_crash_while_another_ledger_is_begun_loses_no_reason(
    policy, tmp_path, monkeypatch, at
):
    """It is as before, or the next session records why the ledger was begun."""
    ask(policy, 1)
    (old, _), _ = origin(policy)
    mark = (tmp_path / "hospital.ledger.key.mark").read_text()
    number = '"number": 1'
    assert number in mark
    with monkeypatch.context() as patch:
        patch.setattr(at, crash)
        with pytest.raises(Crash):
            begin_ledger(policy, because="the disk broke")
    record, left = origin(policy)
    if at.endswith("write_ledger_id"):
        assert (record, left) == ((old, ""), 0)
        assert number in (tmp_path / "hospital.ledger.key.mark").read_text()
        ledger_id = begin_ledger(policy, because="once more")
        record, left = origin(policy)
        assert record == (ledger_id, "once more")
    else:
        assert record[0] != old
        assert record[1] == "the disk broke"
    assert left == 1
    assert (tmp_path / "hospital.ledger.1.sqlite").exists()
    assert not (tmp_path / "hospital.ledger.2.sqlite").exists()


def readable_key(policy):
    (policy.parent / "hospital.ledger.key").chmod(0o644)


def inline_id(policy):
    (line,) = (row for row in policy.read_text().splitlines() if row.startswith("id"))
    ledger_id = line.split('"')[1]
    policy.write_text(f'ledger = {{ id = "{ledger_id}" }}\n{TEXT}')


@pytest.mark.parametrize("change", [readable_key, inline_id])
def test_begin_checks_everything_before_it_changes_anything(policy, tmp_path, change):
    ask(policy, 1)
    change(policy)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises((InvalidParameter, dp.InvalidPolicy), match=r"chmod 600|on a line"):
        begin_ledger(policy, because="the disk broke")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    (tmp_path / "hospital.ledger.key").chmod(0o600)
    assert origin(policy)[1] == 0


def test_the_journal_of_a_crash_goes_with_the_older_file(policy, tmp_path):
    """SQLite would play it back into the new file."""
    ask(policy)
    (tmp_path / "hospital.ledger.sqlite-journal").write_bytes(b"hot")
    begin_ledger(policy, because="the disk broke")
    assert (tmp_path / "hospital.ledger.1.sqlite-journal").read_bytes() == b"hot"
    assert origin(policy)[1] == 1


def test_a_ledger_is_accepted_by_its_owner_with_a_reason(policy, tmp_path):
    ask(policy, 0.25)
    older = (tmp_path / "hospital.ledger.sqlite").read_bytes()
    ask(policy, 0.5)
    (tmp_path / "hospital.ledger.key.mark").unlink()
    with pytest.raises(LedgerBroken, match="deniable ledger accept"):
        dp.open(str(policy))
    with pytest.raises(InvalidParameter, match="--because"):
        accept_ledger(policy, because=" ")
    accept_ledger(policy, because="restored on a new machine")
    assert origin(policy)[1] == 0.25
    (tmp_path / "hospital.ledger.sqlite").write_bytes(older)
    with pytest.raises(LedgerBroken, match="set back"):  # the mark is never lowered
        accept_ledger(policy, because="I want it back")
    policy.write_text(TEXT)
    with pytest.raises(InvalidParameter, match="nothing to accept"):
        accept_ledger(policy, because="there was one")


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


def drop_tables(place):
    """Loses a ledger in PostgreSQL."""
    import psycopg

    address, _, schema = place.partition("#")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP TABLE {schema}.deniable_entries, {schema}.deniable_anchor")


@pytest.mark.needs("postgresql")
def test_a_second_host_does_not_begin_again_after_the_tables_were_dropped(
    policy, tmp_path, postgresql
):
    place = empty_place(postgresql)
    policy.write_text(f'{TEXT}[ledger]\nstore = "{place}"\n')
    ask(policy)
    second = tmp_path / "host 2"
    second.mkdir()
    for name in ("hospital.toml", "visits.csv", "hospital.ledger.key"):
        shutil.copy(tmp_path / name, second)
    assert ask(second / "hospital.toml", 0.25) == 0.25
    (second / "hospital.ledger.key.mark").unlink()  # a third host, which never asked
    drop_tables(place)
    for folder in (tmp_path, second):
        with pytest.raises(LedgerBroken, match="is missing"):
            dp.open(str(folder / "hospital.toml"))


@pytest.mark.needs("postgresql")
def test_a_copied_mark_begins_nothing_in_a_shared_database(policy, tmp_path, postgresql):
    """It was copied before the first question, and knows nothing of what was asked since."""
    place = empty_place(postgresql)
    policy.write_text(f'{TEXT}[ledger]\nstore = "{place}"\n')
    load_with_ledger(policy)
    second = tmp_path / "host 2"
    shutil.copytree(tmp_path, second, ignore=shutil.ignore_patterns("host 2"))
    ask(policy, 1)
    shutil.copy(tmp_path / "hospital.ledger.key", second)
    drop_tables(place)
    for folder in (tmp_path, second):
        with pytest.raises(LedgerBroken, match="is missing"):
            dp.open(str(folder / "hospital.toml"))
    ledger_id = begin_ledger(policy, because="the tables were dropped")
    assert origin(policy) == ((ledger_id, "the tables were dropped"), 1)
    shutil.copy(policy, second)
    (second / "hospital.ledger.key.mark").write_text(
        '{"format":1,"id":"0","number":1,"hash":""}'
    )
    with pytest.raises(LedgerBroken, match="not the ledger that was used"):
        dp.open(str(second / "hospital.toml"))
    accept_ledger(second / "hospital.toml", because="begun on the first host")
    assert ask(second / "hospital.toml") == 0.5
