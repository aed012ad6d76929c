"""How expressions over released rows depend on noise."""

import pytest
import sqlglot

from deniable.query.outer.noise_dependence import DependenceReader, Kind, NoiseDependence

N = NoiseDependence(Kind.AFFINE, frozenset({("g", "n")}))
M = NoiseDependence(Kind.AFFINE, frozenset({("g", "m")}))
COLUMNS = {("", "n"): N, ("", "m"): M, ("", "k"): NoiseDependence()}
READINGS = {
    Kind.PUBLIC: [
        "k",
        "UPPER(k)",
        "COUNT(*)",
        "COUNT(n)",
        "ROW_NUMBER() OVER (ORDER BY k)",
        "CASE WHEN k > 1 THEN 'a' END",
        "MAX(k)",
        "COUNT(n + m)",
        "NTILE(k) OVER (ORDER BY k)",
    ],
    Kind.AFFINE: [
        "n",
        "n + m - 2 * n / 5",
        "SUM(n)",
        "AVG(n) OVER (PARTITION BY k)",
        "SUM(n) FILTER (WHERE k > 1)",
        "LAG(n) OVER (ORDER BY k)",
        "CASE WHEN k > 1 THEN n ELSE m END",
        "COALESCE(n, 0)",
        "SUM(NULLIF(n, 0))",
        "LAG(n, k, m) OVER (ORDER BY k)",
        "NULLIF(n, 0)",
        "CAST(n AS DOUBLE)",
        "FLOOR(n)",
        "CAST(n AS INT)",
        "ROUND(n, 1)",
    ],
    Kind.SMOOTH: [
        "n / m",
        "n * m",
        "1 / n",
        "LN(n)",
        "SQRT(n + k)",
        "n / SUM(n) OVER ()",
        "n / k / m",
        "COALESCE(n / m, 0)",
        "AVG(LN(n))",
        "(n - m) * LN(n)",
    ],
    Kind.JUMPS: [
        "MAX(n)",
        "n > 5",
        "ABS(n)",
        "2 * FLOOR(n)",
        "SUM(ROUND(n))",
        "n % 2",
        "n // 2",
        "RANK() OVER (ORDER BY n)",
        "SUM(m) OVER (ORDER BY n)",
        "SUM(m) OVER (PARTITION BY n)",
        "COUNT(DISTINCT n)",
        "COUNT(CASE WHEN n > 5 THEN 1 END)",
        "COUNT(*) FILTER (WHERE n > 5)",
        "SUM(CASE WHEN n > 5 THEN 1 ELSE 0 END)",
        "COALESCE(n, m)",
        "NULLIF(n, m)",
        "GREATEST(n, 0)",
        "CAST(n AS TEXT)",
        "MEDIAN(n)",
        "n || 'x'",
        "unknown",
        "COUNT(NULLIF(n, 0))",
        "COUNT(n / m)",
        "COUNT(LN(n)) OVER ()",
        "COALESCE(NULLIF(n, 0), 1000000)",
        "COALESCE(100 * NULLIF(n, 0) / m, 0)",
        "COALESCE(SQRT(n), 9)",
        "AVG(NULLIF(n, 0))",
        "LAST_VALUE(NULLIF(n, 0) IGNORE NULLS) OVER (ORDER BY k)",
        "NTILE(n) OVER (ORDER BY k)",
        "LAG(n, CAST(m AS INT)) OVER (ORDER BY k)",
        "NTH_VALUE(n, CAST(m AS INT)) OVER (ORDER BY k)",
        "SUM(n) OVER (ORDER BY k ROWS BETWEEN m PRECEDING AND CURRENT ROW)",
        "SUM(n) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CAST(m AS INT) FOLLOWING)",
        "RANK() OVER (ORDER BY ALL)",
        "CASE n WHEN 5 THEN m END",
        "CASE WHEN k > 1 THEN m WHEN n > 2 THEN 0 END",
    ],
}


def read(text, *, shaky=False):
    reader = DependenceReader(COLUMNS, lambda node: NoiseDependence(Kind.JUMPS), shaky=shaky)
    return reader.read(sqlglot.parse_one(text, dialect="duckdb"))


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in READINGS.items() for text in texts]
)
def test_kinds(kind, text):
    assert read(text).kind == kind


def test_sources_are_collected():
    assert read("n / SUM(m) OVER ()").sources == {("g", "n"), ("g", "m")}


@pytest.mark.parametrize("text", ["COUNT(*)", "SUM(n)", "ROW_NUMBER() OVER (ORDER BY k)"])
def test_what_is_counted_over_chosen_rows_jumps(text):
    assert read(text, shaky=True).kind == Kind.JUMPS


@pytest.mark.parametrize("sign", ["*", "/", "+"])
def test_long_products_are_read_once(sign):
    """Each factor that is read again doubles the time: 200 of them would never end."""
    reader = DependenceReader(COLUMNS, lambda node: N, shaky=False)
    calls, read_one = [], reader.read
    reader.read = lambda node: calls.append(node) or read_one(node)
    reader.read(sqlglot.parse_one(sign.join(["n"] * 200), dialect="duckdb"))
    assert len(calls) < 1_000
