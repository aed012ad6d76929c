"""A question that was built in Python, written as SQL: for a server, which reads SQL only."""

from dataclasses import replace

from deniable.errors import Unsupported
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Expression,
    Join,
    Literal,
    Named,
    Relation,
    TableRef,
)
from deniable.query.plan.quoting import quote_name


def write_question(question: Question) -> str:
    """The SQL of a question. Whether it says the same is seen by planning it.

    >>> from deniable.query.language.builder import QuestionBuilder, mean
    >>> built = QuestionBuilder("visits").where("age > 1").group_by("ward").agg(c=mean("cost"))
    >>> write_question(built)[:60]
    'SELECT "ward" AS "ward", AVG("cost") AS "c" FROM "visits" WH'
    """
    parts = [
        f"SELECT{' DISTINCT' if question.distinct else ''} "
        + ", ".join(_write_named(output) for output in question.outputs),
        f"FROM {_write_relation(question.table)}",
    ]
    if question.where is not None:
        parts.append(f"WHERE {_write(question.where)}")
    if question.by_all:
        parts.append("GROUP BY ALL")
    elif question.keys:
        parts.append(f"GROUP BY {', '.join(_write(key.expression) for key in question.keys)}")
    if question.having is not None:
        parts.append(f"HAVING {_write(question.having)}")
    if question.order:
        order = [f"{_write(by)}{' DESC' if down else ''}" for by, down in question.order]
        parts.append(f"ORDER BY {', '.join(order)}")
    if question.limit is not None:
        parts.append(f"LIMIT {question.limit}")
    return " ".join(parts)


def _write_named(named: Named) -> str:
    return f"{_write(named.expression)} AS {quote_name(named.name)}"


def _write(expression: Expression) -> str:
    return str(_quote(expression))


def _quote(expression: Expression) -> Expression:
    """The expression with quoted names, so that it prints as SQL."""
    if isinstance(expression, ColumnRef):
        table = expression.table
        return ColumnRef(
            quote_name(expression.name), None if table is None else quote_name(table)
        )
    if isinstance(expression, Literal):
        return expression
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(map(_quote, expression.arguments)))
    if isinstance(expression, Aggregate):
        argument, second = expression.argument, expression.second
        return replace(
            expression,
            argument=None if argument is None else _quote(argument),
            second=None if second is None else _quote(second),
        )
    raise Unsupported(
        "A built question with a sub-query cannot be sent to a server: write it as SQL."
    )


def _write_relation(relation: str | Relation) -> str:
    if isinstance(relation, str):
        return quote_name(relation)
    if isinstance(relation, TableRef):
        alias = "" if relation.alias is None else f" AS {quote_name(relation.alias)}"
        return quote_name(relation.name) + alias
    if isinstance(relation, Join) and isinstance(relation.right, TableRef):
        kind = f"{'NATURAL ' if relation.natural else ''}{relation.kind.upper()} JOIN"
        both = f"{_write_relation(relation.left)} {kind} {_write_relation(relation.right)}"
        if relation.using:
            return f"{both} USING ({', '.join(map(quote_name, relation.using))})"
        return both if relation.on is None else f"{both} ON {_write(relation.on)}"
    raise Unsupported(
        "A built question about a sub-query cannot be sent to a server: write it as SQL."
    )
