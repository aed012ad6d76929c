"""Functions of days and moments through Ibis, for days from the year 1 to 9999."""

import pytest

from tests.engines import ibises

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

PARTS = ["year", "quarter", "month", "week", "day", "dayofyear", "dayofweek", "isodow"]
STARTS = ["year", "quarter", "month", "week", "day", "hour"]
BETWEEN = ["day", "week", "month", "year", "hour"]
READ = "CAST(said AS TIMESTAMP)"


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_parts_are_duckdbs(backend):
    values = [f"EXTRACT({part} FROM {of})" for part in PARTS for of in ("moment", "day")]
    values += [
        f"EXTRACT({part} FROM {of})" for part in ("hour", "minute") for of in ("moment", READ)
    ]
    ibises.same(backend, [ibises.asked(values, of="SUM({})")])


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_what_lies_between_is_duckdbs(backend):
    ends = [("moment", "day"), ("day", "DATE '1970-01-02'"), (READ, "moment")]
    values = [f"DATE_DIFF('{unit}', {a}, {b})" for unit in BETWEEN for a, b in ends]
    ibises.same(backend, [ibises.asked(values, of="SUM(CLAMP({}, -70000000, 70000000))")])


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_beginnings_and_texts_are_duckdbs(backend):
    tests = [
        f"DATE_TRUNC('{unit}', {of}) {sign} TIMESTAMP '{then}'"
        for unit in STARTS
        for of, sign, then in [
            ("moment", "=", "1969-12-31 23:00:00"),
            ("moment", "<", "2020-07-01"),
            ("day", "=", "2020-01-01"),
            ("day", "<", "1970-01-01"),
        ]
    ]
    tests += ["CAST(said AS DATE) IS NULL", f"{READ} = TIMESTAMP '2020-01-01 23:59:59.999999'"]
    tests += [f"{READ} < '2020-01-01 10:00:01'", "CAST(said AS DATE) = '2020-02-29'"]
    ibises.same(backend, [ibises.asked(tests, of="COUNT_IF({})")])
