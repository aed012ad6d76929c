import pandas
import pytest
import sqlalchemy as sa

import deniable as dp
from deniable.app.publish.postgresql_schema import write_schema
from tools.postgresql import empty_place, server


@pytest.fixture(scope="module")
def postgresql():
    with server(fsync="off") as folder:
        yield folder


@pytest.mark.needs("postgresql")
def test_any_tool_reads_the_schema(tables, postgresql):
    place = empty_place(postgresql)
    url = sa.make_url(place.partition("#")[0].replace("postgresql:", "postgresql+psycopg:"))
    for _ in range(2):
        assert write_schema(f"{place.partition('#')[0]}#open_data", tables) == "open_data"
    engine = sa.create_engine(url)
    for table in tables:
        frame = pandas.read_sql_table(table.name, engine, schema="open_data")
        assert frame.to_dict("records") == table.rows.to_pylist()
    with engine.connect() as connection:
        rows = connection.execute(sa.text("SELECT * FROM open_data.certificates")).all()
    assert {row.certificate_id for row in rows} == {t.certificate_id for t in tables}
    assert all(dp.verify(row.certificate).checks for row in rows)
    engine.dispose()


def test_a_place_that_cannot_be_written_is_said(tables, tmp_path):
    with pytest.raises(dp.InvalidParameter, match="small letters"):
        write_schema("postgresql://h/d#Öffentlich", tables)
    away = f"postgresql://ann:secret@/d?host={tmp_path}"
    with pytest.raises(dp.InvalidParameter, match="cannot be written") as problem:
        write_schema(away, tables)
    assert "secret" not in str(problem.value)
