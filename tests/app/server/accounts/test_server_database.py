import stat
import threading

import pytest

import deniable as dp
from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.policy import Policy, Table


def test_only_its_owner_can_read_it(tmp_path):
    ServerDatabase(tmp_path / "s.sqlite").close()
    assert stat.S_IMODE((tmp_path / "s.sqlite").stat().st_mode) == 0o600


def test_a_ledger_is_refused(tmp_path):
    ledger = dp.DurableLedger(tmp_path / "ledger.sqlite", Policy([Table("t")], epsilon=1))
    ledger.close()
    with pytest.raises(dp.InvalidParameter, match="of something else"):
        ServerDatabase(tmp_path / "ledger.sqlite")


def test_writes_do_not_overlap(tmp_path):
    database = ServerDatabase(tmp_path / "s.sqlite")
    database.create("CREATE TABLE IF NOT EXISTS n (n INTEGER)")
    with database.writing() as connection:
        connection.execute("INSERT INTO n VALUES (0)")

    def add():
        for _ in range(25):
            with database.writing() as connection:
                (n,) = connection.execute("SELECT n FROM n").fetchone()
                connection.execute("UPDATE n SET n = ?", (n + 1,))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.reading() as connection:
        assert connection.execute("SELECT n FROM n").fetchone() == (100,)
    database.close()


def test_a_failed_write_leaves_nothing(tmp_path):
    database = ServerDatabase(tmp_path / "s.sqlite")
    database.create("CREATE TABLE IF NOT EXISTS n (n INTEGER UNIQUE)")

    def fail(error=None):
        with database.writing() as connection:
            connection.execute("INSERT INTO n VALUES (7)")
            if error is not None:
                raise error
            connection.execute("INSERT INTO n VALUES (7)")

    with pytest.raises(ZeroDivisionError):
        fail(ZeroDivisionError())
    with pytest.raises(dp.ServerUnavailable) as failure:
        fail()
    assert "SQLITE_CONSTRAINT" in str(failure.value)
    with database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM n").fetchone() == (0,)
    database.close()


def test_a_folder_that_is_missing_is_said(tmp_path):
    with pytest.raises(dp.ServerUnavailable, match="cannot be opened"):
        ServerDatabase(tmp_path / "nowhere" / "s.sqlite")


def test_several_may_open_a_new_file_at_once(tmp_path):
    """Switching to the log is refused at once while another does it: it is tried again."""
    for i in range(10):
        failures, start = [], threading.Barrier(8)

        def open_it(file=tmp_path / f"{i}.sqlite", start=start, failures=failures):
            start.wait()
            try:
                ServerDatabase(file).close()
            except dp.DeniableError as problem:
                failures.append(problem)

        threads = [threading.Thread(target=open_it) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
