"""A token has one holder or none, whatever others do with its file meanwhile."""

import threading

import pytest

from deniable.errors import LedgerUnavailable
from deniable.ledger import DurableLedger
from deniable.ledger.stores import holds
from deniable.ledger.stores.holds import FileHolds, MemoryHolds
from deniable.ledger.terms import Terms
from deniable.policy.budget import Budget
from tests.ledger.contract import plan


@pytest.fixture(params=["memory", "file"])
def tokens(request, tmp_path):
    return MemoryHolds() if request.param == "memory" else FileHolds(tmp_path / "l.sqlite")


def test_a_token_has_one_holder_at_a_time(tokens, size, tmp_path):
    """Threads take it, give it back and look, all at once."""
    rounds = size(small=100, full=20_000, what="holds of one token by each of six threads")
    inside, most, got = set(), [], []

    def work(name):
        for _ in range(rounds):
            with tokens.hold("f00d") as held:
                if held:
                    inside.add(name)
                    tokens.is_held("f00d")  # others run meanwhile
                    most.append(len(inside))
                    inside.discard(name)
                    got.append(name)
            tokens.is_held("f00d")

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(got) >= rounds // 10
    assert not tokens.is_held("f00d")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_its_last_holder_deleted_is_made_again(tmp_path, monkeypatch):
    tokens, lock, gone = FileHolds(tmp_path / "l.sqlite"), holds.try_lock, []

    def after_its_end(handle):
        if not gone:  # its last holder ends between opening and locking
            gone.append(tokens._file("f00d").unlink())
        return lock(handle)

    monkeypatch.setattr(holds, "try_lock", after_its_end)
    with tokens.hold("f00d") as held:
        assert held
        with FileHolds(tmp_path / "l.sqlite").hold("f00d") as twice:
            assert not twice
    assert not tokens.is_held("f00d")


def test_what_a_dead_process_left_is_free(tmp_path):
    tokens = FileHolds(tmp_path / "l.sqlite")
    tokens._file("f00d").touch()
    assert not tokens.is_held("f00d")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(LedgerUnavailable, match="cannot be made"):
        FileHolds(tmp_path / "none" / "l.sqlite").hold("f00d").__enter__()


def test_a_ledger_behind_a_link_knows_who_is_at_work(tmp_path):
    """Both sessions lock the file next to the real one."""
    terms, key = Terms.from_budget(Budget(2)), tmp_path / "l.key"
    first = DurableLedger(tmp_path / "l.sqlite", terms, key=key)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = folder / "link.sqlite"
    link.symlink_to(tmp_path / "l.sqlite")
    second = DurableLedger(link, terms, key=key)
    with first.ask(plan(1), plan_hash="f00d") as entry:
        with first._journal.view() as view:
            token = view.row(entry.number).read()["holder"]
        assert second._journal.is_held(token)
        first.settle(entry, "{}")
    assert list(folder.iterdir()) == [link]
    for ledger in (first, second):
        ledger.close()
