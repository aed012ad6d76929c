"""SQL made by a grammar from a seed: questions that are meant well, and hostile ones.

Every text carries a mark in a comment, so that whatever of it reaches an engine is found.
"""

import numpy as np

TABLES = {
    "visits": ["patient", "ward", "cost", "day", "note"],
    "bills": ["patient", "amount"],
    "wards": ["ward", "floor"],
    "tariffs": ["floor", "price"],
    "rows": ["ward", "x"],
}
NUMBERS = ["cost", "amount", "floor", "price", "x", "n", "total", "1", "0", "1e30", "-2.5"]
TEXTS = ["ward", "note", "'A'", "''", "'it''s'", "'%'", "'\u202e'", "'\U0001f600'", "NULL"]
AGGREGATES = ["COUNT(*)", "SUM({n})", "AVG({n})", "STDDEV({n})", "COUNT({n})", "MIN({n})"]
AGGREGATES += ["COUNT(DISTINCT patient)", "HISTOGRAM({n}, 4)", "MEDIAN({n})", "MAX({n})"]
JOINS = ["JOIN", "LEFT JOIN", "JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN"]
JOINS += ["JOIN", "NATURAL JOIN", "NATURAL LEFT JOIN"]
# Everything that DuckDB does beside answering questions.
STATEMENTS = [
    "COPY visits TO 'out.csv'",
    "COPY (SELECT * FROM visits) TO '/dev/stdout'",
    "COPY visits FROM 'in.csv'",
    "ATTACH 'other.db'",
    "ATTACH ':memory:' AS x",
    "DETACH x",
    "PRAGMA database_list",
    "PRAGMA threads=1",
    "SET threads = 1",
    "SET SESSION memory_limit = '1GB'",
    "RESET threads",
    "CALL pragma_version()",
    "CALL duckdb_settings()",
    "INSTALL httpfs",
    "LOAD httpfs",
    "FORCE INSTALL httpfs",
    "UPDATE EXTENSIONS",
    "CREATE TABLE t AS SELECT * FROM visits",
    "CREATE OR REPLACE VIEW visits AS SELECT 1",
    "CREATE MACRO f(x) AS x + 1",
    "CREATE FUNCTION f(x) AS TABLE SELECT * FROM visits",
    "CREATE TEMP MACRO count() AS 1",
    "CREATE TYPE mood AS ENUM ('a')",
    "CREATE SCHEMA s",
    "CREATE SEQUENCE q",
    "CREATE INDEX i ON visits (ward)",
    "CREATE SECRET s (TYPE s3)",
    "DROP TABLE visits",
    "DROP MACRO f",
    "ALTER TABLE visits ADD COLUMN z INT",
    "INSERT INTO visits VALUES (1)",
    "INSERT INTO visits SELECT * FROM visits",
    "UPDATE visits SET cost = 0",
    "DELETE FROM visits",
    "TRUNCATE visits",
    "MERGE INTO visits USING bills ON TRUE WHEN MATCHED THEN DELETE",
    "EXPORT DATABASE 'x'",
    "IMPORT DATABASE 'x'",
    "EXPLAIN SELECT COUNT(*) FROM visits",
    "EXPLAIN ANALYZE SELECT COUNT(*) FROM visits",
    "DESCRIBE visits",
    "SHOW TABLES",
    "SHOW ALL TABLES",
    "SUMMARIZE visits",
    "USE memory",
    "CHECKPOINT",
    "VACUUM",
    "ANALYZE",
    "BEGIN TRANSACTION",
    "COMMIT",
    "ROLLBACK",
    "ABORT",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "DEALLOCATE p",
    "VALUES (1, 2)",
    "TABLE visits",
    "FROM visits",
    "PIVOT visits ON ward",
    "UNPIVOT visits ON ward",
    "COMMENT ON TABLE visits IS 'x'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT COUNT(*) FROM '/etc/passwd'",
    "SELECT COUNT(*) FROM duckdb_settings()",
    "SELECT COUNT(*) FROM information_schema.tables",
    "SELECT COUNT(*) FROM glob('*')",
    "SELECT COUNT(*) FROM range(10)",
    "SELECT COUNT(*) FROM sqlite_master",
    "SELECT getenv('HOME')",
    "SELECT current_setting('threads') FROM visits",
    "SELECT query('SELECT 1') FROM visits",
    "SELECT COUNT(*) FROM query('SELECT 1')",
    "SELECT COUNT(*) FROM query_table('visits')",
    "SELECT error('x') FROM visits",
    "SELECT COUNT(*) FROM visits USING SAMPLE 10%",
    "SELECT COUNT(*) FROM visits QUALIFY TRUE",
    "SELECT COUNT(*) FROM visits WINDOW w AS ()",
    "SELECT COLUMNS(*) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE (SELECT error('x')) IS NULL",
    "SELECT UNNEST([1, 2]) FROM visits",
    "SELECT list(cost) FROM visits",
    "SELECT string_agg(note) FROM visits",
    "SELECT first(cost) FROM visits",
    "SELECT arg_max(cost, note) FROM visits",
    "SELECT COUNT(*) FROM visits POSITIONAL JOIN bills",
    "SELECT COUNT(*) FROM visits FOR UPDATE",
    "SELECT COUNT(*) INTO t FROM visits",
    "SELECT $1 FROM visits",
    "SELECT ? FROM visits",
    "SELECT COUNT(*) FROM visits WHERE cost > $salt",
    "SELECT COUNT(*) FROM visits WHERE patient = :x",
    "SELECT @x FROM visits",
    "SELECT COUNT(*) FROM visits AT (VERSION => 1)",
    "SELECT TRY(cost) FROM visits",
    "SELECT SUM(x -> x + 1) FROM visits",
    "SELECT SUM([x FOR x IN [1]]) FROM visits",
    "SELECT ROW(cost) FROM visits",
    "SELECT {'a': cost} FROM visits",
    "SELECT COUNT(*) FROM visits LIMIT 10%",
    "SELECT COUNT(*) FROM visits OFFSET 1",
    "SELECT COUNT(*) FROM visits FETCH FIRST 1 ROWS WITH TIES",
]
INSERTS = [
    "'",
    '"',
    "--",
    "/*",
    "*/",
    ";",
    "\\",
    "\x00",
    "\u202e",
    "(",
    ")",
    ",",
    "$$",
    "0x",
    "e9",
]
INSERTS += [
    "; DROP TABLE visits",
    " UNION SELECT 1",
    "\r\n",
    "NULL",
    "1e400",
    "::BLOB",
    "\ufeff",
]


class Seeded:
    """Choices from a seed."""

    def __init__(self, seed):
        self.draw = np.random.default_rng(seed)

    def pick(self, options):
        return options[self.draw.integers(len(options))]

    def chance(self, share):
        return self.draw.random() < share


class Grammar(Seeded):
    """Texts from a seed."""

    def text(self, mark):
        """One text: well meant, broken, deep, or no question at all."""
        kind = self.draw.random()
        if kind < 0.62:
            text = self.question()
        elif kind < 0.84:
            text = self.broken(self.question())
        elif kind < 0.92:
            text = self.deep(int(self.draw.integers(5, 201)))
        else:
            text = self.pick(STATEMENTS)
            if self.chance(0.3):
                text = self.pick([f"{self.question()}; {text}", f"{text}; {self.question()}"])
        return f"/* {mark} */ {text}" if self.chance(0.5) else f"{text} -- {mark}"

    def broken(self, text):
        for _ in range(self.draw.integers(1, 4)):
            place = int(self.draw.integers(len(text) + 1))
            how = self.draw.integers(3)
            if how == 0:
                text = text[:place] + self.pick(INSERTS) + text[place:]
            elif how == 1:
                text = text[:place] + text[place + int(self.draw.integers(1, 9)) :]
            else:
                words = text.split(" ")
                words[place % len(words)] = self.pick(words)
                text = " ".join(words)
        return text

    def deep(self, depth):
        """Nested to a depth, one way or another."""
        ways = [
            lambda: (
                "SELECT COUNT(*) FROM visits WHERE " + "(" * depth + "cost > 1" + ")" * depth
            ),
            lambda: "SELECT COUNT(*) FROM visits WHERE " + "NOT " * depth + "(cost > 1)",
            lambda: "SELECT SUM(" + "-" * depth + "cost) FROM visits",
            lambda: "SELECT SUM(" + "- " * depth + "cost) FROM visits",
            lambda: "SELECT SUM(" + "ABS(" * depth + "cost" + ")" * depth + ") FROM visits",
            lambda: (
                "SELECT COUNT(*) FROM "
                + "(SELECT * FROM " * depth
                + "visits"
                + "".join(f") AS s{i}" for i in range(depth))
            ),
            lambda: (
                "SELECT COUNT(*) FROM visits WHERE "
                + "cost IN (SELECT floor FROM wards WHERE floor > 0 AND " * depth
                + "TRUE"
                + ")" * depth
            ),
            lambda: (
                "SELECT SUM("
                + "CASE WHEN TRUE THEN " * depth
                + "1"
                + " END" * depth
                + ") FROM visits"
            ),
            lambda: "SELECT COUNT(*) FROM visits WHERE " + " AND ".join(["cost > 1"] * depth),
            lambda: "SELECT SUM(" + " + ".join(["cost"] * depth) + ") FROM visits",
            lambda: (
                "WITH a0 AS (SELECT cost FROM visits)"
                + "".join(f", a{i + 1} AS (SELECT cost FROM a{i})" for i in range(depth))
                + f" SELECT SUM(cost) FROM a{depth}"
            ),
            lambda: (
                "SELECT COUNT(*) FROM "
                + " JOIN ".join(["visits", *(f"wards AS w{i} ON TRUE" for i in range(depth))])
            ),
            lambda: (
                "SELECT COUNT(*) FROM "
                + " JOIN ".join(
                    [
                        "visits AS v",
                        *(f"wards AS w{i} ON w{i}.ward = v.ward" for i in range(depth)),
                    ]
                )
            ),
            lambda: (
                "SELECT COUNT(*) FROM ("
                + " UNION ALL ".join(["SELECT cost FROM visits"] * depth)
                + ")"
            ),
            lambda: "SELECT COUNT(*) FROM visits WHERE cost" + "::DOUBLE" * depth + " > 1",
            lambda: (
                "SELECT COUNT(*) FROM visits WHERE cost IN ("
                + ", ".join(map(str, range(depth)))
                + ")"
            ),
        ]
        return self.pick(ways)()

    def question(self):
        source = self.source(2)
        outputs = [self.aggregate() for _ in range(self.draw.integers(1, 3))]
        key = self.pick(["ward", "floor", "patient", "FLOOR(cost / 10)", self.boolean(1)])
        grouped = self.chance(0.4)
        picked = ([key] if grouped else []) + [
            f"{output} AS a{i}" for i, output in enumerate(outputs)
        ]
        statement = f"SELECT {', '.join(picked)} FROM {source}"
        if self.chance(0.5):
            statement += f" WHERE {self.boolean(2)}"
        if grouped:
            statement += f" GROUP BY {self.pick([key, key, 'ALL'])}"
        if self.chance(0.1):
            statement += " HAVING COUNT(*) > 1"
        if self.chance(0.1):
            statement += " ORDER BY a0 DESC LIMIT 3"
        if self.chance(0.1):
            name = self.pick(["w", "visits", "visits(patient, cost)", "w(i)"])
            statement = f"WITH {name} AS (SELECT * FROM bills) {statement}"
        return statement

    def source(self, depth):
        way = self.draw.random() if depth else 0.0
        table = self.pick(list(TABLES))
        if way < 0.35:
            return self.pick(["visits", "visits", table])
        if way < 0.6:
            kind = self.pick(JOINS)
            other = self.pick(list(TABLES))
            shared = [name for name in TABLES[other] if name in ("patient", "ward", "floor")]
            using = self.pick(shared or ["ward"])
            on = self.pick([f"USING ({using})", f"ON {self.boolean(1)}", f"USING ({using})"])
            on = "" if kind.startswith("NATURAL") else on
            return f"{self.source(depth - 1)} {kind} {other} {on}"
        if way < 0.75:
            keys = self.pick(["patient", "patient, ward", "ward", ""])
            grouped = f" GROUP BY {keys}" if keys else ""
            return (
                f"(SELECT {keys + ', ' if keys else ''}SUM({self.number(1)}) AS total, "
                f"COUNT(*) AS n FROM {self.source(depth - 1)}{grouped}) AS p{depth}"
            )
        if way < 0.8:
            return f"(SELECT patient, ward FROM {self.source(depth - 1)}) AS t{depth}(i, j)"
        if way < 0.87:
            return f"(SELECT DISTINCT patient, ward FROM {self.source(depth - 1)}) AS q{depth}"
        if way < 0.93:
            columns = self.pick(["patient, ward", "ward", "patient"])
            parts = [f"SELECT {columns} FROM {self.source(depth - 1)}" for _ in range(2)]
            return f"({' UNION ALL '.join(parts)}) AS r{depth}"
        return f"(SELECT *, {self.number(1)} AS n FROM {self.source(depth - 1)}) AS s{depth}"

    def aggregate(self):
        return self.pick(AGGREGATES).format(n=self.number(2))

    def number(self, depth):
        if not depth or self.chance(0.3):
            return self.pick(NUMBERS)
        a, b = self.number(depth - 1), self.number(depth - 1)
        return self.pick(
            [
                f"({a} {self.pick('+-*/%')} {b})",
                f"CASE WHEN {self.boolean(depth - 1)} THEN {a} ELSE {b} END",
                f"{self.pick(['ABS', 'SQRT', 'LN', 'EXP', 'FLOOR', 'SIGN', 'ROUND'])}({a})",
                f"CLAMP({a}, 0, 9)",
                f"COALESCE({a}, {b})",
                f"CAST({self.string(depth - 1)} AS INTEGER)",
                f"LENGTH({self.string(depth - 1)})",
                "EXTRACT(year FROM day)",
                f"{self.pick(['SECOND', 'MINUTE', 'HOUR'])}(day)",
                f"CASE {a} WHEN 1 THEN {b} WHEN {self.number(0)} THEN 2 END",
                f"NULLIF({a}, {b})",
                "DATE_DIFF('day', day, DATE '2026-01-01')",
                f"POWER({a}, {self.pick([2, 3, 0.5, -1])})",
                "(SELECT MAX(price) FROM tariffs)",
                "(SELECT SUM(amount) FROM bills WHERE bills.patient = visits.patient)",
            ]
        )

    def string(self, depth):
        if not depth or self.chance(0.4):
            return self.pick(TEXTS)
        name = self.pick(["LOWER", "UPPER", "TRIM", "REVERSE", "REPEAT", "MD5", "CONCAT"])
        return self.pick(
            [
                f"{name}({self.string(depth - 1)})",
                f"LEFT({self.pick(TEXTS)}, 2)",
                f"SPLIT_PART({self.string(depth - 1)}, {self.pick(TEXTS)}, "
                f"{self.pick([1, 2, 0, -1, 'x'])})",
                f"TRIM({self.pick(['LEADING', 'BOTH'])} 'a' FROM {self.string(depth - 1)})",
            ]
        )

    def boolean(self, depth):
        if not depth or self.chance(0.3):
            return self.pick(
                ["cost > 3", "ward = 'A'", "TRUE", "note IS NULL", "x < 5", "NULL"]
            )
        a, b = self.boolean(depth - 1), self.boolean(depth - 1)
        return self.pick(
            [
                f"({a} {self.pick(['AND', 'OR'])} {b})",
                f"NOT ({a})",
                f"{self.number(depth - 1)} {self.pick(['=', '<', '>=', '<>'])} "
                f"{self.number(depth - 1)}",
                f"{self.string(depth - 1)} LIKE {self.string(depth - 1)}",
                f"{self.string(depth - 1)} {self.pick(['', 'NOT '])}LIKE 'a!%' ESCAPE "
                f"{self.pick(['!', 'x', '%', '!!']).__repr__()}",
                f"{self.number(depth - 1)} {self.pick(['= ANY', '<> ALL', '> ANY', '= SOME'])} "
                f"([{self.number(0)}, 1])",
                f"({self.number(depth - 1)}, {self.string(0)}) {self.pick(['IN', 'NOT IN'])} "
                f"((1, 'A'), ({self.number(0)}, {self.string(0)}))",
                f"({self.number(0)}, {self.string(0)}) {self.pick(['=', '<>'])} (1, 'A')",
                f"{a} IS {self.pick(['', 'NOT '])}DISTINCT FROM {b}",
                f"{self.number(depth - 1)} BETWEEN 1 AND 9",
                "ward IN (SELECT ward FROM wards)",
                "patient IN (SELECT patient FROM bills)",
                "EXISTS (SELECT 1 FROM bills AS b WHERE b.patient = visits.patient)",
                "EXISTS (SELECT 1 FROM bills)",
                "day < DATE '2026-02-30'",
            ]
        )
