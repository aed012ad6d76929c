"""Expressions over released rows that are ratios of two sums, and numbers without rounding."""

from sqlglot import exp

from deniable.query.language.noise_dependence import REAL_TYPES, DependenceReader, Kind

Ratio = tuple[exp.Expr, exp.Expr]
_WHOLE = (exp.Floor, exp.Ceil, exp.Trunc)


def remove_rounding(node: exp.Expr) -> tuple[exp.Expr, float]:
    """An expression without the rounding around it, and how far that may move a value.

    >>> import sqlglot
    >>> inner, most = remove_rounding(sqlglot.parse_one("ROUND(100 * a / b, 1)"))
    >>> inner.sql(), most
    ('100 * a / b', 0.1)
    """
    most = 0.0
    while True:
        if isinstance(node, exp.Paren):
            node = node.this
        elif isinstance(node, exp.Round) and _is_number(node.args.get("decimals")):
            most += 10.0 ** -_number(node.args.get("decimals"))
            node = node.this
        elif isinstance(node, _WHOLE) and not node.args.get("decimals"):
            most, node = most + 1.0, node.this
        elif isinstance(node, exp.Cast | exp.TryCast):
            name = node.to.this.name
            if name in ("INT", "BIGINT", "SMALLINT"):
                most += 1.0
            elif name == "DECIMAL":
                parts = node.to.expressions
                most += 10.0 ** -int(parts[1].name if len(parts) > 1 else 3 * (not parts))
            elif name not in REAL_TYPES:
                return node, most
            node = node.this
        else:
            return node, most


def _is_number(node: exp.Expr | None) -> bool:
    return node is None or isinstance(node, exp.Literal | exp.Neg)


def _number(node: exp.Expr | None) -> int:
    return 0 if node is None else int(node.sql())


class RatioReader:
    """Finds the two sums of a ratio: above and below."""

    def __init__(self, reader: DependenceReader) -> None:
        self.reader = reader

    def read(self, node: exp.Expr) -> Ratio | None:
        """Two affine expressions whose ratio is the node; None if it is no such ratio."""
        if isinstance(node, exp.Paren):
            return self.read(node.this)
        if isinstance(node, exp.Neg):
            found = self.read(node.this)
            return None if found is None else (exp.Neg(this=_enclosed(found[0])), found[1])
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
        found = self.read(other)
        if found is None:
            return None
        above, below = map(_enclosed, found)
        if isinstance(node, exp.Mul | exp.Div):
            return type(node)(this=above, expression=_enclosed(public)), below
        scaled = exp.Mul(this=_enclosed(public), expression=below)
        parts = (above, scaled) if other is left else (scaled, above)
        return type(node)(this=parts[0], expression=parts[1]), below

    def _kind(self, node: exp.Expr) -> Kind:
        return self.reader.read(node).kind


def _enclosed(node: exp.Expr) -> exp.Expr:
    return exp.Paren(this=node.copy())
