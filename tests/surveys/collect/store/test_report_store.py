import datetime
import hashlib
import secrets

import pytest

import deniable as dp
from deniable.surveys.collect.store import report_store
from deniable.surveys.collect.store.report_store import ReportStore, hash_token
from tests.surveys.collect.store import crashing


@pytest.fixture
def store(where, tmp_path):
    opened = crashing.open_store(where, tmp_path)
    yield opened
    opened.close()


def fill(store, count, first=0):
    for number in range(first, first + count):
        if store.accept(crashing.body(number), spend=crashing.spend(number)):
            store.write_batches()


def bodies(store):
    return [set(batch.bodies) for batch in store.batches()]


def expected(count):
    return {crashing.body(number) for number in range(count)}


def test_reports_are_written_fifty_at_a_time(store):
    fill(store, 99)
    assert bodies(store) == []
    fill(store, 1, first=99)
    assert [len(batch) for batch in bodies(store)] == [50]
    fill(store, 49, first=100)
    assert [len(batch) for batch in bodies(store)] == [50]
    fill(store, 1, first=149)
    assert [len(batch) for batch in bodies(store)] == [50, 50]
    store.close_survey()
    assert [len(batch) for batch in bodies(store)] == [50, 50, 50]
    assert set().union(*bodies(store)) == expected(150)


def test_never_fewer_than_fifty_are_left_for_the_last_batch(store):
    fill(store, 101)
    store.close_survey()
    assert [len(batch) for batch in bodies(store)] == [50, 51]


def test_fewer_than_fifty_in_all_are_one_batch(store):
    fill(store, 7)
    store.close_survey()
    assert bodies(store) == [expected(7)]


def test_a_survey_without_reports_closes(store):
    store.close_survey()
    assert store.batches() == []
    assert store.is_closed


def test_which_fifty_and_their_order_are_random(store):
    fill(store, 100)
    (batch,) = store.batches()
    numbers = [int(each[-8:]) for each in batch.bodies]
    assert sorted(numbers) != list(range(50))
    assert sorted(numbers) != list(range(50, 100))
    assert numbers != sorted(numbers)


def test_the_day_is_the_finest_time(store):
    fill(store, 100)
    (batch,) = store.batches()
    assert type(batch.day) is datetime.date
    assert abs(batch.day - datetime.datetime.now(datetime.UTC).date()).days <= 1


def test_a_pass_brings_one_report_whatever_it_carries(store):
    assert not store.is_spent(b"pass")
    store.accept(b"first", spend=b"pass")
    assert store.is_spent(b"pass")
    store.accept(b"other", spend=b"pass")
    store.close_survey()
    assert bodies(store) == [{b"first"}]


def test_without_passes_every_report_counts(store):
    for _ in range(3):
        store.accept(b"same")
    store.close_survey()
    assert [batch.bodies for batch in store.batches()] == [(b"same",) * 3]


def test_after_closing_a_report_is_refused_before_its_pass_is_spent(store):
    store.accept(b"early", spend=b"used")
    store.close_survey()
    with pytest.raises(dp.CollectionClosed):
        store.accept(b"late", spend=b"new")
    assert not store.is_spent(b"new")
    store.accept(b"again", spend=b"used")  # the answer to a resent report stays the same
    assert bodies(store) == [{b"early"}]
    store.close_survey()
    assert bodies(store) == [{b"early"}]


def test_the_key_changes_with_each_batch_and_goes_at_the_end(store):
    names = [set(store._keys.read())]
    for turn in range(3):
        fill(store, 50 + 50 * (turn == 0), first=200 * turn)
        names.append(set(store._keys.read()))
    assert [len(each) for each in names] == [1] * 4
    assert len(set().union(*names)) == 4
    store.close_survey()
    assert not store._keys.file.exists()


def test_what_waits_is_sealed_in_equal_lengths(store):
    fill(store, 30)
    with store._database.reading() as connection:
        sealed = connection.execute(report_store.tables.READ_WAITING).scalars().all()
    assert len({len(each) for each in sealed}) == 1
    assert not any(b"report" in each for each in sealed)


def test_a_token_gets_one_signature_and_the_same_one_again(store):
    token, other = secrets.token_bytes(16), secrets.token_bytes(16)
    store.invite([token, other])
    calls = []

    def sign(blinded):
        calls.append(blinded)
        return b"signed " + blinded

    assert store.exchange(token, b"m", sign) == b"signed m"
    assert store.exchange(token, b"m", sign) == b"signed m"
    with pytest.raises(dp.InvitationRefused, match="used already"):
        store.exchange(token, b"another", sign)
    assert calls == [b"m"]
    assert store.exchange(other, b"m", sign) == b"signed m"


def test_an_unknown_token_costs_no_signature(store):
    with pytest.raises(dp.InvitationRefused, match="unknown"):
        store.exchange(secrets.token_bytes(16), b"m", pytest.fail)
    assert not store.is_invited(secrets.token_bytes(16))


def test_of_two_racing_messages_one_is_refused(store):
    """The second message of a token arrives while the first is being signed."""
    token = secrets.token_bytes(16)
    store.invite([token])

    def sign(blinded):
        assert store.exchange(token, b"second", lambda message: b"signed second")
        return b"signed first"

    with pytest.raises(dp.InvitationRefused, match="used already"):
        store.exchange(token, b"first", sign)
    assert store.exchange(token, b"second", pytest.fail) == b"signed second"


def test_a_closed_survey_gives_no_more_passes(store):
    token = secrets.token_bytes(16)
    store.invite([token])
    store.close_survey()
    with pytest.raises(dp.CollectionClosed):
        store.exchange(token, b"m", pytest.fail)
    with pytest.raises(dp.CollectionClosed):
        store.invite([secrets.token_bytes(16)])


def test_totals_are_published_at_closing_only(store):
    tokens = [secrets.token_bytes(16) for _ in range(3)]
    store.invite(tokens)
    store.exchange(tokens[0], b"m", lambda message: b"s")
    store.accept(b"r", spend=hashlib.sha256(b"n").digest())
    with pytest.raises(dp.InvalidParameter, match="when the survey has closed"):
        store.totals(listed=True)
    store.close_survey()
    totals = store.totals(listed=True)
    assert (totals.invited, totals.exchanged, totals.reports) == (3, 1, 1)
    assert totals.passes == (hashlib.sha256(b"n").hexdigest(),)


def test_only_the_hash_of_a_token_is_kept(store):
    token = secrets.token_bytes(16)
    assert token not in hash_token(token)
    with pytest.raises(dp.InvalidData):
        hash_token(token[:-1])


def test_another_survey_is_refused(store, where, tmp_path):
    with pytest.raises(dp.InvalidParameter, match="another survey"):
        ReportStore(where, tmp_path / "keys" / "sealing.key", "another manifest")


def test_a_lost_key_accepts_nothing_and_closes_only_on_demand(store, where, tmp_path):
    fill(store, 3)
    store._keys.file.unlink()
    again = crashing.open_store(where, tmp_path)
    with pytest.raises(dp.CollectionUnavailable, match="--without-waiting"):
        again.accept(b"new", spend=b"new")
    assert not again.is_spent(b"new")
    with pytest.raises(dp.CollectionUnavailable):
        again.close_survey()
    assert not again.is_closed
    again.close_survey(without_waiting=True)
    assert again.is_closed
    assert again.batches() == []
    again.close()


def test_giving_up_lost_reports_loses_no_other(store):
    fill(store, 3)
    with store._database.writing() as connection:
        row = {"id": b"x", "sealed": b"sealed with a key that was lost"}
        connection.execute(report_store.tables.WAITING.insert(), row)
    with pytest.raises(dp.CollectionUnavailable):
        store.close_survey()
    store.close_survey(without_waiting=True)
    assert bodies(store) == [expected(3)]


@pytest.mark.parametrize("closing", [False, True], ids=["batch", "closing"])
@pytest.mark.parametrize("moment", crashing.MOMENTS)
@pytest.mark.one_in(3)
def test_a_crash_loses_and_doubles_nothing(where, tmp_path, moment, closing):
    report = crashing.run("die", where, tmp_path, moment=moment, closing=closing)
    writes_no_key = closing and "new key" in moment
    assert report["died"] == (0 if writes_no_key else 9)
    accepted = 120 + (not report["closed"])
    assert report["held"] == [crashing.body(number).decode() for number in range(accepted)]
    assert report["keys"] == (0 if report["closed"] else 1)


def test_racing_processes_take_each_pass_once(where, tmp_path, size):
    processes = size(small=4, full=64, what="processes that race for the same passes")
    report = crashing.run("race", where, tmp_path, processes=processes, passes=230)
    assert report["codes"] == [0]
    assert report["keys"] == 1
    assert [len(batch) for batch in report["batches"][:-1]] == [50] * (
        len(report["batches"]) - 1
    )
    assert 50 <= len(report["batches"][-1]) < 100
    numbers = sorted(each[:4] for batch in report["batches"] for each in batch)
    assert numbers == [f"{number:04}" for number in range(230)]
