"""The process that runs SQL over released rows cannot do anything else."""

import os
import signal
import socket
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from deniable.engines.duckdb import rows_process, rows_worker
from deniable.engines.duckdb.rows_process import ROWS_PROCESS, RowsProcess, RowsRefused

ROWS = {"t": pa.table({"x": [1, 2, 3], "name": ["a", "b", None]})}
SECRET = "kestrel-918273645"


def test_rows_come_back_in_order_and_with_their_types():
    table = ROWS_PROCESS.query(ROWS, "SELECT name, x * 1.5 AS y FROM t ORDER BY x DESC")
    assert table.to_pydict() == {"name": [None, "b", "a"], "y": [4.5, 3.0, 1.5]}


@pytest.mark.parametrize("many", [100, 500_000])
def test_requests_of_any_size_are_sent(many):
    """What a pipe does not take at once is sent by a thread."""
    rows = {"t": pa.table({"x": range(many)}), "given": pa.table({"x": [5]})}
    table = ROWS_PROCESS.query(rows, 'SELECT SUM(t.x) + MIN(g.x) AS s FROM t, "given" AS g')
    assert table["s"].to_pylist() == [many * (many - 1) // 2 + 5]


def test_a_request_that_is_not_read_ends_with_its_process(monkeypatch):
    process, receive = RowsProcess(), rows_process._receive
    process.start()
    os.kill(process.pid, signal.SIGSTOP)  # it reads nothing

    def wait(pipe, clock):
        assert process._sender.is_alive()
        raise TimeoutError

    monkeypatch.setattr(rows_process, "_receive", wait)
    with pytest.raises(RowsRefused, match="more than"):
        process.query({"t": pa.table({"x": range(500_000)})}, "SELECT x FROM t")
    assert process._sender is None
    monkeypatch.setattr(rows_process, "_receive", receive)
    assert len(process.query(ROWS, "SELECT x FROM t")) == 3
    process.close()


def test_nothing_is_kept_between_two_questions():
    ROWS_PROCESS.query(ROWS, "SELECT x FROM t")
    with pytest.raises(RowsRefused, match="does not exist"):
        ROWS_PROCESS.query({}, "SELECT x FROM t")
    with pytest.raises(RowsRefused):
        ROWS_PROCESS.query({"u": ROWS["t"]}, "SELECT x FROM t")


@pytest.fixture
def secret(tmp_path):
    file = tmp_path / "secret.csv"
    file.write_text(f"word\n{SECRET}\n")
    return file


WAYS_OUT = [
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM read_blob('{file}')",
    "SELECT * FROM '{file}'",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM sniff_csv('{file}')",
    "COPY t TO '{folder}/out.csv'",
    "COPY (SELECT 1) TO '{folder}/out.parquet'",
    "ATTACH '{folder}/out.db' AS other",
    "EXPORT DATABASE '{folder}/out'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SELECT * FROM read_csv('http://127.0.0.1:{port}/x')",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET memory_limit = '100GB'",
    "SET temp_directory = '{folder}'",
    "SET threads = 8",
    "RESET disabled_filesystems",
    "PRAGMA database_list; SELECT * FROM read_text('{file}')",
    "SELECT * FROM ROWS",
    "SELECT * FROM SECRET",
    "SELECT getenv('HOME')",
    "CREATE SECRET s (TYPE s3)",
    "SELECT * FROM query('SELECT * FROM read_text(''{file}'')')",
    "SELECT * FROM query_table('{file}')",
    "FROM parquet_metadata('{file}')",
    "CALL pragma_version(); COPY t TO '{folder}/out.csv'",
]


@pytest.mark.parametrize("text", WAYS_OUT)
def test_there_is_no_way_out(secret, text):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        sql = text.format(file=secret, folder=secret.parent, port=server.getsockname()[1])
        with pytest.raises(RowsRefused) as refusal:
            ROWS_PROCESS.query(ROWS, sql)
        assert SECRET not in str(refusal.value)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert list(secret.parent.iterdir()) == [secret]
    assert len(ROWS_PROCESS.query(ROWS, "SELECT x FROM t")) == 3


def test_the_system_itself_refuses_files_and_memory():
    ROWS_PROCESS.start()
    limits = Path(f"/proc/{ROWS_PROCESS.pid}/limits")
    if not limits.exists():
        pytest.skip("needs /proc")
    most = {line[:26].strip(): line[26:].split()[:2] for line in limits.read_text().split("\n")}
    assert most["Max open files"] == ["3", "3"]
    assert most["Max file size"] == most["Max core file size"] == ["0", "0"]
    assert int(most["Max address space"][1]) < (8 << 30)
    assert Path(f"/proc/{ROWS_PROCESS.pid}/environ").read_bytes() == b""
    assert len(list(Path(f"/proc/{ROWS_PROCESS.pid}/fd").iterdir())) == 3


GROWING = [
    "SELECT length(repeat('x', 2000000000)) FROM t",
    "SELECT list(a.range) FROM range(30000000) AS a",
    "SELECT string_agg(repeat('y', 100000), '') FROM range(20000)",
]


@pytest.mark.parametrize("text", GROWING)
def test_memory_is_limited(text):
    process = RowsProcess()
    try:
        with pytest.raises(RowsRefused):
            process.query(ROWS, text)
        assert len(process.query(ROWS, "SELECT x FROM t")) == 3  # it goes on, or starts again
    finally:
        process.close()


def test_time_is_limited_and_the_process_is_ended():
    process = RowsProcess(seconds=0.2)
    try:
        process.start()
        first = process.pid
        with pytest.raises(RowsRefused, match=r"more than 0\.2 seconds"):
            process.query(
                ROWS, "SELECT COUNT(*) FROM range(100000000000) AS r WHERE r.range > 5"
            )
        assert process.pid is None
        assert len(process.query(ROWS, "SELECT x FROM t")) == 3
        assert process.pid != first
    finally:
        process.close()


def test_a_database_that_can_go_on_no_more_is_not_kept(monkeypatch):
    process, receive = RowsProcess(), rows_process._receive
    process.start()
    first = process.pid
    fatal = b'{"error": "FATAL Error: Failed: database has been invalidated"}'
    monkeypatch.setattr(rows_process, "_receive", lambda pipe, clock: fatal)
    with pytest.raises(RowsRefused, match="FATAL"):
        process.query(ROWS, "SELECT x FROM t")
    monkeypatch.setattr(rows_process, "_receive", receive)
    try:
        assert len(process.query(ROWS, "SELECT x FROM t")) == 3
        assert process.pid != first
    finally:
        process.close()


def test_rows_are_limited():
    with pytest.raises(RowsRefused, match="more than 1,000 rows"):
        ROWS_PROCESS.query(ROWS, "SELECT 1 FROM range(5000)", most_rows=1000)


def test_threads_wait_for_one_another():
    answers = []

    def ask(number):
        rows = {"t": pa.table({"x": [number]})}
        answers.append((number, ROWS_PROCESS.query(rows, "SELECT x FROM t")["x"].to_pylist()))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [(number, [number]) for number in range(6)]


def test_statements_share_tables_and_fail_by_themselves():
    views = {"v": ("t", ["x"])}
    texts = ["SELECT * FROM v LIMIT 1", "SELECT name FROM v", "SELECT COUNT(*) AS n FROM t"]
    single, wrong, many = ROWS_PROCESS.query_each(ROWS, texts, views=views)
    assert single.to_pylist() == [{"x": 1}]
    assert "name" in str(wrong)
    assert many.to_pylist() == [{"n": 3}]
    with pytest.raises(RowsRefused):
        ROWS_PROCESS.query({}, "SELECT x FROM v")


def test_a_statement_that_ends_the_process_leaves_the_answers_before_it():
    process = RowsProcess(seconds=0.2)
    try:
        slow = "SELECT COUNT(*) FROM range(100000000000) AS r WHERE r.range > 5"
        texts = ["SELECT x FROM t", slow, "SELECT x FROM t"]
        first, second, third = process.query_each(ROWS, texts)
        assert len(first) == 3
        assert "more than" in str(second)
        assert isinstance(third, RowsRefused)
        assert process.pid is None
    finally:
        process.close()


def test_what_is_not_defined_is_null():
    table = ROWS_PROCESS.query(ROWS, "SELECT 1 / (x - x) AS d, x % 0 AS m FROM t")
    assert table.to_pydict() == {"d": [None] * 3, "m": [None] * 3}


def test_messages_are_whole_or_the_end():
    with Path(os.devnull).open("rb") as pipe, pytest.raises(EOFError):
        rows_worker.read_message(pipe)


def test_a_fork_has_a_process_of_its_own():
    assert len(ROWS_PROCESS.query(ROWS, "SELECT x FROM t")) == 3
    parent = ROWS_PROCESS.pid
    process = RowsProcess()
    process.start()
    theirs = process.pid
    process.forget()
    assert process.pid is None
    assert len(process.query(ROWS, "SELECT x FROM t")) == 3
    assert process.pid not in (theirs, parent)
    process.close()


def test_an_interrupted_question_leaves_no_answer_to_the_next_one(monkeypatch):
    process, receive = RowsProcess(), rows_process._receive
    process.start()

    def interrupt(pipe, clock):
        raise KeyboardInterrupt

    monkeypatch.setattr(rows_process, "_receive", interrupt)
    with pytest.raises(KeyboardInterrupt):
        process.query({}, "SELECT 'first' AS x")
    monkeypatch.setattr(rows_process, "_receive", receive)
    assert process.query({}, "SELECT 'second' AS x").to_pylist() == [{"x": "second"}]
    process.close()
