"""`deniable init` at an address: its tables, and no secret in the policy or in a message."""

import contextlib
import sqlite3

import duckdb
import pytest

from deniable.app.cli import main
from deniable.app.cli.commands.init import write_draft
from deniable.policy import load

SECRET = "open-sesame"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def database(*statements):
    """The address of a SQLite database that these statements make."""
    with contextlib.closing(sqlite3.connect("hospital.sqlite")) as connection:
        for sql in statements:
            connection.execute(sql)
        connection.commit()
    return "ibis://sqlite/hospital.sqlite"


def test_every_table_of_a_connection_is_drafted(folder):
    source = database(
        "CREATE TABLE visits (patient TEXT, cost INT)",
        "INSERT INTO visits VALUES ('CANARY', 4711)",
        "CREATE TABLE wards (ward TEXT)",
    )
    with pytest.raises(SystemExit) as left:
        main(["init", source])
    assert left.value.code == 0
    text = (folder / "deniable.toml").read_text()
    assert not any(each in text for each in ("CANARY", "4711"))
    filled = text.replace('unit = "FILL IN"', "").replace('"FILL IN"', "1")
    (folder / "deniable.toml").write_text(filled)
    tables = load("deniable.toml").tables
    assert {name: each.source for name, each in tables.items()} == {
        "visits": f"{source}#visits",
        "wards": f"{source}#wards",
    }


def test_one_table_is_chosen_after_the_mark(folder):
    with duckdb.connect("hospital.duckdb") as database:
        database.execute("CREATE TABLE visits AS SELECT 'CANARY' AS patient, 4711 AS cost")
        database.execute("CREATE TABLE wards AS SELECT 'A' AS ward")
    source = f"ibis://duckdb/{folder}/hospital.duckdb#visits"
    text = write_draft([source], folder)
    assert f'source = "{source}"' in text
    assert "[tables.wards]" not in text


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (f"postgresql://reader:{SECRET}@db.example.org/hospital", "PGPASSWORD"),
        (f"postgresql://reader@db.example.org/hospital?password={SECRET}", "PGPASSWORD"),
        (f"spark://h:15002/;token={SECRET}#visits", "DENIABLE_SPARK_TOKEN"),
        (f"ibis://snowflake/reader:{SECRET}@account/db", '"$NAME"'),
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


def test_an_address_without_tables_is_said(folder, capsys):
    with pytest.raises(SystemExit) as left:
        main(["init", database()])
    assert left.value.code == 2
    assert "This address has no table" in capsys.readouterr().err


def test_a_back_end_that_was_not_compared_is_said(folder, capsys):
    with pytest.raises(SystemExit) as left:
        main(["init", "ibis://snowflake/reader@account/db"])
    assert left.value.code == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "you can use duckdb and sqlite" in error
    assert "account" not in error
