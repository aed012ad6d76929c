"""The driver: what is charged, what is explained, and what comes back."""

import warnings

import pandas
import pyarrow as pa
import pytest

import deniable as dp
from deniable import dbapi

WARDS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


@pytest.fixture
def session():
    table = pa.table({"ward": ["A", "B"] * 500, "cost": [10.0, 20.0] * 500})
    with dp.protect(
        table, name="visits", epsilon=2, keys={"ward": ["A", "B"]}, bounds={"cost": (0, 100)}
    ) as opened:
        yield opened


@pytest.fixture
def cursor(session):
    return dbapi.connect(session=session).cursor()


def test_pandas_reads_an_answer_with_its_intervals(session):
    connection = dbapi.connect(session=session)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # pandas prefers SQLAlchemy
        frame = pandas.read_sql(f"{WARDS} EPSILON 1", connection)
    assert list(frame.columns) == ["ward", "n", "n_low", "n_high"]
    assert list(frame.ward) == ["A", "B"]
    assert ((frame.n_low < frame.n) & (frame.n < frame.n_high)).all()
    assert str(session.remaining) == "epsilon 1, delta 0"


def test_within_sets_the_accuracy(cursor, session):
    cursor.execute("SELECT COUNT(*) AS n FROM visits WITHIN 20 CONFIDENCE 0.9")
    ((n, low, high),) = cursor.fetchall()
    assert n - low == high - n <= 20
    assert session.remaining.epsilon < 2


@pytest.mark.parametrize(
    "statement",
    [
        WARDS,
        "SELECT * FROM visits LIMIT 1000",
        "SELECT ward FROM visits GROUP BY ward LIMIT 100",
        f"SELECT * FROM ({WARDS}) AS virtual_table LIMIT 1000",
        "SELECT 1",
        "SELECT COUNT(*) FROM visits -- EPSILON 1",
        "SELECT COUNT(*) FROM visits WHERE ward = 'EPSILON 1'",
        "SHOW TABLES",
        "select version()",
        "SELECT table_name FROM information_schema.tables",
        "",
    ],
)
def test_previews_get_an_explanation_and_no_charge(cursor, session, statement):
    cursor.execute(statement)
    assert [column[0] for column in cursor.description] == ["explanation"]
    lines = [line for (line,) in cursor.fetchall()]
    assert "nothing was spent" in lines[0]
    assert "EPSILON 0.5" in lines[1]
    assert len(lines) > 2
    assert session.remaining.epsilon == 2
    assert len(session.ledger.entries) == 0


def test_an_explanation_of_a_question_says_its_margins(cursor):
    cursor.execute(WARDS)
    assert any("±" in line or "margin" in line.lower() for (line,) in cursor.fetchall())


@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT * FROM ({WARDS} EPSILON 1) AS virtual_table LIMIT 1000",
        f"{WARDS} EPSILON 1 LIMIT 10",
        f"{WARDS} EPSILON 1 EPSILON 1",
    ],
)
def test_a_price_that_is_not_the_end_is_refused_and_not_charged(cursor, session, statement):
    with pytest.raises(dbapi.ProgrammingError):
        cursor.execute(statement)
    assert session.remaining.epsilon == 2


def test_asking_again_is_free_and_equal(cursor, session):
    answers = []
    for _ in range(2):
        cursor.execute(f"{WARDS} EPSILON 1")
        answers.append(cursor.fetchall())
    assert answers[0] == answers[1]
    assert session.remaining.epsilon == 1
    assert cursor.release.repeated
    assert dp.verify(cursor.release.to_json())


def test_parameters_are_values(cursor):
    cursor.execute("SELECT COUNT(*) AS n FROM visits WHERE ward = ? EPSILON 1", ("A",))
    ((n, _, _),) = cursor.fetchall()
    assert abs(n - 500) < 60
    cursor.execute(
        "SELECT COUNT(*) AS n FROM visits WHERE ward = ? EPSILON 1", ("' OR 1=1 --",)
    )
    ((n, _, _),) = cursor.fetchall()
    assert abs(n) < 60


def test_fetching(cursor):
    with pytest.raises(dbapi.InterfaceError, match="no answer yet"):
        cursor.fetchone()
    assert (cursor.description, cursor.rowcount) == (None, -1)
    cursor.execute(f"{WARDS} EPSILON 1")
    assert cursor.rowcount == 2
    assert cursor.description[0][1] == dbapi.STRING
    assert cursor.description[1][1] == dbapi.NUMBER != dbapi.STRING
    first = cursor.fetchone()
    assert cursor.fetchmany(5)[0] != first
    assert (cursor.fetchone(), cursor.fetchall(), cursor.fetchmany()) == (None, [], [])
    cursor.execute(f"{WARDS} EPSILON 1")
    assert [row[0] for row in cursor] == ["A", "B"]


@pytest.mark.parametrize(
    ("statement", "kind", "said"),
    [
        ("DELETE FROM visits", dbapi.NotSupportedError, "changes no table"),
        (" create table x (y int)", dbapi.NotSupportedError, "changes no table"),
        ("SELECT SUM(age) FROM visits EPSILON 1", dbapi.ProgrammingError, "age"),
        ("SELECT * FROM visits EPSILON 1", dbapi.ProgrammingError, "COUNT"),
        ("SELECT COUNT(*) FROM visits EPSILON 9", dbapi.OperationalError, "epsilon"),
    ],
)
def test_errors_are_those_of_the_driver(cursor, session, statement, kind, said):
    with pytest.raises(kind, match=said):
        cursor.execute(statement)
    assert session.remaining.epsilon == 2
    with pytest.raises(dbapi.InterfaceError):
        cursor.fetchall()
    with pytest.raises(dbapi.NotSupportedError):
        cursor.executemany("SELECT 1", [])
