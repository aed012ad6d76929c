"""No text leaves the process that runs SQL over released rows, or takes more than its limits.

Every text is run there as it is, without the lists that would refuse most of them before; and
it is asked over an answer, with the lists.
"""

import re
import socket
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

import deniable as dp
from deniable.engines.duckdb import rows_process, rows_worker
from deniable.engines.duckdb.rows_process import RowsProcess, RowsRefused
from deniable.errors import InvalidQuery
from deniable.release.asking.released_questions import ask_released

SECRET = "kestrel-918273645"
ROWS = {"t": pa.table({"x": [1, 2, 3], "name": ["a", "b", None]})}
SECONDS = 0.3
DEEP = 3_000
PARTS = {
    "long": "z" * 200_000,
    "deep": "(" * DEEP,
    "shallow": ")" * DEEP,
    "minus": "- " * DEEP,
    "nots": "NOT " * DEEP,
    "plus": "1 + " * DEEP,
    "cases": "CASE WHEN TRUE THEN " * DEEP + "1" + " END" * DEEP,
    "selects": "(SELECT * FROM " * DEEP + "t" + ")" * DEEP,
    "ones": "1, " * 100_000 + "1",
    "lists": "[" * DEEP + "1" + "]" * DEEP,
}
LINES = (Path(__file__).parent / "hostile_texts.sql").read_text(encoding="utf-8").splitlines()
KINDS = [line.removeprefix("-- ") for line in LINES if line.startswith("-- ")]
TEXTS = [line for line in LINES if not line.startswith("-- ")]


class Watched(RowsProcess):
    """It says what its last process had used when it was ended."""

    ended_after = 0.0

    def _end(self):
        if self.pid is not None:
            self.ended_after = rows_process._own_seconds(self.pid) or 0.0
        super()._end()


@pytest.fixture(scope="module")
def chosen(size):
    """All texts, or some of every kind."""
    count = size(small=30, full=len(TEXTS), what="hostile texts")
    step = len(TEXTS) / count
    return [TEXTS[int(i * step)] for i in range(count)]


@pytest.fixture
def outside(tmp_path):
    """A file with a secret and a server; the texts name them."""
    file = tmp_path / "secret.csv"
    file.write_text(f"word\n{SECRET}\n")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server, {"file": file, "folder": tmp_path, "port": server.getsockname()[1]}
        with pytest.raises(BlockingIOError):
            server.accept()
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_text() == f"word\n{SECRET}\n"


def test_there_are_enough_of_every_kind():
    assert len(set(TEXTS)) == len(TEXTS) >= 300
    assert KINDS == ["files", "settings", "sleeping", "growing", "crashing"]


def test_no_text_leaves_the_process_or_exceeds_its_limits(chosen, outside):
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc")
    _, names = outside
    process = Watched(seconds=SECONDS)
    try:
        for text in chosen:
            process.start()
            child = process.pid
            before = rows_process._own_seconds(child)
            try:
                table = process.query(ROWS, text.format(**names, **PARTS), most_rows=50_000)
            except RowsRefused as refusal:
                said = str(refusal)
            else:
                assert len(table) <= 50_000, text
                said = rows_worker.table_to_bytes(table).decode("latin-1")
            assert SECRET not in said, text
            alive = process.pid == child
            used = rows_process._own_seconds(child) if alive else process.ended_after
            assert used - before <= SECONDS + 2, text  # it is looked at in turns
            if alive:
                assert peak_bytes(child) <= most_bytes(child), text
                assert len(list(Path(f"/proc/{child}/fd").iterdir())) == 3, text
                assert not children_of(child), text
            # Nothing that it did is left: the rows are those that are given.
            assert process.query(ROWS, "SELECT SUM(x) AS s FROM t")["s"].to_pylist() == [6]
            with pytest.raises(RowsRefused):
                process.query({}, "SELECT * FROM t")
    finally:
        process.close()


def peak_bytes(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmPeak:")[2].split()[0]) << 10


def most_bytes(pid):
    """What the system allows: it was set when the process started, and nothing raises it."""
    limits = Path(f"/proc/{pid}/limits").read_text()
    most = int(limits.partition("Max address space")[2].split()[0])
    assert most < (8 << 30) + rows_worker.MEMORY_BYTES
    return most


def children_of(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_over_an_answer_they_are_refused_or_answered_and_cost_nothing(chosen, outside):
    _, names = outside
    table = pa.table({"name": ["a", "b"] * 50})
    session = dp.protect(table, name="data", keys={"name": ["a", "b"]}, epsilon=100)
    inner = "SELECT name, COUNT(*) AS x FROM data GROUP BY name"
    answer = session.sql(inner, epsilon=1)
    left, answered = session.remaining.epsilon, 0
    for text in chosen:
        whole = text.format(**names, **PARTS)
        over_answer = re.sub(r"\bt\b", "answer", whole)
        over_question = re.sub(r"\bFROM t\b", f"FROM ({inner}) AS t", whole)
        for ask in (
            partial(ask_released, over_answer, {"answer": answer}),
            partial(session.sql, over_question, epsilon=1),
        ):
            try:
                said = str(ask())
                answered += 1
            except InvalidQuery as refusal:
                said = str(refusal)
            assert SECRET not in said, text
    assert session.remaining.epsilon == left
    assert answered < len(chosen) / 3  # most of them are on no list
