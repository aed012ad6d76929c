"""How an SQL expression over released rows depends on their noisy numbers.

Public: not at all. Affine: a sum of noisy numbers times public ones. Smooth: by division,
products, logarithms and the like. Jumps: a small change of a noisy number may change it by
much, or not at all (MAX, RANK, comparisons, CASE on numbers). The weakest part decides.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from sqlglot import exp

from deniable.query.outer.rounded_numbers import REAL_TYPES, remove_rounding


class Kind(IntEnum):
    """How a value follows from noisy numbers."""

    PUBLIC = 0
    AFFINE = 1
    SMOOTH = 2
    JUMPS = 3


@dataclass(frozen=True, slots=True)
class NoiseDependence:
    """The kind of dependence, and the released columns (table, column) it is on."""

    kind: Kind = Kind.PUBLIC
    sources: frozenset[tuple[str, str]] = frozenset()
    own_margin: str | None = None  # the column that holds its margin, if it is shown unchanged
    rounding: float = 0.0  # how far rounding may have moved it
    size_column: str | None = None  # the column with the size of what it was computed from

    def at_least(self, kind: Kind) -> "NoiseDependence":
        """The same, but of this kind if it depends on noise at all."""
        if self.kind == Kind.PUBLIC:
            return NoiseDependence()
        return NoiseDependence(max(self.kind, kind), self.sources)


_PLAIN = (exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Alias)
_SMOOTH = (exp.Ln, exp.Log, exp.Exp, exp.Sqrt, exp.Pow)
_FOLLOWING = (exp.Sum, exp.Avg)
_MOVED = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)
_PLACES = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile, exp.PercentRank, exp.CumeDist)
Columns = Mapping[tuple[str, str], NoiseDependence]


class DependenceReader:
    """Reads expressions of one SELECT, of which the columns are known."""

    def __init__(
        self, columns: Columns, subquery: Callable[[exp.Expr], NoiseDependence], *, shaky: bool
    ) -> None:
        self.columns, self.subquery = columns, subquery
        self.shaky = shaky  # whether noise decides which rows there are
        self.unread: list[exp.Expr] = []  # what stands for expressions that cannot be read

    def read(self, node: exp.Expr) -> NoiseDependence:
        """The dependence of an expression."""
        if isinstance(node, exp.Column):
            found = self.columns.get((node.table, node.name))
            return NoiseDependence(Kind.JUMPS) if found is None else found
        if any(node is other for other in self.unread):
            return NoiseDependence(Kind.JUMPS)
        if isinstance(node, exp.Subquery | exp.Select):
            return self.subquery(node)
        if isinstance(node, exp.Window):
            return self._window(node)
        inner, rounding = remove_rounding(node)
        if rounding:
            found = self.read(inner)
            if found.kind == Kind.PUBLIC or found.rounding:
                return found.at_least(Kind.JUMPS)
            return NoiseDependence(found.kind, found.sources, rounding=rounding)
        parts = [self.read(child) for child in node.iter_expressions()]
        whole = _join(parts)
        if any(part.rounding for part in parts):
            return parts[0] if isinstance(node, exp.Paren) else whole.at_least(Kind.JUMPS)
        if isinstance(node, exp.AggFunc) and self.shaky:
            return NoiseDependence(Kind.JUMPS, whole.sources)
        if isinstance(node, exp.Count) and whole.kind != Kind.JUMPS:
            return NoiseDependence()  # released numbers are there, whatever the noise
        if whole.kind == Kind.PUBLIC or isinstance(node, (*_PLAIN, *_FOLLOWING)):
            return _join(parts)
        return whole.at_least(self._operation(node))

    def _operation(self, node: exp.Expr) -> Kind:
        """The least kind of an operation on a noisy number."""
        if isinstance(node, exp.Mul | exp.Div):
            left, right = self.read(node.this), self.read(node.expression)
            if isinstance(node, exp.Div):
                return Kind.AFFINE if right.kind == Kind.PUBLIC else Kind.SMOOTH
            return Kind.SMOOTH if Kind.PUBLIC not in (left.kind, right.kind) else Kind.AFFINE
        if isinstance(node, _SMOOTH):
            return Kind.SMOOTH
        if isinstance(node, exp.Cast | exp.TryCast):
            return Kind.AFFINE if node.to.this.name in REAL_TYPES[:2] else Kind.JUMPS
        if isinstance(node, exp.Nullif | exp.Coalesce):
            rest = [part for part in node.iter_expressions() if part is not node.this]
            public = all(self.read(part).kind == Kind.PUBLIC for part in rest)
            return Kind.AFFINE if public else Kind.JUMPS
        if isinstance(node, exp.Filter):
            return Kind.AFFINE if self.read(node.expression).kind == Kind.PUBLIC else Kind.JUMPS
        if isinstance(node, exp.Case):
            tests = [branch.this for branch in node.args["ifs"]] + [node.this]
            public = all(self.read(t).kind == Kind.PUBLIC for t in tests if t is not None)
            return Kind.AFFINE if public else Kind.JUMPS
        if isinstance(node, exp.If):  # a branch of CASE, whose test was read there
            return Kind.AFFINE if self.read(node.this).kind == Kind.PUBLIC else Kind.JUMPS
        return Kind.JUMPS

    def _window(self, node: exp.Window) -> NoiseDependence:
        function = node.this
        rest = [part for part in node.iter_expressions() if part is not function]
        around = _join(
            [self.read(part) for part in rest if not isinstance(part, exp.WindowSpec)]
        )
        while isinstance(function, exp.IgnoreNulls | exp.RespectNulls):
            function = function.this
        if self.shaky or around.kind != Kind.PUBLIC:
            return NoiseDependence(Kind.JUMPS, around.sources)
        if isinstance(function, _PLACES):
            return NoiseDependence()
        if isinstance(function, _MOVED):
            return _join([self.read(child) for child in function.iter_expressions()])
        return self.read(function)


def _join(parts: list[NoiseDependence]) -> NoiseDependence:
    kind = max((part.kind for part in parts), default=Kind.PUBLIC)
    return NoiseDependence(kind, frozenset().union(*(part.sources for part in parts)))
