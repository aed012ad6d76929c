"""A question about a table, or what is made from tables, however it was asked."""

from dataclasses import dataclass

from deniable.query.language.syntax_tree import Expression, Named, Relation


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: both front doors make one of these, and equal ones make equal plans.

    `outputs` are in the order of the answer; a group key among them is an output whose
    expression equals that of a key.
    """

    table: str | Relation  # its name, or how it is made
    where: Expression | None
    keys: tuple[Named, ...]
    outputs: tuple[Named, ...]
    having: Expression | None = None
    order: tuple[tuple[Expression, bool], ...] = ()
    limit: int | None = None
