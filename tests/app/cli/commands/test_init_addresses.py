"""`deniable init` at an address: its tables, and no secret in the policy or in a message."""

import duckdb
import ibis
import pyarrow as pa
import pytest

from deniable.app.cli import main
from deniable.app.cli.commands.init import write_draft
from deniable.policy import load

SECRET = "open-sesame"


# Ibis 12 still calls DuckDB by names that DuckDB 2 would rather not hear.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def polars(monkeypatch):
    """What every address of Ibis leads to: a connection with two tables."""
    connection = ibis.polars.connect()
    connection.create_table("visits", pa.table({"patient": ["CANARY"], "cost": [4711]}))
    connection.create_table("wards", pa.table({"ward": ["A"]}))
    monkeypatch.setattr(ibis, "connect", lambda _: connection)
    return connection


def test_every_table_of_a_connection_is_drafted(folder, polars):
    with pytest.raises(SystemExit) as left:
        main(["init", "ibis://polars/hospital"])
    assert left.value.code == 0
    text = (folder / "deniable.toml").read_text()
    assert not any(one in text for one in ("CANARY", "4711"))
    filled = text.replace('unit = "FILL IN"', "").replace('"FILL IN"', "1")
    (folder / "deniable.toml").write_text(filled)
    tables = load("deniable.toml").tables
    assert {name: one.source for name, one in tables.items()} == {
        "visits": "ibis://polars/hospital#visits",
        "wards": "ibis://polars/hospital#wards",
    }


def test_one_table_is_chosen_after_the_mark(folder):
    with duckdb.connect("hospital.duckdb") as database:
        database.execute("CREATE TABLE visits AS SELECT 'CANARY' AS patient, 4711 AS cost")
        database.execute("CREATE TABLE wards AS SELECT 'A' AS ward")
    source = f"ibis://duckdb/{folder}/hospital.duckdb#visits"
    text = write_draft(source, folder)
    assert f'source = "{source}"' in text
    assert "[tables.wards]" not in text


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (f"postgresql://reader:{SECRET}@db.example.org/hospital", "PGPASSWORD"),
        (f"postgresql://reader@db.example.org/hospital?password={SECRET}", "PGPASSWORD"),
        (f"spark://h:15002/;token={SECRET}#visits", "DENIABLE_SPARK_TOKEN"),
        (f"ibis://snowflake/reader:{SECRET}@account/db", "DENIABLE_IBIS_PASSWORD"),
        (f"postgres://reader:{SECRET}@db.example.org/hospital", "begins with spark://"),
    ],
)
def test_a_secret_on_the_command_line_is_refused_and_not_repeated(source, told, folder, capsys):
    with pytest.raises(SystemExit) as left:
        main(["init", source])
    error = capsys.readouterr().err
    assert left.value.code == 2
    assert told in error
    assert SECRET not in error
    assert not (folder / "deniable.toml").exists()


def test_an_address_that_does_not_answer_is_said_without_its_secret(
    folder, capsys, monkeypatch
):
    monkeypatch.setenv("HOSPITAL", f"postgresql://reader:{SECRET}@/db?host={folder}/nowhere")
    with pytest.raises(SystemExit) as left:
        main(["init", "$HOSPITAL"])
    error = capsys.readouterr().err
    assert left.value.code == 2
    assert "Cannot connect" in error
    assert SECRET not in error


def test_an_address_without_tables_is_said(folder, polars, capsys):
    for name in ("visits", "wards"):
        polars.drop_table(name)
    with pytest.raises(SystemExit) as left:
        main(["init", "ibis://polars/hospital"])
    assert left.value.code == 2
    assert "This address has no table" in capsys.readouterr().err


def test_tables_that_cannot_be_listed_are_to_be_named(folder, monkeypatch, capsys):
    def refuse(address):
        raise RuntimeError(address)

    monkeypatch.setenv("DENIABLE_IBIS_PASSWORD", SECRET)
    monkeypatch.setattr(ibis, "connect", refuse)
    with pytest.raises(SystemExit) as left:
        main(["init", "ibis://snowflake/reader@account/db"])
    error = capsys.readouterr().err
    assert left.value.code == 2
    assert "#visits" in error
    assert SECRET not in error
