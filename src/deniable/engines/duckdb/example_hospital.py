"""Made-up hospital visits, generated in DuckDB: always the same rows, about no real person.

For demonstrations, documentation and trials. About one visit in three thousand has a rare
diagnosis, so that private keys have something to hide.
"""

from typing import Any

import duckdb

VISITS_PER_PATIENT = 2  # on average
WARDS = ("emergency", "medicine", "surgery", "heart", "cancer", "bones", "skin", "eyes")

# DuckDB's hash() is a fixed function. Six in ten visits are to the patient's usual ward, and
# six in ten are for the usual complaint.
_VISITS = """
CREATE TABLE visits AS
WITH made AS (
  SELECT i, hash(i, 1) % {patients} AS p, hash(i, 2) % 10000 / 10000.0 AS a,
         hash(i, 3) % 10000 / 10000.0 AS b
  FROM range({visits}) AS t(i)
), placed AS (
  SELECT *, CASE WHEN hash(i, 12) % 10 < 6 THEN hash(p, 13) ELSE hash(i, 4) END
         % 10000 / 10000.0 AS c, (hash(p, 5) % 70 + hash(p, 6) % 31)::INTEGER AS age,
         1 + floor(8 * pow(CASE WHEN a < 0.6 THEN hash(p, 7) % 10000 / 10000.0 ELSE b END, 1.5)
         )::INTEGER AS place
  FROM made
)
SELECT 'P' || lpad(p::VARCHAR, 7, '0') AS patient,
       age,
       {wards}[place] AS ward,
       CASE WHEN hash(i, 8) % 3000 = 0 THEN 'rare disease ' || (hash(i, 9) % 60)
            WHEN c < 0.24 THEN 'high blood pressure' WHEN c < 0.42 THEN 'diabetes'
            WHEN c < 0.56 THEN 'broken bone' WHEN c < 0.68 THEN 'flu'
            WHEN c < 0.78 THEN 'asthma' WHEN c < 0.87 THEN 'back pain'
            WHEN c < 0.94 THEN 'depression' ELSE 'stroke' END AS diagnosis,
       round(60 + 150 * ((place * 5) % 8) + 900 * pow(hash(i, 10) % 10000 / 10000.0, 3)
             + 6 * age, 2) AS cost,
       DATE '2025-01-01' + (hash(i, 11) % 365)::INTEGER AS day
FROM placed
"""


def write_hospital(path: str, visits: int = 300_000) -> None:
    """Writes a DuckDB file with a table `visits`: patient, age, ward, diagnosis, cost, day."""
    wards = "[" + ", ".join(f"'{ward}'" for ward in WARDS) + "]"
    with duckdb.connect(path) as database:
        database.execute(
            _VISITS.format(visits=visits, patients=visits // VISITS_PER_PATIENT, wards=wards)
        )


def exact_answer(path: str, sql: str) -> list[dict[str, Any]]:
    """The exact answer to a query: only for made-up rows."""
    with duckdb.connect(path, read_only=True) as database:
        table: Any = database.sql(sql).to_arrow_table()
        rows: list[dict[str, Any]] = table.to_pylist()
    return rows
