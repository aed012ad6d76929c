"""A released table: its numbers, their margins, and how their errors are drawn again.

The draws follow from the released table and its plan, and from nothing that somebody who asks
can choose for free: not from the SQL, and not from the name of the table.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deniable.exact.derived_bits import DerivedBits
from deniable.query.margins.chosen_rows import confidence_for_each
from deniable.query.margins.linear_forms import LinearForm, form
from deniable.query.margins.margins import noise_of_features
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.query.margins.redrawn import Redrawn, redraw_errors
from deniable.query.outer.noise_dependence import Gaps, Kind, NoiseDependence
from deniable.query.outer.repeated_sql import DRAW, MARGIN, ROW
from deniable.query.plan.canonical import digest
from deniable.query.plan.plan import Chosen, Feature, walk
from deniable.release.answer.answer_table import column_names
from deniable.release.answer.record import fingerprint
from deniable.release.session.release import Release

Floats = NDArray[np.float64]


class ReleasedPart:
    """A released table that SQL reads under a name; `seed` is of `seeds_of`."""

    def __init__(self, name: str, release: Release, seed: tuple[str, ...]) -> None:
        self.name, self.release, self.plan, self.seed = name, release, release.plan, seed
        table, own = release.answer.table, release.answer.margins
        self.rows = len(release)
        self.columns = {c: table[c] for c in release.columns}
        self.margins = {c: to_floats(table[own[c]]) for c in release.columns if c in own}
        self.values = {c: to_floats(table[c]) for c in self.margins}
        self.sources = self.redraw(1)

    def redraw(self, draws: int) -> dict[str, Redrawn]:
        """The errors of its numbers, drawn again: the same in any SQL about it.

        All columns are drawn in the order of the plan, so the SQL has no part in it.
        """
        names = [own.name for own in column_names(self.plan)]
        source = DerivedBits(*self.seed)
        return redraw_errors(self.plan, names, self.values, self.margins, draws, source=source)

    def dependences(self) -> dict[str, NoiseDependence]:
        """How each of its columns depends on noise."""
        sources = self.sources
        dependences: dict[str, NoiseDependence] = {}
        units = {o.name for o in self.plan.outputs if o.margin_in}
        for column in self.columns:
            if column not in sources:
                kind = Kind.PUBLIC if self._is_public(column) else Kind.JUMPS
                dependences[column.lower()] = NoiseDependence(kind)
                continue
            kind = Kind.AFFINE if sources[column].linear else Kind.SMOOTH
            kind = Kind.JUMPS if sources[column].errors is None else kind
            margin = None if column in units else f"{column.lower()}{MARGIN}"
            source = frozenset({(self.name, column.lower())})
            gaps = Gaps.NONE if sources[column].linear else Gaps.STEEP
            dependences[column.lower()] = NoiseDependence(kind, source, margin, gaps=gaps)
        return dependences

    def plain_table(self) -> "pa.Table":
        """The rows as they were released, without margins."""
        return pa.table(self.columns)

    def first_draw(self, confidence: Fraction | None) -> "pa.Table":
        """The rows as they were released, as draw 0, with their margins."""
        columns: dict[str, Any] = dict(self.columns)
        for name in self.margins:
            columns[f"{name.lower()}{MARGIN}"] = self._margins_of(name, confidence, 1)
        columns[DRAW] = np.zeros(self.rows, dtype=np.int64)
        columns[ROW] = np.arange(self.rows)
        return pa.table(columns)

    def draw_numbers(self, draws: int, *, opposite: bool) -> dict[str, Floats]:
        """Its noisy numbers: the released ones, those of the draws, and the opposite ones."""
        redrawn = self.redraw(draws)
        numbers = {}
        for name, values in self.values.items():
            errors = redrawn[name].errors
            drawn = np.zeros((draws, self.rows)) if errors is None else errors
            moved = [np.zeros((1, self.rows)), drawn, *([-drawn] if opposite else [])]
            numbers[name.lower()] = values + np.concatenate(moved)
        return numbers

    def drawn_table(
        self, draws: int, *, opposite: bool, confidence: Fraction | None
    ) -> "pa.Table":
        """Draw 0 has the released numbers; then come the draws, and the opposite ones."""
        times = 1 + draws * (1 + opposite)
        place = np.tile(np.arange(self.rows), times)
        drawn = self.draw_numbers(draws, opposite=opposite)
        columns: dict[str, Any] = {DRAW: np.repeat(np.arange(times), self.rows), ROW: place}
        for name, column in self.columns.items():
            if name not in self.values:
                columns[name.lower()] = column.take(pa.array(place))
                continue
            values = drawn[name.lower()].ravel()
            columns[name.lower()] = pa.array(values, mask=np.isnan(values))
            columns[f"{name.lower()}{MARGIN}"] = self._margins_of(name, confidence, times)
        return pa.table(columns)

    def _margins_of(
        self, name: str, confidence: Fraction | None, times: int
    ) -> "pa.Array[Any]":
        half = np.tile(self._own_margin(name, confidence), times)
        return pa.array(half, mask=~np.isfinite(half))

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

    def _is_public(self, column: str) -> bool:
        names = [own.name for own in column_names(self.plan)]
        node = self.plan.outputs[names.index(column)].node
        return not any(isinstance(inner, Feature | Chosen) for inner in walk(node))


def to_floats(column: "pa.ChunkedArray[Any]") -> Floats:
    """A column as doubles, with NaN for NULL."""
    numbers = column.cast(pa.float64(), safe=False)
    return np.asarray(numbers.fill_null(float("nan")), dtype=np.float64)


def seeds_of(releases: Mapping[str, Release]) -> dict[str, tuple[str, ...]]:
    """What the draws of each release follow from: its table and its plan.

    One release under two names has one noise, so one seed. Two releases with equal plans may
    have equal tables by chance, though their noise is independent: these get two seeds.
    """
    alike: dict[tuple[str, str], list[Release]] = {}
    seeds: dict[str, tuple[str, ...]] = {}
    for name, release in releases.items():
        about = fingerprint(release.answer.table), digest(release.plan)
        others = alike.setdefault(about, [])
        places = [i for i, other in enumerate(others) if _is_same(release, other)]
        if not places:
            others.append(release)
        seeds[name] = (*about, str(places[0] if places else len(others) - 1))
    return seeds


def _is_same(release: Release, other: Release) -> bool:
    """Whether both are one release; it may have been read twice."""
    if release.certificate is None or other.certificate is None:
        return release is other
    return release.certificate.signature == other.certificate.signature


Parts = Mapping[str, ReleasedPart]
