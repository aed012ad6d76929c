"""`deniable init`: a draft from names and types; a canary in the values never shows."""

import shutil
import tomllib
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import deniable as dp
from deniable.app.cli import main
from deniable.app.cli.commands.init import write_draft
from deniable.errors import InvalidPolicy
from deniable.policy import load

TAME = {"patient": ["a", "b"], "cost": [1.5, 2.5], "age": [30, 40], "seen": [True, False]}
CANARY = {"patient": ["CANARY", ""], "cost": [-9e307, 4711.25], "age": [4711, -4711]}
CANARY |= {"seen": [None, None]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(kind, columns):
    """The columns as a file of that kind; all of a kind have the same schema."""
    types = [pa.string(), pa.float64(), pa.int64(), pa.bool_()]
    table = pa.table([pa.array(c, t) for c, t in zip(columns.values(), types, strict=True)],
                     names=list(columns))  # fmt: skip
    path = f"visits.{kind}"
    if kind == "csv":
        pyarrow.csv.write_csv(table, path)
    elif kind == "parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        with duckdb.connect(path) as database:
            database.register("given", table)
            database.execute("CREATE OR REPLACE TABLE visits AS SELECT * FROM given")
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
def test_no_value_changes_the_draft(kind, folder):
    texts = {write_draft([write(kind, columns)], folder) for columns in (TAME, CANARY)}
    (text,) = texts
    assert "CANARY" not in text
    assert "4711" not in text


@pytest.mark.parametrize("line", [b"", b"1,2,3,4\n" * 100, b"a\xff,\n", b'"open,1,2\n'])
def test_no_line_of_a_csv_file_changes_the_draft(line, folder):
    (folder / "visits.csv").write_bytes(b"patient,cost,age,seen\n" + line)
    plain = write_draft([write("csv", TAME)], folder)
    (folder / "visits.csv").write_bytes(b"patient,cost,age,seen\n" + line)
    assert write_draft(["visits.csv"], folder) == plain


@pytest.mark.parametrize(
    ("line", "told"), [(b"1,2\n", "line 2 of"), (b'1,2,3,"x\n', "odd number of quotes")]
)
def test_a_file_with_malformed_lines_is_not_drafted_in_silence(folder, capsys, line, told):
    (folder / "visits.csv").write_bytes(b"patient,cost,age,seen\n" + line + b"1,2,3,4\n")
    with pytest.raises(SystemExit) as left:
        main(["init", "visits.csv"])
    assert left.value.code == 0
    said = capsys.readouterr().out
    assert "cannot be opened as it is: 1 line of its CSV files is malformed" in said
    assert told in said
    (folder / "visits.csv").write_bytes(b"patient,cost,age,seen\n1,2,3,4\n")
    with pytest.raises(SystemExit):
        main(["init", "visits.csv", "--force"])
    assert "malformed" not in capsys.readouterr().out


def test_a_file_in_another_encoding_is_not_drafted(folder, capsys):
    (folder / "visits.csv").write_text("patient,cost\n1,2\n", encoding="utf-16")
    with pytest.raises(SystemExit) as left:
        main(["init", "visits.csv"])
    assert left.value.code == 2
    assert "is not UTF-8 text" in capsys.readouterr().err
    assert not (folder / "deniable.toml").exists()


def test_categories_and_statistics_are_values_too(folder):
    """A dictionary's entries and a file's least and largest values lie outside its rows."""
    texts = set()
    for wards in (["A", "B"], ["CANARY", "Z"]):
        table = pa.table({"ward": pa.array(wards).dictionary_encode(), "n": [1, len(wards[0])]})
        pyarrow.parquet.write_table(table, "visits.parquet")
        texts.add(write_draft(["visits.parquet"], folder))
        with duckdb.connect("visits.duckdb") as database:
            values = ", ".join(f"'{ward}'" for ward in wards)
            database.execute(
                f"CREATE OR REPLACE TABLE visits AS SELECT '{wards[0]}'::ENUM({values}) AS ward"
            )
        texts.add(write_draft(["visits.duckdb"], folder))
    assert len(texts) == 2
    assert not any("CANARY" in text for text in texts)


def test_a_draft_cannot_be_used_before_it_is_filled_in(folder, capsys):
    write("parquet", TAME)
    with pytest.raises(SystemExit) as left:
        main(["init", "visits.parquet"])
    assert left.value.code == 0
    assert "2 lines marked FILL IN" in capsys.readouterr().out
    with pytest.raises(InvalidPolicy, match=r"line 9: `epsilon` still has the value"):
        load("deniable.toml")


def test_a_filled_draft_is_a_policy(folder):
    write("duckdb", TAME)
    text = write_draft(["visits.duckdb"], folder)
    text = text.replace('epsilon = "FILL IN"', "epsilon = 1")
    text = text.replace('unit = "FILL IN"', 'unit = "patient"')
    (folder / "deniable.toml").write_text(text.replace("# cost =", "cost ="))
    policy = load(folder / "deniable.toml")
    assert policy.tables["visits"].source == str(folder / "visits.duckdb#visits")
    assert policy.tables["visits"].columns["cost"].bounds == (0, 100)


def test_names_of_every_kind_are_quoted(folder):
    with duckdb.connect("odd.duckdb") as database:
        database.execute('CREATE TABLE "my ""visits""" AS SELECT 1 AS "a.b", 2 AS "c\n#d"')
    text = write_draft(["odd.duckdb"], folder)
    filled = text.replace('unit = "FILL IN"', "").replace('"FILL IN"', "1")
    (folder / "deniable.toml").write_text(filled.replace('# "', '"'))
    (table,) = load("deniable.toml").tables.values()
    assert table.name == 'my "visits"'
    assert set(table.columns) == {"a.b", "c\n#d"}


def test_the_source_is_named_from_the_policy(folder):
    (folder / "data").mkdir()
    (folder / "policies").mkdir()
    shutil.move(write("parquet", TAME), folder / "data")
    text = write_draft(["data/visits.parquet"], folder / "policies")
    assert 'source = "../data/visits.parquet"' in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["absent.parquet"], "was not found"),
        (["visits.xlsx"], "unknown file extension"),
        (["visits.csv"], "--force"),
    ],
)
def test_what_cannot_be_drafted_is_refused(folder, capsys, words, told):
    write("csv", TAME)
    if words == ["visits.csv"]:
        (folder / "deniable.toml").write_text("mine")
    with pytest.raises(SystemExit) as left:
        main(["init", *words])
    assert left.value.code == 2
    assert told in capsys.readouterr().err


def test_force_replaces(folder):
    (folder / "deniable.toml").write_text("mine")
    with pytest.raises(SystemExit) as left:
        main(["init", write("csv", TAME), "--force"])
    assert left.value.code == 0
    assert "tables.visits" in (folder / "deniable.toml").read_text()


def test_the_key_is_made_once_and_is_the_owners_alone(folder, capsys):
    write("csv", TAME)
    key, keys = folder / "deniable.ledger.key", []
    for words in ((), ("--force",)):
        with pytest.raises(SystemExit):
            main(["init", "visits.csv", *words])
        assert key.name in capsys.readouterr().out
        keys.append(key.read_text())
    assert keys[0] == keys[1]
    assert key.stat().st_mode & 0o777 == 0o600
    assert (folder / f"{key.name}.pub").exists()


@pytest.mark.parametrize("out", ["nowhere/x.toml", "visits.csv/x.toml"])
def test_a_draft_that_cannot_be_written_is_refused_in_one_line(folder, capsys, out):
    write("csv", TAME)
    with pytest.raises(SystemExit) as left:
        main(["init", "visits.csv", "--out", out, "--force"])
    told = capsys.readouterr().err
    assert (left.value.code, told.count("\n")) == (2, 1)
    assert f"{out}' cannot be written: " in told


def test_a_folder_that_is_read_only_is_told(folder, capsys, monkeypatch):
    write("csv", TAME)

    def refuse(self, *_, **__):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.write_text", refuse)
    with pytest.raises(SystemExit):
        main(["init", "visits.csv", "--force"])
    assert "'deniable.toml' cannot be written: Permission denied" in capsys.readouterr().err


@pytest.mark.parametrize("left", [("a.toml",), ("a.ledger.key.mark",), ("a.ledger.key",)])
def test_a_draft_gets_no_ledger_where_there_was_one(folder, capsys, left):
    """A policy about the same rows, or what is left of its ledger."""
    source = write("csv", TAME)
    Path("a.toml").write_text(f'[budget]\nepsilon = 1\n[tables.v]\nsource = "{source}"\n')
    dp.open("a.toml").close()
    for file in list(folder.iterdir()):
        if file.name not in (*left, source):
            file.unlink()
    with pytest.raises(SystemExit) as ended:
        main(["init", source, "--out", "b.toml"])
    assert ended.value.code == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "b.toml is drafted" in told
    assert "deniable ledger begin --because" in told
    assert "id =" not in Path("b.toml").read_text()
    assert not list(folder.glob("b.ledger*key"))


def test_a_draft_in_the_place_of_a_policy_keeps_its_ledger(folder):
    source = write("csv", TAME)
    Path("a.toml").write_text(f'[budget]\nepsilon = 1\n[tables.v]\nsource = "{source}"\n')
    dp.open("a.toml").close()
    line = [row for row in Path("a.toml").read_text().splitlines() if row.startswith("id =")]
    Path("a.ledger.key.mark").unlink()
    Path("a.ledger.sqlite").unlink()
    with pytest.raises(SystemExit):
        main(["init", source, "--out", "a.toml", "--force"])
    assert line[0] in Path("a.toml").read_text().splitlines()
    assert not Path("a.ledger.key.mark").exists()


def test_a_folder_is_a_table_for_each_of_its_files_and_others_are_added(run, tmp_path):
    (tmp_path / "data").mkdir()
    for name in ("wards.csv", "bills.csv", "notes.txt"):
        (tmp_path / "data" / name).write_text("patient,cost\n1,2\n")
    status, out, err = run("init", "data", "--out", "new.toml")
    assert (status, err) == (0, "")
    assert "\nThen list the tables with   deniable tables --policy new.toml\n" in out
    drafted = tomllib.loads((tmp_path / "new.toml").read_text())["tables"]
    assert {name: table["source"] for name, table in drafted.items()} == {
        "bills": "data/bills.csv",
        "wards": "data/wards.csv",
    }
    before = (tmp_path / "new.toml").read_text()
    status, out, err = run("init", "visits.parquet", "--add", "--out", "new.toml")
    assert (status, err) == (0, "")
    assert out == "visits added to new.toml. Decide the 1 line marked FILL IN.\n"
    after = (tmp_path / "new.toml").read_text()
    assert after.startswith(before)
    assert set(tomllib.loads(after)["tables"]) == {"bills", "wards", "visits"}
    status, out, err = run("init", "data/wards.csv", "--add", "--out", "new.toml")
    assert (status, out) == (2, "")
    assert "has a table 'wards' already" in err
    assert (tmp_path / "new.toml").read_text() == after


def test_two_sources_of_one_name_get_two_names(run, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "visits.csv").write_text("patient\n1\n")
    assert run("init", "a/visits.csv", "b/visits.csv", "--out", "new.toml")[0] == 0
    assert set(tomllib.loads((tmp_path / "new.toml").read_text())["tables"]) == {
        "visits",
        "visits_2",
    }


def test_a_folder_without_files_is_refused(run, tmp_path):
    (tmp_path / "empty").mkdir()
    status, out, err = run("init", "empty", "--out", "new.toml")
    assert (status, out) == (2, "")
    assert "has no CSV, Parquet or DuckDB file" in err
