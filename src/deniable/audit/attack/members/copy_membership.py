"""Membership in a copy: do its rows lie nearer to the people it was made from than to others?

The statistic is that of the trace attack, over the cells of all columns and of all pairs: how
much more frequent a person's cells are in the copy than in the population, in relation to the
latter.
"""

from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deniable.audit.attack.linkage import encode
from deniable.audit.attack.members.membership import (
    MembershipFinding,
    divide_rows,
    judge_traces,
)
from deniable.audit.attack.rows.owned_sources import read_owned
from deniable.audit.attack.rows.rehearsed_answers import open_forgotten
from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number

_MOST_VALUES, _BINS = 50, 10
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


def copy_membership(
    source: Any,
    *,
    epsilon: Number = 1,
    delta: Number = 1e-6,
    table: str | None = None,
    copy: dict[str, Any] | None = None,
    **declared: Any,
) -> MembershipFinding:
    """How well a private copy tells who was in the table; beside exact tables.

    The rows are divided at random: one fifth is copied, another fifth are the others, and the
    rest is what the attacker knows about the population. `copy` holds further options of
    `session.copy`. The copy itself is not returned.

    >>> rng = np.random.default_rng(1)
    >>> bits = {f"q{i}": rng.integers(0, 2, 400) == 1 for i in range(12)}
    >>> attack = copy_membership(pa.table(bits), copy={"method": "mst"})
    >>> attack.people, attack.private.auc < 0.8
    (80, True)
    """
    owned = read_owned(source, table=table, **declared)
    if owned.table.unit is not None:
        raise InvalidParameter("This attack takes tables with one row for each person.")
    parts = divide_rows(owned.rows.num_rows)
    members, others, reference = (owned.rows.take(pa.array(part)) for part in parts)
    with open_forgotten(owned, epsilon=epsilon, delta=delta, rows=members) as session:
        private_copy = session.copy(epsilon=epsilon, delta=delta, **(copy or {})).to_arrow()
    trace_results = []
    for about, published in (
        ("exact tables of pairs", members),
        ("the private copy", private_copy),
    ):
        tables = [members, others, reference, published.select(members.column_names)]
        scores, cells = _trace(tables)
        trace_results.append(judge_traces(about, [scores]))
    return MembershipFinding(
        members.num_rows, cells, trace_results[0], trace_results[1], owned.made_up
    )


def _trace(tables: list["pa.Table"]) -> tuple[tuple[Floats, Floats], int]:
    """Scores of members and others, and the number of cells."""
    codes, ends = _encode(tables)
    sets = [*((place,) for place in range(codes.shape[1]))]
    pairs = [*combinations(range(codes.shape[1]), 2)]
    scores, cells = np.zeros(ends[2]), 0
    for columns in (*sets, *pairs):
        key, size = np.zeros(len(codes), dtype=np.int64), 1
        for column in columns:
            width = int(codes[:, column].max()) + 1
            key, size = key * width + codes[:, column], size * width
        known, published = key[ends[2] : ends[3]], key[ends[3] :]
        p = np.bincount(known, minlength=size) / max(1, len(known))
        q = np.bincount(published, minlength=size) / max(1, len(published))
        scores += ((q - p) / (p + 1 / max(1, len(known))))[key[: ends[2]]]
        cells += size
    return (scores[: ends[1]], scores[ends[1] :]), cells


def _encode(tables: list["pa.Table"]) -> tuple[Codes, list[int]]:
    """The codes of all tables, one after the other, and where each ends. Numbers of many values
    are cut into ten parts of equal size."""
    ends = np.cumsum([0, *(table.num_rows for table in tables)])
    columns = []
    for name in tables[0].column_names:
        kind = tables[0].schema.field(name).type
        numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        target = pa.float64() if numeric else pa.string()
        joined = pa.chunked_array(
            [chunk for table in tables for chunk in table[name].cast(target).chunks], target
        )
        codes = encode(joined)
        if numeric and codes.max(initial=0) >= _MOST_VALUES:
            values = np.nan_to_num(np.asarray(joined.to_numpy(), dtype=np.float64))
            cuts = np.quantile(values[ends[2] : ends[3]], np.arange(1, _BINS) / _BINS)
            codes = np.searchsorted(cuts, values, side="right").astype(np.int64)
        columns.append(codes)
    return np.stack(columns, axis=1), ends.tolist()
