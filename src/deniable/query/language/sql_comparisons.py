"""Comparisons with several values: = ANY (...), <> ALL (...), rows (a, b); and ESCAPE."""

from collections.abc import Callable
from typing import TypeAlias

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.function_names import LISTS
from deniable.query.language.syntax_tree import Call, Expression, Literal

Reader: TypeAlias = Callable[[exp.Expr], Expression]

_NAMED = {"ANY": exp.EQ, "SOME": exp.EQ, "ALL": exp.NEQ}


def read_comparison(node: exp.Expr, read: Reader) -> Expression | None:
    """A comparison with a list or between rows; None for an ordinary comparison."""
    if isinstance(node, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
        operand = _list_operand(node)
        if operand is not None:
            is_in: Expression = read(exp.In(this=node.this, **operand))
            return is_in if isinstance(node, exp.EQ) else Call("not", (is_in,))
    if isinstance(node, exp.EQ | exp.NEQ) and (_row(node.this) or _row(node.expression)):
        same = _same(_read(node.this, read), node.expression, read)
        return same if isinstance(node, exp.EQ) else Call("not", (same,))
    if isinstance(node, exp.In) and _row(node.this):
        if not node.expressions:
            raise InvalidQuery(
                "A row of several values can be compared to listed rows, as in "
                "(a, b) IN ((1, 2)). For a sub-query write "
                "EXISTS (SELECT 1 FROM t WHERE t.a = a AND t.b = b)."
            )
        left = _read(node.this, read)  # only once, because it may hold rows itself
        parts = tuple(_same(left, expression, read) for expression in node.expressions)
        return parts[0] if len(parts) == 1 else Call("or", parts)
    return None


def _list_operand(node: exp.Expr) -> dict[str, object] | None:
    """The list or sub-query after = ANY or <> ALL, as arguments of IN."""
    other = node.expression
    if isinstance(other, exp.Any | exp.All):
        kind, inner = ("ANY" if isinstance(other, exp.Any) else "ALL"), other.this
    elif isinstance(other, exp.Anonymous) and str(other.this).upper() in _NAMED:
        kind = str(other.this).upper()
        inner = (
            other.expressions[0]
            if len(other.expressions) == 1
            else exp.Tuple(expressions=other.expressions)
        )
    else:
        return None
    if not isinstance(node, _NAMED[kind]):
        raise InvalidQuery(
            f"{kind} is supported only in = ANY (...) and <> ALL (...), as IN and NOT IN."
        )
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.Subquery | exp.Select):
        return {"query": inner if isinstance(inner, exp.Subquery) else inner.subquery()}
    if isinstance(inner, exp.Array | exp.Tuple):
        return {"expressions": inner.expressions}
    raise InvalidQuery(f"{kind} takes a list or a sub-query: = {kind} ([1, 2, 3]). {LISTS}")


def _row(node: exp.Expr) -> list[exp.Expr] | None:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Tuple):
        return list(node.expressions)
    named = isinstance(node, exp.Anonymous) and str(node.this).upper() == "ROW"
    return list(node.expressions) if named else None


def _read(node: exp.Expr, read: Reader) -> list[Expression]:
    return [read(value) for value in _row(node) or ()]


def _same(left: list[Expression], other: exp.Expr, read: Reader) -> Expression:
    """Whether two rows are equal. This is true or false even if some values are NULL."""
    right = _read(other, read)
    if len(left) != len(right) or not left:
        raise InvalidQuery(
            "Both rows of a comparison must have the same number of values: (a, b) = (1, 2)."
        )
    pairs = zip(left, right, strict=True)
    parts = tuple(Call("not", (Call("is distinct", pair),)) for pair in pairs)
    return parts[0] if len(parts) == 1 else Call("and", parts)


def read_escape(node: exp.Expr, read: Reader) -> Expression:
    """LIKE ... ESCAPE '!'. The pattern must be a constant: others could end with the sign."""
    inner, sign = node.this, node.expression
    test = read(inner) if isinstance(inner, exp.Like | exp.ILike) else None
    like = test.arguments[0] if isinstance(test, Call) and test.name == "not" else test
    pattern = like.arguments[1] if isinstance(like, Call) else None
    known = isinstance(pattern, Literal) and isinstance(pattern.value, str)
    if not (known and isinstance(sign, exp.Literal) and sign.is_string and len(sign.this) == 1):
        raise InvalidQuery(
            "LIKE ... ESCAPE takes a constant pattern and one character, as in "
            "note LIKE '100!%' ESCAPE '!'."
        )
    assert isinstance(like, Call)
    assert isinstance(pattern, Literal)
    text = str(pattern.value)
    if (len(text) - len(text.rstrip(sign.this))) % 2:
        raise InvalidQuery(
            f"The pattern {pattern} ends with its ESCAPE character, which must come before "
            "another character."
        )
    call = Call(f"{like.name} escape", (*like.arguments, Literal(sign.this)))
    return Call("not", (call,)) if like is not test else call
