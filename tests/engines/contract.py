"""What every engine must do: DuckDB's integers, whatever the rows, and one way to fail.

A test class inherits `EngineContract` and says how its engine is opened over Arrow tables.
Where no limit bites, the integers are those of DuckDB. Where a limit bites each engine keeps
groups of its own choice, which must depend on that unit's own rows alone.
"""

import contextlib
import datetime
import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.handover.long_texts import LONGEST_TEXT
from deniable.errors import EngineFailed, InvalidPolicy, InvalidQuery, Unsupported
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.plan.plan import Plan
from deniable.query.planner.planner import plan
from deniable.query.relations import joins
from deniable.query.statements.partition import restrict_to_part
from tests.engines import marginals, rows
from tests.engines.plans import plan as by_hand
from tests.engines.steps import steps
from tests.query import town
from tests.query.hospital import policy, visits

CASES = sorted((Path(__file__).parents[1] / "query" / "cases").glob("**/*.sql"))
LISTS = [path for path in CASES if path.parent.name == "lists"]  # see `lists.py`
CASES = [path for path in CASES if path not in LISTS]
POLICIES = {
    "person": policy(),
    "row": policy(person=False),
    "replace": policy(neighbors="replace"),
    "town": town.policy(),
    "town_replace": town.policy("replace"),
}

CHOOSING = {"join_public", "join_rows"}  # where the town's limits bite, each in its own way


def restrict(whole: Plan, known: Policy, sql: str) -> Plan:
    """A golden plan; of a part of its table if the SQL begins with `-- part: ward A`."""
    head, _, column_and_key = sql.partition("\n")[0].partition("-- part: ")
    if head or not column_and_key:
        return whole
    column, key = column_and_key.split()
    return restrict_to_part(whole, known.tables[whole.table], ((column, key),))


HUGE = [math.nan, math.inf, -math.inf, 1e308, -1e308, 2.0**63, -(2.0**63), 5e-324, -0.0, None]
HUGE += [0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 99.995, 1e-160, 1e160, 100.0, 7.25]
WHOLE = [2**63 - 1, -(2**63), 0, None, -1, 10**18, 2**53 + 1, 41, 2**31, -(2**31)]
WORDS = ["", "A", "B", None, "a", "it's", "50%", "a_b", "back\\slash", "é", "\U0001f600", "nan"]
SAID = [
    *(" 12 ", "1e5", "inf", "+Infinity", "NaN", "1_000", "1__0", "+5", "+-5", "-5", ".5", "5."),
    *(".", "0x1F", "1e999", "-1e999", "1e-400", "1d", "1,5", "", "\t1\n", "true", "F", "yes"),
    *("on", "1e99999999999", "0" * 400 + "1", "9" * 400, "12 3", "1e5.5", "infinit", "1_.5"),
    *("1e200", "-1e200", "1e-200", "1.7e308", "-1.7e308", "4.9e-324", "now", "today", None),
    *("2020-02-29", "2021-02-29", "2020-1-1", "2020-01-01 10:00", "2020-01-01T23:59:59.999999"),
    *("2020-13-01", "2020-01-01 25:00:00", "0001-01-01", "9999-12-31", "2020-01-01x"),
]
DAYS = [
    datetime.date.min,
    datetime.date.max,
    datetime.date(1582, 10, 10),
    datetime.date(1970, 1, 1),
    datetime.date(1969, 12, 31),
    datetime.date(2020, 2, 29),
    None,
]
MOMENTS = [
    datetime.datetime.min,
    datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime.datetime(2020, 7, 1, 0, 30),
    None,
]
IDS = ["p", "p", "", "q", None, "Q", "é", "x" * 1000, "r", "r", "r", "r", "r"]


def hostile() -> pa.Table:
    """Each odd value in a row of its own, in columns whose lengths share no factor."""

    def around(values, type_):
        return pa.array([values[i % len(values)] for i in range(200)], type_)

    return pa.table(
        {
            "id": around(IDS, pa.string()),
            "real": around(HUGE, pa.float64()),
            "whole": around(WHOLE, pa.int64()),
            "word": around(WORDS, pa.string()),
            "said": around(SAID, pa.string()),
            "day": around(DAYS, pa.date32()),
            "moment": around(MOMENTS, pa.timestamp("us")),
            "flag": around([True, False, None], pa.bool_()),
        }
    )


def hostile_policy(**limits) -> Policy:
    table = Table.declare(
        "odd",
        bounds={"real": (-10, 100), "whole": (-1000, 1000)},
        step={"real": 0.01},
        keys={"word": ["", "A", "it's", "back\\slash", "\U0001f600"], "day": "private"},
        kind={"said": "text"},
        **limits,
    )
    return Policy([table.with_schema(HOSTILE_SCHEMA)], epsilon=100, delta=1e-3)


HOSTILE_SCHEMA = {
    "id": "VARCHAR",
    "real": "DOUBLE",
    "whole": "BIGINT",
    "word": "VARCHAR",
    "said": "VARCHAR",
    "day": "DATE",
    "moment": "TIMESTAMP",
    "flag": "BOOLEAN",
}
# Questions about the odd rows; each of them meets every odd value of its columns.
QUESTIONS = [
    "SELECT COUNT(*), SUM(real), VARIANCE(real), SUM(whole) AS w, AVG(whole) FROM odd",
    "SELECT word, COUNT(*), AVG(real) FROM odd GROUP BY word",
    "SELECT day, COUNT(*) FROM odd GROUP BY day",
    "SELECT moment, COUNT(*) FROM odd GROUP BY moment",
    "SELECT flag, COUNT(whole) FROM odd GROUP BY flag",
    "SELECT whole, COUNT(*) FROM odd GROUP BY whole",
    "SELECT COUNT(*) FROM odd WHERE real > 0 AND word < 'b' AND day >= '1969-12-31'",
    "SELECT COUNT(*) FROM odd WHERE NOT (real <= 5) OR moment < '2020-07-01'",
    "SELECT COUNT(*) FROM odd WHERE word LIKE '%\\%' OR word LIKE '_' OR word LIKE '5_%'",
    "SELECT SUM(CLAMP(CAST(said AS DOUBLE), -5, 500)) FROM odd",
    "SELECT COUNT(CAST(said AS DOUBLE)) AS n, COUNT(CAST(said AS BOOLEAN)) AS m FROM odd",
    "SELECT COUNT(*) FROM odd WHERE CAST(said AS BOOLEAN) OR CAST(said AS DATE) < '2020-02-01'",
    "SELECT SUM(CLAMP(CAST(said AS DOUBLE) * CAST(said AS DOUBLE), 0, 9)) FROM odd",
    "SELECT SUM(CLAMP(CAST(said AS DOUBLE) + CAST(said AS DOUBLE), -7, 7)) FROM odd",
    "SELECT SUM(CLAMP(CAST(said AS DOUBLE) / real / 1e-25 - 1e-25 * real, -7, 7)) FROM odd",
    "SELECT SUM(CLAMP(real / (whole - 41), -9, 9)) AS a, SUM(ABS(real - whole)) AS b FROM odd",
    "SELECT SUM(FLOOR(real)) AS a, SUM(CEIL(real)) AS b, SUM(ROUND(real)) AS c FROM odd",
    "SELECT SUM(LEAST(real, whole)) AS a, SUM(GREATEST(real, whole, 3)) AS b FROM odd",
    "SELECT SUM(CASE WHEN flag THEN real ELSE whole END), SUM(COALESCE(real, 1)) AS b FROM odd",
    "SELECT SUM(CAST(flag AS INTEGER)), HISTOGRAM(real, 5), HISTOGRAM(word, 5) AS b FROM odd",
    "SELECT FLOOR(real / 10) * 10 AS tens, COUNT(*) FROM odd GROUP BY FLOOR(real / 10) * 10",
]

# Windows in the order of every odd value, and the middle one.
WINDOWS = [
    f"SELECT SUM(CLAMP(a, -9, 99)), SUM(b), SUM(c) FROM (SELECT LAG(whole, 2) OVER w AS a, "
    f"RANK() OVER w AS b, COUNT({by}) OVER w AS c FROM odd)".replace(
        "OVER w", f"OVER (PARTITION BY id ORDER BY {by}{down})"
    )
    for by in ("real", "whole", "word", "said", "day", "moment", "flag")
    for down in ("", " DESC")
]
WINDOWS += [
    "SELECT SUM(a), SUM(b) FROM (SELECT SUM(whole) OVER (PARTITION BY id ORDER BY word ROWS "
    "BETWEEN 3 PRECEDING AND 1 PRECEDING) AS a, AVG(real) OVER (PARTITION BY id, flag) AS b "
    "FROM odd)",
    "SELECT a, COUNT(*) FROM (SELECT FIRST_VALUE(word) OVER (PARTITION BY id ORDER BY said) AS "
    "a, MAX(flag) OVER (PARTITION BY id ORDER BY real) AS b FROM odd) WHERE b GROUP BY a",
    "SELECT SUM(a), SUM(b) FROM (SELECT id, MEDIAN(real) AS a, MEDIAN(whole) AS b FROM odd "
    "GROUP BY id)",
]

# Every aggregate, of one person's rows in a sub-query, and of a column of the table.
OF_A_PERSON = ["MIN({})", "MAX({})", "COUNT({})", "SUM({})", "AVG({})", "COUNT(DISTINCT {})"]
AGGREGATES = ["HISTOGRAM({}, 5)", "HISTOGRAM({})", "MIN({})", "MAX({})", "COUNT({})", "SUM({})"]
AGGREGATES += ["AVG({})", "VARIANCE({})", "STDDEV_POP({})", "MEDIAN({})", "MODE({})"]
AGGREGATES += ["TOP_K({}, 2)", "COUNT(DISTINCT {})", "CLIPPED({})", "CORR({}, real)"]


def aggregates():
    """A plan for every aggregate that a policy allows, of every column."""
    limits = {"unit": "id", "max_groups_per_unit": 50, "max_rows_per_unit_per_group": 4}
    for column in ("flag", "real", "whole", "word", "said", "day", "moment"):
        inner = [
            f"(SELECT id, {text.format(column)} AS v FROM odd GROUP BY id)"
            for text in OF_A_PERSON
        ]
        outer = [f"{text.format(column)} AS a" for text in AGGREGATES]
        questions = [f"SELECT {text} FROM odd" for text in outer]
        questions[1:1] = [f"SELECT v, COUNT(*) AS a FROM {text} GROUP BY v" for text in inner]
        questions += [f"SELECT word, {text} FROM odd GROUP BY word" for text in outer]
        questions += [
            f"SELECT COUNT(v), SUM(CAST(v AS INTEGER)) AS b FROM {text}" for text in inner
        ]
        for sql in questions:
            with contextlib.suppress(InvalidQuery):
                yield sql, plan(parse(sql), hostile_policy(**limits), epsilon=50)


# More declared keys than a statement lists, among them all odd values but the word B.
TEXTS = ("'", "''", 'IN (SELECT key FROM "(keys 0)")', "\\", "list_00", "B\0", "B\0B", "~0")
TEXTS += ("NULL", "{B}", "$1", "%s", "~", '"', "x" * 60, "\u0178", "\x1f", "0.0")
MANY_KEYS = {
    "word": [*filter(None, WORDS[3:]), "", "A", *TEXTS, *map(str, range(120))],
    "real": [i / 2 for i in range(-20, 200) if i % 7 != 6],
    "whole": [-1000, -999, -1, 0, 41, 1000, *range(500, 900, 3)],
    "day": [f"2020-{month:02}-{day:02}" for month in (1, 2, 3, 4) for day in range(1, 30)],
}


ONE_MORE = {"word": "one more", "real": 100, "whole": 999, "day": "2020-05-01"}


def many_keys(*, one_more: bool = False) -> Iterator[tuple[str, Plan]]:
    """Plans with many declared keys, by name."""
    table = Table.declare(
        "odd",
        bounds={"real": (-10, 100), "whole": (-1000, 1000)},
        step={"real": 0.5},
        keys={name: [*keys, *[ONE_MORE[name]] * one_more] for name, keys in MANY_KEYS.items()},
    ).with_schema(HOSTILE_SCHEMA)
    questions = {
        "word": "SELECT word, COUNT(*) AS n, MEDIAN(real) AS m FROM odd GROUP BY word",
        "whole": "SELECT whole, COUNT(*) AS n FROM odd GROUP BY whole",
        "real": "SELECT real, COUNT(*) AS n FROM odd GROUP BY real",
        "day": "SELECT day, word, COUNT(*) AS n FROM odd GROUP BY day, word",
    }
    for name, sql in questions.items():
        for other in (False, True)[: 1 + (name != "word")]:
            query_plan = plan(parse(sql), Policy([table], epsilon=100), epsilon=50, other=other)
            assert '"(keys 0)"' in query_plan.statements[0].sql
            yield f"{name} {other}", query_plan


# The same with functions that not every engine has.
FUNCTIONS = [
    "SELECT SUM(EXTRACT(year FROM moment)) AS a, SUM(EXTRACT(quarter FROM day)) AS b FROM odd",
    "SELECT SUM(EXTRACT(dayofweek FROM day)) AS a, SUM(EXTRACT(week FROM day)) AS b FROM odd",
    "SELECT SUM(EXTRACT(isodow FROM day)) AS a, SUM(EXTRACT(hour FROM moment)) AS b FROM odd",
    "SELECT COUNT(*) FROM odd WHERE DATE_TRUNC('month', moment) < DATE '2020-07-01'",
    "SELECT COUNT(*) FROM odd WHERE DATE_TRUNC('week', day) < DATE '1970-01-01'",
    "SELECT SUM(SQRT(real)), COUNT(*) AS n FROM odd",
    "SELECT COUNT(*) FROM odd WHERE LENGTH(word) < 2 OR STARTS_WITH(word, 'it')",
]


EDGES = 8  # rows of `edges`
FAR = 8895551372899.62, 8895551372999.62
FARTHER = 590_000_000_000_000_000, 590_000_000_000_000_100
AT_A_BOUND = [
    "SELECT MEDIAN(real) AS a, MEDIAN(whole) AS b FROM edge",
    "SELECT AVG(real) AS a, AVG(whole) AS b, HISTOGRAM(real, 3) AS c FROM edge",
]


def edges() -> pa.Table:
    """Rows at bounds far from zero, next to them and beyond them."""
    real = [*FAR, math.nextafter(FAR[1], 0), FAR[1] - 0.001, *FAR, math.inf, -math.inf]
    whole = [*FARTHER, FARTHER[1] - 1, 2**63 - 1, -(2**63), *FARTHER, FARTHER[0] + 1]
    return pa.table({"real": real, "whole": pa.array(whole, pa.int64())})


def edge_policy() -> Policy:
    table = Table.declare(
        "edge", bounds={"real": FAR, "whole": FARTHER}, step={"real": 0.001, "whole": 1}
    )
    return Policy([table.with_schema({"real": "DOUBLE", "whole": "BIGINT"})], epsilon=1000)


def exact(withheld):
    """All that an engine withheld, in an order of its own."""

    def told(result):
        columns = [column.to_pylist() for column in result.keys]
        columns += [] if result.units is None else [result.units.tolist()]
        columns += [column.tolist() for column in result.features.values()]
        groups = sorted(zip(*columns, strict=True), key=repr)
        cells = {
            name: sorted(
                zip(
                    *(column.to_pylist() for column in counts.keys),
                    counts.cell.tolist(),
                    counts.count.tolist(),
                    strict=True,
                ),
                key=repr,
            )
            for name, counts in result.cells.items()
        }
        return groups, cells

    return withheld.reveal_to(told)


def read(path: Path):
    first, _, *sql = path.read_text().splitlines()
    return POLICIES[first.removeprefix("-- policy: ")], "\n".join(sql)


def within_limits(rows: int = 60) -> pa.Table:
    """Visits of which nobody has more than two."""
    table = visits(rows)
    people = pa.array([i // 2 for i in range(rows)], pa.int64())
    return table.set_column(table.column_names.index("patient"), "patient", people)


def same(engine, reference, plans, known=None):
    """Asserts that both give the same integers for every plan, and names those that differ.

    `known` keeps the reference's, by the plan's name, for the next engine over these tables.
    """
    known = {} if known is None else known
    different = {}
    for name, query_plan in plans.items():
        if name not in known:
            known[name] = exact(reference.run(query_plan))
        if (ours := exact(engine.run(query_plan))) != known[name]:
            different[name] = (ours, known[name])
    assert different == {}


@cache
def golden_plans(place):
    """The plans of the golden queries of a place, and the reference's integers once found."""
    plans = {
        path.stem: restrict(plan(parse(sql), its, epsilon=0.5), its, sql)
        for path in CASES
        if (path.parent.name == "town") == (place == "town")
        for its, sql in [read(path)]
    }
    return plans, {}


@cache
def odd_plans():
    """Plans of the questions about odd rows, for rows and for persons."""
    limits = {"unit": "id", "max_groups_per_unit": 50, "max_rows_per_unit_per_group": 4}
    policies = {"row": hostile_policy(), "person": hostile_policy(**limits)}
    plans = {
        f"{who}: {sql}": plan(parse(sql), policy_, epsilon=50)
        for who, policy_ in policies.items()
        for sql in QUESTIONS
    }
    return plans, {}


@cache
def plans_of(texts, policy_):
    """Plans of several texts, by their text, and the reference's integers once found."""
    return {sql: plan(parse(sql), policy_(), epsilon=50) for sql in texts}, {}


class EngineContract:
    """Inherit, and say how the engine is opened, and which golden cases it refuses."""

    refused: ClassVar[set[str]] = set()
    refused_questions: ClassVar[set[str]] = set()
    refused_functions: ClassVar[set[str]] = set()
    has_lists: ClassVar[bool] = True

    @contextlib.contextmanager
    def opened(self, tables):
        """The engine over Arrow tables by name, closed afterwards."""
        raise NotImplementedError
        yield

    def collated(self):
        """The engine's class, and a source: a table `people` with a column `name` that has a
        collation in which its rows 'Bob' and 'bob' are equal; None if it has no such thing."""
        raise NotImplementedError

    def chosen(self, plans):
        """The plans that are run, by name: all, unless a class has others run the rest."""
        return plans

    @pytest.mark.parametrize("place", ["hospital", "town"])
    def test_every_golden_query_has_duckdbs_integers(self, place):
        tables = town.SOURCES if place == "town" else {"visits": within_limits()}
        plans, known = golden_plans(place)
        plans = self.chosen(plans)
        with self.opened(tables) as engine, DuckDB.open(tables) as reference:
            assert engine.schema("visits").keys() == reference.schema("visits").keys()
            refused = {name for name, each in plans.items() if _refused(engine, each)}
            assert refused == self.refused & set(plans)
            for name in CHOOSING & (set(plans) - refused):
                engine.run(plans[name])
            kept = set(plans) - refused - CHOOSING
            same(engine, reference, {name: plans[name] for name in kept}, known)

    def test_every_odd_row_has_duckdbs_integers(self):
        tables = {"odd": hostile()}
        plans, known = odd_plans()
        plans = self.chosen(plans)
        with self.opened(tables) as engine, DuckDB.open(tables) as reference:
            assert engine.schema("odd") == reference.schema("odd")
            kept = {name: each for name, each in plans.items() if not _refused(engine, each)}
            refused = {name.partition(": ")[2] for name in plans.keys() - kept.keys()}
            assert refused == self.refused_questions
            same(engine, reference, kept, known)

    def test_windows_in_the_order_of_odd_rows_have_duckdbs_integers(self):
        """Persons have 20 rows each, so that windows meet rows that tie and NULLs."""
        tables = {
            "odd": hostile().set_column(0, "id", pa.array([str(i % 10) for i in range(200)]))
        }
        limits = {"unit": "id", "max_groups_per_unit": 50, "max_rows_per_unit_per_group": 20}
        with self.opened(tables) as engine, DuckDB.open(tables) as reference:
            plans = {
                sql: plan(parse(sql), hostile_policy(**limits), epsilon=50) for sql in WINDOWS
            }
            refused = [sql for sql, each in plans.items() if _refused(engine, each)]
            assert len(refused) == (len(plans) if "windows_lag" in self.refused else 0)
            same(engine, reference, {sql: plans[sql] for sql in plans.keys() - set(refused)})

    def test_many_declared_keys_make_duckdbs_groups(self):
        plans, longer = self.chosen(dict(many_keys())), dict(many_keys(one_more=True))
        with self.opened({"odd": hostile()}) as engine, DuckDB({"odd": hostile()}) as duckdb:
            same(engine, duckdb, plans)
            for name, query_plan in plans.items():
                texts, others = (
                    [statement.sql for statement in engine.prepare(each).statements]
                    for each in (query_plan, longer[name])
                )
                assert texts == others  # no key stands in the text

    def test_no_integer_leaves_its_limits_at_a_bound(self):
        """The bounds times 1 / step round to a step beyond them."""
        tables = {"edge": edges()}
        plans, known = plans_of(tuple(AT_A_BOUND), edge_policy)
        with self.opened(tables) as engine, DuckDB.open(tables) as reference:
            same(engine, reference, plans, known)
            result = reference.run(plans[AT_A_BOUND[0]]).reveal_to(lambda exact: exact)
            for choice in plans[AT_A_BOUND[0]].choices:
                cells = result.cells[choice.name]
                assert 0 <= cells.cell.min() <= cells.cell.max() < choice.cells
                assert cells.count.sum() == EDGES
            result = reference.run(plans[AT_A_BOUND[1]]).reveal_to(lambda exact: exact)
            for block in plans[AT_A_BOUND[1]].blocks:
                integers = [int(result.features[name][0]) for name in block.features]
                assert min(integers) >= 0
                assert sum(integers) == EDGES * block.reach.total

    def test_every_aggregate_of_every_kind_has_duckdbs_integers(self, size):
        number = size(small=3, full=1_000, what="aggregates of columns, on each engine")
        plans = dict(itertools.islice(aggregates(), number))
        table = hostile().set_column(0, "id", pa.array([str(i) for i in range(200)]))
        with self.opened({"odd": table}) as engine, DuckDB.open({"odd": table}) as reference:
            assert [sql for sql, each in plans.items() if _refused(engine, each)] == []
            same(engine, reference, plans)

    def test_functions_of_odd_rows_have_duckdbs_integers(self):
        tables = {"odd": hostile()}
        plans, known = plans_of(tuple(FUNCTIONS), hostile_policy)
        with self.opened(tables) as engine, DuckDB.open(tables) as reference:
            kept = {sql: each for sql, each in plans.items() if not _refused(engine, each)}
            assert kept.keys() == plans.keys() - self.refused_functions
            same(engine, reference, kept, known)

    def test_a_row_that_is_somebody_counts_once(self):
        plans, known = plans_of((*rows.COUNTED, *rows.ADDED), rows.policy)
        with self.opened(rows.SOURCES) as engine, DuckDB.open(rows.SOURCES) as reference:
            kept = {sql: each for sql, each in plans.items() if not _refused(engine, each)}
            assert len(kept) == (0 if "join_rows" in self.refused else len(plans))
            same(engine, reference, kept, known)
            for sql, counted in rows.COUNTED.items():
                assert exact(reference.run(plans[sql]))[0] == [(counted,)]

    def test_a_step_of_learning_has_duckdbs_integers(self):
        tables = {"visits": within_limits()}
        with self.opened(tables) as engine, DuckDB.open(tables) as reference:
            kept = {name: each for name, each in steps().items() if not _refused(engine, each)}
            listed = [name for name in steps() if name.startswith(("residuals", "part"))]
            assert set(kept) == set(steps()) - set([] if self.has_lists else listed)
            same(engine, reference, kept)

    def test_a_limit_chooses_among_a_units_own_rows_alone(self):
        table = visits(40)
        people = table["patient"].to_pylist()
        alone = {
            f"alone{person}": table.filter(pa.array([who == person for who in people]))
            for person in range(3)
        }
        together = table.filter(pa.array([who < 3 for who in people]))
        sql = "SELECT ward, COUNT(*) AS n, SUM(age) AS age FROM {} GROUP BY ward"
        with self.opened({"all": together, **alone}) as engine:
            wards = {name: _wards(engine, name, sql) for name in ("all", *alone)}
        summed = {}
        for name in alone:
            assert len(wards[name]) == 2  # of the three wards that each patient was in
            for ward, integers in wards[name].items():
                before = summed.get(ward, (0,) * len(integers))
                summed[ward] = tuple(a + b for a, b in zip(before, integers, strict=True))
        assert summed == wards["all"]

    def test_text_that_is_too_long_is_missing(self):
        """A person with such a name belongs to nobody, and functions of it do not fail."""
        kept = ["x" * LONGEST_TEXT, "é" * (LONGEST_TEXT // 2), ""]
        names = pa.array([*kept, "x" * LONGEST_TEXT + "y", "é" * 40_000, None], pa.string())
        tables = {"long": pa.table({"id": names, "name": names})}
        declared = Table.declare("long", unit="id").with_schema(
            dict.fromkeys(("id", "name"), "VARCHAR")
        )
        sql = "SELECT COUNT(*) FROM long WHERE UPPER(TRIM(name)) <> 'a'"
        query_plan = plan(parse(sql), Policy([declared], epsilon=9), epsilon=1)
        with self.opened(tables) as engine, DuckDB.open(tables) as reference:
            assert exact(reference.run(query_plan))[0] == [(3,)]
            same(engine, reference, {sql: query_plan})

    def test_text_is_compared_by_its_bytes_and_no_unit_otherwise(self):
        if (opened := self.collated()) is None:
            return
        engine_class, source = opened
        query_plan = by_hand(
            'SELECT "name" AS k0, COUNT(*) AS n FROM people GROUP BY "name"', keys="k"
        )
        compared = by_hand("SELECT COUNT(*) AS n FROM people WHERE \"name\" = 'BOB'")
        with engine_class.open({"people": source}) as engine:
            assert exact(engine.run(query_plan))[0] == [("Bob", 1), ("bob", 1)]
            assert exact(engine.run(compared))[0] == [(0,)]
        with pytest.raises(InvalidPolicy, match="unit of table 'people' is name") as refused:
            engine_class.open(Policy([Table("people", source=source, unit="NAME")], epsilon=1))
        assert refused.value.where == ("tables", "people", "unit")

    def test_before_a_join_a_unit_keeps_rows_by_its_own_rows_alone(self, monkeypatch):
        """Both zeros, NaN, NULL and equal rows, of three people together and of each alone."""
        monkeypatch.setattr(joins, "_LEAST", 3)
        values = [0.0, -0.0, None, 1.5, 1.5, math.nan, 7.25, -3.0, -0.0, 2.0, 0.0, None]
        people = [1, 2, 3] * len(values)
        all_ = pa.table({"id": people, "x": pa.array([x for x in values for _ in "abc"])})
        tables = {"all": all_} | {
            f"alone{person}": all_.filter(pa.array([id_ == person for id_ in people]))
            for person in (3, 1, 2)
        }
        sql = "SELECT COUNT(*) AS n, SUM(a.x) AS s, SUM(b.x) AS t FROM {0} AS a JOIN {0} AS b "
        sql += "ON a.id = b.id AND (a.x <= b.x OR b.x IS NULL)"
        counts = {}
        with self.opened(tables) as engine:
            for name in tables:
                declared = Table.declare(name, unit="id", bounds={"x": (-9, 9)})
                known = Policy([declared.with_schema(engine.schema(name))], epsilon=9)
                query_plan = plan(parse(sql.format(name)), known, epsilon=1)
                if _refused(engine, query_plan):
                    assert "join_private" in self.refused
                    return
                counts[name] = np.array(exact(engine.run(query_plan))[0][0])
        assert (sum(counts[name] for name in tables if name != "all") == counts["all"]).all()

    def test_no_rows_are_no_groups_and_zeros(self):
        table = visits(8).slice(0, 0)
        with self.opened({"visits": table}) as engine:
            grouped = plan(
                parse("SELECT ward, COUNT(*) FROM visits GROUP BY ward"),
                POLICIES["row"],
                epsilon=1,
            )
            single = plan(
                parse("SELECT COUNT(*), SUM(cost) FROM visits"), POLICIES["row"], epsilon=1
            )
            assert exact(engine.run(grouped))[0] == []
            assert exact(engine.run(single))[0] == [(0, 0, 0)]

    def test_batches_make_up_the_whole(self):
        query_plan = plan(
            parse("SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis"),
            POLICIES["row"],
            epsilon=1,
        )
        with self.opened({"visits": visits(20)}) as engine:
            parts = engine.stream(query_plan).reveal_to(list)
            assert (
                sum(part.groups for part in parts) == exact(engine.run(query_plan))[0].__len__()
            )
            assert repr(engine.run(query_plan)) == "<withheld>"

    def test_exactly_the_text_that_was_written_runs(self, monkeypatch):
        sql = "SELECT COUNT(*) AS n, MEDIAN(cost) AS m FROM visits"
        query_plan = plan(parse(sql), POLICIES["row"], epsilon=1)
        with self.opened({"visits": visits(8)}) as engine:
            expected = exact(engine.run(query_plan))
            written, seen, run = engine.prepare(query_plan), [], engine._run_statement
            monkeypatch.setattr(
                engine,
                "_run_statement",
                lambda statement, *more: seen.append(statement) or run(statement, *more),
            )
            monkeypatch.setattr(engine, "_write_statement", None)
            assert exact(engine.run(written)) == expected
            assert len(seen) == len(written.statements) == 2
            assert {*map(id, seen)} == {*map(id, written.statements)}

    def test_there_is_one_error_and_the_next_question_is_served(self, caplog):
        query_plan = plan(parse("SELECT COUNT(*) FROM visits"), POLICIES["row"], epsilon=1)
        with self.opened({"visits": visits(8)}) as engine:
            written = engine.prepare(query_plan)
            broken = replace(written.statements[0], sql="SELECT nothing FROM nowhere")
            with pytest.raises(EngineFailed) as failed:
                engine.run(replace(written, statements=(broken,)))
            assert "while running SELECT nothing FROM nowhere" in caplog.text
            assert str(failed.value) == str(EngineFailed(failed.value.reference))
            assert failed.value.__cause__ is None
            assert failed.value.__context__ is None
            assert failed.value.reference in caplog.text
            assert exact(engine.run(query_plan))[0] == [(8,)]

    def test_an_unknown_table_is_refused_with_the_nearest(self):
        known = pytest.raises(InvalidPolicy, match="mean `visits`")
        with self.opened({"visits": visits(4)}) as engine, known:
            engine.schema("visit")

    @pytest.mark.parametrize("person", [False, True])
    def test_marginals_and_joint_cells_are_those_of_duckdb(self, person):
        limits = {"unit": "id", "max_rows_per_unit_per_group": 200} if person else {}
        plans = dict(marginals.marginal_plans(hostile_policy(**limits)))
        with self.opened({"odd": hostile()}) as engine, DuckDB({"odd": hostile()}) as reference:
            same(engine, reference, plans)
            for name, query_plan in plans.items():
                ours, theirs = (
                    marginals.joint_rows(e.run(query_plan)) for e in (engine, reference)
                )
                assert ours == theirs, name
                assert (ours is None) == ("joint" not in name)
            cut = marginals.joint_rows(
                engine.run(marginals.in_part(plans["missing True: joint"]))
            )
            assert {tuple(codes) for codes, _ in cut} == {(0,) * 6}


class Sampled:
    """For an engine that takes long to compile: some plans of a test, and all at full size."""

    few: ClassVar[int] = 12

    @pytest.fixture(autouse=True)
    def _most(self, size):
        self.most = size(small=self.few, full=1_000, what="compiled plans in a test")

    def chosen(self, plans):
        names = sorted(plans)
        kept = min(self.most, len(names))
        return {(name := names[i * len(names) // kept]): plans[name] for i in range(kept)}


def _refused(engine, query_plan):
    """Whether an engine refuses a plan, as it may before anything is spent."""
    try:
        engine.prepare(query_plan)
    except Unsupported:
        return True
    return False


def _wards(engine, name, sql):
    """{ward: integers} of one table, at most two wards a patient."""
    table = Table.declare(
        name,
        unit="patient",
        max_groups_per_unit=2,
        max_rows_per_unit_per_group=9,
        bounds={"age": (0, 120)},
        keys={"ward": ["A", "B", "C"]},
    )
    query_plan = plan(
        parse(sql.format(name)),
        Policy([table.with_schema(engine.schema(name))], epsilon=9),
        epsilon=1,
    )
    return {row[0]: row[1:] for row in exact(engine.run(query_plan))[0]}
