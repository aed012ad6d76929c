"""SQLAlchemy and pandas over the dialect."""

import pandas
import pytest
import sqlalchemy as sa

import deniable as dp
from deniable.dbapi.dialect import DeniableDialect

COLUMNS = 'ward = { keys = ["A", "B"] }\ncost = { bounds = [0, 100] }\n'


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "visits.csv").write_text("ward,cost\n" + "A,10\nB,20\n" * 500)
    file = tmp_path / "deniable.toml"
    file.write_text(
        '[budget]\nepsilon = 2\n[tables.visits]\nsource = "visits.csv"\n'
        f"[tables.visits.columns]\n{COLUMNS}"
    )
    return file


@pytest.fixture
def engine(policy):
    engine = sa.create_engine(f"deniable:///{policy}")
    yield engine
    engine.dispose()


def left(policy):
    with dp.open(str(policy)) as session:
        return session.remaining.epsilon


def test_pandas_reads_over_an_engine(engine, policy):
    question = "SELECT ward, SUM(cost) AS total FROM visits GROUP BY ward EPSILON 1"
    frame = pandas.read_sql(sa.text(question), engine)
    assert list(frame.columns) == ["ward", "total", "total_low", "total_high"]
    assert (frame.total_low < frame.total_high).all()
    assert left(policy) == 1


def test_statements_of_sqlalchemy_are_questions(engine, policy):
    visits = sa.table("visits", sa.column("ward"), sa.column("cost"))
    question = (
        sa.select(visits.c.ward, sa.func.count().label("n"))
        .where(visits.c.cost > 5)
        .group_by(visits.c.ward)
    )
    with engine.connect() as connection:
        preview = connection.execute(question).all()
        assert "nothing was spent" in preview[0].explanation
        assert left(policy) == 2
        rows = connection.execute(question.suffix_with("EPSILON 1")).all()
    assert [row.ward for row in rows] == ["A", "B"]
    assert all(row.n_low <= row.n <= row.n_high for row in rows)
    assert left(policy) == 1


def test_tables_and_columns_are_listed_for_nothing(engine, policy):
    inspector = sa.inspect(engine)
    assert inspector.get_schema_names() == ["main"]
    assert inspector.get_table_names() == ["visits"]
    assert inspector.has_table("visits")
    assert not inspector.has_table("other")
    columns = {column["name"]: column["type"] for column in inspector.get_columns("visits")}
    assert isinstance(columns["cost"], sa.Float)
    assert isinstance(columns["ward"], sa.Text)
    assert inspector.get_pk_constraint("visits")["constrained_columns"] == []
    assert inspector.get_foreign_keys("visits") == inspector.get_indexes("visits") == []
    assert inspector.get_view_names() == []
    assert left(policy) == 2


def test_an_address_of_a_server_is_https_and_its_token_is_not_shown():
    url = sa.make_url("deniable://me:dnb_secret@stats.example:8443/hospital?key=ab")
    assert DeniableDialect().create_connect_args(url) == (
        ["https://stats.example:8443/hospital"],
        {"key": "ab", "token": "dnb_secret"},
    )
    assert "dnb_secret" not in str(url)
    with pytest.raises(dp.InvalidParameter, match="nothing else"):
        DeniableDialect().create_connect_args(sa.make_url("deniable://h/p?token=x"))
