"""The rows of a table in PostgreSQL as they are."""

from datetime import date, datetime

import psycopg
import pyarrow as pa
import pytest

import deniable as dp
from deniable.engines.postgresql.owner_rows import read_rows
from tools.postgresql import address, server


@pytest.fixture(scope="module")
def database():
    with server() as folder:
        yield address(folder)


def write(database, name, kinds, *rows):
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {name} ({kinds})")
        for row in rows:
            connection.execute(f"INSERT INTO {name} VALUES ({row})")
    return f"{database}#public.{name}"


def test_rows_keep_their_values(database):
    kinds = (
        'ward text, cost numeric(9, 2), id bigint, small int, ill boolean, "my day" date, '
        "at timestamp, ratio double precision"
    )
    first = "'it''s', 10.25, 9007199254740993, 7, true, '2026-01-02', '2026-01-02 03:04', 0.5"
    nothing = "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
    table = read_rows(write(database, "visits", kinds, first, nothing))
    expected = {
        "ward": "it's",
        "cost": 10.25,
        "id": 2**53 + 1,
        "small": 7,
        "ill": True,
        "my day": date(2026, 1, 2),
        "at": datetime(2026, 1, 2, 3, 4),
        "ratio": 0.5,
    }
    assert table.to_pydict() == {name: [value, None] for name, value in expected.items()}
    assert table.schema.field("id").type == pa.int64()


def test_days_beyond_the_calendar_are_null_and_long_numbers_doubles(database):
    kinds = "day date, at timestamp, big numeric"
    rows = (
        "'infinity', '-infinity', 1e30",
        "'0044-03-15 BC', '0044-03-15 12:00 BC', 0.1",
        "'9999-12-31', '9999-12-31 00:00', 2",
    )
    columns = read_rows(write(database, "days", kinds, *rows)).to_pydict()
    assert columns == {
        "day": [None, None, date(9999, 12, 31)],
        "at": [None, None, datetime(9999, 12, 31)],
        "big": [1e30, 0.1, 2.0],
    }


def test_columns_that_can_only_be_compared_are_left_out(database):
    kinds = "id int, place point, note jsonb"
    table = read_rows(write(database, "places", kinds, "1, '(1,2)', '{}'"))
    assert table.to_pydict() == {"id": [1]}


def test_an_empty_table_has_its_columns(database):
    assert read_rows(write(database, "empty", "id int")).to_pydict() == {"id": []}


def test_a_table_that_is_not_there_is_an_error_of_our_own(database):
    with pytest.raises(dp.DeniableError):
        read_rows(f"{database}#public.nowhere")
