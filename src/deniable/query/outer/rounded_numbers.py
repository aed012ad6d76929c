"""Numbers without the rounding around them."""

from sqlglot import exp

REAL_TYPES = ("DOUBLE", "FLOAT", "DECIMAL")
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
