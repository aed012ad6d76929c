"""What an engine says in its own way: names, literals, casts, sums, and hashes.

Every value must be total, so that no row can make it fail, and must be what DuckDB makes of
the same rows. Integers of kind "int" fit in 32 bits and a sign, "wide" ones in 128.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias

from sqlglot import exp

from deniable.engines.dialect import text_patterns
from deniable.errors import Unsupported

# "int" fits in 32 bits and a sign, "wide" in 128; "decimal" has a fraction.
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
]
Columns: TypeAlias = Mapping[str, Kind]
INTEGERS: tuple[Kind, ...] = ("int", "bigint", "wide")
NUMBERS: tuple[Kind, ...] = (*INTEGERS, "decimal", "double")


@dataclass(frozen=True, slots=True)
class TypedSQL:
    """A piece of SQL, and the kind of its value."""

    sql: str
    kind: Kind
    simple: bool = False  # a column or a literal: writing it twice costs nothing


class EngineDialect(ABC):
    """The words of one engine; a subclass of `Writer` fills them in."""

    engine: ClassVar[str] = "This engine"

    def quote_name(self, name: str) -> str:
        """A name, quoted."""
        return '"' + name.replace('"', '""') + '"'

    @abstractmethod
    def text_literal(self, value: str) -> str:
        """Text as a literal."""

    @abstractmethod
    def double_literal(self, value: float) -> str:
        """A double as a literal."""

    def cast(self, value: TypedSQL, kind: Kind) -> TypedSQL:
        """The value as another kind, NULL where it cannot be one."""
        sql, known = value.sql, value.kind
        if known in (kind, "null"):
            return value
        if known == "boolean" and kind in NUMBERS:
            return self.cast(
                TypedSQL(f"CASE WHEN {sql} THEN 1 WHEN NOT {sql} THEN 0 END", "int"), kind
            )
        if kind == "boolean" and known in NUMBERS:
            return TypedSQL(f"({sql} <> 0)", kind)
        if kind == "boolean" and known == "text":
            yes, no = (
                f"LOWER({sql}) IN ({', '.join(map(self.text_literal, words))})"
                for words in (text_patterns.TRUE, text_patterns.FALSE)
            )
            return TypedSQL(f"CASE WHEN {yes} THEN TRUE WHEN {no} THEN FALSE END", kind)
        if kind == "date" and known == "text":
            return self.cast(self.cast(value, "timestamp"), kind)
        if known in ("date", "timestamp") and kind in ("boolean", *NUMBERS):
            return TypedSQL("NULL", "null")
        made = self.convert(value, kind)
        if made is None:
            raise Unsupported(
                f"{self.engine} does not make {kind} of {known} as DuckDB does. Ask without "
                "this CAST, or copy the table into DuckDB. Nothing was spent."
            )
        return TypedSQL(made, kind)

    @abstractmethod
    def convert(self, value: TypedSQL, kind: Kind) -> str | None:
        """What `cast` leaves to the engine: between numbers, and of text, days and moments.
        None where it has no words that mean the same as DuckDB's."""

    @abstractmethod
    def double_arithmetic(self, sign: str, left: TypedSQL, right: TypedSQL) -> TypedSQL:
        """left + - * / right, of doubles."""

    def integer_arithmetic(
        self, sign: str, left: TypedSQL, right: TypedSQL, kind: Kind
    ) -> TypedSQL:
        """left + - * right, of integers that fit."""
        return TypedSQL(f"({left.sql} {sign} {right.sql})", kind)

    @abstractmethod
    def divide_wide(self, left: TypedSQL, right: TypedSQL) -> TypedSQL:
        """left / right towards zero, of wide integers; right is above zero."""

    @abstractmethod
    def sum_integers(self, value: TypedSQL) -> TypedSQL:
        """The sum of integers, as a wide one."""

    @abstractmethod
    def keyed_hash(self, values: list[TypedSQL]) -> TypedSQL:
        """A hash of the values, keyed with the engine's salt."""

    @abstractmethod
    def round_double(self, how: str, value: TypedSQL) -> TypedSQL:
        """floor, ceil, trunc or round (half away from zero) of a double, as a double."""

    @abstractmethod
    def like(self, value: TypedSQL, pattern: TypedSQL) -> TypedSQL:
        """LIKE without an escape character."""

    def write_function(
        self, node: exp.Expr, write: Callable[[exp.Expr], TypedSQL]
    ) -> TypedSQL | None:
        """Any other function that this engine has; None if it has not."""
        return None


def digits_of(node: exp.Expr) -> str | None:
    """The digits, if a node is a number, maybe negative."""
    if isinstance(node, exp.Paren):
        return digits_of(node.this)
    if isinstance(node, exp.Neg):
        inner = digits_of(node.this)
        return None if inner is None else f"-{inner}"
    return node.name if isinstance(node, exp.Literal) and not node.is_string else None


def constant_of(node: exp.Expr | None) -> Fraction | None:
    """The number that an expression of numbers alone makes.

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
