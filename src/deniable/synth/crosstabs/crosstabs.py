"""Cross-tables that were released together: unbiased, consistent, each cell with its margin."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deniable.errors import InvalidParameter
from deniable.exact.html_tables import html_table, html_text
from deniable.exact.rationals import decimal_text
from deniable.exact.text_formats import percent
from deniable.ledger.ledger import Remaining
from deniable.release.answer.answer_table import column_names
from deniable.release.answer.formatting import format_cells, text_table
from deniable.release.certificate.certificate import Certificate
from deniable.release.session.release import Release
from deniable.synth.crosstabs.crosstab_plans import CrosstabPlans
from deniable.synth.domain.column_cells import Label
from deniable.synth.fit.nonnegative_tables import project_table
from deniable.synth.fit.residuals import Columns, Residuals, Table


@dataclass(frozen=True, slots=True, repr=False)
class CrossTable:
    """One cross-table. `values` has an axis for each column; all cells have one margin."""

    columns: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...]  # of the cells of each column; None: any other value
    values: Table = field(compare=False)
    margin: float
    total: float  # the estimated number of rows, the same for all tables of one release

    def nonnegative(self) -> Table:
        """The nearest table without negative cells. It is nearer to the truth, but biased, and
        no longer adds up with the other tables."""
        return project_table(self.values, self.total)

    def to_arrow(self) -> "pa.Table":
        """A row for each cell: its labels, `n` and `n_margin`."""
        rows = list(product(*self.labels))
        names = _unused(self.columns, {"n", "n_margin"})
        keys = {name: _label_array(rows, i) for i, name in enumerate(names)}
        margins = pa.array([self.margin] * len(rows))
        return pa.table({**keys, "n": pa.array(self.values.ravel()), "n_margin": margins})

    def to_pandas(self) -> Any:
        """A pandas frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A Polars frame."""
        return import_module("polars").from_arrow(self.to_arrow())

    def __len__(self) -> int:
        return int(self.values.size)

    def __str__(self) -> str:
        shown = self._format_cells()
        return text_table(*shown, len(self) - len(shown[1]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = self._format_cells()
        return html_table(*shown, len(self) - len(shown[1]))

    def _format_cells(self) -> tuple[list[str], list[list[str]], list[bool]]:
        rounded = self.to_arrow()
        place = rounded.column_names.index("n")
        counts = pa.array(np.round(self.values.ravel()).astype(np.int64))
        rounded = rounded.set_column(place, "n", counts)
        margins = pa.array([round(self.margin)] * len(self), pa.int64())
        rounded = rounded.set_column(place + 1, "n_margin", margins)
        return format_cells(rounded, {"n": "n_margin"}, units={})


@dataclass(frozen=True, slots=True, repr=False)
class Crosstabs:
    """Cross-tables of one release: `tables["age", "sex"]` is one of them.

    They add up: the sum of one table over a column is the table without that column. Each
    margin holds at the stated confidence. The measured tables behind them are certified
    releases of their own, in `releases`.

    >>> import deniable as dp
    >>> people = pa.table({"sex": ["f", "m"] * 500, "old": [True, False, False, True] * 250})
    >>> data = dp.protect(people, keys={"sex": ["f", "m"]}, epsilon=1, delta=1e-6)
    >>> tables = data.crosstabs([["sex", "old"]], epsilon=1)
    >>> bool(abs(tables["sex", "old"].values[0, 0] - 250) < 200)
    True
    """

    plans: CrosstabPlans
    releases: tuple[Release, ...] = field(compare=False)
    remaining: Remaining
    repeated: bool  # whether the tables were released before; then they cost nothing
    _fitted: Residuals = field(compare=False)

    @classmethod
    def read(
        cls,
        plans: CrosstabPlans,
        releases: Sequence[Release],
        remaining: Remaining,
        *,
        repeated: bool,
    ) -> "Crosstabs":
        """The estimates from the measured tables."""
        sizes = plans.sizes
        measured = {
            columns: (
                read_counts(release).reshape([sizes[i] for i in columns]),
                plans.cell_variance(columns),
            )
            for columns, release in zip(plans.plans, releases, strict=True)
        }
        fitted = Residuals.fit(sizes, measured)
        return cls(plans, tuple(releases), remaining, repeated, fitted)

    @property
    def total(self) -> float:
        """The estimated number of rows."""
        return float(self._fitted.table(()))

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """Of the measured tables; none of a rehearsal."""
        certificates = (release.certificate for release in self.releases)
        return tuple(certificate for certificate in certificates if certificate is not None)

    @property
    def tables(self) -> Mapping[tuple[str, ...], CrossTable]:
        """The tables that were asked for, by their columns."""
        return {names: self[names] for names in map(self.plans.names, self.plans.ordered_sets)}

    def to_dict(self) -> dict[str, Any]:
        """The tables, and the certified releases that they were estimated from, for JSON."""
        return {
            "tables": [
                {"columns": list(table.columns), "rows": table.to_arrow().to_pylist()}
                for table in self
            ],
            "epsilon": str(self.plans.epsilon),
            "delta": str(self.plans.delta),
            "confidence": str(self.plans.confidence),
            "releases": [release.to_dict() for release in self.releases],
        }

    def save(self, path: str | Path) -> None:
        """Writes `to_dict` to a file, as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), sort_keys=True) + "\n")

    def __getitem__(self, columns: str | Sequence[str]) -> CrossTable:
        """A table that was asked for, or one with fewer columns; in the order given."""
        names = (columns,) if isinstance(columns, str) else tuple(columns)
        known = {cells.column.lower(): i for i, cells in enumerate(self.plans.cells)}
        places = [known.get(str(name).lower(), -1) for name in names]
        own = tuple(sorted(places))
        if own not in self._fitted.variances or len(set(own)) < len(own):
            listing = "; ".join(
                ", ".join(self.plans.names(column_set))
                for column_set in self.plans.ordered_sets
            )
            raise InvalidParameter(
                f"No table of {', '.join(map(str, names))} was released. There are: {listing}; "
                "and those with fewer columns."
            )
        table = self._crosstab(own)
        order = [own.index(place) for place in places]
        return CrossTable(
            tuple(table.columns[i] for i in order),
            tuple(table.labels[i] for i in order),
            np.transpose(table.values, order),
            table.margin,
            table.total,
        )

    def __iter__(self) -> Iterator[CrossTable]:
        return iter(self.tables.values())

    def __len__(self) -> int:
        return len(self.plans.ordered_sets)

    def _crosstab(self, columns: Columns) -> CrossTable:
        labels = tuple(self.plans.cells[place].labels for place in columns)
        values, names = self._fitted.table(columns), self.plans.names(columns)
        margin = self.plans.margin(self._fitted, columns)
        return CrossTable(names, labels, values, margin, self.total)

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self), self._footer()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join([*(table._repr_html_() for table in self), html_text(self._footer())])

    def _footer(self) -> str:
        plans = self.plans
        level, again = percent(plans.confidence), " (charged before)" * self.repeated
        lines = [
            f"Margins hold at {level} each. Cost: epsilon {decimal_text(plans.epsilon)}, delta "
            f"{decimal_text(plans.delta)}{again}. Left: {self.remaining}.",
            "The tables add up to each other. They describe the rows within the limits of the "
            "policy.",
        ]
        if self.releases[0].rehearsal:
            lines.insert(0, "REHEARSAL: the rows are made up.")
        return "\n".join(lines)


def read_counts(release: Release) -> Table:
    """The noisy counts of a measured table, in the order of its cells."""
    counts = column_names(release.plan)[-1].name  # a column may be called as counts are
    return np.asarray(release.to_arrow()[counts], dtype=np.float64)


def _unused(names: Sequence[str], taken: set[str]) -> list[str]:
    """The names, longer where another column has them.

    >>> _unused(["n", "age", "n_"], {"n"})
    ['n__', 'age', 'n_']
    """
    new_names = list(names)
    for place, name in enumerate(names):
        if name in taken:
            others = {*taken, *new_names}
            while new_names[place] in others:
                new_names[place] += "_"
    return new_names


def _label_array(rows: Sequence[tuple[Label, ...]], place: int) -> "pa.Array[Any]":
    """A column of labels. Intervals and other values that mix are text."""
    labels = [row[place] for row in rows]
    return pa.array(labels)
