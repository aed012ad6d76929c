"""A private copy of a table: rows that look like the table's, and how far they are from it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from deniable.engines.duckdb.public_rows import query_rows
from deniable.errors import InvalidParameter, InvalidQuery
from deniable.exact.html_tables import html_text
from deniable.exact.rationals import decimal_text
from deniable.ledger.ledger import Remaining
from deniable.policy import Column
from deniable.public_methods import implementation
from deniable.release.certificate.certificate import Certificate, document_text
from deniable.release.certificate.label import Label
from deniable.release.session.release import Release
from deniable.synth.copies.copy_certificate import CopyCertificate
from deniable.synth.copies.copy_plans import CopyPlan
from deniable.synth.copies.copy_questions import CountedTables, add_intervals
from deniable.synth.copies.measuring import MeasuredTable
from deniable.synth.copies.scorecard import Scorecard
from deniable.synth.domain.column_cells import ColumnCells
from deniable.synth.domain.quantile_cuts import draw_values

_STANDING = (
    "The copy is good for the tables that were scored; other questions may be far off. It "
    "describes the rows within the limits of the policy. Its rows are not people: ordinary "
    "standard errors computed from them are not valid."
)


@dataclass(frozen=True, slots=True, repr=False)
class TableCopy:
    """Rows that look like the table's. Any question about them is free.

    >>> import deniable as dp
    >>> people = pa.table({"sex": ["f", "m"] * 500, "old": [True, False] * 500})
    >>> data = dp.protect(people, keys={"sex": ["f", "m"]}, epsilon=1, delta=1e-6)
    >>> copy = data.copy(epsilon=1)
    >>> copy.to_arrow().column_names
    ['sex', 'old']
    >>> copy.sql("SELECT COUNT(*) > 500 AS many FROM data").to_pylist()
    [{'many': True}]
    """

    plan: CopyPlan
    rows: "pa.Table" = field(compare=False)
    total: float  # the noisy number of rows of the table
    total_deviation: float
    measured: tuple[MeasuredTable, ...]  # every noisy table
    scorecard: Scorecard
    releases: tuple[Release, ...] = field(compare=False)  # every measurement, certified
    remaining: Remaining
    certificate: CopyCertificate | None = None  # of the whole copy; none of a rehearsal
    counted: Mapping[str, "NDArray[np.int64]"] = field(default_factory=dict, compare=False)

    @property
    def tree(self) -> tuple[tuple[str, ...], ...]:
        """The pairs, and larger sets, of columns that were measured."""
        sets = (table.columns for table in self.measured if len(table.columns) > 1)
        return tuple(dict.fromkeys(sets))

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """Of all measurements; none of a rehearsal."""
        certificates = (release.certificate for release in self.releases)
        return tuple(certificate for certificate in certificates if certificate is not None)

    def to_arrow(self) -> "pa.Table":
        """The rows as an Arrow table."""
        return self.rows

    def to_pandas(self) -> Any:
        """The rows as a pandas frame."""
        return self.rows.to_pandas()

    def to_polars(self) -> Any:
        """The rows as a Polars frame."""
        return import_module("polars").from_arrow(self.rows)

    def save(self, path: str | Path) -> None:
        """Writes the rows to a file, .parquet or .csv; or the certificate, to .json."""
        if Path(path).suffix.lower() == ".json":
            Path(path).write_text(self.certificate_text())
            return
        check_format(path)
        if Path(path).suffix.lower() == ".csv":
            pyarrow.csv.write_csv(self.rows, str(path))
        else:
            pyarrow.parquet.write_table(self.rows, str(path))

    def certificate_text(self) -> str:
        """The certificate as JSON, as `deniable verify` reads it."""
        if self.certificate is None:
            raise InvalidParameter("A rehearsal has no certificate: its rows are made up.")
        return document_text(self.certificate.to_dict())

    def sql(self, text: str, *, margins: bool = True) -> "pa.Table":
        """The answer to any SQL about the rows, under the name of the table, for nothing.

        If the question counts rows by columns with declared values, each count has the ends
        of an interval for the table's count beside it, such as `n_low` and `n_high`.
        """
        name = self.plan.table.name
        try:
            answer = query_rows({name: self.rows}, text)
        except InvalidQuery as problem:
            if re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE):
                raise
            raise InvalidQuery(f"The copy's rows are in the table {name}. {problem}") from None
        if not margins:
            return answer
        about = CountedTables(
            name,
            self.plan.listed,
            self.measured,
            self.scorecard,
            self.total,
            len(self),
        )
        return add_intervals(text, answer, about, self.plan.confidence)

    @property
    def label(self) -> Label | None:
        """The privacy label of the whole copy; none of a rehearsal."""
        return None if self.certificate is None else self.certificate.label

    def count_cells(self, column: str) -> "NDArray[np.int64]":
        """The number of the copy's rows in each cell of a column."""
        return self.counted[column]

    def plot(self) -> Any:
        """A matrix of the errors of pairs of columns, and bars of every column beside its
        noisy measurement."""
        return implementation("TableCopy.plot")(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.rows.__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A copy cannot be pickled: it holds the policy of its table. Pickle its rows, "
            "`copy.to_arrow()`, or write files with `copy.save(...)`."
        )

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def __str__(self) -> str:
        return "\n".join([*self._facts(), str(self.scorecard), _STANDING])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        facts, card = "\n".join(self._facts()), self.scorecard._repr_html_()
        return f"{html_text(facts)}{card}{html_text(_STANDING)}"

    def _facts(self) -> list[str]:
        plan = self.plan
        price = f"epsilon {decimal_text(plan.epsilon)}, delta {decimal_text(plan.delta)}"
        if plan.texts:
            price += f"; and for keys epsilon {decimal_text(plan.keys_epsilon)}, the same delta"
        pairs = "; ".join(map(", ".join, self.tree)) or "none"
        lines = [
            f"A private copy of {plan.table.name}: {len(self):,} rows, {len(plan.columns)} "
            f"columns. The table has about {max(0.0, self.total):,.0f} rows.",
            f"Cost: {price}. Left: {self.remaining}.",
            f"Tables of several columns that were measured ({plan.method}): {pairs}.",
        ]
        for name in (plan.columns[place] for place in plan.texts):
            count = self.count_cells(name).size - 1 - plan.missing
            lines.append(
                f'Values of {name} that enough people have: {count}. The rest: "other".'
            )
        if self.releases[0].rehearsal:
            lines.insert(0, "REHEARSAL: the rows of the table are made up.")
        return lines


def check_format(path: str | Path) -> None:
    """Refuses a file whose name does not say how to write it."""
    if Path(path).suffix.lower() not in (".csv", ".parquet"):
        raise InvalidParameter(
            f"A copy is written as .parquet or .csv. Found {Path(path).name!r}."
        )


def draw_rows(
    plan: CopyPlan, cells: Sequence[ColumnCells], codes: Any, chance: np.random.Generator
) -> "pa.Table":
    """Cells as values of their columns."""
    columns = [plan.column(place) for place in range(len(cells))]
    arrays = {
        column.name: _to_array(column, draw_values(own, column, codes[:, place], chance))
        for place, (own, column) in enumerate(zip(cells, columns, strict=True))
    }
    return pa.table(arrays)


def _to_array(column: Column, values: Sequence[Any]) -> "pa.Array[Any]":
    """The values in the column's kind, also of an empty copy."""
    if column.kind == "number":
        whole = all(value is None or isinstance(value, int) for value in values)
        exact = column.integer or (column.step is not None and column.step.denominator == 1)
        return pa.array(values, pa.int64() if whole and exact else pa.float64())
    if column.kind == "boolean":
        return pa.array(values, pa.bool_())
    texts = pa.array(values, pa.string())
    return texts.cast(pa.date32()) if column.kind == "date" else texts
