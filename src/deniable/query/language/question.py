"""A question about a relation, from SQL or from the Python builder."""

from dataclasses import dataclass

from deniable.query.language.syntax_tree import Expression, Named, Relation


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. SQL and the builder both make one, and equal questions make equal plans.

    Names are as they were written: which of them are columns and which are aliases of outputs
    is decided when a question meets a policy (`relations/names.py`). Then an output whose
    expression equals that of a key is that key.
    """

    table: str | Relation  # the name of a table, or a relation made of tables
    where: Expression | None
    keys: tuple[Named, ...]
    outputs: tuple[Named, ...]
    having: Expression | None = None
    order: tuple[tuple[Expression, bool], ...] = ()
    limit: int | None = None
    distinct: bool = False
    by_all: bool = False  # GROUP BY ALL: by every output that is not an aggregate
    nan_is_null: bool = False  # else it is greater than every number, as in SQL
