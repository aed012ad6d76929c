"""Questions with one key more: the number of the row. So the engine's own statements say what
each row adds. A question through which single rows cannot be followed is named with the reason.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

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
    TableRef,
)
from deniable.query.language.within_clause import split_within_clause

ROW = "attacked row"  # the name of the further key
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
    "it joins the private table 'staff': what a row adds depends on the rows of that table, too"
    """
    source = question.table
    named = [source] if isinstance(source, str) else list(_list_tables(source))
    have, protected = {one.lower() for one in known}, {one.lower() for one in private}
    for name in named:
        if name.lower() in protected:
            return (
                f"it joins the private table {name!r}: what a row adds depends on the rows of "
                "that table, too"
            )
        if name.lower() not in have:
            return (
                f"it reads the table {name!r}, which is not given. Attack a policy that "
                "declares it"
            )
    if [name.lower() for name in named].count(own.lower()) > 1:
        return f"it reads {own!r} twice, so that what a row adds depends on other rows, too"
    if ROW in why or (not isinstance(source, str) and _groups(source)):
        return (
            "its sub-query groups the rows, so that single rows cannot be followed through it"
        )
    return why


def _show_row(relation: Relation, table: str) -> Relation:
    """The relation with the number of the row as one more column of its sub-queries."""
    if isinstance(relation, Join):
        left, right = _show_row(relation.left, table), _show_row(relation.right, table)
        return replace(relation, left=left, right=right)
    if not isinstance(relation, Derived) or not isinstance(relation.query, Selection):
        return relation
    query = relation.query
    if table.lower() not in {name.lower() for name in _list_tables(query.source)}:
        return relation
    inner = replace(query, source=_show_row(query.source, table))
    grouped = query.keys or query.distinct or query.by_all
    if not grouped and not any(isinstance(one, Star) for one in query.outputs):
        inner = replace(inner, outputs=(*query.outputs, _KEY))
    return replace(relation, query=inner)


def _groups(relation: Relation) -> bool:
    """Whether a sub-query in FROM groups its rows."""
    if isinstance(relation, Join):
        return _groups(relation.left) or _groups(relation.right)
    if not isinstance(relation, Derived) or not isinstance(relation.query, Selection):
        return False
    query = relation.query
    return bool(query.keys or query.distinct or query.by_all) or _groups(query.source)


def _list_tables(relation: Relation) -> Iterator[str]:
    """The names of all tables that a relation reads, each as often as it does."""
    if isinstance(relation, TableRef):
        yield relation.name
    elif isinstance(relation, Join):
        yield from _list_tables(relation.left)
        yield from _list_tables(relation.right)
    else:
        query = relation.query
        parts = (query,) if isinstance(query, Selection) else query.parts
        for part in parts:
            yield from _list_tables(part.source)
