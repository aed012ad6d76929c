"""Nothing unreleased escapes: a canary in every row is looked for wherever words can go.

The canary stands in every column of every row, as text and as a number. Answers are noisy
counts, so none of it may appear in what is printed, logged, raised, pickled or stored.
"""

import gc
import io
import json
import logging
import pickle
import re
import traceback
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dp
from deniable.engines.duckdb import engine
from deniable.engines.handover import exact_groups
from deniable.engines.handover.withheld import Withheld
from deniable.errors import EngineFailed
from deniable.release.session import engine_run

WORD = "CanaryKestrel"
NUMBER = 918273645
PATTERN = re.compile(rf"(?i){WORD}|{NUMBER}|{NUMBER:x}|{NUMBER:_}|{NUMBER:,}".encode())
ROWS = 600
POLICY = """
[budget]
epsilon = 50
delta = 1e-3
[tables.visits]
source = "visits.parquet"
unit = "patient"
max_rows_per_unit_per_group = 2
[tables.visits.columns]
amount = { bounds = [0, 1000000000], step = 1 }
note = { keys = "private" }
"""
# Sums are near 600 times the canary, with noise of thousands of millions.
QUESTIONS = {
    "count": "SELECT COUNT(*) AS n FROM visits",
    "units": "SELECT COUNT(DISTINCT patient) AS n FROM visits",
    "sum": "SELECT SUM(amount) AS s, AVG(amount) AS a FROM visits",
    "filtered": "SELECT COUNT(*) AS n FROM visits WHERE amount > 5",
}


@pytest.fixture
def folder(tmp_path):
    """Every patient has a name of their own, and the canary is a part of it."""
    table = pa.table(
        {
            "patient": [f"{WORD}-{i}" for i in range(ROWS)],
            "amount": [NUMBER] * ROWS,
            "note": [f"{WORD} {i}" for i in range(ROWS)],  # no group is large enough to show
            "when": [f"{NUMBER}"] * ROWS,
        }
    )
    pa.parquet.write_table(table, tmp_path / "visits.parquet")
    (tmp_path / "deniable.toml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def heard(caplog, capfd):
    """Everything that was logged or printed."""
    caplog.set_level(logging.DEBUG)
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    logging.getLogger().addHandler(handler)
    yield lambda: caplog.text + lines.getvalue() + "".join(capfd.readouterr())
    logging.getLogger().removeHandler(handler)


def shown(problem):
    """An exception as the most talkative reporter prints it: causes, contexts and locals."""
    told = traceback.TracebackException.from_exception(problem, capture_locals=True)
    plain = "".join(traceback.format_exception(problem))
    return "".join(told.format()) + plain + repr(problem) + repr(vars(problem))


def clean(*texts):
    for text in texts:
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        match = PATTERN.search(data)
        assert not match, data[max(0, match.start() - 200) : match.end() + 50]


def files(folder):
    return {
        path.name: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "visits.parquet"
    }


def test_the_search_finds_what_it_should(folder):
    """The data file is full of it, and so is an exact answer."""
    assert PATTERN.search((folder / "visits.parquet").read_bytes())
    for text in (f"{NUMBER}.0", f"{NUMBER:,}", hex(NUMBER), WORD.lower()):
        with pytest.raises(AssertionError):
            clean(text)


@pytest.mark.parametrize("sql", QUESTIONS.values(), ids=QUESTIONS)
def test_answers_reprs_pickles_certificates_and_ledgers(folder, heard, sql):
    with dp.open(str(folder / "deniable.toml")) as visits:
        release = visits.sql(sql, epsilon=1)
        again = visits.sql(sql, epsilon=1)
        clean(
            *map(repr, (visits, release, again, visits.ledger, visits._engine, release.plan)),
            *map(repr, (release.answer, release.certificate, visits.ledger.entries)),
            str(release),
            release._repr_html_(),
            release.to_json(),
            json.dumps(release.certificate.to_dict()),
            pickle.dumps(release),
            str(visits.explain(sql, epsilon=1)),
        )
        for unpicklable in (visits, visits._engine, Withheld(NUMBER)):
            with pytest.raises(TypeError):
                pickle.dumps(unpicklable)
    clean(*files(folder).values())
    clean(heard())


def test_private_names_stay_private(folder, heard):
    sql = "SELECT note, COUNT(DISTINCT patient) AS n FROM visits GROUP BY note"
    with dp.open(str(folder / "deniable.toml")) as visits:
        release = visits.sql(sql, epsilon=1, delta=1e-9)
        clean(str(release), release.to_json(), pickle.dumps(release))
        assert len(release) == 0
    clean(*files(folder).values(), heard())


def boom(*_, **__):
    """Fails as engines do: with the offending value in its words."""
    secret = f"Could not convert string '{WORD}-1' to INT32: {NUMBER}"
    raise RuntimeError(secret)


def boom_inside(*_, **__):
    try:
        boom()
    except RuntimeError as problem:
        raise ValueError(f"while reading {NUMBER}") from problem


def interrupted(*_, **__):
    held = [NUMBER] * 3
    raise KeyboardInterrupt(str(held))


def exits(*_, **__):
    raise SystemExit(f"{WORD}")


def no_memory(*_, **__):
    raise MemoryError(f"{NUMBER}")


def nonsense(*_, **__):
    return Withheld([WORD, NUMBER])


WAYS = [boom, boom_inside, no_memory, nonsense]
PLACES = {
    "the engine": (engine.DuckDB, ("run", "stream")),
    "reading integers": (exact_groups, ("_chunk_to_integers",)),
    "the noise": (engine_run, ("draw_answer",)),
}
FAULTS = [
    (where, way) for where in PLACES for way in WAYS if (where, way) != ("the noise", nonsense)
]


@pytest.mark.parametrize(
    ("place", "way"), FAULTS, ids=[f"{where}, {way.__name__}" for where, way in FAULTS]
)
def test_whatever_fails_after_the_engine_starts(folder, heard, monkeypatch, place, way):
    owner, names = PLACES[place]
    for name in names:
        monkeypatch.setattr(owner, name, way)
    with dp.open(str(folder / "deniable.toml")) as visits:
        with pytest.raises(EngineFailed) as caught:
            visits.sql(QUESTIONS["sum"], epsilon=1)
        problem = caught.value
        told = str(problem)
        assert told == str(EngineFailed(problem.reference))
        assert problem.__cause__ is problem.__context__ is None
        clean(shown(problem), pickle.dumps(told), repr(visits))
        (entry,) = visits.ledger.entries
        assert (entry.state, entry.reference) == ("failed", problem.reference)
        assert visits.remaining.epsilon == 49
    clean(*files(folder).values(), heard())
    log = folder / "deniable.ledger.log"
    assert problem.reference in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("way", "kind"),
    [(interrupted, KeyboardInterrupt), (exits, SystemExit)],
    ids=["interrupted", "exits"],
)
def test_who_interrupts_sees_nothing_of_what_was_cut_short(
    folder, heard, monkeypatch, way, kind
):
    monkeypatch.setattr(engine_run, "draw_answer", way)
    with dp.open(str(folder / "deniable.toml")) as visits:
        with pytest.raises(kind) as caught:
            visits.sql(QUESTIONS["sum"], epsilon=1)
        assert caught.value.__cause__ is caught.value.__context__ is None
        clean(shown(caught.value))
        (entry,) = visits.ledger.entries
        assert entry.state == "failed"
    clean(*files(folder).values(), heard())


def test_a_real_failure_of_the_engine(folder, heard, monkeypatch):
    """The engine is made to run a statement that quotes a row when it fails."""
    bad = "SELECT CAST(patient AS INTEGER) AS f0_0 FROM visits"
    ran = engine.DuckDB._run_statement
    monkeypatch.setattr(
        engine.DuckDB,
        "_run_statement",
        lambda self, statement: ran(self, replace(statement, sql=bad)),
    )
    with dp.open(str(folder / "deniable.toml")) as visits:
        plan = visits.plan(QUESTIONS["count"], epsilon=1)
        with pytest.raises(EngineFailed) as caught:
            visits.release(plan)
        clean(shown(caught.value))
    clean(*files(folder).values(), heard())


def test_refusals_before_the_engine_starts_know_no_row(folder, heard):
    with dp.open(str(folder / "deniable.toml")) as visits:
        for bad in (
            "SELECT * FROM visits",
            "SELECT MAX(patient) FROM visits GROUP BY nothing",
            "SELECT COUNT(*) FROM visits WHERE CAST(patient AS INTEGER) = 1 / 0 AND nope",
        ):
            with pytest.raises(dp.DeniableError) as caught:
                visits.sql(bad, epsilon=1)
            clean(shown(caught.value))
        with pytest.raises(dp.BudgetExhausted) as caught:
            visits.sql(QUESTIONS["count"], epsilon=51)
        clean(shown(caught.value))
    clean(heard())


def test_what_the_engine_returned_is_not_kept(folder):
    """After an answer no exact integer lives on in the session."""
    with dp.open(str(folder / "deniable.toml")) as visits:
        visits.sql(QUESTIONS["sum"], epsilon=1)
        gc.collect()
        held = [item for item in gc.get_objects() if isinstance(item, exact_groups.ExactGroups)]
        assert held == []
