"""Pieces of SQL in another engine's dialect, each with the kind of its value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

# "int" fits in 32 bits and a sign, "wide" in 128 bits; "decimal" has a fraction; "opaque" can
# only be compared.
Kind: TypeAlias = Literal[
    "int",
    "bigint",
    "wide",
    "decimal",
    "double",
    "text",
    "boolean",
    "date",
    "timestamp",
    "null",
    "opaque",
    "list of int",
    "list of bigint",
    "list of wide",
    "list of double",
    "list of text",
    "list of boolean",
]
Columns: TypeAlias = Mapping[str, Kind]
INTEGERS: tuple[Kind, ...] = ("int", "bigint", "wide")
NUMBERS: tuple[Kind, ...] = (*INTEGERS, "decimal", "double")
# The kinds of lists that a source may hold, and of their elements.
ELEMENTS: Mapping[Kind, Kind] = {
    "list of int": "int",
    "list of bigint": "bigint",
    "list of wide": "wide",
    "list of double": "double",
    "list of text": "text",
    "list of boolean": "boolean",
}
LISTS: Mapping[Kind, Kind] = {element: listed for listed, element in ELEMENTS.items()}


@dataclass(frozen=True, slots=True)
class TypedSQL:
    """A piece of SQL, and the kind of its value."""

    sql: str
    kind: Kind
    simple: bool = False  # a column or a literal, which may be written twice at no cost


@dataclass(frozen=True, slots=True)
class WrittenRelation:
    """What can follow FROM: its SQL, and its columns."""

    sql: str
    columns: Columns
    deterministic: bool = True  # has the same rows each time that it is read
