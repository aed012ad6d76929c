"""Expressions over released rows that are ratios of two sums."""

from sqlglot import exp

from deniable.query.outer.noise_dependence import DependenceReader, Kind
from deniable.query.outer.rounded_numbers import REAL_TYPES

Ratio = tuple[exp.Expr, exp.Expr]


class RatioReader:
    """Finds the two sums of a ratio: above and below."""

    def __init__(self, reader: DependenceReader) -> None:
        self.reader = reader

    def read(self, node: exp.Expr) -> Ratio | None:
        """Two affine expressions whose ratio is the node; None if it is not such a ratio."""
        if isinstance(node, exp.Paren):
            return self.read(node.this)
        if isinstance(node, exp.Neg):
            ratio = self.read(node.this)
            return None if ratio is None else (exp.Neg(this=_enclosed(ratio[0])), ratio[1])
        if isinstance(node, exp.Cast) and node.to.this.name in REAL_TYPES[:2]:
            return self.read(node.this)
        if not isinstance(node, exp.Mul | exp.Div | exp.Add | exp.Sub):
            return None
        left, right = node.this, node.expression
        kinds = self._kind(left), self._kind(right)
        if isinstance(node, exp.Div) and max(kinds) == Kind.AFFINE == kinds[1]:
            return left, right
        if Kind.PUBLIC not in kinds:
            return None
        public, other = (left, right) if kinds[0] == Kind.PUBLIC else (right, left)
        if isinstance(node, exp.Div) and other is right:
            return None
        ratio = self.read(other)
        if ratio is None:
            return None
        above, below = map(_enclosed, ratio)
        if isinstance(node, exp.Mul | exp.Div):
            return type(node)(this=above, expression=_enclosed(public)), below
        scaled = exp.Mul(this=_enclosed(public), expression=below)
        parts = (above, scaled) if other is left else (scaled, above)
        return type(node)(this=parts[0], expression=parts[1]), below

    def _kind(self, node: exp.Expr) -> Kind:
        return self.reader.read(node).kind


def _enclosed(node: exp.Expr) -> exp.Expr:
    return exp.Paren(this=node.copy())
