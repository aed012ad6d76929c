"""Whatever the rows hold: no error, the same shape, and a bounded change.

The statement is of the shape that plans have: each column is cast at the leaf, clipped and
rounded, and a unit's groups and rows are bounded before the sum.
"""

import datetime
import itertools
import math

import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from tests.engines.plans import plan, shown
from tests.engines.sources import KINDS, source

CLIPPED = "CASE WHEN x > 100 THEN 100 WHEN x > 0 THEN x ELSE 0 END"
BY_WARD = f"""
WITH leaf AS (
  SELECT TRY_CAST(cost AS DOUBLE) AS x, TRY_CAST(ward AS VARCHAR) AS g,
         TRY_CAST("when" AS DATE) AS d, hash(patient) AS u FROM visits
), bounded AS MATERIALIZED (
  SELECT u, g, COUNT(*) AS c, COUNT(x) AS cx, SUM(CAST(ROUND({CLIPPED}) AS BIGINT)) AS s,
         COUNT(CASE WHEN d >= DATE '2020-01-01' THEN 1 END) AS late,
         hash(g, u, $salt) AS h
  FROM leaf WHERE g IN ('A', 'B', '') GROUP BY u, g
), chosen AS (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY u ORDER BY h, g) AS place FROM bounded
)
SELECT g AS k0, COUNT(*) AS units, SUM(LEAST(c, 2)) AS n,
       SUM(CASE WHEN c > 2 THEN s * 2 // c ELSE s END) AS s, SUM(LEAST(late, 2)) AS late
FROM chosen WHERE place <= 1 GROUP BY g
"""
ASKED = plan(BY_WARD, keys=["ward"], features=["n", "s", "late"], private=True)

DAY = datetime.date(2021, 5, 1)
PLAIN = {"patient": ["p", "q", "r"], "ward": ["A", "B", ""], "cost": [10.0, 99.5, 0.0]}
PLAIN |= {"when": [DAY] * 3}

HOSTILE = {
    "a missing unit": {"patient": None},
    "an empty unit": {"patient": ""},
    "a missing key": {"ward": None},
    "an empty key": {"ward": ""},
    "a long key": {"ward": "x" * 100_000},
    "a key of zeros": {"ward": "\0"},
    "a key with quotes": {"ward": "';\"\t,DROP"},
    "not a number": {"cost": math.nan},
    "infinity": {"cost": math.inf},
    "minus infinity": {"cost": -math.inf},
    "missing": {"cost": None},
    "1e308": {"cost": 1e308},
    "-1e308": {"cost": -1e308},
    "minus zero": {"cost": -0.0},
    "2^63": {"cost": 2.0**63},
    "tiny": {"cost": 5e-324},
    "the first day": {"when": datetime.date.min},
    "the last day": {"when": datetime.date.max},
    "no day": {"when": None},
}


SKIP = {"visits": "skip"}


def wards(kind, folder, rows):
    """{ward: (units, rows, sum, late)}, with the declared wards that nobody is in."""
    types = {"patient": pa.string(), "ward": pa.string(), "cost": pa.float64()}
    table = pa.table({name: pa.array(rows[name], types.get(name)) for name in rows})
    with DuckDB({"visits": source(kind, folder, table)}, malformed=SKIP) as engine:
        groups = {row[0]: row[1:] for row in shown(engine.run(ASKED))}
    return {ward: groups.get(ward, (0, 0, 0, 0)) for ward in ("A", "B", "")}


@pytest.fixture(scope="module", params=KINDS)
def plain(request, tmp_path_factory):
    """A kind of source, and what it answers without the hostile row."""
    return request.param, wards(request.param, tmp_path_factory.mktemp("plain"), PLAIN)


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_no_row_makes_it_fail_or_counts_for_more_than_one_unit(plain, change, tmp_path):
    kind, without = plain
    row = {"patient": "new", "ward": "A", "cost": 50.0, "when": DAY} | change
    rows = {name: [*PLAIN[name], *[row[name]] * 5] for name in PLAIN}
    with_it = wards(kind, tmp_path, rows)
    moved = [
        [abs(a - b) for a, b in zip(with_it[ward], without[ward], strict=True)]
        for ward in without
    ]
    units, counted, summed, late = (sum(column) for column in zip(*moved, strict=True))
    assert units <= 1
    assert counted <= 2
    assert summed <= 200
    assert late <= 2


def test_the_limits_are_needed():
    """The same rows without the limits move the sum by more: the test above can fail."""
    rows = {"patient": ["new"] * 5, "ward": ["A"] * 5, "cost": [1e308] * 5, "when": [DAY] * 5}
    unlimited = BY_WARD.replace("LEAST(c, 2)", "c").replace("c > 2", "FALSE")
    engine = DuckDB.open({"visits": pa.table(rows)})
    bare = plan(unlimited, keys=["ward"], features=["n", "s", "late"], private=True)
    assert shown(engine.run(ASKED)) == [("A", 1, 2, 200, 2)]
    assert shown(engine.run(bare)) == [("A", 1, 5, 500, 2)]


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
@pytest.mark.parametrize("clause", ["x > 100", "NOT x <= 100", "x <> 5", "isnan(x)"])
def test_whether_a_row_counts_does_not_hang_on_the_others(kind, clause, tmp_path):
    """Parquet's statistics know of no NaN, and must not decide what becomes of one."""
    query_plan = plan(f"SELECT COUNT(CASE WHEN {clause} THEN 1 END) AS n FROM visits")
    counts = []
    for rows in ([math.nan], [math.nan, 5.0], [math.nan, 1.0, 5.0]):
        engine = DuckDB.open({"visits": source(kind, tmp_path, pa.table({"x": rows}))})
        ((n,),) = shown(engine.run(query_plan))
        counts.append(n)
    assert max(abs(a - b) for a, b in itertools.pairwise(counts)) <= 1
    assert counts[0] == 1


BROKEN_LINES = {
    "too short": b"p\n",
    "too long": b"p,A,1,2020-01-01,more,and more\n",
    "bytes that are not text": b"\xff\xfe,A,1,2020-01-01\n",
    "zeros": b"\x00,\x00,\x00,\x00\n",
    "empty": b"\n\n\n",
    "words": b"p,A,many,yesterday\n",
    "numbers of any size": b"p,A,1e999,99999999-99-99\n",
    "a quote inside": b'p"q",A,1,2020-01-01\n',
    "text after a quote": b'"p"q,"A",1,2020-01-01\n',
    "carriage returns": b"p,A,1,2020-01-01\r\n",
    "an endless field": b"p," + b"A" * 3_000_000 + b",1,2020-01-01\n",
}


@pytest.mark.parametrize("line", BROKEN_LINES.values(), ids=BROKEN_LINES)
def test_no_line_of_a_csv_file_makes_it_fail(line, tmp_path):
    path = tmp_path / "visits.csv"
    path.write_bytes(b"patient,ward,cost,when\nq,B,7,2021-05-01\n" + line + b"r,A,8,\n")
    engine = DuckDB({"visits": str(path)}, malformed=SKIP)
    assert engine.schema("visits") == dict.fromkeys(PLAIN, "VARCHAR")
    assert ("B", 1, 1, 7, 1) in shown(engine.run(ASKED))


FAR = [2**63 - 1, -(2**63) + 1, -(2**63), 0]


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize(
    ("kind", "unit"),
    # Parquet has no timestamps in seconds.
    [("arrow", "s"), *itertools.product(["arrow", "parquet"], ["ms", "us", "ns"])],
)
def test_no_timestamp_makes_it_fail(unit, zone, kind, tmp_path):
    stamps = pa.array(FAR, pa.int64()).view(pa.timestamp(unit, zone))
    columns = {"patient": list("pqrs"), "ward": ["A"] * 4, "cost": [1.0] * 4, "when": stamps}
    engine = DuckDB.open({"visits": source(kind, tmp_path, pa.table(columns))})
    ((ward, units, rows, total, late),) = shown(engine.run(ASKED))
    assert (ward, units, rows, total) == ("A", 4, 4, 4)
    assert 0 <= late <= 3


@pytest.mark.parametrize("kind", ["arrow", "parquet", "duckdb"])
def test_no_date_makes_it_fail(kind, tmp_path):
    days = pa.array([2**31 - 1, -(2**31), -(2**31) + 1, 0], pa.int32()).view(pa.date32())
    columns = {"patient": list("pqrs"), "ward": ["A"] * 4, "cost": [1.0] * 4, "when": days}
    engine = DuckDB.open({"visits": source(kind, tmp_path, pa.table(columns))})
    ((*counts, late),) = shown(engine.run(ASKED))
    assert counts == ["A", 4, 4, 4]
    assert 0 <= late <= 3


@pytest.mark.parametrize("column", ["ward", "patient"])
@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_no_bytes_that_are_not_text_make_it_fail(column, kind, tmp_path):
    broken = pa.array([b"A", b"\xff\xfe", b"\xf0", b"B\xc3"], pa.binary()).view(pa.string())
    rows = pa.table(
        {
            "patient": pa.array(["p", "q", "r", "s"]),
            "ward": pa.array(["A", "A", "A", "A"]),
            "cost": pa.array([1.0] * 4),
            "when": pa.array([DAY] * 4),
        }
    )
    rows = rows.set_column(rows.column_names.index(column), column, broken)
    with DuckDB.open({"visits": source(kind, tmp_path, rows)}) as engine:
        groups = {row[0]: row[1:] for row in shown(engine.run(ASKED))}
    assert groups["A"][1] == (1 if column == "ward" else 4)
