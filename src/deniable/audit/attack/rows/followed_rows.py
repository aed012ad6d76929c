"""Questions with one key more: the number of the row. So the engine's own statements say what
each row adds, also in joins with public tables and in unions, where a row may count many times.
A question through which single rows cannot be followed is named with the reason.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import ne

from deniable.query.language.expressions import tables_in
from deniable.query.language.parse import parse
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import (
    ColumnRef,
    Derived,
    Join,
    Named,
    Relation,
    Selection,
    Star,
    UnionAll,
    Unnested,
)
from deniable.query.language.within_clause import split_within_clause

ROW = "attacked row"  # the name of the further key
UNIT = f"unit of {ROW}"  # and of the privacy unit, so that messages with either name are known
_KEY = Named(ROW, ColumnRef(ROW))


def follow_rows(text: str, table: str) -> Question:
    """The question, grouped by the rows of a table, too.

    >>> str(follow_rows("SELECT COUNT(*) FROM visits", "visits").keys[0].name)
    'attacked row'
    """
    question = parse(split_within_clause(text)[0])
    source = question.table
    # What chooses among released groups is no matter: all of them were measured.
    return replace(
        question,
        table=source if isinstance(source, str) else _show_row(source, table),
        keys=(*question.keys, _KEY),
        outputs=(*question.outputs, _KEY),
        having=None,
        order=(),
        limit=None,
    )


def explain_refusal(
    question: Question, own: str, known: Iterable[str], private: Iterable[str], why: str
) -> str:
    """Why rows cannot be followed: `known` are the tables that the attack has, `private` the
    other ones that the policy protects.

    >>> joined = parse("SELECT COUNT(*) FROM visits JOIN staff ON visits.id = staff.id")
    >>> explain_refusal(joined, "visits", ["visits"], ["staff"], "")
    "it reads the private table 'staff', too: what a row adds depends on the rows of that table"
    """
    named = [name.lower() for name in _list_tables(question)]
    have, protected = {table.lower() for table in known}, {table.lower() for table in private}
    for name in named:
        if name in protected and own.lower() not in named:
            return f"it is about the private table {name!r}: attack that table with `table`"
        if name in protected:
            return (
                f"it reads the private table {name!r}, too: what a row adds depends on the "
                "rows of that table"
            )
        if name not in have:
            return (
                f"it reads the table {name!r}, which is not given. Attack a policy that "
                "declares it"
            )
    if ROW not in why:
        return why
    if named.count(own.lower()) > 1 and not _groups(question.table):
        return f"it reads {own!r} twice, so that what a row adds depends on other rows, too"
    return (
        "its sub-query groups the rows or compares them, so that single rows cannot be "
        "followed through it"
    )


def _list_tables(question: Question) -> Iterator[str]:
    """The names of all tables that a question reads, each as often as it does."""
    if isinstance(question.table, str):
        yield question.table
    else:
        yield from (table.name for table in tables_in(question.table))
    parts = [column.expression for column in (*question.keys, *question.outputs)]
    for part in parts if question.where is None else [*parts, question.where]:
        yield from (table.name for table in tables_in(part))


def _show_row(relation: Relation, table: str) -> Relation:
    """The relation with the number of the row as one more column of its sub-queries."""
    if isinstance(relation, Join):
        left, right = _show_row(relation.left, table), _show_row(relation.right, table)
        return replace(relation, left=left, right=right)
    if isinstance(relation, Unnested):
        return replace(relation, source=_show_row(relation.source, table))
    if not isinstance(relation, Derived):
        return relation
    query = relation.query
    if isinstance(query, Selection):
        return replace(relation, query=_select_row(query, table))
    parts = tuple(_select_row(part, table) for part in query.parts)
    followed = all(map(ne, parts, query.parts))  # else it unites private and public rows
    return replace(relation, query=UnionAll(parts)) if followed else relation


def _select_row(query: Selection, table: str) -> Selection:
    if table.lower() not in [part.name.lower() for part in tables_in(query.source)]:
        return query
    inner = replace(query, source=_show_row(query.source, table))
    if _is_grouped(query) or any(isinstance(part, Star) for part in query.outputs):
        return inner
    return replace(inner, outputs=(*inner.outputs, _KEY))


def _groups(relation: str | Relation) -> bool:
    """Whether a sub-query in FROM groups its rows."""
    if isinstance(relation, Join):
        return _groups(relation.left) or _groups(relation.right)
    if isinstance(relation, Unnested):
        return _groups(relation.source)
    if not isinstance(relation, Derived):
        return False
    query = relation.query
    parts = (query,) if isinstance(query, Selection) else query.parts
    return any(_is_grouped(part) or _groups(part.source) for part in parts)


def _is_grouped(query: Selection) -> bool:
    return bool(query.keys or query.distinct or query.by_all)
