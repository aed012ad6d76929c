"""Comparisons with several values: = ANY (...), <> ALL (...), rows (a, b); and ESCAPE."""

from collections.abc import Callable
from typing import TypeAlias

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.syntax_tree import Call, Expression, Literal

Reader: TypeAlias = Callable[[exp.Expr], Expression]

_NAMED = {"ANY": exp.EQ, "SOME": exp.EQ, "ALL": exp.NEQ}


def read_comparison(node: exp.Expr, read: Reader) -> Expression | None:
    """What a comparison with a list or between rows says; None where it is an ordinary one."""
    if isinstance(node, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
        listed = _listed(node)
        if listed is not None:
            made: Expression = read(exp.In(this=node.this, **listed))
            return made if isinstance(node, exp.EQ) else Call("not", (made,))
    if isinstance(node, exp.EQ | exp.NEQ) and (_row(node.this) or _row(node.expression)):
        same = _same(_read(node.this, read), node.expression, read)
        return same if isinstance(node, exp.EQ) else Call("not", (same,))
    if isinstance(node, exp.In) and _row(node.this):
        if not node.expressions:
            raise InvalidQuery(
                "A row of several values is compared to listed rows, as in (a, b) IN ((1, 2)); "
                "for a sub-query write EXISTS (SELECT 1 FROM t WHERE t.a = a AND t.b = b)."
            )
        left = _read(node.this, read)  # once, for it may hold rows in turn
        parts = tuple(_same(left, expression, read) for expression in node.expressions)
        return parts[0] if len(parts) == 1 else Call("or", parts)
    return None


def _listed(node: exp.Expr) -> dict[str, object] | None:
    """What stands behind = ANY or <> ALL, as IN takes it."""
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
        raise InvalidQuery("= ANY (...) and <> ALL (...) are supported, as IN and NOT IN.")
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.Subquery | exp.Select):
        return {"query": inner if isinstance(inner, exp.Subquery) else inner.subquery()}
    if isinstance(inner, exp.Array | exp.Tuple):
        return {"expressions": inner.expressions}
    raise InvalidQuery(f"{kind} takes a list or a sub-query: = {kind} ([1, 2, 3]).")


def _row(node: exp.Expr) -> list[exp.Expr] | None:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Tuple):
        return list(node.expressions)
    named = isinstance(node, exp.Anonymous) and str(node.this).upper() == "ROW"
    return list(node.expressions) if named else None


def _read(node: exp.Expr, read: Reader) -> list[Expression]:
    return [read(one) for one in _row(node) or ()]


def _same(left: list[Expression], other: exp.Expr, read: Reader) -> Expression:
    """Rows are the same, or not, also where some of their values are NULL."""
    right = _read(other, read)
    if len(left) != len(right) or not left:
        raise InvalidQuery("Rows are compared to rows of as many values: (a, b) = (1, 2).")
    pairs = zip(left, right, strict=True)
    parts = tuple(Call("not", (Call("is distinct", pair),)) for pair in pairs)
    return parts[0] if len(parts) == 1 else Call("and", parts)


def read_escape(node: exp.Expr, read: Reader) -> Expression:
    """LIKE ... ESCAPE '!', where the pattern is written out: others could end in the sign."""
    inner, sign = node.this, node.expression
    made = read(inner) if isinstance(inner, exp.Like | exp.ILike) else None
    like = made.arguments[0] if isinstance(made, Call) and made.name == "not" else made
    pattern = like.arguments[1] if isinstance(like, Call) else None
    known = isinstance(pattern, Literal) and isinstance(pattern.value, str)
    if not (known and isinstance(sign, exp.Literal) and sign.is_string and len(sign.this) == 1):
        raise InvalidQuery(
            "LIKE ... ESCAPE takes a pattern that is written out, and one sign: "
            "note LIKE '100!%' ESCAPE '!'."
        )
    assert isinstance(like, Call)
    assert isinstance(pattern, Literal)
    text = str(pattern.value)
    if (len(text) - len(text.rstrip(sign.this))) % 2:
        raise InvalidQuery(f"The pattern {pattern} ends with its own ESCAPE sign.")
    call = Call(f"{like.name} escape", (*like.arguments, Literal(sign.this)))
    return Call("not", (call,)) if like is not made else call
