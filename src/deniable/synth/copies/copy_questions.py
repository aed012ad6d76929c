"""Intervals for counts of a copy: what the noisy measurements say about the table's own counts.

A question that counts rows by columns with declared values is a marginal, or a sum of its
cells. If those columns were measured together, their noisy counts give an interval for the
table's count. If not, and they were scored together, no sum of cells is further off than the
error of the whole table. Other questions get no interval; nor do columns whose cells hold
several values: numbers and dates that were cut, and texts whose keys were found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import sqrt
from statistics import NormalDist
from typing import Any

import pyarrow as pa

from deniable.engines.duckdb.public_rows import query_rows
from deniable.errors import DeniableError
from deniable.query.language.plain_counts import PlainCount, read_plain_count
from deniable.query.plan.quoting import quote_name
from deniable.synth.copies.measuring import MeasuredTable
from deniable.synth.copies.scorecard import Scorecard

_CELL = "cell of a measured table"  # a column's name; no declared column has it
_MOST_CELLS = 200_000


@dataclass(frozen=True, slots=True)
class CountedTables:
    """What is known about a copied table's counts."""

    name: str
    listed: frozenset[str]  # columns whose cells are single values, in lower case
    measured: Sequence[MeasuredTable]
    scorecard: Scorecard
    total: float
    rows: int  # of the copy


def add_intervals(
    text: str, answer: "pa.Table", about: CountedTables, confidence: Fraction
) -> "pa.Table":
    """The answer, with an interval for each count if the question is a marginal."""
    question = read_plain_count(text, about.name)
    if question is None or not question.used <= about.listed:
        return answer  # the value of a row says nothing about the others of its interval
    if {question.count, *question.shown} != set(answer.column_names):
        return answer
    intervals = _from_measurements(question, about, confidence)
    if intervals is None:
        half = _from_scorecard(question, about)
        if half is None:
            return answer
        scale = max(about.total, 0.0) / max(1, about.rows)
        own = [scale * n for n in answer[question.count].to_pylist()]
        ends = [(n - half, n + half) for n in own]
    else:
        rows = zip(*(answer[name].to_pylist() for name in question.shown), strict=True)
        keys = list(rows) if question.shown else [()] * len(answer)
        if any(key not in intervals for key in keys):
            return answer
        ends = [intervals[key] for key in keys]
    for place, side in enumerate(("low", "high")):
        values = [max(0.0, end[place]) for end in ends]
        name = f"{question.count}_{side}"
        while name in answer.column_names:
            name += "_"
        answer = answer.append_column(name, pa.array(values, pa.float64()))
    return answer


def _from_measurements(
    question: PlainCount, about: CountedTables, confidence: Fraction
) -> dict[tuple[Any, ...], tuple[float, float]] | None:
    """An interval for each group, from the measured table that gives the narrowest."""
    level = NormalDist().inv_cdf((1 + float(confidence)) / 2)
    best: tuple[float, dict[tuple[Any, ...], tuple[float, float]]] | None = None
    for table in about.measured:
        names = {name.lower() for name in table.columns}
        if not question.used <= names or _too_large(table):
            continue
        groups = _group(question, about.name, table)
        if groups is None:
            continue
        flat = table.counts.ravel()
        widest = max((len(own) for own in groups.values()), default=0)
        half = level * sqrt(widest * (table.variance + 1)) + 0.5
        if best is None or half < best[0]:
            sums = {key: float(flat[sorted(own)].sum()) for key, own in groups.items()}
            ends = {
                key: (
                    sums[key] - level * sqrt(len(own) * (table.variance + 1)) - 0.5,
                    sums[key] + level * sqrt(len(own) * (table.variance + 1)) + 0.5,
                )
                for key, own in groups.items()
            }
            best = half, ends
    return None if best is None else best[1]


def _too_large(table: MeasuredTable) -> bool:
    count = 1
    for labels in table.labels:
        count *= len(labels)
    return count > _MOST_CELLS


def _group(
    question: PlainCount, name: str, table: MeasuredTable
) -> dict[tuple[Any, ...], set[int]] | None:
    """The cells of a measured table in each group of the answer; None if a group has only a
    part of a merged cell."""
    places = [dict(enumerate(own)) for own in table.cells]
    shape = table.counts.shape
    rows: list[tuple[Any, ...]] = []
    for codes in product(*(range(len(labels)) for labels in table.labels)):
        cell = 0
        for axis, code in enumerate(codes):
            cell = cell * shape[axis] + places[axis][code]
        rows.append((*(table.labels[axis][code] for axis, code in enumerate(codes)), cell))
    columns = list(zip(*rows, strict=True))
    arrays = {n: pa.array(list(own)) for n, own in zip(table.columns, columns, strict=False)}
    cells = pa.table({**arrays, _CELL: pa.array(list(columns[-1]), pa.int64())})
    keys = ", ".join(map(quote_name, question.keys))
    chosen = f"{keys}, {quote_name(_CELL)}" if keys else quote_name(_CELL)
    try:
        answer = query_rows(
            {name: cells}, f"SELECT {chosen} FROM {quote_name(name)}{question.where}"
        )
    except DeniableError:
        return None
    members: dict[int, int] = {}
    for *_, cell in rows:
        members[cell] = members.get(cell, 0) + 1
    listed: dict[tuple[Any, ...], list[int]] = {}
    for row in zip(
        *(answer.column(i).to_pylist() for i in range(answer.num_columns)), strict=True
    ):
        listed.setdefault(row[:-1], []).append(row[-1])
    if any(own.count(cell) < members[cell] for own in listed.values() for cell in set(own)):
        return None
    return {key: set(own) for key, own in listed.items()}


def _from_scorecard(question: PlainCount, about: CountedTables) -> float | None:
    """How far any sum of cells may be off, if the columns were scored together."""
    highs = [
        pair_error.high
        for pair_error in about.scorecard.errors
        if question.used <= {name.lower() for name in pair_error.columns}
    ]
    return min(highs) * max(about.total, 1.0) if highs else None
