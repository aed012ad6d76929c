"""Margins of what SQL made of released rows.

Numbers that are shown unchanged keep their own margin. The others are computed again, by the
same SQL in the same locked process, with other draws of the known noise (`repeated_draws`).
Draw 0 has the released numbers themselves: if it does not repeat the answer row by row, no
margin is shown. What jumps has no margin, and a note says so.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deniable.engines.duckdb.rows_process import ROWS_PROCESS
from deniable.query.margins.chosen_rows import confidence_for_each
from deniable.query.margins.linear_forms import LinearForm, form
from deniable.query.margins.margins import noise_of_features
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.query.margins.redrawn import Redrawn, redraw_errors
from deniable.query.margins.repeated_draws import (
    affine_margins,
    count_draws,
    ratio_margins,
    smooth_margins,
)
from deniable.query.outer.divide import DividedQuestion
from deniable.query.outer.noise_dependence import Kind, NoiseDependence
from deniable.query.outer.repeated_sql import (
    DRAW,
    MARGIN,
    ROW,
    RepeatedColumn,
    RepeatedSql,
    repeat_sql,
)
from deniable.release.answer.answer_table import Answer, column_names
from deniable.release.session.release import Release

Floats = NDArray[np.float64]
_MOST_DRAWN_ROWS = 40_000
_DIGITS = 9  # in which draw 0 repeats the answer


def add_margins(
    divided: DividedQuestion, inner: Mapping[str, Release], made: "pa.Table"
) -> tuple[Answer, tuple[str, ...]]:
    """The rows with a column of margins after each noisy number, and notes about them."""
    names, rows = made.column_names, len(made)
    margins: list[Floats | None] = [None] * len(names)
    repeated, found = None, None
    parts = {name: _Part(name, release) for name, release in inner.items()}
    try:
        tables = {name: part.dependences() for name, part in parts.items()}
        repeated = repeat_sql(divided.tree, tables)
        found = _draw_margins(repeated, parts, made)
    except Exception:  # the rows are paid for: whatever fails here, only margins are missing
        found = None
    if repeated is not None and found is not None and len(repeated.columns) == len(names):
        margins = found
    columns: dict[str, Any] = {}
    shown: dict[str, str] = {}
    for name, half in zip(names, margins, strict=True):
        columns[name] = made[name]
        if half is not None and rows:
            margin_name = _unused(f"{name}_margin", {*names, *columns})
            columns[margin_name] = _margin_array(half, made[name].type)
            shown[name] = margin_name
    return Answer(pa.table(columns), shown), _notes(
        made, repeated if found else None, shown, parts
    )


def _margin_array(half: Floats, kind: "pa.DataType") -> "pa.Array[Any]":
    """Margins as whole numbers, if they and their numbers are whole."""
    known = np.isfinite(half)
    filled = np.where(known, half, 0.0)
    whole = pa.types.is_integer(kind) and bool((filled == np.floor(filled)).all())
    whole = whole and bool((filled < 2.0**53).all())
    return pa.array(filled.astype(np.int64) if whole else filled, mask=~known)


class _Part:
    """A released table: its numbers, their margins, and how their errors are drawn again."""

    def __init__(self, name: str, release: Release) -> None:
        self.name, self.release, self.plan = name, release, release.plan
        table, own = release.answer.table, release.answer.margins
        self.rows = len(release)
        self.columns = {c: table[c] for c in release.columns}
        self.margins = {c: _floats(table[own[c]]) for c in release.columns if c in own}
        self.values = {c: _floats(table[c]) for c in self.margins}
        self.sources = self.redraw(1)

    def redraw(self, draws: int) -> dict[str, Redrawn]:
        names = [own.name for own in column_names(self.plan)]
        return redraw_errors(self.plan, names, self.values, self.margins, draws)

    def dependences(self) -> dict[str, NoiseDependence]:
        found = self.sources
        made: dict[str, NoiseDependence] = {}
        units = {o.name for o in self.plan.outputs if o.margin_in}
        for column in self.columns:
            if column not in found:
                noisy = not _is_public(self.release, column)
                made[column.lower()] = NoiseDependence(Kind.JUMPS if noisy else Kind.PUBLIC)
                continue
            kind = Kind.AFFINE if found[column].linear else Kind.SMOOTH
            kind = Kind.JUMPS if found[column].errors is None else kind
            margin = None if column in units else f"{column.lower()}{MARGIN}"
            source = frozenset({(self.name, column.lower())})
            made[column.lower()] = NoiseDependence(kind, source, margin)
        return made

    def table(self, draws: int, opposite: bool, confidence: Fraction | None) -> "pa.Table":
        """Draw 0 has the released numbers; then come the draws, and the opposite ones."""
        found = self.redraw(draws)
        times = 1 + draws * (1 + opposite)
        place = np.tile(np.arange(self.rows), times)
        columns: dict[str, Any] = {
            DRAW: np.repeat(np.arange(times), self.rows),
            ROW: place,
        }
        for name, column in self.columns.items():
            if name not in found:
                columns[name.lower()] = column.take(pa.array(place))
                continue
            errors = found[name].errors
            drawn = np.zeros((draws, self.rows)) if errors is None else errors
            moved = [np.zeros((1, self.rows)), drawn, *([-drawn] if opposite else [])]
            values = (self.values[name] + np.concatenate(moved)).ravel()
            columns[name.lower()] = pa.array(values, mask=np.isnan(values))
            half = np.tile(self._own_margin(name, confidence), times)
            columns[f"{name.lower()}{MARGIN}"] = pa.array(half, mask=~np.isfinite(half))
        return pa.table(columns)

    def _own_margin(self, name: str, confidence: Fraction | None) -> Floats:
        """The margin that was released; or one that holds for all rows together."""
        if confidence is None:
            return self.margins[name]
        names = [own.name for own in column_names(self.plan)]
        shape = form(self.plan.outputs[names.index(name)].node)
        if not isinstance(shape, LinearForm):
            return np.full(self.rows, np.inf)
        each = confidence_for_each(confidence, self.rows)
        noises = noise_of_features(self.plan.blocks, self.plan.thresholding)
        half = fixed_margin(dict(shape.weights), noises, each)
        return np.maximum(self.margins[name], half)


def _draw_margins(
    repeated: RepeatedSql, parts: Mapping[str, _Part], made: "pa.Table"
) -> list[Floats | None] | None:
    """The margins of every column, in the order of the answer's rows; None if draw 0 does not
    repeat the answer."""
    confidence = next(iter(parts.values())).plan.confidence
    columns = [_without_shared(column, parts) for column in repeated.columns]
    if not any(column.values or column.own_margin for column in columns):
        return [None] * len(columns)
    rows = max(part.rows for part in parts.values())
    draws = count_draws(confidence, rows, _MOST_DRAWN_ROWS)
    if draws is None or not any(column.values for column in columns):
        draws = 0  # none are needed, or too many
    bends = any(len(c.values) == 1 and c.dependence.kind == Kind.SMOOTH for c in columns)
    together = confidence if repeated.chosen else None
    tables = {name: part.table(draws, bends, together) for name, part in parts.items()}
    drawn = ROWS_PROCESS.query(tables, repeated.sql)
    times = 1 + draws * (1 + bends)
    cells = _by_draw(drawn, times)
    if cells is None:
        return None
    found: list[Floats | None] = []
    if draws == 0:
        columns = [RepeatedColumn(c.dependence) if c.values else c for c in columns]
    for column in columns:
        found.append(_margin(column, cells, drawn, draws, confidence, repeated))
    groups = _match_rows(made, drawn, cells[0])
    if groups is None:
        return None
    return [None if half is None else _largest(half, *groups) for half in found]


def _largest(half: Floats, own: NDArray[np.int64], wanted: NDArray[np.int64]) -> Floats:
    """The margin of each row of the answer: the largest of all rows that look like it."""
    most = np.full(len(own), -np.inf)
    np.maximum.at(most, own, half)
    return most[wanted]


def _margin(
    column: RepeatedColumn,
    cells: NDArray[np.int64],
    drawn: "pa.Table",
    draws: int,
    confidence: Fraction,
    repeated: RepeatedSql,
) -> Floats | None:
    if column.own_margin is not None:
        own = _floats(drawn[column.own_margin])[cells[0]]
        return np.where(np.isnan(own), np.inf, own)
    if not column.values:
        return None
    values = [_floats(drawn[name])[cells] for name in column.values]
    rule: dict[str, Any] = {"confidence": confidence, "together": repeated.chosen}
    if len(values) == 2:
        half = ratio_margins(values[0][: draws + 1], values[1][: draws + 1], **rule)
    elif column.dependence.kind == Kind.AFFINE:
        with np.errstate(all="ignore"):
            half = affine_margins(values[0][1 : draws + 1] - values[0][0], **rule)
    else:
        half = smooth_margins(values[0], **rule)
    return np.where(np.isnan(half), np.inf, half + column.rounding)


def _without_shared(column: RepeatedColumn, parts: Mapping[str, _Part]) -> RepeatedColumn:
    """An average and a count of the same rows share noise that was not released: no margin."""
    sources = sorted(column.dependence.sources)
    if column.own_margin is not None or len(sources) < 2:
        return column
    for name, part in parts.items():
        found = {key.lower(): one for key, one in part.sources.items()}
        own = [found[source] for table, source in sources if table == name]
        for i, one in enumerate(own):
            if not one.linear and any(
                one.features & o.features for o in own[:i] + own[i + 1 :]
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


def _match_rows(
    made: "pa.Table", drawn: "pa.Table", first: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """A number for each row of draw 0, and for each row of the answer: equal rows have equal
    numbers. None if draw 0 lacks a row of the answer."""
    columns = range(made.num_columns)
    known: dict[tuple[Any, ...], int] = {}
    zero = _texts(drawn.take(pa.array(first)), columns)
    own = [known.setdefault(row, len(known)) for row in zero]
    wanted = [known.get(row, -1) for row in _texts(made, columns)]
    if min(wanted, default=0) < 0:
        return None
    return np.asarray(own, dtype=np.int64), np.asarray(wanted, dtype=np.int64)


def _texts(table: "pa.Table", columns: range) -> list[tuple[Any, ...]]:
    return list(zip(*(_column_texts(table.column(i)) for i in columns), strict=True))


def _column_texts(column: "pa.ChunkedArray[Any]") -> list[Any]:
    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return [f"{value:.{_DIGITS}g}" for value in (_floats(column) + 0.0).tolist()]
    return [str(value) for value in column.to_pylist()]


def _floats(column: "pa.ChunkedArray[Any]") -> Floats:
    numbers = column.cast(pa.float64(), safe=False)
    return np.asarray(numbers.fill_null(float("nan")), dtype=np.float64)


def _is_public(release: Release, column: str) -> bool:
    from deniable.query.plan.plan import Chosen, Feature, walk

    names = [own.name for own in column_names(release.plan)]
    node = release.plan.outputs[names.index(column)].node
    return not any(isinstance(inner, Feature | Chosen) for inner in walk(node))


def _unused(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    return name


def _notes(
    made: "pa.Table",
    repeated: RepeatedSql | None,
    shown: Mapping[str, str],
    parts: Mapping[str, _Part],
) -> tuple[str, ...]:
    numbers = [
        f.name
        for f in made.schema
        if pa.types.is_integer(f.type) or pa.types.is_floating(f.type)
    ]
    if repeated is None:
        return ("No margins are known for this answer.",) if numbers else ()
    columns = dict(zip(made.column_names, repeated.columns, strict=True))
    about = [n for n in shown if columns[n].dependence.kind == Kind.SMOOTH]
    about = [n for n in about if not columns[n].own_margin and len(columns[n].values) == 1]
    none = [n for n in numbers if n not in shown and columns[n].dependence.kind != Kind.PUBLIC]
    notes = []
    if about:
        notes.append(f"About right, by drawing the noise again: the margins of {_list(about)}.")
    if none:
        notes.append(f"No margin is known for {_list(none)}.")
    if repeated.chosen and shown:
        notes.append("Margins hold for all rows together, so also for those that were chosen.")
    if any(part.plan.thresholding is not None for part in parts.values()):
        notes.append("Sums and shares are of the groups that are shown.")
    return tuple(notes)


def _list(names: list[str]) -> str:
    return ", ".join(names)
