"""DuckDB's own answer beside ours: at a large epsilon, with limits that do not bite.

Groups without rows are in our answer if their keys are declared, and never in DuckDB's. Such a
row is left out of the comparison if its last number, which may be a count, is 0 or NULL.
"""

import datetime
import decimal
import math
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pyarrow.parquet as parquet

import deniable as dp
from deniable.errors import DeniableError

EPSILON = 10**15


@dataclass(frozen=True)
class Verdict:
    """What both said to one question."""

    sql: str
    same: bool = False
    refusal: str = ""  # ours
    error: str = ""  # DuckDB's
    difference: str = ""


def open_oracle(folder, tables: dict[str, pa.Table], columns, limits) -> "Oracle":
    """Tables in files, under a policy with these lines for each table and its columns."""
    lines = ["[budget]", "epsilon = 1e22", "delta = 0.5"]
    for name, table in tables.items():
        parquet.write_table(table, folder / f"{name}.parquet")
        lines += [f"[tables.{name}]", f'source = "{name}.parquet"', limits[name]]
        lines += [f"[tables.{name}.columns]", columns[name]]
    policy = folder / "deniable.toml"
    policy.write_text("\n".join(lines))
    return Oracle(dp.open(policy), tables)


class Oracle:
    """A session and a plain DuckDB over the same tables."""

    def __init__(self, session, tables: dict[str, pa.Table]) -> None:
        self.session = session
        self.database = duckdb.connect()
        for name, table in tables.items():
            self.database.register("given", table)
            self.database.execute(f"CREATE TABLE {name} AS FROM given")

    def compare(self, sql: str, *, about: float = 1e-9, plain: str | None = None) -> Verdict:
        """Our answer against DuckDB's, or against DuckDB's answer to other, `plain` words."""
        error = refusal = ""
        expected: list[tuple] = []
        try:
            expected = self.database.execute(plain or sql).fetchall()
        except duckdb.Error as problem:
            error = str(problem).split("\n")[0]
        try:
            release = self.session.sql(sql, epsilon=EPSILON)
        except DeniableError as problem:
            refusal = str(problem)
        if error or refusal:
            return Verdict(sql, refusal=refusal, error=error)
        noisy = [name in release.answer.margins for name in release.columns]
        columns = release.to_arrow().select(release.columns).columns
        rows = list(zip(*(column.to_pylist() for column in columns), strict=True))
        if "order by" not in sql.lower():
            expected.sort(key=repr_key)
            rows.sort(key=repr_key)
        kept = [row for row in rows if not is_empty(row, noisy) or is_in(row, expected, about)]
        if len(kept) == len(expected) and all(
            is_close(a, b, about) for a, b in zip(kept, expected, strict=True)
        ):
            return Verdict(sql, same=True)
        shown = [f"{len(listed)}: {listed[:8]}" for listed in (kept, expected)]
        return Verdict(sql, difference=f"ours {shown[0]}, DuckDB's {shown[1]}")


def is_empty(row: tuple, noisy: list[bool]) -> bool:
    """Whether the last noisy number of a row is 0 or NULL."""
    numbers = [value for value, of_rows in zip(row, noisy, strict=True) if of_rows]
    return bool(numbers) and all(value in (None, 0) for value in numbers[-1:])


def is_in(row: tuple, rows: list[tuple], about: float) -> bool:
    """Whether one of the rows is close."""
    return any(is_close(row, other, about) for other in rows)


def is_close(ours: tuple, theirs: tuple, about: float) -> bool:
    """Whether two rows are equal except for rounding."""
    return len(ours) == len(theirs) and all(
        _close(plain(a), plain(b), about) for a, b in zip(ours, theirs, strict=True)
    )


def _close(a, b, about: float) -> bool:
    numbers = isinstance(a, int | float) and isinstance(b, int | float)
    return math.isclose(a, b, rel_tol=about, abs_tol=about) if numbers else a == b


def plain(value):
    """A value without its SQL type: a date is the moment at which it begins."""
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return datetime.datetime(value.year, value.month, value.day)
    if isinstance(value, float) and math.isnan(value):
        return None
    return int(value) if isinstance(value, bool) else value


def repr_key(row: tuple) -> list[tuple]:
    """An order for rows of values of any kind."""
    keys: list[tuple] = []
    for value in map(plain, row):
        if value is None:
            keys.append((2, ""))
        elif isinstance(value, int | float):
            keys.append((0, round(float(value), 6) + 0.0))
        else:
            keys.append((1, str(value)))
    return keys
