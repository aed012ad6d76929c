"""State, then ledger, then answer: crashes are completed, and old states are refused."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import deniable as dp
from deniable.errors import InvalidParameter, LedgerBroken, LedgerUnavailable
from deniable.ledger.runs import StreamRun
from deniable.streams.state import stored_stream
from deniable.streams.state.stored_stream import state_name

POLICY = """
[budget]
epsilon = 3
delta = 1e-6

[tables.visits]
source = "visits.csv"
"""

ANALYSTS = """
[analysts.ann]
epsilon = 1
delta = 1e-7
[analysts.bob]
epsilon = 1
delta = 1e-7
"""


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "visits.csv").write_text("x\n1\n", encoding="utf-8")
    file = tmp_path / "policy.toml"
    file.write_text(POLICY, encoding="utf-8")
    return file


def counter(session, **changed):
    options = {"horizon": 50, "epsilon": 1} | changed
    return session.counter("visits", **options)


def state_of(policy):
    return policy.parent / "policy.ledger.streams" / state_name("visits", None)


def numbers(opened):
    return [opened.read(step) for step in range(1, opened.steps + 1)]


def test_a_restart_gives_the_same_numbers_and_no_second_charge(policy):
    with dp.open(policy) as session:
        first = counter(session)
        for step in range(5):
            first.add(times=step)
            first.step()
        shown = numbers(first)
        left = session.remaining
    with dp.open(policy) as session:
        again = counter(session)
        assert numbers(again) == shown
        assert session.remaining == left
        again.step()
        assert numbers(again)[:5] == shown
        assert session.ledger.verify().entries == 9  # opened, charged, begun and six steps
    assert left.epsilon == 2


def test_an_old_state_is_refused(policy):
    with dp.open(policy) as session:
        opened = counter(session)
        opened.step()
        shutil.copy(state_of(policy), policy.parent / "old")
        opened.step()
        shown = numbers(opened)
        latest = state_of(policy).read_bytes()
        shutil.copy(policy.parent / "old", state_of(policy))
        with pytest.raises(LedgerBroken, match="older copy"):
            opened.step()
    with dp.open(policy) as session:
        with pytest.raises(LedgerBroken, match="2 records, and the ledger knows 3"):
            counter(session)
        state_of(policy).unlink()
        with pytest.raises(LedgerBroken, match="missing"):
            counter(session)
        state_of(policy).write_bytes(latest)
        state_of(policy).chmod(0o600)
        assert numbers(counter(session)) == shown


def test_an_old_state_that_went_on_elsewhere_is_refused(policy, tmp_path):
    with dp.open(policy) as session:
        counter(session).step()
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in policy.parent.iterdir():
        if file != copy:
            (shutil.copytree if file.is_dir() else shutil.copy)(file, copy / file.name)
    with dp.open(policy) as session:
        counter(session).step()
    # The copy's ledger does not open as the original's, but its state may be put in its place.
    key = copy / "policy.ledger.streams" / state_name("visits", None)
    assert key.read_bytes() != state_of(policy).read_bytes()
    shutil.copy(key, state_of(policy))
    with dp.open(policy) as session, pytest.raises(LedgerBroken):
        counter(session)


def test_another_state_of_the_same_length_is_refused(policy):
    """A copy of the state that has made another step than the one that the ledger knows."""
    with dp.open(policy) as session:
        opened = counter(session)
        opened.step()
        log = opened._stepping.stored._log
        whole = state_of(policy).read_bytes()
        opened.step()
        state_of(policy).write_bytes(whole)
        log.reload()
        log.append(b'{"steps":[[0,[0],0,0]],"tally":{}}')
        with pytest.raises(LedgerBroken, match="older copy"):
            opened.step()
    with dp.open(policy) as session, pytest.raises(LedgerBroken, match="older copy"):
        counter(session)


def test_a_crash_between_state_and_ledger_is_completed(policy, monkeypatch):
    def crash(*_, **__):
        raise LedgerUnavailable("the ledger is gone")

    with dp.open(policy) as session:
        opened = counter(session)
        opened.add(times=9)
        opened.step()
        with monkeypatch.context() as patch:
            patch.setattr(StreamRun, "advance", crash)
            opened.add(times=5)
            with pytest.raises(LedgerUnavailable):
                opened.step()
        assert opened.steps == 2  # it was written, and is completed now
        first = numbers(opened)
        assert session.ledger.verify()
    with dp.open(policy) as session:
        again = counter(session)
        assert numbers(again) == first
        values = [json.loads(record) for record in again._stepping.stored._log.records[1:]]
        assert [record["steps"][0][0] for record in values] == [9, 5]


def test_a_ledger_that_was_set_back_is_refused_and_the_state_stays(policy):
    """Otherwise the noise of the same steps would be drawn again, for nothing."""
    copy = policy.parent / "copies"

    def set_back(steps):
        for file in filter(Path.is_file, policy.parent.glob("policy.*")):
            file.unlink()
        for file in (copy / str(steps)).iterdir():
            shutil.copy2(file, policy.parent / file.name)

    def keep(steps):
        (copy / str(steps)).mkdir(parents=True)
        for file in filter(Path.is_file, policy.parent.glob("policy.*")):
            shutil.copy2(file, copy / str(steps) / file.name)

    with dp.open(policy) as session:
        assert session.remaining.epsilon == 3
    keep(0)
    for steps in (1, 2, 3):
        with dp.open(policy) as session:
            counter(session).step()
        keep(steps)
    content = state_of(policy).read_bytes()
    for steps, known in ((0, 0), (1, 2)):
        set_back(steps)
        message = f"4 records, and the ledger knows {known}: the ledger was set back"
        with dp.open(policy) as session, pytest.raises(LedgerBroken, match=message):
            counter(session)
        assert state_of(policy).read_bytes() == content
    set_back(3)
    with dp.open(policy) as session:
        assert counter(session).steps == 3


def test_what_the_ledger_does_not_know_is_not_shown(policy, monkeypatch):
    """A process dies between state and ledger while another one opens the stream."""
    with dp.open(policy) as session, dp.open(policy) as other:
        first = counter(session)
        first.step()
        second = counter(other)

        def crash(*_, **__):
            raise LedgerUnavailable("the ledger is gone")

        with monkeypatch.context() as patch:
            patch.setattr(StreamRun, "advance", crash)
            first.add(times=5)
            with pytest.raises(LedgerUnavailable):
                first.step()
        second._stepping._restore()  # outside of the lock, as when it is opened
        assert second.steps == 1
        assert second.step().step == 3  # the other one's is completed, and taken over
        records = second._stepping.stored.records()
        assert [step[0] for record in records for step in record["steps"]] == [0, 5, 0]
        assert numbers(second)[:2] == numbers(first)[:2]


def test_a_crash_before_the_charge_begins_again(policy, monkeypatch):
    def crash(*_, **__):
        raise LedgerUnavailable("the ledger is gone")

    with dp.open(policy) as session:
        with monkeypatch.context() as patch:
            patch.setattr("deniable.release.session.stream_door.reserve_stream", crash)
            with pytest.raises(LedgerUnavailable):
                counter(session)
        assert session.remaining.epsilon == 3
        counter(session, horizon=70).step()
        assert session.remaining.epsilon == 2


def test_a_crash_after_the_charge_is_charged_once(policy, monkeypatch):
    def crash(*_, **__):
        raise LedgerUnavailable("the ledger is gone")

    with dp.open(policy) as session:
        with monkeypatch.context() as patch:
            patch.setattr(StreamRun, "advance", crash)
            with pytest.raises(LedgerUnavailable):
                counter(session)
        assert session.remaining.epsilon == 2
        counter(session).step()
        assert session.remaining.epsilon == 2
        assert session.ledger.verify()


def test_other_parameters_are_refused_under_the_same_name(policy):
    with dp.open(policy) as session:
        counter(session)
        for changed in ({"horizon": 51}, {"epsilon": 2}, {"window": 3}, {"bounds": (0, 2)}):
            with pytest.raises(InvalidParameter, match="was begun with another"):
                counter(session, **changed)
        assert session.remaining.epsilon == 2


def test_a_charge_that_does_not_fit_leaves_nothing(policy):
    with dp.open(policy) as session:
        with pytest.raises(dp.BudgetExhausted):
            counter(session, epsilon=4)
        counter(session, epsilon=3)
        assert session.remaining.epsilon == 0


def test_two_at_once_take_over_each_others_steps(policy):
    with dp.open(policy) as session, dp.open(policy) as other:
        first, second = counter(session), counter(other)
        first.add(times=4)
        first.step()
        second.add(times=6)
        assert second.step().step == 2
        first.step()
        assert numbers(first)[:2] == numbers(second)
        values = [
            step[0] for record in first._stepping.stored.records() for step in record["steps"]
        ]
        assert values == [4, 6, 0]


@pytest.mark.parametrize("name", ["", "../up", "a/b", 7, "x" * 101, "\n"])
def test_bad_names(policy, name):
    with dp.open(policy) as session, pytest.raises(InvalidParameter, match="name of a stream"):
        session.counter(name, horizon=5, epsilon=1)


def test_analysts_have_streams_of_their_own(tmp_path):
    (tmp_path / "visits.csv").write_text("x\n1\n", encoding="utf-8")
    file = tmp_path / "policy.toml"
    file.write_text(POLICY + ANALYSTS)
    with dp.open(file, analyst="ann") as ann, dp.open(file, analyst="bob") as bob:
        first, second = counter(ann, epsilon=0.5), counter(bob, epsilon=0.5)
        first.step()
        assert (first.steps, second.steps) == (1, 0)
        assert ann.ledger.remaining.epsilon == 2


def test_names_are_compared_as_in_the_ledger(tmp_path):
    (tmp_path / "visits.csv").write_text("x\n1\n", encoding="utf-8")
    file = tmp_path / "policy.toml"
    file.write_text(POLICY + ANALYSTS)
    with dp.open(file, analyst="ann") as session:
        counter(session, epsilon=0.5).step()
    with dp.open(file, analyst="Ann") as session:
        assert counter(session, epsilon=0.5).steps == 1
        assert session.counter("Visits", horizon=5, epsilon=0.1).steps == 0
    other = f"visits.{hashlib.sha256(b'ann').hexdigest()}"
    with dp.open(file) as session, pytest.raises(InvalidParameter, match="who asks"):
        session.counter(other, horizon=5, epsilon=0.1)
    with dp.open(file, analyst="ann") as session:
        assert counter(session, epsilon=0.5).steps == 1  # nothing of hers was removed


def test_a_stream_that_the_ledger_has_forgotten(policy, monkeypatch):
    with dp.open(policy) as session:
        opened = counter(session)
        monkeypatch.setattr(
            "deniable.release.session.stream_door.find_stream", lambda *_, **__: None
        )
        with pytest.raises(LedgerBroken, match="any more"):
            opened.step()


def test_nothing_is_stored_for_a_ledger_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    import pyarrow as pa

    data = dp.protect(pa.table({"x": [1]}), epsilon=1)
    data.counter("visits", horizon=5, epsilon=1).step()
    assert data.counter("visits", horizon=5, epsilon=1).steps == 1
    assert list(tmp_path.iterdir()) == []
    assert stored_stream._IN_MEMORY[data.ledger]


@pytest.mark.parametrize("kind", ["events", "persons", "watch"])
def test_killed_at_random_moments(tmp_path, size, kind):
    """No number changes, nothing is charged twice, no person counts more often than allowed,
    and an old state is refused."""
    kills = size(small=4, full=200, what=f"processes killed within a stream ({kind})")
    job = [sys.executable, "-m", "tests.streams.state.killing", str(tmp_path), str(kills), kind]
    root = Path(__file__).parents[3]
    done = subprocess.run(job, capture_output=True, text=True, cwd=root, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout.splitlines()[-1])
    print(report)
    assert report["old refused"]
    assert report["tallies hold"]
    assert report["steps"] >= kills // 3  # it has power: lives were long enough to show numbers
    assert report["shown"] <= report["charges"] <= report["names"]
