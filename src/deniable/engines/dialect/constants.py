"""Numbers that a syntax tree contains as constants."""

from fractions import Fraction

from sqlglot import exp


def digits_of(node: exp.Expr) -> str | None:
    """The digits of a number, which may be negative; None if the node is not a number."""
    if isinstance(node, exp.Paren):
        return digits_of(node.this)
    if isinstance(node, exp.Neg):
        inner = digits_of(node.this)
        return None if inner is None else f"-{inner}"
    return node.name if isinstance(node, exp.Literal) and not node.is_string else None


def constant_of(node: exp.Expr | None) -> Fraction | None:
    """The value of an expression that contains only numbers; None for any other expression.

    >>> import sqlglot
    >>> constant_of(sqlglot.parse_one("TRY_CAST(-(CAST(2 AS DOUBLE) + 1) AS BIGINT)"))
    Fraction(-3, 1)
    """
    if isinstance(node, exp.Literal):
        return None if node.is_string else Fraction(node.name)
    if isinstance(node, exp.Paren | exp.Cast):
        return constant_of(node.this)
    if isinstance(node, exp.Neg):
        inner = constant_of(node.this)
        return None if inner is None else -inner
    if isinstance(node, exp.Add | exp.Sub | exp.Mul):
        left, right = constant_of(node.this), constant_of(node.expression)
        if left is None or right is None:
            return None
        if isinstance(node, exp.Mul):
            return left * right
        return left + right if isinstance(node, exp.Add) else left - right
    return None
