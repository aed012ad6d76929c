"""Random questions about a world, of every shape and function that has a rule."""

from itertools import chain

from tests.engines.worlds import Worlds

AGGREGATES = ["COUNT(*)", "COUNT({e})", "SUM({n})", "AVG({n})", "VARIANCE({n})", "STDDEV({n})"]
AGGREGATES += ["COUNT(DISTINCT {e})", "MEDIAN({n})", "MIN({n})", "MAX({n})", "MODE({k})"]
AGGREGATES += ["TOP_K({k}, 2)", "HISTOGRAM({n}, 4)", "HISTOGRAM({k}, 4)", "CORR({n}, {n})"]
AGGREGATES += ["QUANTILE_CONT({n}, [0.1, 0.9])", "SUM({n})", "COUNT(*)", "COUNT(DISTINCT id)"]
AGGREGATES += ["CLIPPED(x)", "SUM(CASE WHEN {b} THEN 1 END)", "COUNT(*) FILTER (WHERE {b})"]
AGGREGATES += ["SUM(DISTINCT {n})"]
# Their last digit is each engine's own.
CURVES = ["EXP", "LN", "LOG10", "SIN", "COS", "POWER"]


class Questions(Worlds):
    """Texts over the columns of a source."""

    most_signs = 130  # in one sum

    def question(self, person):
        """A question: its text, and whether engines may differ in the last digit."""
        source, self.columns, where = self.source(person)
        key = self.pick(["", "", *self.keys()])
        outputs = ", ".join(
            f"{self.aggregate()} AS a{i}" for i in range(self.draw.integers(1, 4))
        )
        sql = f"SELECT {f'{key} AS k, ' if key else ''}{outputs} FROM {source}"
        conditions = [
            condition
            for condition in (where, self.boolean(2) if self.chance(0.4) else "")
            if condition
        ]
        sql += f" WHERE {' AND '.join(conditions)}" if conditions else ""
        sql += f" GROUP BY {key}" if key else ""
        return sql, any(f"{curve}(" in sql for curve in CURVES)

    def keys(self):
        numbers, texts = self.columns["number"], self.columns["text"]
        number, text = self.pick(numbers), self.pick(texts)
        keys = [text, text, f"FLOOR({number} / 10) * 10", f"LEFT({text}, 1)", self.boolean(1)]
        keys += [f"ROUND({self.number(1)})", f"LENGTH({text})", f"UPPER(TRIM({text}))"]
        for name in self.columns["date"]:
            keys += [name, f"EXTRACT(year FROM {name})", f"DATE_TRUNC('month', {name})"]
        return keys + [name for name in numbers if name in ("n", "i", "a.n", "a.i")]

    def source(self, person):
        """What stands behind FROM, its columns by kind, and a condition."""
        own = {
            "number": ["x", "y", "n", "i", "s"],
            "text": ["t", "w"],
            "date": ["d", "m"],
            "boolean": ["f"],
        }
        plain = ("data", own, "")
        ways = [plain, plain, *self.public_sources(own)]
        if person:
            ways += self.private_sources(own)
        return self.pick(ways)

    def public_sources(self, own):
        more = own | {"number": ["x", "n", "factor"], "text": ["w", "region"]}
        self.columns = more
        side = self.pick(["JOIN", "LEFT JOIN"])
        yield f"data {side} lookup USING (t)", more, ""
        yield f"data {side} lookup ON x > factor OR {self.boolean(0)}", more, ""
        yield "data", own, "t IN (SELECT t FROM lookup WHERE factor > 0)"
        yield "data", own, "x < (SELECT MAX(factor) FROM lookup)"
        kinds = {"number": ["v"], "text": ["u"], "date": [], "boolean": ["v > 1"]}
        parts = "SELECT x AS v, t AS u FROM data UNION ALL SELECT n, w FROM data"
        yield f"({parts})", kinds, ""

    def private_sources(self, own):
        both = {"number": ["x", "n", "z", "j"], "text": ["t", "k"], "date": ["d"]}
        both |= {"boolean": ["f"]}
        self.columns = both
        kind = self.pick(["JOIN", "LEFT JOIN", "JOIN"])
        yield f"data {kind} more ON data.id = more.id AND {self.boolean(1)}", both, ""
        yield f"data {kind} more ON data.id = more.id", both, ""
        yield "data AS a JOIN data AS b ON a.id = b.id", _aliased(own), ""
        yield "data", own, "EXISTS (SELECT 1 FROM more AS b WHERE b.id = data.id AND b.z > 1)"
        yield "data", own, "x > (SELECT AVG(z) FROM more AS b WHERE b.id = data.id)"
        yield "data ANTI JOIN more USING (id)", own, ""
        grouped = {"number": ["s", "c", "l", "g"], "text": ["t"], "date": [], "boolean": []}
        grouped |= {"boolean": ["c > 1"]}
        yield (
            "(SELECT id, t, SUM(x) AS s, COUNT(*) AS c, MIN(n) AS l, AVG(y) AS g FROM data "
            f"GROUP BY id, t{' HAVING COUNT(*) > 1' if self.chance(0.5) else ''})",
            grouped,
            "",
        )
        distinct = {"number": ["x", "i"], "text": ["t"], "date": [], "boolean": ["x > 1"]}
        yield "(SELECT DISTINCT id, t, x, i FROM data)", distinct, ""
        # Each keeps one of several equal values: zeros, whose signs differ, and NaN.
        ends = {"number": ["l", "h"], "text": ["v", "m"], "date": [], "boolean": ["b"]}
        low, high = "MIN(x) AS l, MAX(-y) AS h", "CAST(MIN(y) AS TEXT) AS v, MAX(t) AS m"
        yield f"(SELECT id, {low}, {high}, MIN(f) AS b FROM data GROUP BY id)", ends, ""
        ends = {"number": ["x", "h"], "text": ["v"], "date": [], "boolean": ["x IS NULL"]}
        keys = "id, x, CAST(y * 0 AS TEXT)"
        yield f"(SELECT {keys} AS v, MAX(x * y) AS h FROM data GROUP BY {keys})", ends, ""
        union = "SELECT id, x AS v, t AS u FROM data UNION ALL SELECT id, z, k FROM more"
        kinds = {"number": ["v"], "text": ["u"], "date": [], "boolean": ["v > 1"]}
        yield f"({union})", kinds, ""

    def aggregate(self):
        text = self.pick(AGGREGATES)
        for name, make in (("n", self.bounded), ("e", self.any), ("b", self.condition)):
            while f"{{{name}}}" in text:
                text = text.replace(f"{{{name}}}", make(), 1)
        return text.replace("{k}", self.pick([*self.columns["text"], self.boolean(1)]))

    def condition(self):
        return self.boolean(2)

    def any(self):
        return self.pick([self.number(1), self.text(1), *chain(*self.columns.values())])

    def bounded(self):
        if self.chance(0.4):
            return self.pick(self.columns["number"])
        ends = self.pick(["-5, 50", "0, 1", "-0.5, 0.5", "0, 1000000"])
        return f"CLAMP({self.number(2)}, {ends})"

    def number(self, depth):
        if not depth or self.chance(0.3):
            return self.pick([*self.columns["number"], "2", "-1.5", "0", "1e30"])
        a, b = self.number(depth - 1), self.number(depth - 1)
        ways = [
            f"({a} {self.pick('+-*/%')} {b})",
            f"CASE WHEN {self.boolean(depth - 1)} THEN {a} ELSE {b} END",
            f"{self.pick(['ABS', 'SQRT', 'FLOOR', 'CEIL', 'SIGN', 'ROUND'])}({a})",
            f"{self.pick(['COALESCE', 'LEAST', 'GREATEST', 'NULLIF'])}({a}, {b})",
            f"CAST({self.text(depth - 1)} AS {self.pick(['INTEGER', 'DOUBLE'])})",
            f"LENGTH({self.text(depth - 1)})",
            f"STRPOS({self.text(depth - 1)}, 'a')",
            f"CAST({self.boolean(depth - 1)} AS INTEGER)",
            f"POWER({a}, {self.pick([2, -1, -3, 0.5])})",
            self.pick([f"-({a})", f"-(-({a}))", f"-(-(-({a})))"]),
            f"SIGN({a}) * {b}",
            self.signs(),
        ]
        for day in self.columns["date"]:
            part = self.pick(["year", "quarter", "week", "dayofweek", "hour"])
            ways += [f"EXTRACT({part} FROM {day})"]
            ways += [f"DATE_DIFF('day', {day}, DATE '2020-01-01')"]
            ways += [f"DATE_DIFF('day', DATE '2020-01-01', {self.moved(day)})"]
        curve = self.pick(CURVES[:-1])
        return self.pick([*ways, f"{curve}({a})"])

    def moved(self, date):
        """A date that is moved, for some rows beyond the calendar."""
        count = f"CAST({self.pick(self.columns['number'])} AS INTEGER)"
        unit = self.pick(["SECOND", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"])
        return f"{date} {self.pick('+-')} INTERVAL ({self.pick([count, '3', '5000'])}) {unit}"

    def signs(self):
        """A sum of signs, which eight bits can rarely not hold."""
        sign = f"SIGN({self.pick(self.columns['number'])})"
        return f"({' + '.join([sign] * (self.most_signs if self.chance(0.02) else 3))})"

    def text(self, depth):
        if not depth or self.chance(0.4):
            return self.pick([*self.columns["text"], "'A'", "'it''s'", "''"])
        inner = self.text(depth - 1)
        return self.pick(
            [
                f"{self.pick(['LOWER', 'UPPER', 'TRIM', 'LTRIM', 'RTRIM'])}({inner})",
                f"{self.pick(['LEFT', 'RIGHT'])}({inner}, {self.draw.integers(-2, 4)})",
                f"SUBSTRING({inner}, {self.draw.integers(-2, 4)}, 2)",
                f"REPLACE({inner}, '{self.pick(['a', 'ss', '1'])}', 'ñ-ñ')",
                f"SPLIT_PART({inner}, 'a', {self.draw.integers(-1, 3)})",
                f"COALESCE({inner}, 'none')",
                f"CASE WHEN {self.boolean(depth - 1)} THEN {inner} END",
                f"CAST({self.number(depth - 1)} AS TEXT)",
                f"CAST({self.boolean(depth - 1)} AS TEXT)",
            ]
        )

    def boolean(self, depth):
        if not depth or self.chance(0.3):
            number, text = self.pick(self.columns["number"]), self.pick(self.columns["text"])
            leaves = [f"{number} > 3", f"{text} = 'A'", f"{number} IS NULL", f"{text} < 'b'"]
            leaves += [f"{day} < DATE '1970-01-01'" for day in self.columns["date"]]
            leaves += [f"{self.moved(day)} < DATE '2020-02-29'" for day in self.columns["date"]]
            return self.pick([*leaves, *self.columns["boolean"], "TRUE"])
        if self.chance(0.4):
            return self.nested(*(self.boolean(depth - 1) for _ in range(3)))
        return self.pick(
            [
                f"({self.boolean(depth - 1)} {self.pick(['AND', 'OR'])} "
                f"{self.boolean(depth - 1)})",
                f"{self.number(depth - 1)} {self.pick(['=', '<', '>=', '<>'])} "
                f"{self.number(depth - 1)}",
                f"{self.text(depth - 1)} {self.pick(['LIKE', 'ILIKE'])} "
                f"{self.pick(['%a%', '_', 'A%', '5!%']).__repr__()}",
                f"{self.text(depth - 1)} IN ('A', 'a', '')",
                f"{self.number(depth - 1)} BETWEEN -1 AND 9",
                f"{self.text(depth - 1)} IS DISTINCT FROM {self.text(depth - 1)}",
                f"STARTS_WITH({self.text(depth - 1)}, 'i')",
                f"{self.number(depth - 1)} IN (0, {self.number(depth - 1)})",
                f"{self.text(depth - 1)} IS {self.pick(['', 'NOT '])}NULL",
            ]
        )

    def nested(self, a, b, c):
        """Conditions of conditions: each is a value, and without brackets another one."""
        return self.pick(
            [
                f"NOT ({a})",
                f"({a}) IS {self.pick(['NULL', 'NOT NULL', 'TRUE', 'NOT FALSE'])}",
                f"({a}) {self.pick(['=', '<>', '<', '>='])} ({b})",
                f"({a}) IS {self.pick(['', 'NOT '])}DISTINCT FROM ({b})",
                f"({a}) {self.pick(['', 'NOT '])}IN (({b}), ({c}))",
                f"CASE WHEN {a} THEN {b} ELSE {c} END",
                f"CASE ({a}) WHEN ({b}) THEN ({c}) END",
                f"COALESCE({a}, {b}, {c})",
                f"NULLIF({a}, {b})",
            ]
        )


def _aliased(columns):
    return {
        kind: [f"{self}.{name}" for name in names for self in "ab"]
        for kind, names in columns.items()
    }
