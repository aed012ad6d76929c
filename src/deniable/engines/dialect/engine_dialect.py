"""What each engine writes in its own way, as a table of functions, and how values use it.

Every value must be total: no row can make it fail. It must equal DuckDB's value for the same
row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import pyarrow as pa
from sqlglot import exp

from deniable.engines.dialect import text_patterns
from deniable.engines.dialect.typed_sql import (
    INTEGERS,
    NUMBERS,
    Columns,
    Kind,
    TypedSQL,
    WrittenRelation,
)
from deniable.errors import Unsupported
from deniable.query.plan.quoting import quote_name

_LONGEST = 1_000_000  # letters of one value: some functions repeat their argument
Side: TypeAlias = Literal["BOTH", "LEADING", "TRAILING"]
WriteNode: TypeAlias = "Callable[[ValueWriter, exp.Expr], TypedSQL | None]"


def cast_kinds(to: "ValueWriter", value: TypedSQL, kind: Kind) -> TypedSQL:
    """The value as another kind; NULL if it cannot be converted."""
    sql, source = value.sql, value.kind
    if source in (kind, "null"):
        return value
    if source == "boolean" and kind in NUMBERS:
        return to.cast(
            TypedSQL(f"CASE WHEN {sql} THEN 1 WHEN NOT {sql} THEN 0 END", "int"), kind
        )
    if kind == "boolean" and source in NUMBERS:
        return TypedSQL(f"({sql} <> 0)", kind)
    if kind == "boolean" and source == "text":
        yes, no = (
            f"LOWER({sql}) IN ({', '.join(map(to.text_literal, words))})"
            for words in (text_patterns.TRUE, text_patterns.FALSE)
        )
        return TypedSQL(f"CASE WHEN {yes} THEN TRUE WHEN {no} THEN FALSE END", kind)
    if kind == "date" and source == "text":
        return to.cast(to.cast(value, "timestamp"), kind)
    if source in ("date", "timestamp") and kind in ("boolean", *NUMBERS):
        return TypedSQL("NULL", "null")
    converted = to.dialect.convert(to, value, kind)
    if converted is None:
        raise Unsupported(
            f"{to.dialect.engine} cannot cast {source} to {kind} exactly as DuckDB does. Leave "
            "out this CAST, or copy the table into DuckDB. Nothing was spent."
        )
    return TypedSQL(converted, kind)


def align_kinds(to: "ValueWriter", node: exp.Expr, values: list[TypedSQL]) -> list[TypedSQL]:
    """The values, so that the engine can compare them. DuckDB converts values of different
    kinds before it compares them; others fail."""
    kinds = {value.kind for value in values} - {"null"}
    alike = (set(NUMBERS), {"date", "timestamp"})
    if len(kinds) > 1 and not any(kinds <= group for group in alike):
        raise to.unsupported(node)
    return values


def integer_arithmetic(
    to: "ValueWriter", sign: str, left: TypedSQL, right: TypedSQL, kind: Kind
) -> TypedSQL:
    """left + - * right, for integers whose result fits; wide ones are cast first."""
    if kind == "wide":
        left, right = to.cast(left, kind), to.cast(right, kind)
    return TypedSQL(f"({left.sql} {sign} {right.sql})", kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The SQL of one engine: a table of functions, each of which writes one thing.

    Those that take a `ValueWriter` first may bind values, add parameters or cast.
    """

    engine: str
    nan: str  # a double that is not a number
    values: Mapping[type[exp.Expr], WriteNode]  # how each node of our statements is written
    quote_name: Callable[[str], str] = quote_name
    text_literal: "Callable[[StatementState, str], str]"
    double_literal: "Callable[[StatementState, float], str]"
    # Writes a body with values as arguments. Each value is computed once, or is so short that
    # it may be repeated.
    bind: "Callable[[StatementState, list[TypedSQL], Callable[..., str]], str]"
    # The value as another kind; `convert` does what `cast_kinds` leaves to the engine: numbers,
    # text, days and moments. None if the engine cannot reproduce DuckDB's cast.
    cast: "Callable[[ValueWriter, TypedSQL, Kind], TypedSQL]" = cast_kinds
    convert: "Callable[[ValueWriter, TypedSQL, Kind], str | None]"
    align: "Callable[[ValueWriter, exp.Expr, list[TypedSQL]], list[TypedSQL]]" = align_kinds
    # left + - * / right of doubles; left + - * right of integers, whose result has the kind.
    double_arithmetic: "Callable[[ValueWriter, str, TypedSQL, TypedSQL], TypedSQL]"
    integer_arithmetic: "Callable[[ValueWriter, str, TypedSQL, TypedSQL, Kind], TypedSQL]" = (
        integer_arithmetic
    )
    # left / right rounded towards zero, for wide integers; right is positive.
    divide_wide: "Callable[[ValueWriter, TypedSQL, TypedSQL], TypedSQL]"
    # floor, ceil, trunc or round (half away from zero) of a double, as a double.
    round_double: "Callable[[ValueWriter, str, TypedSQL], TypedSQL]"
    power: Callable[[str, str], str]  # roots of negative numbers are NULL
    remainder: Callable[[str, str], str]  # of doubles, as C's fmod; NULL if the divisor is 0
    # exp, ln, log10, sin or cos of a double; ln and log10 are NULL for 0 and below.
    transcendental: Callable[[str, str], str]
    is_distinct: Callable[[str, str], str]  # IS DISTINCT FROM
    like: "Callable[[ValueWriter, TypedSQL, TypedSQL], TypedSQL]"  # without escape character
    trim: Callable[[str, str, Side], str]  # a text without these letters at its ends
    position: Callable[[str, str], str]  # of a part in a text, counted from 1; 0 if it is not
    date_part: Callable[[str, str], str]  # by DuckDB's name for it, of a moment; an integer
    # A moment that is moved by a whole number of seconds or months: (moment, number, unit).
    moved: Callable[[str, str, str], str]
    days_between: Callable[[str, str], str]  # from the second day to the first
    # As a wide integer, over the rows of a group, or of a window.
    sum_integers: Callable[[TypedSQL, str], TypedSQL]
    median: str | None = None  # of doubles; the mean of the two in the middle
    extreme: Callable[[str, TypedSQL], str] = lambda name, value: f"{name}({value.sql})"
    # A hash of values, keyed with the engine's salt.
    keyed_hash: "Callable[[StatementState, list[TypedSQL]], TypedSQL]"
    # The columns of a table, and an identifier that no other row has, in this table or in the
    # other numbered tables: (table, name, of, place) for number `place` of `of`. Wherever the
    # statement reads these rows, each has the same identifier.
    number_rows: Callable[[WrittenRelation, str, int, int], tuple[str, Kind]]
    # Whether a value is one of the declared keys beside the statement: (state, value, name of
    # their relation). The value has their kind. No key stands in the text.
    in_keys: "Callable[[StatementState, str, str], str]"
    # A list of values, the element of a list at a place from 1, and a row for each element.
    lists: tuple[str, str, str] | None = None
    # Of a list that the source holds: the element at a place from 1, or NULL, and its length.
    stored_lists: tuple[str, str] | None = None
    grouping_sets: bool = True
    windows: bool = True  # whether it sorts texts and NULLs, and makes frames, as DuckDB does
    once: str = ""  # the keyword that makes a WITH run only once
    apart: str = ""  # what keeps a sub-query from being merged into its reader
    flat: bool = False  # whether all sub-queries stand in one WITH before the statement
    union_part: str = "({})"  # one side of a UNION ALL


@dataclass(slots=True)
class StatementState:
    """What one statement needs beside its text, and what was collected while it is written."""

    salt: int
    utf8: bool  # whether the database has all letters
    keys: "Mapping[str, pa.Array[Any]]" = field(default_factory=dict)  # by `key_relation`
    prefix: str = ""  # of the names that an engine gives to relations of its own
    parameters: dict[str, Any] = field(default_factory=dict)
    bound: int = 0  # how many values have got names
    parts: list[str] = field(default_factory=list)  # of a flat WITH

    def parameter(self, name: str, value: Any) -> str:
        """A parameter of the statement, by its name."""
        self.parameters[name] = value
        return f":{name}"


@dataclass(frozen=True, slots=True)
class ColumnKinds:
    """The relations that a SELECT reads, by name, and what WITH defined before it."""

    defined: Mapping[str, Columns]
    read: dict[str, Columns] = field(default_factory=dict)

    def kind(self, column: exp.Column) -> Kind:
        """The kind of a column."""
        relations = [self.read[column.table]] if column.table else list(self.read.values())
        kinds = [columns[column.name] for columns in relations if column.name in columns]
        if not kinds:
            raise Unsupported(f"The statement has no column {column.name!r} here.")
        return kinds[0]


@dataclass(frozen=True, slots=True)
class ValueWriter:
    """Writes the values of one SELECT, each with its kind."""

    dialect: Dialect
    state: StatementState
    scope: ColumnKinds
    write_query: Callable[[exp.Expr], WrittenRelation]  # a query that stands in a value

    def write(self, node: exp.Expr) -> TypedSQL:
        """A value in the engine's dialect; raises Unsupported if it cannot be written."""
        writes = self.dialect.values.get(type(node))
        value = None if writes is None else writes(self, node)
        if value is None:
            raise self.unsupported(node)
        if len(value.sql) > _LONGEST:
            raise Unsupported(
                f"This query is too long for {self.dialect.engine}: written for it, one "
                f"expression has more than {_LONGEST:,} letters. Compute less in one "
                "expression, or declare fewer keys for a column in HISTOGRAM, MODE or TOP_K. "
                "Nothing was spent."
            )
        return value

    def cast(self, value: TypedSQL, kind: Kind) -> TypedSQL:
        """The value as another kind; NULL if it cannot be converted."""
        return self.dialect.cast(self, value, kind)

    def align(self, node: exp.Expr, *values: TypedSQL) -> list[TypedSQL]:
        """The values, so that the engine can compare them."""
        return self.dialect.align(self, node, list(values))

    def bind(self, values: list[TypedSQL], body: Callable[..., str]) -> str:
        """A body with these values as arguments, each of which is computed once."""
        return self.dialect.bind(self.state, values, body)

    def text_literal(self, value: str) -> str:
        """Text as a literal, or as a parameter."""
        return self.dialect.text_literal(self.state, value)

    def double_literal(self, value: float) -> str:
        """A double as a literal, or as a parameter."""
        return self.dialect.double_literal(self.state, value)

    def common_kind(self, values: list[TypedSQL]) -> Kind:
        """The common kind of the values of one CASE or COALESCE."""
        kinds = {value.kind for value in values} - {"null"}
        if len(kinds) < 2:
            return kinds.pop() if kinds else "null"
        if kinds <= set(NUMBERS):
            whole = kinds <= set(INTEGERS)
            return "double" if not whole else "wide" if "wide" in kinds else "bigint"
        raise Unsupported(
            f"{self.dialect.engine} cannot mix values of the kinds {', '.join(sorted(kinds))} "
            "in one CASE or COALESCE. Cast them to one kind. Nothing was spent."
        )

    def unsupported(self, node: exp.Expr) -> Unsupported:
        """The refusal of a node."""
        return unsupported(self.dialect, node)


_WRITTEN: Mapping[type[exp.Expr], str] = {
    exp.JSONExtractScalar: "->> of JSON",
    exp.Array: "lists (UNNEST)",
    exp.ArraySize: "lists (UNNEST)",
    exp.GroupingSets: "GROUPING SETS",
    exp.Ordered: "order of rows in OVER (... ORDER BY ...)",
}


def unsupported(dialect: Dialect, node: exp.Expr) -> Unsupported:
    """The refusal of a node that an engine cannot reproduce, by the name that was written."""
    name = node.sql_name() if isinstance(node, exp.Func) else type(node).__name__.upper()
    return Unsupported(
        f"{dialect.engine} cannot reproduce DuckDB's {_WRITTEN.get(type(node), name)} exactly. "
        "Leave it out, or copy the table into DuckDB. Nothing was spent."
    )
