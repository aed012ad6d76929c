"""Worlds from a seed: a policy, a pair of neighbouring tables, and questions about them.

One unit makes the difference: it is on the left side only (add-remove), or has other rows on
the right side (replace). It may hold very many rows, or the same extreme in all of them. All
columns hold odd values and NULLs, and some rows are there several times. In a roomy world no
limit ever bites, so all engines must find DuckDB's integers.
"""

import datetime
import math
from dataclasses import dataclass

import pyarrow as pa

from deniable.policy import Policy, Table
from tests.query.grammar import Seeded

REALS = [math.nan, math.inf, -math.inf, 1e308, -1e308, 2.0**63, -(2.0**63), 5e-324, -0.0, 0.0]
REALS += [0.5, 2.5, -2.5, 0.49999999999999994, 99.995, 1e-160, 100.0, 7.25, -10.0, 20.0, 3.0]
WHOLES = [2**63 - 1, -(2**63), 0, -1, 1, 10**18, 2**53 + 1, 41, 2**31, -(2**31), 7, -1000]
SMALL = [2**31 - 1, -(2**31), 0, 1, 2, 3, -7]
WORDS = ["", "A", "B", "a", "it's", "50%", "a_b", "back\\slash", "é", "e\u0301", "\U0001f600"]
WORDS += ["nan", "x" * 3000, "\u00df\u0130", "A ", "\ta\n", "\ud7ff\ue000", "1", "-2.5"]
SAID = [" 12 ", "1e5", "inf", "NaN", "1_000", "+5", "+-5", ".5", "5.", "0x1F", "1e999", "true"]
SAID += ["-1e999", "", "\t1\n", "9" * 400, "1e-400", "12 3", "3", "7.25", "abc", "-0.0"]
DAYS = [datetime.date.min, datetime.date.max, datetime.date(1582, 10, 10)]
DAYS += [datetime.date(1970, 1, 1), datetime.date(2020, 2, 29), datetime.date(1969, 12, 31)]
MOMENTS = [datetime.datetime.min, datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)]
MOMENTS += [datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)]
MOMENTS += [datetime.datetime(2020, 7, 1, 0, 30), datetime.datetime(2024, 3, 10, 2, 30)]
IDS = {
    "BIGINT": [1, 2, 3, 4, 0, -5, 2**63 - 1, -(2**63)],
    "VARCHAR": ["p", "P", "", "q", "\u00e9", "e\u0301", "x" * 500, "\U0001f600"],
}
COLUMNS = {
    "x": ("DOUBLE", pa.float64(), REALS),
    "y": ("DOUBLE", pa.float64(), REALS),
    "n": ("BIGINT", pa.int64(), WHOLES),
    "i": ("INTEGER", pa.int32(), SMALL),
    "t": ("VARCHAR", pa.string(), WORDS),
    "w": ("VARCHAR", pa.string(), WORDS),
    "s": ("VARCHAR", pa.string(), SAID),
    "f": ("BOOLEAN", pa.bool_(), [True, False]),
    "d": ("DATE", pa.date32(), DAYS),
    "m": ("TIMESTAMP", pa.timestamp("us"), MOMENTS),
}
# Values that no comparison tells apart, but whose signs differ.
SIGNED = [0.0, -0.0, 0.0, -0.0, math.nan, -math.nan, 1.0]
ZEROS = {name: ("DOUBLE", pa.float64(), SIGNED) for name in ("x", "y")}
MORE = ["z", "k", "j"]  # of the second private table: as x, t and i
BOUNDS = [((-10, 100), 0.01), ((-10, 100), None), ((0, 1), 0.25), ((-5.5, 20), 0.5)]
BOUNDS += [((-(10**6), 10**6), None), ((0.25, 0.75), None), ((-0.001, 0), 0.001), ((3, 4), 1)]
WHOLE_BOUNDS = [(-1000, 1000), (0, 10**12), (0, 3), (-(2**53), 2**53), (41, 42), (-0.5, 7.5)]
LOOKUP = pa.table(
    {
        "t": [*WORDS[:6], "A", "A", None],
        "region": [*"nsewn", None, "n", "s", "w"],
        "factor": [0.0, 1.5, -3.0, math.nan, None, 1e308, 4.0, -0.0, 2.0],
    }
)


@dataclass(frozen=True)
class World:
    """A policy, and both sides of a pair as Arrow tables by name."""

    policy: Policy
    sides: tuple[dict, dict]
    roomy: bool
    person: bool


class Worlds(Seeded):
    """Everything from one seed."""

    def some(self, options, least=1):
        count = int(self.draw.integers(least, len(options) + 1))
        return [options[i] for i in sorted(self.draw.permutation(len(options))[:count])]

    def world(self, *, many=False):
        """A world in which the unit that differs has up to 40 rows, or 2,000 of them."""
        person, roomy, most = self.chance(0.75), self.chance(0.5), 40
        if many:
            person, roomy, most = True, False, 2_000
        relation = self.pick(["add-remove", "replace"])
        id_type = self.pick(list(IDS))
        limits = {"neighbors": relation}
        if person:
            limits |= {
                "unit": "id",
                "max_groups_per_unit": 10**4 if roomy else int(self.draw.integers(1, 4)),
                "max_rows_per_unit_per_group": 10**4
                if roomy
                else int(self.draw.integers(1, 5)),
            }
        tables = [self._data(id_type, limits)]
        if person:
            tables.append(self._more(id_type, limits))
        public = Table.declare(
            "lookup", public=True, bounds={"factor": (-3, 4)}, keys={"region": [*"nsew"]}
        )
        tables.append(
            public.with_schema({"t": "VARCHAR", "region": "VARCHAR", "factor": "DOUBLE"})
        )
        policy = Policy(tables, epsilon=10**4, delta=0.1)
        return World(policy, self._sides(id_type, relation, person, most), roomy, person)

    def _number(self, options):
        bounds, step = self.pick(options)
        return {"bounds": bounds} if step is None else {"bounds": bounds, "step": step}

    def _data(self, id_type, limits):
        declared = {name: self._number(BOUNDS) for name in ("x", "y", "s")}
        declared["s"] |= {"kind": "number"}
        for name in self.some(["n", "i"], least=0):
            declared[name] = {"bounds": self.pick(WHOLE_BOUNDS)}
        for name in ("t", "w"):
            declared[name] = {"keys": self.pick([self.some(WORDS), "private"])}
        for name in self.some(["d", "m", "n"], least=0):
            declared.setdefault(name, {})["keys"] = "private"
        schema = {"id": id_type} | {name: type_ for name, (type_, _, _) in COLUMNS.items()}
        return self._table("data", declared, limits, schema)

    def _more(self, id_type, limits):
        declared = {"z": self._number(BOUNDS), "k": {"keys": self.some(WORDS)}}
        schema = {"id": id_type, "z": "DOUBLE", "k": "VARCHAR", "j": "INTEGER"}
        return self._table("more", declared, limits, schema)

    def _table(self, name, declared, limits, schema):
        properties = ("bounds", "step", "keys", "kind")
        given = {
            key: {column: facts[key] for column, facts in declared.items() if key in facts}
            for key in properties
        }
        return Table.declare(name, **given, **limits).with_schema(schema)

    def _sides(self, id_type, relation, person, most):
        ids = IDS[id_type]
        who = self.pick(ids)
        others = [
            self.pick([None, *(identifier for identifier in ids if identifier != who)])
            for _ in range(30)
        ]
        if not person:
            others = [self.pick([None, *ids]) for _ in range(30)]
        columns = COLUMNS | (ZEROS if self.chance(0.25) else {})
        crowd = {"data": self._rows(others, columns), "more": self._rows(others[:15], SECOND)}
        count = int(self.draw.integers(1, most + 1)) if person else 1
        sides = [
            {
                "data": self._rows([who] * count, columns, alike=True),
                "more": self._rows([who] * (count // 2), SECOND, alike=True),
            }
            if side == 0 or relation == "replace"
            else {"data": [], "more": []}
            for side in (0, 1)
        ]
        return tuple(
            {
                "data": self._arrow(crowd["data"] + own["data"], id_type, COLUMNS),
                "more": self._arrow(crowd["more"] + own["more"], id_type, SECOND),
                "lookup": LOOKUP,
            }
            for own in sides
        )

    def _rows(self, ids, columns, *, alike=False):
        """Rows of odd values; those of one unit are all alike half of the time."""
        rows = [
            (
                identifier,
                *(
                    None if self.chance(0.1) else self.pick(values)
                    for *_, values in columns.values()
                ),
            )
            for identifier in ids
        ]
        if rows and alike and self.chance(0.5):
            return [rows[0]] * len(rows)
        return (
            [
                self.pick(rows[: i + 1]) if self.chance(0.1) else row
                for i, row in enumerate(rows)
            ]
            if alike
            else rows
        )

    def _arrow(self, rows, id_type, columns):
        types = {"id": pa.int64() if id_type == "BIGINT" else pa.string()}
        types |= {name: type_ for name, (_, type_, _) in columns.items()}
        order = self.draw.permutation(len(rows))
        return pa.table(
            {
                name: pa.array([rows[i][place] for i in order], type_)
                for place, (name, type_) in enumerate(types.items())
            }
        )


SECOND = dict(zip(MORE, (COLUMNS["x"], COLUMNS["t"], COLUMNS["i"]), strict=True))
