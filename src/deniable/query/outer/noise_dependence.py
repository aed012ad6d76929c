"""How an SQL expression over released rows depends on their noisy numbers.

Public: not at all. Affine: a sum of noisy numbers times public ones. Smooth: by division,
products, logarithms and the like. Jumps: a small change of a noisy number may change it by
much, or not at all (MAX, RANK, comparisons, CASE on numbers). The weakest part decides.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from sqlglot import exp

from deniable.query.outer.rounded_numbers import REAL_TYPES, remove_rounding


class Kind(IntEnum):
    """How a value follows from noisy numbers."""

    PUBLIC = 0
    AFFINE = 1
    SMOOTH = 2
    JUMPS = 3


class Gaps(IntEnum):
    """Whether noise decides that a value is NULL."""

    NONE = 0
    STEEP = 1  # only near values where it changes fast: x / 0, LN(0)
    ANYWHERE = 2  # NULLIF(n, 7)


@dataclass(frozen=True, slots=True)
class NoiseDependence:
    """The kind of dependence, and the released columns (table, column) it is on."""

    kind: Kind = Kind.PUBLIC
    sources: frozenset[tuple[str, str]] = frozenset()
    own_margin: str | None = None  # the column that holds its margin, if it is shown unchanged
    rounding: float = 0.0  # how far rounding may have moved it
    size_column: str | None = None  # the column with the size of what it was computed from
    gaps: Gaps = Gaps.NONE

    def at_least(self, kind: Kind) -> "NoiseDependence":
        """The same, but of this kind if it depends on noise at all."""
        if self.kind == Kind.PUBLIC:
            return NoiseDependence()
        return NoiseDependence(max(self.kind, kind), self.sources, gaps=self.gaps)


_PLAIN = (exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Alias)
_SMOOTH = (exp.Ln, exp.Log, exp.Exp, exp.Sqrt, exp.Pow)
_LOGARITHMS = (exp.Ln, exp.Log)
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
            dependence = self.columns.get((node.table, node.name))
            return NoiseDependence(Kind.JUMPS) if dependence is None else dependence
        if any(node is other for other in self.unread) or _is_all(node):
            return NoiseDependence(Kind.JUMPS)
        if isinstance(node, exp.Subquery | exp.Select):
            return self.subquery(node)
        if isinstance(node, exp.Window):
            return self._window(node)
        inner, rounding = remove_rounding(node)
        if rounding:
            dependence = self.read(inner)
            if dependence.kind == Kind.PUBLIC or dependence.rounding:
                return dependence.at_least(Kind.JUMPS)
            return replace(dependence, own_margin=None, rounding=rounding, size_column=None)
        # Every part is read once: a product of products would be read again at each level.
        parts = {id(child): self.read(child) for child in node.iter_expressions()}
        whole = _join(list(parts.values()))
        if any(part.rounding for part in parts.values()):
            alone = isinstance(node, exp.Paren)
            return parts[id(node.this)] if alone else whole.at_least(Kind.JUMPS)
        if isinstance(node, exp.AggFunc) and self.shaky:
            return NoiseDependence(Kind.JUMPS, whole.sources)
        if isinstance(node, exp.Count) and whole.kind != Kind.JUMPS and not whole.gaps:
            return NoiseDependence()  # released numbers are there, whatever the noise
        if isinstance(node, exp.Avg | exp.IgnoreNulls) and whole.gaps == Gaps.ANYWHERE:
            return whole.at_least(Kind.JUMPS)
        if whole.kind == Kind.PUBLIC or isinstance(node, (*_PLAIN, *_FOLLOWING)):
            return whole
        kind, gaps = _operation(node, parts), _gaps(node, parts, whole)
        return replace(whole.at_least(kind), gaps=gaps)

    def _window(self, node: exp.Window) -> NoiseDependence:
        function = node.this
        rest: list[exp.Expr] = [p for p in node.iter_expressions() if p is not function]
        while isinstance(function, exp.IgnoreNulls | exp.RespectNulls):
            skips = isinstance(function, exp.IgnoreNulls)
            function = function.this
            if skips and self.read(function).gaps:
                rest.append(function)
        # How many places it looks back, or into how many parts it divides the rows.
        steps = function.this if isinstance(function, _PLACES) else function.args.get("offset")
        rest += [steps] if isinstance(steps, exp.Expr) else []
        around = _join([self.read(part) for part in rest])
        if self.shaky or around.kind != Kind.PUBLIC:
            return NoiseDependence(Kind.JUMPS, around.sources)
        if isinstance(function, _PLACES):
            return NoiseDependence()
        if isinstance(function, _MOVED):
            return _join([self.read(child) for child in function.iter_expressions()])
        return self.read(function)


def _join(parts: list[NoiseDependence]) -> NoiseDependence:
    kind = max((part.kind for part in parts), default=Kind.PUBLIC)
    gaps = max((part.gaps for part in parts), default=Gaps.NONE)
    return NoiseDependence(
        kind, frozenset().union(*(part.sources for part in parts)), gaps=gaps
    )


def _is_all(node: exp.Expr) -> bool:
    """ORDER BY ALL: by all outputs."""
    return isinstance(node, exp.Var) and node.name.upper() == "ALL"


def _operation(node: exp.Expr, parts: Mapping[int, NoiseDependence]) -> Kind:
    """The least kind of an operation on a noisy number, of which the parts were read."""
    noisy = [id(part) for part in node.iter_expressions() if parts[id(part)].kind]
    alone = noisy == [id(node.this)]  # only its first part is noisy
    if isinstance(node, exp.Mul):
        return Kind.SMOOTH if len(noisy) == 2 else Kind.AFFINE
    if isinstance(node, exp.Div):
        return Kind.AFFINE if alone else Kind.SMOOTH
    if isinstance(node, _SMOOTH):
        return Kind.SMOOTH
    if isinstance(node, exp.Cast | exp.TryCast):
        return Kind.AFFINE if node.to.this.name in REAL_TYPES[:2] else Kind.JUMPS
    if isinstance(node, exp.Coalesce):
        alone = alone and parts[id(node.this)].gaps < Gaps.ANYWHERE
    if isinstance(node, exp.Nullif | exp.Coalesce | exp.Filter):
        return Kind.AFFINE if alone else Kind.JUMPS
    if isinstance(node, exp.If):  # a branch of CASE
        return Kind.JUMPS if id(node.this) in noisy else Kind.AFFINE
    if isinstance(node, exp.Case):  # the tests are in its branches
        return Kind.JUMPS if node.this and id(node.this) in noisy else Kind.AFFINE
    return Kind.JUMPS


def _gaps(node: exp.Expr, parts: Mapping[int, NoiseDependence], whole: NoiseDependence) -> Gaps:
    """Where an operation on a noisy number is NULL."""
    if isinstance(node, exp.Nullif | exp.Sqrt | exp.Pow):
        return Gaps.ANYWHERE
    if isinstance(node, exp.Div) and parts[id(node.expression)].kind != Kind.PUBLIC:
        return max(parts[id(node.this)].gaps, Gaps.STEEP)
    return max(whole.gaps, Gaps.STEEP) if isinstance(node, _LOGARITHMS) else whole.gaps
