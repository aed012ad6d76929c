"""Formulas of released numbers that are evaluated for many draws of their noise at once.

Most SQL over one released table computes row by row, with sums over all rows or over parts of
them: a share is n / SUM(n) OVER (). Such an expression is read into a formula, and numpy
evaluates it for all draws. What depends on no noise stays SQL: it is one more column of draw 0.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from deniable.query.outer.noise_dependence import DependenceReader, Kind
from deniable.query.outer.rounded_numbers import REAL_TYPES

Floats = NDArray[np.float64]
_SIGNS: Mapping[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
_DRAW, _ROW = "_draw", "_row"  # columns that every released table has
_MOVED = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue)
PUBLIC = "_public_"  # what names of other public columns begin with


@dataclass(frozen=True, slots=True)
class RowFormula:
    """An operation on formulas, or a column, by its name."""

    operation: str  # noisy, moved, public, + - * / nullif, sum, avg
    parts: tuple["RowFormula", ...] = ()
    name: str = ""  # of the released column; of the column with public values, or with parts

    def evaluate(self, noisy: Mapping[str, Floats], public: Mapping[str, Floats]) -> Floats:
        """Its values (draws x rows) from those of the released columns (draws x released rows)
        and of the public ones (rows), which say which released row each row is. NaN where it is
        not defined.

        >>> n = RowFormula("noisy", name="n")
        >>> share = RowFormula("/", (n, RowFormula("sum", (n,))))
        >>> rows = {"_row": np.array([1.0, 0.0])}
        >>> share.evaluate({"n": np.array([[1.0, 3.0], [2.0, 2.0]])}, rows).tolist()
        [[0.75, 0.25], [0.5, 0.5]]
        """
        if self.operation == "noisy":
            place = public[_ROW]
            if np.array_equal(place, np.arange(noisy[self.name].shape[1])):
                return noisy[self.name]  # every row, in order
            numbers = noisy[self.name][:, np.nan_to_num(place).astype(np.int64)]
            return np.where(np.isnan(place), np.nan, numbers)
        if self.operation == "moved":  # the number of another row, such as LAG
            return self.parts[0].evaluate(noisy, {**public, _ROW: public[self.name]})
        if self.operation == "public":
            return public[self.name][np.newaxis, :]
        parts = [part.evaluate(noisy, public) for part in self.parts]
        if self.operation in ("sum", "avg"):
            return _add_up(parts[0], public.get(self.name), average=self.operation == "avg")
        with np.errstate(all="ignore"):
            values = _OPERATIONS[self.operation](*parts)
            known = np.isfinite(values)
            return values if known.all() else np.where(known, values, np.nan)


_OPERATIONS: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "nullif": lambda a, b: np.where(a == b, np.nan, a),
}


def _add_up(values: Floats, parts: Floats | None, *, average: bool) -> Floats:
    """The sum or the average of each row's part of the rows, or of all rows."""
    known = ~np.isnan(values)
    filled = values if known.all() else np.where(known, values, 0.0)
    if parts is None:
        sums, counts = (x.sum(axis=1, keepdims=True) for x in (filled, known))
    else:
        _, part = np.unique(parts, return_inverse=True)
        order = np.argsort(part, kind="stable")
        starts = np.flatnonzero(np.diff(part[order], prepend=-1))
        sums, counts = (
            np.add.reduceat(x[:, order], starts, axis=1)[:, part]
            for x in (filled, known.astype(np.float64))
        )
    with np.errstate(all="ignore"):
        totals = np.where(counts > 0, sums / counts if average else sums, np.nan)
    return np.ascontiguousarray(np.broadcast_to(totals, values.shape))


class FormulaReader:
    """Reads the expressions of a SELECT, and adds the public columns that they need to it.

    `columns` are the released columns behind those that the SELECT reads: None if its rows are
    not rows of one released table.
    """

    def __init__(
        self,
        select: exp.Select,
        reader: DependenceReader,
        columns: Mapping[tuple[str, str], str] | None,
    ) -> None:
        self.select, self.reader, self.columns = select, reader, columns
        self.names: dict[exp.Expr, str] = {}

    def read_all(self, nodes: list[exp.Expr]) -> tuple[RowFormula, ...]:
        """The formulas of all of them; none if one has no formula."""
        if self.columns is None:
            return ()
        readings = [self._read(node) for node in nodes]
        formulas = tuple(formula for formula in readings if formula is not None)
        return formulas if len(formulas) == len(nodes) else ()

    def _read(self, node: exp.Expr) -> RowFormula | None:
        if isinstance(node, exp.Paren):
            return self._read(node.this)
        if self.reader.read(node).kind == Kind.PUBLIC:
            return RowFormula("public", name=self._add(node))
        if isinstance(node, exp.Column):
            column = (self.columns or {}).get((node.table, node.name))
            return None if column is None else RowFormula("noisy", name=column)
        if isinstance(node, exp.Cast | exp.TryCast) and node.to.this.name in REAL_TYPES[:2]:
            return self._read(node.this)
        if isinstance(node, exp.Neg):
            zero = RowFormula("public", name=self._add(exp.Literal.number(0)))
            return self._joined("-", [zero, self._read(node.this)])
        if isinstance(node, exp.Nullif):
            return self._joined("nullif", [self._read(node.this), self._read(node.expression)])
        if type(node) in _SIGNS:
            sides = [self._read(node.this), self._read(node.expression)]
            return self._joined(_SIGNS[type(node)], sides)
        return self._window(node) if isinstance(node, exp.Window) else None

    def _joined(self, operation: str, parts: list[RowFormula | None]) -> RowFormula | None:
        known_parts = tuple(part for part in parts if part is not None)
        return RowFormula(operation, known_parts) if len(known_parts) == len(parts) else None

    def _window(self, node: exp.Window) -> RowFormula | None:
        """SUM and AVG over all rows or over parts of them, and numbers of other rows."""
        if type(node.this) in _MOVED and isinstance(node.this.this, exp.Column):
            place = node.copy()
            place.this.set("this", exp.column(_ROW, table=node.this.this.table, quoted=True))
            inner = None if node.this.args.get("default") else self._read(node.this.this)
            return inner and RowFormula("moved", (inner,), self._add(place))
        if node.args.get("order") or node.args.get("spec"):
            return None
        if type(node.this) not in (exp.Sum, exp.Avg):
            return None
        inner = self._read(node.this.this)
        keys = [key for key in node.args.get("partition_by") or () if key.name != _DRAW]
        if inner is None:
            return None
        if not keys:
            return RowFormula(node.this.key, (inner,))
        order = exp.Order(expressions=[exp.Ordered(this=key.copy()) for key in keys])
        part = exp.Window(this=exp.DenseRank(), order=order)
        return RowFormula(node.this.key, (inner,), self._add(part))

    def _add(self, node: exp.Expr) -> str:
        """The name of a public expression among the columns of the SELECT."""
        if node not in self.names:
            self.names[node] = f"{PUBLIC}{len(self.names)}"
            named = exp.alias_(node.copy(), self.names[node], quoted=True)
            self.select.append("expressions", named)
        return self.names[node]
