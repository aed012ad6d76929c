"""What each engine writes in its own way: names, literals, casts, sums and hashes.

Every value must be total: no row can make it fail. It must equal DuckDB's value for the same
row.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from sqlglot import exp

from deniable.engines.dialect import text_patterns
from deniable.engines.dialect.typed_sql import NUMBERS, Kind, TypedSQL
from deniable.errors import Unsupported


class EngineDialect(ABC):
    """The SQL dialect of one engine; the subclasses of `StatementWriter` implement it."""

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
        """The value as another kind; NULL if it cannot be converted."""
        sql, source = value.sql, value.kind
        if source in (kind, "null"):
            return value
        if source == "boolean" and kind in NUMBERS:
            return self.cast(
                TypedSQL(f"CASE WHEN {sql} THEN 1 WHEN NOT {sql} THEN 0 END", "int"), kind
            )
        if kind == "boolean" and source in NUMBERS:
            return TypedSQL(f"({sql} <> 0)", kind)
        if kind == "boolean" and source == "text":
            yes, no = (
                f"LOWER({sql}) IN ({', '.join(map(self.text_literal, words))})"
                for words in (text_patterns.TRUE, text_patterns.FALSE)
            )
            return TypedSQL(f"CASE WHEN {yes} THEN TRUE WHEN {no} THEN FALSE END", kind)
        if kind == "date" and source == "text":
            return self.cast(self.cast(value, "timestamp"), kind)
        if source in ("date", "timestamp") and kind in ("boolean", *NUMBERS):
            return TypedSQL("NULL", "null")
        converted = self.convert(value, kind)
        if converted is None:
            raise Unsupported(
                f"{self.engine} cannot cast {source} to {kind} exactly as DuckDB does. Leave "
                "out this CAST, or copy the table into DuckDB. Nothing was spent."
            )
        return TypedSQL(converted, kind)

    @abstractmethod
    def convert(self, value: TypedSQL, kind: Kind) -> str | None:
        """The casts that `cast` leaves to the engine: of numbers, text, days and moments.
        None if the engine cannot reproduce DuckDB's cast."""

    @abstractmethod
    def double_arithmetic(self, sign: str, left: TypedSQL, right: TypedSQL) -> TypedSQL:
        """left + - * / right, for doubles."""

    def integer_arithmetic(
        self, sign: str, left: TypedSQL, right: TypedSQL, kind: Kind
    ) -> TypedSQL:
        """left + - * right, for integers whose result fits."""
        return TypedSQL(f"({left.sql} {sign} {right.sql})", kind)

    @abstractmethod
    def divide_wide(self, left: TypedSQL, right: TypedSQL) -> TypedSQL:
        """left / right rounded towards zero, for wide integers; right is positive."""

    @abstractmethod
    def sum_integers(self, value: TypedSQL) -> TypedSQL:
        """The sum of integers, as a wide integer."""

    def extreme(self, name: str, value: TypedSQL) -> str:
        """The MIN or MAX of values."""
        return f"{name}({value.sql})"

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
        """Any other function that this engine supports; None if it does not."""
        return None
