"""What names mean: the rules one by one, and generated questions against DuckDB."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidQuery
from tests.query.oracle import Oracle, open_oracle

NAMES = ["a", "b", "c", "x", "k", "q"]  # the last two are not columns
ALIASES = [*NAMES, *NAMES[:4], ""]


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    i = np.arange(900)
    table = pa.table(
        {"who": i, "a": i % 3, "b": i // 3 % 3, "c": i // 9 % 2, "x": i // 18 % 10}
    )
    session = dp.protect(
        table,
        name="t",
        unit="who",
        bounds={"a": (0, 2), "b": (0, 2), "c": (0, 1), "x": (0, 9)},
        epsilon=10**22,
        delta=0.5,
    )
    return Oracle(session, {"t": table})


RULES = """
SELECT FLOOR(x / 2) AS x, COUNT(*) AS n FROM t GROUP BY x
SELECT FLOOR(x / 2) AS d, COUNT(*) AS n FROM t GROUP BY d
SELECT FLOOR(x / 2) AS x, COUNT(*) AS n FROM t GROUP BY 1
SELECT FLOOR(x / 2) AS x, COUNT(*) AS n FROM t GROUP BY 1 HAVING x > 2
SELECT FLOOR(x / 2) AS x, COUNT(*) AS n FROM t GROUP BY 1 HAVING AVG(x) > 2.1
SELECT a AS b, b AS a, COUNT(*) AS n FROM t GROUP BY a, b HAVING a > 1
SELECT a, SUM(x) AS x FROM t GROUP BY a HAVING x > 1350
SELECT a, SUM(x) AS x FROM t GROUP BY a HAVING AVG(x) > 4
SELECT a, SUM(x) AS x FROM t GROUP BY a ORDER BY AVG(x), 1
SELECT a, SUM(x) AS s, s + 1 AS k FROM t GROUP BY a
SELECT a + 1 AS b, SUM(b) AS e FROM t GROUP BY a
SELECT -a AS a, COUNT(*) AS n FROM t GROUP BY t.a ORDER BY a
SELECT -a AS a, COUNT(*) AS n FROM t GROUP BY t.a ORDER BY a + 0
SELECT -a AS a, COUNT(*) AS n FROM t GROUP BY t.a ORDER BY t.a
SELECT COUNT(*) AS n, a + 1 AS z FROM t WHERE z > 1 GROUP BY 2
SELECT COUNT(*) AS n, a + 1 AS b FROM t WHERE b > 1 GROUP BY 2
SELECT a, COUNT(*) AS b FROM t GROUP BY a HAVING b > 14
SELECT a, COUNT(*) AS b FROM t GROUP BY a, b HAVING b > 1
SELECT a + 1 AS d, d + 1 AS e, COUNT(*) AS n FROM t GROUP BY ALL
SELECT a, SUM(x) AS s, s / COUNT(*) AS m FROM t GROUP BY ALL HAVING m > 1
SELECT b AS a, COUNT(*) AS n FROM t GROUP BY a + 1, b HAVING a + 1 > 1 AND a > 0
SELECT T.A, COUNT(*) AS N FROM t GROUP BY "a" HAVING n > 3 ORDER BY A
SELECT COUNT(*) AS n FROM (SELECT who, a AS b, b AS k FROM t WHERE b > 1)
SELECT SUM(x) AS n FROM (SELECT who, SUM(x) AS x FROM t GROUP BY who HAVING x > 3)
SELECT COUNT(*) AS n FROM (SELECT *, a + 1 AS z FROM t GROUP BY 1, 2, 3, 4, 5, 6)
SELECT DISTINCT a, b, COUNT(*) AS n FROM t GROUP BY a, b
""".strip().split("\n")


@pytest.mark.parametrize("sql", RULES)
def test_each_rule(oracle, sql):
    verdict = oracle.compare(sql)
    assert verdict.same, verdict


@pytest.mark.parametrize(
    ("sql", "because"),
    [
        ("SELECT a, SUM(x) AS s FROM t GROUP BY a HAVING AVG(s) > 1", "has no column s"),
        ("SELECT a, SUM(x) AS x, x + 1 AS z FROM t GROUP BY a", "nor in GROUP BY"),
        ("SELECT d + 1 AS e, a + 1 AS d, COUNT(*) FROM t GROUP BY ALL", "has no column d"),
        ("SELECT a + 1 AS b, COUNT(*) FROM t GROUP BY b", "nor in GROUP BY"),
        ("SELECT SUM(x) AS s FROM t WHERE s > 3", "belong in HAVING"),
        ("SELECT a, SUM(x) AS s FROM t GROUP BY s", "uses an aggregate"),
        ("SELECT a, COUNT(*) FROM t GROUP BY 7", "selects 2 columns"),
        ("SELECT a, COUNT(*) FROM t GROUP BY a ORDER BY 'n'", "no such position"),
        ("SELECT DISTINCT a, COUNT(*) FROM t GROUP BY a, b", "every grouping column"),
    ],
)
def test_what_duckdb_refuses_is_refused(oracle, sql, because):
    with pytest.raises(InvalidQuery, match=because):
        oracle.session.plan(sql, epsilon=1)


class Clashes:
    """Questions whose aliases are names of columns, and of each other."""

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)

    def pick(self, listed):
        return listed[self.draw.integers(len(listed))]

    def row(self) -> str:
        name = self.pick([*NAMES[:4], *NAMES])
        name = f"t.{name}" if name in NAMES[:4] and self.draw.random() < 0.15 else name
        return self.pick(["{}", "{}", "{} + 1", "-{}", "FLOOR({} / 2)"]).format(name)

    def aggregate(self) -> str:
        return self.pick(["SUM", "AVG", "COUNT"]) + f"({self.row()})"

    def value(self) -> str:
        return self.pick([self.row, self.aggregate, lambda: self.pick(NAMES)])()

    def question(self) -> str:
        keys = [self.row() for _ in range(self.draw.integers(1, 3))]
        outputs = [*keys, self.aggregate()]
        if self.draw.random() < 0.3:
            outputs.append(self.pick(NAMES) + " + 1")
        named = [f"{part} AS {self.pick(ALIASES)}".removesuffix(" AS ") for part in outputs]
        # One way for all keys: DuckDB is wrong if a key is named twice, as in GROUP BY 1, k.
        ways = [self.pick([*NAMES, key]) for key in keys], map(str, range(1, len(keys) + 1))
        by = "ALL" if self.draw.random() < 0.15 else ", ".join(ways[self.draw.random() < 0.5])
        parts = [f"SELECT {', '.join([*named, 'COUNT(*)'])} FROM t"]
        if self.draw.random() < 0.25:
            parts.append(f"WHERE {self.row()} < {self.pick([1, 2])}")
        parts.append(f"GROUP BY {by}")
        if self.draw.random() < 0.5 and by != "ALL":  # where DuckDB groups by HAVING's columns
            parts.append(f"HAVING {self.value()} {self.pick('<>')} {self.pick([0, 1, 2, 100])}")
        if self.draw.random() < 0.5:
            total = ", ".join(str(i + 1) for i in range(len(outputs)))
            parts.append(f"ORDER BY {self.value()} {self.pick(['', 'DESC'])}, {total}")
        return " ".join(parts)


def test_clashing_names_mean_what_they_mean_in_duckdb(oracle, size):
    count = size(small=30, full=500, what="questions with clashing names that both answer")
    answered, seed = 0, 0
    while answered < count:
        seed += 1
        verdict = oracle.compare(Clashes(seed).question())
        answered += verdict.same
        assert verdict.same or may_differ(verdict), verdict


def may_differ(verdict) -> bool:
    """Whether both refuse, or one of them refuses for a known reason."""
    if verdict.error:  # these have only one meaning, and DuckDB does not look for it
        in_group_by = "aliases cannot be used as part of an expression" in verdict.error
        by_all = " ALL " in verdict.sql and "must appear in the GROUP BY" in verdict.error
        return bool(verdict.refusal or in_group_by or by_all)
    # Beside GROUP BY ALL, DuckDB groups by columns in ORDER BY. It finds outputs to the right
    # if GROUP BY names them.
    by_all = " ALL " in verdict.sql and "nor in GROUP BY" in verdict.refusal
    return by_all or "has no column" in verdict.refusal


TABLES = """
SELECT COUNT(*) AS n FROM main.t
SELECT t.a, COUNT(*) AS n FROM memory.main.t GROUP BY main.t.a
SELECT "T"."a", COUNT(*) AS n FROM "main"."t" GROUP BY "T"."a"
SELECT COUNT(*) AS n FROM (t) AS c WHERE c.a > 0
SELECT q.a, COUNT(*) AS n FROM (t JOIN u USING (who)) AS q GROUP BY q.a
SELECT q.a, SUM(q.y) AS n FROM (t JOIN u ON t.who = u.who) AS q GROUP BY q.a
SELECT SUM(k) AS n FROM (SELECT a AS k, b + 1 AS k FROM t)
SELECT SUM(k_1) AS n FROM (SELECT a AS k, b + 1 AS k FROM t)
SELECT COUNT(*), COUNT(*), SUM(x) AS count FROM t
SELECT COUNT() AS n FROM t
SELECT COUNT(*) AS n FROM main.t WHERE EXISTS (SELECT 1 FROM main.u WHERE u.who = t.who)
""".strip().split("\n")


@pytest.mark.parametrize("sql", TABLES)
def test_tables_are_found_as_in_databases(two_tables, sql):
    verdict = two_tables.compare(sql)
    assert verdict.same, verdict


@pytest.fixture(scope="module")
def two_tables(tmp_path_factory) -> Oracle:
    i = np.arange(300)
    tables = {
        "t": pa.table({"who": i, "a": i % 3, "b": i // 3 % 3, "x": i // 9 % 9}),
        "u": pa.table({"who": i[:200], "y": i[:200] % 7}),
    }
    declared = {
        "t": "a = { bounds = [0, 2] }\nb = { bounds = [0, 2] }\nx = { bounds = [0, 9] }",
        "u": "y = { bounds = [0, 9] }",
    }
    limits = 'unit = "who"'
    return open_oracle(
        tmp_path_factory.mktemp("t"), tables, declared, dict.fromkeys(tables, limits)
    )


def test_notes_say_which_names_are_others(two_tables):
    plan = two_tables.session.plan("SELECT COUNT(*), COUNT(*) FROM s.t", epsilon=1)
    assert plan.notes[0] == "s.t is the table t of the policy; the schema is ignored."
    assert plan.notes[1] == "Two columns are called count: the later one is count_2."
    assert [output.name for output in plan.outputs] == ["count", "count_2"]
