"""CSV files are read once and strictly; only the owner learns where they are malformed."""

import gzip
import logging
import stat
import tempfile
import threading

import pytest

import deniable as dp
from deniable.engines.duckdb import csv_files, csv_lines
from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.duckdb.source_files import find_files
from deniable.errors import EngineFailed, InvalidPolicy
from deniable.policy import Policy, Table
from tests.engines.plans import plan, shown

GOOD = b"ward,cost\nA,10\nB,20\n"
BAD = {
    "too few columns": (GOOD + b"secret\n", 4),
    "too many columns": (GOOD + b"x,secret,3\n", 4),
    "no text": (b"ward,cost\nA,10\n\xff\xfesecret,7\nB,20\n", 3),
    "a quote inside": (b'ward,cost\nA,10\nx,5" or "secret\nB,20\n', 3),
    "another line end": (b"ward,cost\nA,10\nsecret,7\r\nB,20\n", 3),
}
FEW = plan("SELECT COUNT(*) AS n, COUNT(ward) AS m FROM visits", features=["n", "m"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where engines spill."""
    path = tmp_path / "spill"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


def told(caplog):
    """What this test logged. The children of another test's server may still try to start."""
    own = threading.get_ident()
    return [record.getMessage() for record in caplog.records if record.thread == own]


@pytest.fixture
def opened(tmp_path, caplog, folder):
    def open_(content, name="visits.csv", **declared):
        path = tmp_path / name
        path.write_bytes(content)
        with caplog.at_level(logging.DEBUG, "deniable"):
            return DuckDB.open(Policy([Table("visits", str(path), **declared)], epsilon=1))

    return open_


@pytest.mark.parametrize("case", BAD)
def test_the_owners_log_says_how_many_and_where(opened, caplog, case):
    content, line = BAD[case]
    assert shown(opened(content, malformed="skip").run(FEW)) == [(2, 2)]
    (said,) = told(caplog)
    assert said.startswith("table visits: 1 line of its CSV files is malformed")
    assert f"line {line} of " in said
    assert "secret" not in said


@pytest.mark.parametrize("case", BAD)
def test_they_are_refused_unless_the_policy_says_otherwise(opened, caplog, folder, case):
    content, line = BAD[case]
    with pytest.raises(InvalidPolicy, match='malformed = "skip"') as refused:
        opened(content)
    assert f"line {line} of " in caplog.text
    assert not any(word in str(refused.value) for word in (str(line), "secret", "1 line"))
    assert "secret" not in caplog.text
    assert refused.value.where == ("tables", "visits", "malformed")
    assert list(folder.iterdir()) == []
    assert opened(GOOD)


PEOPLE = b"id,cost,note\n" + b"".join(b"%d,7.5,x\n" % i for i in range(1000))
HIDING = {
    "a carriage return and a quote": b'5,7.5,x\r"a\n',
    "another line end and a quote": b'5,7.5,x\r\n"\n',
    "a line within a line": b'5,7.5,x\r5,7.5,"y\n',
    "an open quote": b'5,7.5,"x\n',
    "a quote that opens the line": b'"5,7.5,x\n',
    "a quote alone": b'"\n',
    "two quotes": b'5,7.5,x\r"a"\n',
    "a quote after two": b'5,7.5,""x"\n',
    "text after a quote": b'5,7.5,"x"s\n',
    "zeros": b"5,7.5,x\0\n",
    "a byte order mark of UTF-16": b"\xff\xfe5\x00,\x007\x00,\x00x\x00\n",
}


@pytest.mark.parametrize("case", HIDING)
def test_one_record_hides_no_other(opened, case):
    """1,000 people stay 1,000 people, whatever one more writes into the file."""
    lines = PEOPLE.splitlines(keepends=True)
    lines.insert(500, HIDING[case])
    with pytest.raises(InvalidPolicy, match=r"malformed lines|odd number of quotes"):
        opened(b"".join(lines))
    if HIDING[case].count(b'"') % 2:
        with pytest.raises(InvalidPolicy, match="odd number of quotes"):
            opened(b"".join(lines), malformed="skip")
        return
    counted = plan("SELECT COUNT(*) AS n, COUNT(note) AS m FROM visits", features=["n", "m"])
    assert shown(opened(b"".join(lines), malformed="skip").run(counted)) == [(1000, 1000)]


def test_a_count_of_a_thousand_stays_one(tmp_path):
    """The whole way, with the record that made a COUNT of 1,000 people -2."""
    path = tmp_path / "visits.csv"
    path.write_bytes(PEOPLE + HIDING["a carriage return and a quote"])
    question = "SELECT COUNT(*) AS n FROM data"
    for malformed in ("refuse", "skip"):
        with pytest.raises(InvalidPolicy, match="odd number of quotes"):
            dp.protect(str(path), epsilon=10**6, malformed=malformed)
    path.write_bytes(PEOPLE + HIDING["two quotes"])
    session = dp.protect(str(path), epsilon=10**6, malformed="skip")
    assert session.sql(question, epsilon=10**5).to_arrow()["n"].to_pylist() == [1000]


@pytest.mark.parametrize("long", [0, 300])
def test_one_record_does_not_look_like_many(opened, caplog, monkeypatch, long):
    """A value with line breaks, as a CSV writer quotes it: its lines may name other people."""
    for module in (csv_files, csv_lines):
        monkeypatch.setattr(module, "LONGEST", 60)
    monkeypatch.setattr(csv_files, "_BLOCK", 30)
    note = b"5,7.5," + b"," * long + b'"see:\n6,7.5,y\n7,7.5,y\nand more"\n'
    for malformed in ("refuse", "skip"):
        with pytest.raises(InvalidPolicy, match="store the table as Parquet") as refused:
            opened(PEOPLE + note, malformed=malformed)
        assert "quotes is line 1002 of " in caplog.text
        assert "100" not in str(refused.value)


def test_quotes_that_close_are_read(opened, caplog):
    fine = b'x,"a, ""b"""\n"y",A\nz,\n'
    assert shown(opened(GOOD + fine + b"C,30\n" * 100).run(FEW)) == [(105, 105)]
    assert told(caplog) == []


def test_the_log_beside_the_ledger_has_it(tmp_path):
    (tmp_path / "visits.csv").write_bytes(GOOD + b"secret\n")
    policy = '[budget]\nepsilon = 1\n[tables.visits]\nsource = "visits.csv"\n'
    (tmp_path / "deniable.toml").write_text(policy)
    with pytest.raises(InvalidPolicy, match=r"deniable\.toml"):
        dp.open(str(tmp_path / "deniable.toml"))
    (log,) = tmp_path.glob("*.log")
    assert "1 line of its CSV files is malformed; the first is line 4 of " in log.read_text()


def test_several_lines_and_files_are_counted(tmp_path, caplog):
    for name, content in (("a.csv", GOOD + b"x\ny\n"), ("b.csv", GOOD + b"z\n")):
        (tmp_path / name).write_bytes(content)
    table = Table("visits", str(tmp_path / "*.csv"), malformed="skip")
    assert shown(DuckDB.open(Policy([table], epsilon=1)).run(FEW)) == [(4, 4)]
    assert "3 lines of its CSV files are malformed" in caplog.text
    assert "line 4 of " in caplog.text
    assert "a.csv" in caplog.text


@pytest.mark.parametrize("second", [b"cost,ward\n1,A\n", b"A,10\n", b"ward,cost,day\nA,1,2\n"])
def test_files_with_other_columns_are_refused(tmp_path, second):
    """Their values would be read as those of other columns."""
    (tmp_path / "a.csv").write_bytes(GOOD)
    (tmp_path / "b.csv").write_bytes(second)
    with pytest.raises(InvalidPolicy, match="same columns in the same order"):
        DuckDB.open({"visits": str(tmp_path / "*.csv")})


def test_line_ends_may_differ_between_files(tmp_path):
    (tmp_path / "a.csv").write_bytes(GOOD)
    (tmp_path / "b.csv").write_bytes(b"\xef\xbb\xbf" + GOOD.replace(b"\n", b"\r\n")[:-2])
    engine = DuckDB.open({"visits": str(tmp_path / "*.csv")})
    query_plan = plan("SELECT cost AS k0, COUNT(*) AS n FROM visits GROUP BY 1", keys=["cost"],
                 features=["n"])  # fmt: skip
    assert sorted(shown(engine.run(query_plan))) == [("10", 2), ("20", 2)]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".TSV.GZ"])
def test_nothing_is_said_where_all_is_well(opened, caplog, ending):
    content = GOOD.replace(b",", b"\t") if ".tsv" in ending.lower() else GOOD
    content = gzip.compress(content) if ending.lower().endswith(".gz") else content
    assert shown(opened(content, f"visits{ending}").run(FEW)) == [(2, 2)]
    assert told(caplog) == []


def test_a_packed_file_that_ends_early_is_refused(opened, folder):
    content = gzip.compress(GOOD + b"".join(b"%d,x\n" % i for i in range(99_999)))
    with pytest.raises(InvalidPolicy, match="incomplete"):
        opened(content[:-2000], "visits.csv.gz", malformed="skip")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["visits*.csv", "visits?.csv", "v[isits].csv"])
def test_a_name_is_not_taken_for_a_pattern(opened, tmp_path, name):
    (tmp_path / "visits-2.csv").write_bytes(GOOD * 9)
    assert shown(opened(GOOD, name).run(FEW)) == [(2, 2)]


def test_very_long_lines_are_left_out_alone(opened, monkeypatch):
    for module in (csv_files, csv_lines):
        monkeypatch.setattr(module, "LONGEST", 60)
    monkeypatch.setattr(csv_files, "_BLOCK", 30)
    for length in (59, 60, 61, 62, 90, 91, 120, 121, 122, 500):
        line = b"x," + b"y" * (length - 2) + b"\n"
        content = GOOD + line + b"C,30\n" + line[:-1]
        rows = 5 if length <= 60 else 3
        assert shown(opened(content, malformed="skip").run(FEW)) == [(rows, rows)]


@pytest.mark.parametrize("packed", [False, True])
def test_blocks_give_every_line_once_and_in_order(tmp_path, monkeypatch, packed):
    """The memory of a block is filled again, but only after it was read."""
    monkeypatch.setattr(csv_files, "_BLOCK", 100)
    rows = [{"a": str(place), "b": "x" * (place % 30) or None} for place in range(3000)]
    lines = [b"a,b\n", *(f"{row['a']},{row['b'] or ''}\n".encode() for row in rows)]
    path = tmp_path / ("visits.csv.gz" if packed else "visits.csv")
    path.write_bytes(gzip.compress(b"".join(lines)) if packed else b"".join(lines))
    files = find_files(str(path))
    copy = csv_files.copy_csv_files("visits", files, "refuse", tmp_path / "copy")
    assert copy.to_pylist() == rows


def test_what_an_analyst_sees_is_the_same(tmp_path, caplog):
    seen = []
    for name, content in (("good", GOOD), ("bad", GOOD + b"secret\n")):
        path = tmp_path / f"{name}.csv"
        path.write_bytes(content)
        session = dp.protect(str(path), epsilon=10**6, malformed="skip")
        answer = session.sql("SELECT COUNT(*) AS n FROM data", epsilon=10**5)
        seen.append(
            (
                repr(session),
                repr(answer),
                str(session.explain("SELECT COUNT(*) AS n FROM data", epsilon=1)),
            )
        )
    assert seen[0] == seen[1]
    assert len(told(caplog)) == 1


def test_the_copy_is_private_and_goes_with_the_engine(opened, folder):
    engine = opened(GOOD)
    (spill,) = folder.iterdir()
    assert stat.S_IMODE(spill.stat().st_mode) == 0o700
    (copy,) = spill.glob("kept-*")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    engine.close()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("change", [b"", b"nothing", GOOD * 2, GOOD + b'"', None])
def test_what_happens_to_the_file_changes_no_answer(opened, tmp_path, change):
    engine = opened(GOOD)
    path = tmp_path / "visits.csv"
    path.unlink() if change is None else path.write_bytes(change)
    assert shown(engine.run(FEW)) == [(2, 2)]
    with pytest.raises(EngineFailed):  # after a failure the connection is opened again
        engine.run(plan("SELECT error(ward) AS n FROM visits", features=["n"]))
    assert shown(engine.run(FEW)) == [(2, 2)]


def test_a_copy_that_does_not_fit_is_refused(opened, monkeypatch, folder):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(csv_files.pa, "OSFile", full)
    with pytest.raises(InvalidPolicy, match=r"No space left on device.*TMPDIR"):
        opened(GOOD)
    assert list(folder.iterdir()) == []


def test_the_columns_are_known_without_reading_a_row(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_bytes(GOOD + b"secret\n")
    schema = {"visits": {"ward": "VARCHAR", "cost": "VARCHAR"}}
    assert DuckDB.read_schemas({"visits": str(path)}) == schema
    assert csv_files.find_malformed_lines(find_files(str(path))).count == 1
    path.write_bytes("ward,cost\n".encode("utf-16"))
    with pytest.raises(InvalidPolicy, match="not UTF-8") as refused:
        DuckDB.read_schemas({"visits": str(path)})
    assert refused.value.where == ("tables", "visits", "source")


def test_a_header_alone_is_a_table_without_rows(opened):
    for content in (b"ward,cost\n", b"ward,cost", b"ward,cost\n\n\n"):
        engine = opened(content)
        assert shown(engine.run(FEW)) == [(0, 0)]
        assert engine.schema("visits") == {"ward": "VARCHAR", "cost": "VARCHAR"}
