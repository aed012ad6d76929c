"""What SQL makes of released rows, and its margins.

Numbers that are shown unchanged keep their own margin, and public multiples of them have its
multiple. The others are computed again with other draws of the known noise (`repeated_draws`):
by formulas, or by the same SQL in the same locked process. The draws follow from the
released tables and their plans alone, so a number has the same margin however the SQL is
written: nobody can ask again until it happens to be small. The rule still depends on the SQL: a
sum of one number is drawn, beside a long release there are fewer draws, and ratios, smooth
functions and rows chosen by noise have other rules (`_margin`). So one number can have a few
margins, which are fixed. Draw 0 has the released
numbers themselves: if it does not repeat the answer row by row, no margin is shown. What jumps
has no margin, and a note says so.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deniable.engines.duckdb.rows_process import ROWS_PROCESS, RowsRefused
from deniable.query.margins.redrawn import Redrawn
from deniable.query.margins.repeated_draws import (
    affine_margins,
    count_draws,
    ratio_margins,
    smooth_margins,
)
from deniable.query.outer.divide import DividedQuestion
from deniable.query.outer.float_sizes import rounding_errors
from deniable.query.outer.noise_dependence import Kind, NoiseDependence
from deniable.query.outer.repeated_column import RepeatedColumn
from deniable.query.outer.repeated_sql import (
    DRAW,
    DRAWN,
    ROW,
    RepeatedSql,
    repeat_sql,
)
from deniable.query.outer.row_formula import PUBLIC
from deniable.release.answer.answer_table import Answer
from deniable.release.asking.matched_rows import find_rows
from deniable.release.asking.measured_levels import LevelPart, MeasuredLevels
from deniable.release.asking.outer_rows import shown_table
from deniable.release.asking.released_part import (
    Floats,
    Parts,
    ReleasedPart,
    seeds_of,
    to_floats,
)
from deniable.release.session.release import Release

_NONE: Mapping[str, MeasuredLevels] = {}
_MOST_DRAWN_ROWS = 40_000
_EXACT = 2.0**53  # whole numbers below are exact as doubles


def compute_outer(
    divided: DividedQuestion,
    releases: Mapping[str, Release],
    measured: Mapping[str, MeasuredLevels] = _NONE,
) -> tuple[Answer, tuple[str, ...]]:
    """The rows that SQL makes of releases, a column of margins after each noisy number, and
    notes. Raises RowsRefused if the SQL cannot be run, and InvalidQuery if it makes columns
    that cannot be shown.
    """
    of_levels = {part for levels in measured.values() for part in levels.plans}
    seeds = seeds_of(releases)
    parts: dict[str, ReleasedPart] = {
        name: ReleasedPart(name, release, seeds[name])
        for name, release in releases.items()
        if name not in of_levels
    }
    parts |= {
        name: LevelPart(name, levels, releases, seeds) for name, levels in measured.items()
    }
    repeated, tables = _repeat(divided, parts), None
    if repeated is not None and not repeated.needs_draws:
        tables = _first_draws(repeated, parts)
    if tables is None:
        plain = {name: part.plain_table() for name, part in parts.items()}
        table, zero = ROWS_PROCESS.query(plain, divided.outer), None
    else:
        assert repeated is not None
        views = {name: (f"{name}{DRAWN}", list(part.columns)) for name, part in parts.items()}
        both = [divided.outer, repeated.sql]
        first, zero = ROWS_PROCESS.query_each(tables, both, views=views)
        if isinstance(first, RowsRefused):
            raise first
        table = first
    table = shown_table(table)
    zero = None if isinstance(zero, RowsRefused) else zero
    answer, notes = _add_margins(table, repeated, parts, zero)
    fitted = (
        f"Counts and sums of all levels fit together, by least squares: {_list([*measured])}."
    )
    return answer, (*notes, fitted) if measured else notes


def _repeat(divided: DividedQuestion, parts: Parts) -> RepeatedSql | None:
    """The SQL for many draws, if it can be written."""
    try:
        tables = {name: part.dependences() for name, part in parts.items()}
        repeated = repeat_sql(divided.tree, tables)
    except Exception:  # the rows are paid for: whatever fails here, only margins are missing
        return None
    columns = tuple(_without_shared(column, parts) for column in repeated.columns)
    return replace(repeated, columns=columns)


def _first_draws(repeated: RepeatedSql, parts: Parts) -> "dict[str, pa.Table] | None":
    """The released rows with their margins; None if they are not needed, or have a column or
    a table that is called like one of ours."""
    if not any(column.values or column.own_margin for column in repeated.columns):
        return None
    together = _together(repeated, parts)
    tables = {f"{name}{DRAWN}": part.first_draw(together) for name, part in parts.items()}
    for table in tables.values():
        names = [name.lower() for name in table.column_names]
        if len(set(names)) < len(names):
            return None
    taken = {name.lower() for name in parts}
    return None if any(name.lower() in taken for name in tables) else tables


def _together(repeated: RepeatedSql, parts: Parts) -> Fraction | None:
    """The confidence of margins that hold for all rows, where noise chose the rows."""
    return _confidence(parts) if repeated.chosen else None


def _confidence(parts: Parts) -> Fraction:
    return next(iter(parts.values())).plan.confidence


def _add_margins(
    table: "pa.Table", repeated: RepeatedSql | None, parts: Parts, zero: "pa.Table | None"
) -> tuple[Answer, tuple[str, ...]]:
    """The rows with their margins, and notes; `zero` is what draw 0 gave, if it was run."""
    names, rows = table.column_names, len(table)
    margins: list[Floats | None] = [None] * len(names)
    drawn_margins = None
    if repeated is not None:
        try:
            drawn_margins = _draw_margins(repeated, parts, table, zero)
        except Exception:  # the rows are paid for: whatever fails, only margins are missing
            drawn_margins = None
    if (
        repeated is not None
        and drawn_margins is not None
        and len(repeated.columns) == len(names)
    ):
        margins = drawn_margins
    columns: dict[str, Any] = {}
    margin_names: dict[str, str] = {}
    for name, half in zip(names, margins, strict=True):
        columns[name] = table[name]
        if half is not None and rows:
            margin_name = _unused(f"{name}_margin", {*names, *columns})
            columns[margin_name] = _margin_array(half, table[name].type)
            margin_names[name] = margin_name
    return Answer(pa.table(columns), margin_names), _notes(
        table, repeated if drawn_margins else None, margin_names, parts
    )


def _margin_array(half: Floats, kind: "pa.DataType") -> "pa.Array[Any]":
    """Margins as whole numbers, if they and their numbers are whole."""
    known = np.isfinite(half)
    filled = np.where(known, half, 0.0)
    whole = pa.types.is_integer(kind) and bool((filled == np.floor(filled)).all())
    whole = whole and bool((filled < 2.0**53).all())
    return pa.array(filled.astype(np.int64) if whole else filled, mask=~known)


def _draw_margins(
    repeated: RepeatedSql, parts: Parts, table: "pa.Table", zero: "pa.Table | None"
) -> list[Floats | None] | None:
    """The margins of every column, in the order of the answer's rows; None if draw 0 does not
    repeat the answer."""
    columns = repeated.columns
    if not any(column.values or column.own_margin for column in columns):
        return [None] * len(columns)
    confidence = _confidence(parts)
    rows = max(part.rows for part in parts.values())
    draws = count_draws(confidence, rows, _MOST_DRAWN_ROWS)
    if draws is None or not any(column.values for column in columns):
        draws = 0  # none are needed, or too many
    bends = any(len(c.values) == 1 and c.dependence.kind == Kind.SMOOTH for c in columns)
    if repeated.needs_draws:
        together = _together(repeated, parts)
        options: dict[str, Any] = {"opposite": bends, "confidence": together}
        tables = {f"{n}{DRAWN}": p.drawn_table(draws, **options) for n, p in parts.items()}
        zero = ROWS_PROCESS.query(tables, repeated.sql)
    if zero is None:
        return None
    cells = _by_draw(zero, 1 + draws * (1 + bends) if repeated.needs_draws else 1)
    if cells is None:
        return None
    first = zero.take(pa.array(cells[0]))
    repeats, groups = find_rows(table, first)  # other columns have no margin
    if groups is None:
        return None
    values = _drawn_values(repeated, parts, zero, cells, draws, bends)
    halves = [
        _margin(column, own, first, draws, confidence, repeated)
        for column, own in zip(columns, values, strict=True)
    ]
    most = max(part.rows for part in parts.values())
    errors = [
        _rounding(column, first, most, whole=pa.types.is_integer(kind))
        for column, kind in zip(columns, table.schema.types, strict=True)
    ]
    return [
        None if half is None or place not in repeats else _largest(half + error, *groups)
        for place, (half, error) in enumerate(zip(halves, errors, strict=True))
    ]


def _rounding(
    column: RepeatedColumn, zero: "pa.Table", rows: int, *, whole: bool
) -> Floats | float:
    """What the rounding of doubles may add to an error. Whole numbers are computed exactly, and
    so are their draws below 2**53."""
    if column.size is None or (whole and column.own_margin and not column.rounding):
        return 0.0
    size = to_floats(zero[column.size])
    most = rounding_errors(column.operations + rows * column.adds_rows) * size
    if whole and not column.rounding:
        most = np.where(size < _EXACT, 0.0, most)
    return np.where(np.isfinite(most), most, np.inf)


def _drawn_values(
    repeated: RepeatedSql,
    parts: Parts,
    zero: "pa.Table",
    cells: NDArray[np.int64],
    draws: int,
    bends: bool,
) -> list[list[Floats]]:
    """For each column what its margins are made of (draws x rows): by SQL, or by formulas."""
    if draws == 0:
        return [[] for _ in repeated.columns]
    if repeated.needs_draws:
        return [[to_floats(zero[v])[cells] for v in c.values] for c in repeated.columns]
    assert repeated.source is not None
    noisy = parts[repeated.source].draw_numbers(draws, opposite=bends)
    ordered = zero.take(pa.array(cells[0]))
    names = [name for name in zero.column_names if name == ROW or name.startswith(PUBLIC)]
    public = {name: to_floats(ordered[name]) for name in names}
    times, by_column = 1 + draws * (1 + bends), list[list[Floats]]()
    for place, column in enumerate(repeated.columns):
        values = [  # one that is public has the same values in every draw
            np.broadcast_to(formula.evaluate(noisy, public), (times, len(cells[0])))
            for formula in column.formulas
        ]
        by_column.append(
            values if values and _repeats(values, ordered.column(place), column) else []
        )
    return by_column


def _repeats(
    values: list[Floats], answer_column: "pa.ChunkedArray[Any]", column: RepeatedColumn
) -> bool:
    """Whether draw 0 of the formulas is what SQL says, except for the rounding around it."""
    with np.errstate(all="ignore"):
        value = values[0][0] if len(values) == 1 else values[0][0] / values[1][0]
    value = np.where(np.isfinite(value), value, np.nan)
    most = 1e-9 + column.rounding
    return np.allclose(value, to_floats(answer_column), rtol=1e-9, atol=most, equal_nan=True)


def _largest(half: Floats, own: NDArray[np.int64], wanted: NDArray[np.int64]) -> Floats:
    """The margin of each row of the answer: the largest of all rows that look like it."""
    if own is wanted:  # each row looks like itself alone
        return half
    most = np.full(len(own), -np.inf)
    np.maximum.at(most, own, half)
    return most[wanted]


def _margin(
    column: RepeatedColumn,
    values: list[Floats],
    zero: "pa.Table",
    draws: int,
    confidence: Fraction,
    repeated: RepeatedSql,
) -> Floats | None:
    """The margins of a column in the rows of draw 0; `values` are those of all draws."""
    if column.own_margin is not None:
        own = to_floats(zero[column.own_margin]) + column.rounding
        return np.where(np.isnan(own), np.inf, own)
    if not values:
        return None
    rule: dict[str, Any] = {"confidence": confidence, "together": repeated.chosen}
    if len(values) == 2:
        half = ratio_margins(values[0][: draws + 1], values[1][: draws + 1], **rule)
    elif column.dependence.kind == Kind.AFFINE:
        with np.errstate(all="ignore"):
            half = affine_margins(values[0][1 : draws + 1] - values[0][0], **rule)
    else:
        half = smooth_margins(values[0], **rule)
    return np.where(np.isnan(half), np.inf, half + column.rounding)


def _without_shared(column: RepeatedColumn, parts: Parts) -> RepeatedColumn:
    """An average and a count of the same rows share noise that was not released: no margin."""
    sources = sorted(column.dependence.sources)
    if column.own_margin is not None or len(sources) < 2:
        return column
    columns: dict[tuple[str, ...], dict[str, Redrawn]] = {}  # one release may have two names
    for name, source in sources:
        by_name = {key.lower(): redrawn for key, redrawn in parts[name].sources.items()}
        columns.setdefault(parts[name].seed, {})[source] = by_name[source]
    for own in map(list, map(dict.values, columns.values())):
        for i, redrawn in enumerate(own):
            if not redrawn.linear and any(
                redrawn.features & o.features for o in own[:i] + own[i + 1 :]
            ):
                return RepeatedColumn(NoiseDependence(Kind.JUMPS, column.dependence.sources))
    return column


def _by_draw(drawn: "pa.Table", times: int) -> NDArray[np.int64] | None:
    """The places of the same rows in all draws (draws x rows); None if they differ."""
    draw = np.asarray(drawn[DRAW].to_numpy())
    row = np.asarray(drawn[ROW].to_numpy())
    order = np.lexsort((row, draw))
    if len(order) == 0 or len(order) % times:
        return None
    cells = order.reshape(times, -1)
    same_draw = (draw[cells] == np.arange(times)[:, None]).all()
    same_rows = (row[cells] == row[cells[0]]).all()
    distinct = len(np.unique(row[cells[0]])) == cells.shape[1]
    return cells if same_draw and same_rows and distinct else None


def _unused(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    return name


def _notes(
    table: "pa.Table",
    repeated: RepeatedSql | None,
    margin_names: Mapping[str, str],
    parts: Parts,
) -> tuple[str, ...]:
    numbers = [
        f.name
        for f in table.schema
        if pa.types.is_integer(f.type) or pa.types.is_floating(f.type)
    ]
    if repeated is None:
        return ("No margins are known for this answer.",) if numbers else ()
    columns = dict(zip(table.column_names, repeated.columns, strict=True))
    about = [n for n in margin_names if columns[n].dependence.kind == Kind.SMOOTH]
    about = [n for n in about if not columns[n].own_margin and len(columns[n].values) == 1]
    none = [
        n
        for n in numbers
        if n not in margin_names and columns[n].dependence.kind != Kind.PUBLIC
    ]
    notes = []
    if about:
        notes.append(f"About right, by drawing the noise again: the margins of {_list(about)}.")
    if none:
        notes.append(f"No margin is known for {_list(none)}.")
    if repeated.chosen and margin_names:
        notes.append("Margins hold for all rows together, so also for those that were chosen.")
    if any(part.plan.thresholding is not None for part in parts.values()):
        notes.append("Sums and shares are of the groups that are shown.")
    return tuple(notes)


def _list(names: list[str]) -> str:
    return ", ".join(names)
