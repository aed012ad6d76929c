"""A question about a table, or what is made from tables, however it was asked."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.query.language.expressions import Expression

if TYPE_CHECKING:
    from deniable.query.language.sources import Relation


@dataclass(frozen=True, slots=True)
class Named:
    """A selected or grouping expression under the name that it has in the answer."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: both front doors make one of these, and equal ones make equal plans.

    `outputs` are in the order of the answer; a group key among them is an output whose
    expression equals that of a key.
    """

    table: "str | Relation"  # its name, or how it is made
    where: Expression | None
    keys: tuple[Named, ...]
    outputs: tuple[Named, ...]
    having: Expression | None = None
    order: tuple[tuple[Expression, bool], ...] = ()
    limit: int | None = None
