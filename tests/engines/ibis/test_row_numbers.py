"""Places within a group, by windows and by lists; rows told apart by what they hold."""

import itertools
import math

import pyarrow as pa
import pytest

from deniable.engines.ibis.row_numbers import identify_rows, number_rows
from tests.engines import ibises
from tests.engines.contract import hostile, hostile_policy

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

UNITS = ["p", None, "q", "p", "p", None, "q", "p"]
VALUES = [1.5, math.nan, None, 1.5, math.nan, 2.5, 0.0, None]


def fresh():
    count = itertools.count()
    return lambda: f"p{next(count)}"


@pytest.mark.parametrize("backend", ibises.OPENED)
@pytest.mark.parametrize("dense", [False, True])
def test_places_count_the_rows_of_a_group(backend, dense):
    table = pa.table({"u": UNITS, "v": pa.array(VALUES, pa.float64()), "row": range(8)})
    names = fresh() if backend == "polars" else None
    with ibises.OPENED[backend]({"t": table}) as engine:
        read = engine._tables["t"]
        made = number_rows(read, ["u"], [read.v.isnull()], "place", fresh=names, dense=dense)
        assert made.columns == ("u", "v", "row", "place")
        found = engine._backend.to_pyarrow(made).to_pylist()
    assert sorted(one["row"] for one in found) == list(range(8))
    for unit in ("p", "q", None):
        own = [one for one in found if one["u"] == unit]
        told = sorted((one["place"], one["v"] is None) for one in own)
        if dense:
            assert {place for place, _ in told} == set(range(1, 1 + len({n for _, n in told})))
        else:
            assert [place for place, _ in told] == list(range(1, 1 + len(own)))
        assert [null for _, null in told] == sorted(null for _, null in told)


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_a_group_of_nothing_but_its_keys_is_numbered(backend):
    with ibises.OPENED[backend]({"t": pa.table({"u": ["a", "b", "a"]})}) as engine:
        names = fresh() if backend == "polars" else None
        made = number_rows(engine._tables["t"], ["u"], [], "place", fresh=names)
        found = engine._backend.to_pyarrow(made).to_pylist()
    assert sorted((one["u"], one["place"]) for one in found) == [("a", 1), ("a", 2), ("b", 1)]


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_rows_have_the_same_names_whenever_they_are_read(backend):
    table = pa.concat_tables([hostile(), hostile()])  # each row at least twice
    turned = table.take(pa.array(range(len(table)))[::-1])
    found = []
    for one in (table, turned):
        with ibises.OPENED[backend]({"odd": one}) as engine:
            read = engine._tables["odd"]
            columns = list(read.columns)
            lists = backend == "polars"
            made = identify_rows(read, columns, "name", 3, fresh(), lists=lists)
            rows = engine._backend.to_pyarrow(made.select(*columns, "name")).to_pylist()
        names = [row["name"] for row in rows]
        assert len(set(names)) == len(names) == 400
        assert all("/3/" in name for name in names)
        found.append(sorted((name, repr(row)) for name, row in zip(names, rows, strict=True)))
    assert found[0] == found[1]


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_rows_that_differ_in_the_sign_of_zero_do_not_swap_places(backend):
    told = []
    for values in ([0.0, -0.0] * 20, [-0.0] * 20 + [0.0] * 20):
        table = pa.table({"x": values, "word": ["same"] * 40})
        with ibises.OPENED[backend]({"t": table}) as engine:
            read, lists = engine._tables["t"], backend == "polars"
            made = identify_rows(read, ["x", "word"], "name", 0, fresh(), lists=lists)
            rows = engine._backend.to_pyarrow(made.select("x", "name")).to_pylist()
        told.append({row["name"]: math.copysign(1, row["x"]) for row in rows})
    assert len(told[0]) == 40
    assert told[0] == told[1]


ROWS = [
    "SELECT COUNT(*) FROM (SELECT word FROM odd WHERE flag "
    "UNION ALL SELECT said FROM odd WHERE flag)",
    "SELECT word, SUM(real) FROM (SELECT word, real FROM odd "
    "UNION ALL SELECT word, -real FROM odd) GROUP BY word",
    "SELECT COUNT(*) FROM (SELECT real FROM odd UNION ALL SELECT real FROM odd WHERE real > 3)",
]
UNITS_SQL = [
    "SELECT COUNT(DISTINCT real) AS r, COUNT(DISTINCT said) AS s FROM odd",
    "SELECT word, MEDIAN(real), MIN(whole), MODE(word) FROM odd GROUP BY word",
    "SELECT flag, COUNT(DISTINCT word) FROM odd GROUP BY flag",
    "SELECT day, QUANTILE_CONT(real, 0.5) FROM odd GROUP BY day",
]


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_a_row_counts_once_however_often_it_is_read(backend):
    ibises.same(backend, ROWS)


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_cells_of_odd_rows_are_duckdbs(backend):
    ibises.same(
        backend,
        UNITS_SQL,
        hostile_policy(unit="id", max_groups_per_unit=50, max_rows_per_unit_per_group=50),
    )
