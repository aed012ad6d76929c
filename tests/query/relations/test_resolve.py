"""Relations meet a policy: flat ones stay flat, people are never tied together."""

import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import InvalidQuery
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.query.town import SOURCES, policy


def planned(sql, **options):
    return plan(parse(sql), policy(**options), epsilon=1)


@pytest.mark.parametrize(
    ("nested", "flat"),
    [
        (
            "SELECT SUM(cost) AS s FROM (SELECT cost FROM visits WHERE ward = 'A')",
            "SELECT SUM(cost) AS s FROM visits WHERE ward = 'A'",
        ),
        (
            "SELECT SUM(c) AS s FROM (SELECT cost + 1 AS c, * FROM visits) v WHERE v.ward='A'",
            "SELECT SUM(cost + 1) AS s FROM visits WHERE ward = 'A'",
        ),
        (
            "WITH a AS (SELECT * FROM visits WHERE cost > 3), b AS (SELECT cost AS x FROM a) "
            "SELECT SUM(x) AS s FROM b WHERE x < 90",
            "SELECT SUM(cost) AS s FROM visits WHERE cost > 3 AND cost < 90",
        ),
        (
            "SELECT w, COUNT(*) AS n FROM (SELECT v.ward AS w FROM visits AS v) GROUP BY w",
            "SELECT ward AS w, COUNT(*) AS n FROM visits GROUP BY ward",
        ),
        (
            "SELECT COUNT(DISTINCT p) AS n FROM (SELECT patient AS p FROM visits ORDER BY day)",
            "SELECT COUNT(DISTINCT patient) AS n FROM visits",
        ),
        (
            "SELECT x AS n FROM (SELECT 1 AS one FROM visits) AS v GROUP BY x HAVING n > 1",
            None,
        ),
    ],
)
def test_a_sub_query_that_only_names_and_filters_makes_the_plan_of_the_flat_question(
    nested, flat
):
    if flat is None:
        with pytest.raises(InvalidQuery, match="no column x"):
            planned(nested)
    else:
        assert planned(nested) == planned(flat)


@pytest.fixture(scope="module")
def engine():
    with DuckDB.open(SOURCES) as opened:
        yield opened


# SQL, what the engine finds before any noise ({keys: features}), private and public tables.
FOUND = [
    (
        "SELECT SUM(total) FROM (SELECT patient, SUM(cost) AS total FROM visits GROUP BY 1)",
        {(): (310,)},
        ("visits",),
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient, SUM(cost) AS total, COUNT(*) AS n, AVG(cost) AS "
        "a, STDDEV(cost) AS s, COUNT(DISTINCT ward) AS w FROM visits GROUP BY patient "
        "HAVING COUNT(*) > 1) WHERE n < 10 AND a BETWEEN 15 AND 40 AND s < 11 AND w = 2",
        {(): (2,)},
        ("visits",),
    ),
    (
        "SELECT ward, COUNT(*) FROM (SELECT DISTINCT patient, ward FROM visits) GROUP BY ward",
        {("A",): (3,), ("B",): (2,), ("C",): (1,)},
        ("visits",),
    ),
    (
        "SELECT w.floor, COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward "
        "WHERE w.floor < 3 GROUP BY 1",
        {(1,): (4,), (2,): (2,)},
        ("visits",),
    ),
    (
        "SELECT COUNT(*) FROM visits v JOIN bills b ON v.patient = b.patient",
        {(): (2 + 3,)},  # the second patient's six rows count as three
        ("visits", "bills"),
    ),
    (
        "SELECT COUNT(b.amount), COUNT(*) FROM visits LEFT JOIN bills b ON "
        "b.patient = visits.patient AND b.amount > 6",
        None,
        ("visits", "bills"),
    ),
    (
        "SELECT COUNT(*) FROM visits FULL JOIN bills USING (patient)",
        {(): (2 + 3 + 1 + 1 + 1,)},
        ("visits", "bills"),
    ),
    (
        "SELECT COUNT(*) FROM (SELECT patient, cost AS x FROM visits UNION ALL "
        "SELECT patient, amount FROM bills)",
        {(): (3 + 3 + 1 + 1 + 1,)},
        ("visits", "bills"),
    ),
    (
        "SELECT ward, COUNT(*) FROM (SELECT ward FROM rows UNION ALL SELECT ward FROM rows) "
        "GROUP BY ward",
        {("A",): (2,), ("B",): (1,)},
        ("rows",),
    ),
    (
        "SELECT COUNT(*) FROM rows JOIN wards ON rows.ward = wards.ward",
        {(): (3,)},
        ("rows",),
    ),
    (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS "
        "(SELECT 1 FROM bills b WHERE b.patient = v.patient AND b.amount > 5)",
        {(): (3,)},
        ("visits", "bills"),
    ),
    (
        "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS "
        "(SELECT * FROM bills b WHERE v.patient = b.patient)",
        {(): (2,)},
        ("visits", "bills"),
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE patient NOT IN (SELECT patient FROM bills)",
        {(): (2,)},
        ("visits", "bills"),
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE ward IN (SELECT ward FROM wards WHERE floor > 1)",
        {(): (3,)},
        ("visits",),
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(price) FROM tariffs)",
        {(): (5,)},
        ("visits",),
    ),
    (
        "SELECT COUNT(*) FROM visits v WHERE (SELECT COUNT(*) FROM bills b WHERE "
        "b.patient = v.patient) = 0",
        {(): (2,)},
        ("visits", "bills"),
    ),
    (
        "SELECT COUNT(*) FROM rows r WHERE EXISTS "
        "(SELECT 1 FROM wards w WHERE w.ward = r.ward AND floor > 1)",
        {(): (1,)},
        ("rows",),
    ),
    (
        "SELECT COUNT(*) FROM visits JOIN (SELECT ward, AVG(price) AS p FROM wards JOIN "
        "tariffs USING (floor) GROUP BY ward) AS w ON visits.ward = w.ward WHERE w.p > 20",
        {(): (3,)},
        ("visits",),
    ),
]


@pytest.mark.parametrize(("sql", "expected", "tables"), FOUND)
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_the_engine_finds_what_sql_means(engine, sql, expected, tables, neighbors):
    query_plan = plan(parse(sql), policy(neighbors), epsilon=1)
    assert query_plan.tables == tables
    exact = engine.run(query_plan).reveal_to(lambda integers: integers)
    if expected is None:
        return
    keys = list(zip(*(column.to_pylist() for column in exact.keys), strict=True)) or [()]
    values = list(zip(*(column.tolist() for column in exact.features.values()), strict=True))
    assert dict(zip(keys, values, strict=True)) == expected


@pytest.mark.parametrize(
    ("sql", "because"),
    [
        ("SELECT COUNT(*) FROM (SELECT DISTINCT ward FROM visits)", "SELECT DISTINCT patient"),
        ("SELECT COUNT(*) FROM (SELECT ward FROM visits GROUP BY 1)", "GROUP BY patient"),
        ("SELECT COUNT(*) FROM (SELECT SUM(cost) AS s FROM visits)", "GROUP BY patient"),
        ("SELECT COUNT(*) FROM (SELECT ward FROM rows GROUP BY 1)", "in the outer question"),
        ("SELECT COUNT(*) FROM wards LEFT JOIN visits USING (ward)", "private LEFT JOIN"),
        ("SELECT COUNT(*) FROM visits RIGHT JOIN wards USING (ward)", "private LEFT JOIN"),
        ("SELECT COUNT(*) FROM visits FULL JOIN wards USING (ward)", "private LEFT JOIN"),
        (
            "SELECT COUNT(*) FROM visits v JOIN bills b ON v.cost = b.amount",
            "not joined on the unit",
        ),
        ("SELECT COUNT(*) FROM visits v, bills b", "not joined on the unit"),
        (
            "SELECT COUNT(*) FROM visits v JOIN bills b ON v.patient <> b.patient",
            "Join them on",
        ),
        (
            "SELECT COUNT(*) FROM visits v JOIN bills b ON v.patient = b.patient OR v.cost > 1",
            "Join them on",
        ),
        (
            "SELECT COUNT(*) FROM visits v JOIN bills b ON v.patient + 0 = b.patient",
            "Join them on",
        ),
        ("SELECT COUNT(*) FROM visits v JOIN staff s ON v.patient = s.nurse", "mixes|unit is"),
        (
            "SELECT COUNT(*) FROM visits v JOIN rows r ON v.ward = r.ward",
            "protects single rows",
        ),
        ("SELECT COUNT(*) FROM rows a JOIN rows b ON a.x = b.x", "protects single rows"),
        (
            "SELECT COUNT(*) FROM (SELECT ward FROM visits UNION ALL SELECT ward FROM wards)",
            "have no privacy unit",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT ward FROM visits UNION ALL SELECT ward FROM rows)",
            "unit is patient in one and one row",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT ward FROM visits UNION ALL SELECT cost FROM visits)",
            "CAST one",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT ward FROM visits UNION ALL SELECT 1, 2 FROM visits)",
            "same number of columns",
        ),
        ("SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM bills)", "other people's"),
        ("SELECT COUNT(*) FROM visits WHERE cost IN (SELECT amount FROM bills)", "same person"),
        (
            "SELECT COUNT(*) FROM visits v WHERE EXISTS "
            "(SELECT 1 FROM bills b WHERE b.patient = v.cost)",
            "same person",
        ),
        (
            "SELECT COUNT(*) FROM visits v WHERE EXISTS "
            "(SELECT 1 FROM bills b WHERE b.patient = v.patient OR b.amount > v.cost)",
            "JOIN the two",
        ),
        (
            "SELECT COUNT(*) FROM visits v WHERE EXISTS "
            "(SELECT 1 FROM bills b WHERE b.patient = v.patient AND b.amount < v.cost)",
            "JOIN the two",
        ),
        (
            "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(amount) FROM bills)",
            "people's",
        ),
        ("SELECT COUNT(*) FROM visits WHERE cost > (SELECT price FROM tariffs)", "several"),
        ("SELECT COUNT(*) FROM rows WHERE x IN (SELECT x FROM rows)", "on its own"),
        (
            "SELECT COUNT(*) FROM visits HAVING COUNT(*) > (SELECT AVG(price) FROM tariffs)",
            "not in HAVING",
        ),
        ("SELECT COUNT(*) FROM wards", "is public"),
        ("SELECT COUNT(*) FROM (SELECT * FROM wards JOIN tariffs USING (floor))", "public"),
        ("SELECT ward, COUNT(*) FROM visits JOIN wards ON TRUE GROUP BY ward", "is ambiguous"),
        ("SELECT COUNT(*) FROM visits JOIN visits ON TRUE", "twice"),
        ("SELECT x.ward, COUNT(*) FROM visits GROUP BY 1", "no table x"),
        ("SELECT CLIPPED(cost) FROM visits JOIN wards USING (ward)", "without joins"),
        (
            "SELECT COUNT(*) FROM (SELECT patient, cost FROM visits GROUP BY patient)",
            "outside an aggregate",
        ),
        (
            "SELECT COUNT(*) FROM "
            + " JOIN ".join(f"wards AS w{i} ON TRUE" if i else "visits" for i in range(60)),
            "too many tables",
        ),
        *(
            (
                "SELECT COUNT(*) FROM visits, "
                + ", ".join(f"wards AS w{i}" for i in range(3))
                + end,
                "each row is joined",
            )
            for end in ("", " WHERE w0.floor < w1.floor", " WHERE w1.floor = w1.floor")
        ),
    ],
)
def test_what_ties_people_together_is_refused_with_what_works(sql, because):
    with pytest.raises(InvalidQuery, match=because):
        planned(sql)


def test_tables_that_meet_where_something_is_equal_are_not_crossed():
    keyed = " ".join(f"JOIN wards AS w{i} ON w{i}.floor + 1 = v.cost" for i in range(5))
    planned(f"SELECT COUNT(*) FROM visits AS v {keyed} CROSS JOIN wards AS a, wards AS b")
    planned(
        "SELECT COUNT(*) FROM visits AS v, wards AS a, wards AS b, wards AS c "
        "WHERE a.ward = v.ward AND b.floor = a.floor AND c.ward = b.ward"
    )


def test_a_public_column_called_like_the_unit_is_not_taken_for_it():
    hidden = "SELECT COUNT(*) FROM (SELECT cost FROM visits) AS v JOIN {} ON TRUE"
    with pytest.raises(InvalidQuery, match="private, but not joined on the unit"):
        planned(hidden.format("bills AS b"))
    sql = (
        "SELECT COUNT(*) FROM (SELECT b.patient FROM (SELECT cost FROM visits) AS v "
        "JOIN (SELECT floor AS patient FROM wards) AS b ON TRUE GROUP BY b.patient)"
    )
    with pytest.raises(InvalidQuery, match="several people"):
        planned(sql)


def test_with_that_doubles_itself_again_and_again_is_refused():
    names = "WITH a0 AS (SELECT cost FROM visits)" + "".join(
        f", a{i + 1} AS (SELECT cost FROM a{i} UNION ALL SELECT cost FROM a{i})"
        for i in range(40)
    )
    with pytest.raises(InvalidQuery, match=r"too long|too many tables"):
        planned(f"{names} SELECT COUNT(*) FROM a40")


def test_groups_that_reach_too_far_are_refused_as_a_question():
    """The policy is right; only the values that the question makes are too large."""
    wide = Table.declare("t", unit="p", bounds={"x": (0, 10**20)}, neighbors="add-remove")
    far = Policy([wide.with_schema({"p": "BIGINT", "x": "DOUBLE"})], epsilon=1)
    question = parse("SELECT AVG(y) AS a FROM (SELECT p, SUM(x*x*x*x) AS y FROM t GROUP BY p)")
    with pytest.raises(InvalidQuery, match="values beyond 1e60"):
        plan(question, far, epsilon=1)
