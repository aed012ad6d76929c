"""Whether a plan harms somebody: a search over neighbouring tables that are meant to hurt.

The unit that differs has many rows with one extreme value, in one group or in many, or with
values that make careless casts and divisions fail. Other units have few rows, and some rows
belong to nobody.
"""

import math

import duckdb
import pyarrow as pa

from deniable.policy import Policy, Table
from deniable.privacy import ApproximateLoss
from tests.engines.neighbors import SALT, excess

NAN, INF = math.nan, math.inf
SCHEMA = {
    "unit": "BIGINT",
    "ward": "VARCHAR",
    "code": "VARCHAR",
    "x": "DOUBLE",
    "y": "DOUBLE",
    "said": "VARCHAR",
    "flag": "BOOLEAN",
}
MORE = {"unit": "BIGINT", "kind": "VARCHAR", "z": "DOUBLE"}
REGIONS = {"ward": "VARCHAR", "region": "VARCHAR", "factor": "DOUBLE"}
QUESTIONS = {
    "count": "SELECT COUNT(*) AS a FROM data",
    "units": "SELECT ward, COUNT(DISTINCT unit) AS a FROM data GROUP BY ward",
    "mean": "SELECT ward, AVG(x) AS a, COUNT(*) AS n FROM data WHERE NOT flag GROUP BY ward",
    "signed sum": "SELECT SUM(y) AS a, SUM(CLAMP(x / y, 0, 9)) AS b FROM data WHERE said < 8 "
    "OR x > 3",
    "variance": "SELECT VARIANCE(x) AS a, AVG(said) AS b FROM data",
    "private keys": "SELECT code, SUM(x) AS a FROM data GROUP BY code",
    "histogram": "SELECT HISTOGRAM(x, 4) AS a, HISTOGRAM(ward) AS b FROM data",
    "correlation": "SELECT CORR(x, y) AS a FROM data",
    "different": "SELECT ward, COUNT(DISTINCT code) AS a FROM data GROUP BY ward",
    "different sum": "SELECT ward, SUM(DISTINCT y) AS a FROM data GROUP BY ward",
    "median": "SELECT code, MEDIAN(x) AS a FROM data GROUP BY code",
    "mode": "SELECT ward, MODE(ward) AS a FROM data GROUP BY ward",
    "public join": "SELECT region, SUM(x) AS a FROM data LEFT JOIN regions USING (ward) "
    "GROUP BY region",
    "private join": "SELECT ward, SUM(z - x) AS a FROM data JOIN more ON data.unit = more.unit "
    "GROUP BY ward",
    "left join": "SELECT AVG(COALESCE(z, 0)) AS a FROM data LEFT JOIN more ON data.unit = "
    "more.unit AND z > x",
    "per unit": "SELECT AVG(total) AS a, COUNT(*) AS n FROM (SELECT unit, SUM(x) AS total, "
    "MAX(y) AS m FROM data GROUP BY unit) WHERE m > 1",
    "distinct": "SELECT ward, COUNT(*) AS n FROM (SELECT DISTINCT unit, ward, code FROM data) "
    "GROUP BY ward",
    "few keys": "SELECT kind, COUNT(*) AS n FROM more GROUP BY kind",
    "exists": "SELECT COUNT(*) AS n FROM data WHERE EXISTS (SELECT 1 FROM more WHERE "
    "more.unit = data.unit AND z > 1)",
    "union": "SELECT SUM(v) AS a FROM (SELECT unit, x AS v FROM data UNION ALL SELECT unit, z "
    "FROM more)",
    "rows": "SELECT ward, SUM(y) AS a, COUNT(*) AS n FROM single GROUP BY ward",
    "rows joined": "SELECT region, SUM(x) AS a FROM single JOIN regions USING (ward) "
    "GROUP BY region",
    "rows united": "SELECT SUM(v) AS a FROM (SELECT x AS v FROM single UNION ALL SELECT y FROM "
    "single)",
    "rows of private keys": "SELECT code, COUNT(*) AS n, MEDIAN(y) AS a FROM single GROUP BY "
    "code",
}


def policy(neighbors):
    """Units with up to two groups and three rows in each; and single rows."""
    bounds = {"x": (0, 100), "y": (-5.5, 20), "said": (0, 9)}
    keys = {"ward": list("ABCDEF"), "code": "private"}
    alike = {"bounds": bounds, "keys": keys, "step": {"x": 0.5}, "kind": {"said": "number"}}
    alike |= {"neighbors": neighbors}
    person = {"unit": "unit", "max_groups_per_unit": 2, "max_rows_per_unit_per_group": 3}
    own = {"neighbors": neighbors, **person}
    tables = [
        Table.declare("data", **alike, **person).with_schema(SCHEMA),
        Table.declare(
            "more", bounds={"z": (-3, 50)}, keys={"kind": ["a", "b"]}, **own
        ).with_schema(MORE),
        Table.declare("single", **alike).with_schema(
            {name: kind for name, kind in SCHEMA.items() if name != "unit"}
        ),
        Table.declare(
            "regions",
            public=True,
            bounds={"factor": (-3, 4)},
            keys={"region": ["n", "s", "e", "w"]},
        ).with_schema(REGIONS),
    ]
    return Policy(tables, epsilon=10, delta=1e-2)


CROWD = [
    (unit, ward, code, x, y, said, flag)
    for unit, ward, code, x, y, said, flag in [
        (1, "A", "p", 40.0, 3.0, "2", True),
        (1, "B", "q", 60.0, -2.0, "7", False),
        (2, "A", "p", 0.0, 0.0, "3", False),
        (3, "C", "r", 100.0, 20.0, "9", None),
        (4, "D", "p", 50.0, 19.0, "1", False),
        (5, "F", "s", -0.0, 5.0, "0", True),
        (None, "A", "p", 99.0, 9.0, "5", False),
    ]
]
# Many units that change little by themselves, but together if their rows are mixed with others.
CROWD += [
    (unit, "ABCDEF"[unit % 6], "pqrs"[unit % 4], 10.0, 1.0, "1", False)
    for unit in range(20, 60)
]
MORE_CROWD = [(1, "a", 5.0), (1, "b", 7.0), (2, "a", 0.0), (4, "b", 49.0), (None, "a", 3.0)]
REGION_ROWS = [
    ("A", "n", 1.5),
    ("A", "s", -3.0),
    ("B", "s", 0.0),
    ("C", "e", 4.0),
    (None, "w", 2.0),
]
REGION_ROWS += [("A", "n", 1.5), ("D", "w", NAN), ("E", "n", 1.0), ("F", "e", 2.0)]
WHO = 6


def _own(wards, codes, x, y, said, flag, count):
    places = range(count)
    return [
        (WHO, wards[i % len(wards)], codes[i % len(codes)], x, y, said, flag) for i in places
    ]


# What the unit that differs may hold, and its replacement: (rows of data, values of z).
WORST = [
    (_own("A", "p", 1e9, 1e9, "99", False, 12), [50.0] * 4),
    (_own("ABCDEF", "pqrstu", 100.0, 20.0, "9", False, 24), [50.0, -3.0]),
    (_own("B", "qrst", -1e9, -1e9, "-9", False, 9), [-1e9] * 3),
    (_own("AC", "pq", NAN, INF, "abc", None, 8), [NAN, None]),
    (_own("A", ["longer than others", "p"], 50.0, -5.5, "1e999", False, 2), [7.0]),
    ([(WHO, None, None, None, None, None, None)] * 5, []),
    (_own("AB", "pq", 99.5, 0.0, "4.5", False, 6), [2.0**70] * 3),
    (_own("DEF", "xyz", 0.5, 19.0, "0", False, 3), []),
]
PAIRS = [(0, 2), (1, 7), (2, 0), (3, 1), (4, 6), (5, 0), (6, 2), (7, 1)]


def _arrow(rows, schema):
    kinds = {"BIGINT": pa.int64(), "VARCHAR": pa.string(), "DOUBLE": pa.float64()}
    kinds["BOOLEAN"] = pa.bool_()
    columns = list(zip(*rows, strict=True)) or [[] for _ in schema]
    return pa.table(
        {
            name: pa.array(values, kinds[kind])
            for (name, kind), values in zip(schema.items(), columns, strict=True)
        }
    )


class Side:
    """One of two neighbouring databases. For single rows the unit is its first row alone."""

    def __init__(self, worst, *, turned=False):
        own, values = worst if worst is not None else ([], [])
        data = [*own, *CROWD] if turned else [*CROWD, *own]
        single = [row[1:] for row in (data[: len(CROWD) + 1] if own and not turned else CROWD)]
        if own and turned:
            single = [own[0][1:], *single]
        tables = {
            "data": _arrow(data, SCHEMA),
            "more": _arrow(
                [*MORE_CROWD, *((WHO, "abcd"[i % 4], z) for i, z in enumerate(values))], MORE
            ),
            "single": _arrow(single, {n: k for n, k in SCHEMA.items() if n != "unit"}),
            "regions": _arrow(REGION_ROWS, REGIONS),
        }
        self.connection = duckdb.connect(config={"threads": 1})
        for name, table in tables.items():
            self.connection.register(f"given_{name}", table)
            self.connection.execute(f'CREATE TABLE "{name}" AS FROM given_{name}')
        self.known = {}

    def run(self, plan):
        """Integers by group and name, and cells; or None if a statement fails."""
        results = [self._rows(statement.sql) for statement in plan.statements]
        if None in results:
            return None
        keys, groups, cells = len(plan.keys), {}, {}
        for statement, rows in zip(plan.statements, results, strict=True):
            if statement.kind == "cells":
                counts = cells.setdefault(statement.name, {})
                for row in rows:
                    place = row[:keys], row[keys]
                    counts[place] = counts.get(place, 0) + int(row[keys + 1] or 0)
                continue
            names = [*(["units"] if plan.thresholding is not None else []), *plan.features]
            for row in rows:
                for name, value in zip(names, row[keys:], strict=True):
                    groups[row[:keys], name] = int(value or 0)
        return {place: value for place, value in groups.items() if value}, cells

    def _rows(self, sql):
        if sql not in self.known:
            salted = {"salt": SALT} if "$salt" in sql else None
            try:
                self.known[sql] = self.connection.execute(sql, salted).fetchall()
            except duckdb.Error:
                self.known[sql] = None
        return self.known[sql]


class Search:
    """All pairs of neighbouring databases."""

    def __init__(self):
        self.without = [Side(None)]
        self.sides = [Side(worst, turned=i % 2 == 1) for i, worst in enumerate(WORST)]

    def close(self):
        for side in (*self.without, *self.sides):
            side.connection.close()

    def pairs(self, neighbors):
        for first, second in PAIRS:
            if neighbors == "add-remove":
                yield self.sides[first], self.without[0]
            else:
                yield self.sides[first], self.sides[second]

    def harm(self, plan, neighbors):
        """What goes wrong, or None: a statement that fails on one side only, an integer that
        moves too far, or a price below the cost."""
        if not plan.loss.fits(ApproximateLoss(plan.epsilon, plan.delta)):
            return "the price is too low"
        for pair in self.pairs(neighbors):
            left, right = (side.run(plan) for side in pair)
            if (left is None) != (right is None):
                return "one side fails"
            if left is None:
                continue
            if far := excess(plan, left, right):
                return f"too far: {far}"
            if _shown(plan, left[0], right[0]):
                return "too many groups of a unit"
        return None


def _shown(plan, left, right):
    rule = plan.thresholding
    if rule is None:
        return False
    places = {place for place in {*left, *right} if place[1] == "units"}
    moved = [place for place in places if left.get(place, 0) != right.get(place, 0)]
    return len(moved) > rule.groups * (1 + (rule.neighbors == "replace"))
