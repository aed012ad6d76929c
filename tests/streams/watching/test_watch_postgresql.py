"""A watch of a PostgreSQL table that grows: the same numbers as on DuckDB."""

import secrets
from datetime import date, timedelta
from random import Random

import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dp
from tools.postgresql import address, server

pytestmark = [pytest.mark.needs("postgresql"), pytest.mark.xdist_group("postgresql")]

SINCE = date(2026, 1, 1)
YEAR = {"since": SINCE, "until": date(2026, 12, 31), "epsilon": 10**7, "delta": 0}
COUNT = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"
SUM = "SELECT day, SUM(cost) AS cost FROM visits WHERE cost > -9 GROUP BY day"
POLICY = """
[budget]
epsilon = 1e9

[tables.visits]
source = '{source}'
{limits}
[tables.visits.columns]
cost = {{ bounds = [-2, 10], step = 0.5 }}
"""
PERSONS = 'unit = "patient"\nmax_rows_per_unit_per_group = 2\n'


@pytest.fixture(scope="module")
def postgresql():
    """A server whose dates are not written as ours, unless one asks for it."""
    with server(datestyle="German") as folder:
        yield folder


class Growing:
    """A table on the server, to which rows are added, and whose copy DuckDB reads."""

    def __init__(self, folder, unit_type):
        self.address, self.name = address(folder), f"v{secrets.token_hex(6)}"
        self.rows, self.chance = [], Random(unit_type)
        self.text = unit_type == "text"
        self.run(f"CREATE TABLE {self.name} (day date, patient {unit_type}, cost float8)")

    def run(self, statement, *values):
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.cursor().executemany(statement, values or [()])

    def grow(self, number):
        """Rows of one day, of few patients; now and then one row of them is taken back."""
        for _ in range(self.chance.randrange(1, 9)):
            patient = self.chance.randrange(4)
            patient = f"Z{patient}" if self.text else patient - 1
            day = SINCE + timedelta(number - self.chance.choice([0, 0, 0, 1]))
            self.rows.append((day, patient, self.chance.randrange(-20, 60) / 4))
            self.run(f"INSERT INTO {self.name} VALUES (%s, %s, %s)", self.rows[-1])
        gone = self.rows.pop(self.chance.randrange(len(self.rows)))
        place = (
            f"SELECT ctid FROM {self.name} WHERE (day, patient, cost) = (%s, %s, %s) LIMIT 1"
        )
        self.run(f"DELETE FROM {self.name} WHERE ctid IN ({place})", gone)

    def arrow(self):
        types = [pa.date32(), pa.string() if self.text else pa.int64(), pa.float64()]
        columns = zip(*self.rows, strict=True)
        arrays = [pa.array(*column) for column in zip(columns, types, strict=True)]
        return pa.table(arrays, ["day", "patient", "cost"])


@pytest.mark.parametrize("unit_type", ["bigint", "text"])
@pytest.mark.parametrize("limits", ["", PERSONS], ids=["rows", "persons"])
def test_the_numbers_are_those_of_duckdb(postgresql, tmp_path, limits, unit_type):
    """Each day the session is opened again, and the table was changed meanwhile."""
    table = Growing(postgresql, unit_type)
    here, there = tmp_path / "here", tmp_path / "there"
    sources = {here: f"{table.address}#{table.name}", there: there / "visits.parquet"}
    options = {"per_person": 3} if limits else {}
    for folder, source in sources.items():
        folder.mkdir()
        (folder / "policy.toml").write_text(POLICY.format(source=source, limits=limits))
    shown = {}
    for number in range(6):
        table.grow(number)
        pa.parquet.write_table(table.arrow(), there / "visits.parquet")
        for folder in sources:
            for question in (COUNT, SUM):
                with dp.open(folder / "policy.toml") as session:
                    watch = session.watch(question, **YEAR, **options)
                    read = watch.read(SINCE + timedelta(number))
                    assert session.remaining.epsilon >= 10**9 - 2 * 10**7
                assert read.values[:-1] == shown.get((folder, question), ())  # none changes
                shown[folder, question] = read.values
    for question in (COUNT, SUM):
        assert shown[here, question] == shown[there, question]
        assert any(shown[here, question])


def test_no_person_counts_more_often_than_allowed(postgresql, tmp_path):
    """The same person comes every day, and earlier rows are removed."""
    table = Growing(postgresql, "bigint")
    text = POLICY.format(source=f"{table.address}#{table.name}", limits=PERSONS)
    (tmp_path / "policy.toml").write_text(text)
    values = ()
    for number in range(4):
        table.run(f"DELETE FROM {table.name}")
        rows = [(SINCE + timedelta(number), person, 1.0) for person in (7, 7, 8 + number)]
        table.run(f"INSERT INTO {table.name} VALUES (%s, %s, %s)", *rows)
        with dp.open(tmp_path / "policy.toml") as session:
            watch = session.watch(COUNT, **YEAR, per_person=3)
            values = watch.read(SINCE + timedelta(number)).values
    assert values == (3, 2, 1, 1)  # two and one of person 7, and one of somebody new each day
