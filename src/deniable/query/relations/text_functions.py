"""Functions of text. None makes a long text longer, so none can fill the memory: what is put
together from parts, or grows by REPLACE, is NULL if it is long."""

from collections.abc import Callable
from fractions import Fraction

import sqlglot
from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.relations.basic_functions import Function
from deniable.query.relations.sql_nodes import Sql, case, try_cast
from deniable.query.relations.value_ranges import ValueRange

_LAST_PLACE = 10**6  # in a text
_MOST_PARTS = 1000
_MOST_JOINED = 20  # parts of one text
LONGEST_JOINED = 16_384  # characters of a text that is put together


def _call(name: str, *arguments: Sql) -> Sql:
    return exp.func(name, *arguments, dialect="duckdb", copy=False)


def _text_function(name: str, most: int = 1) -> Function:
    """A function from text to text."""
    return Function(1, most, "text", lambda a: ValueRange("text"), lambda a: _call(name, *a))


def _test_function(name: str) -> Function:
    return Function(2, 2, "text", lambda a: ValueRange("boolean"), lambda a: _call(name, *a))


def _part_function(name: str, most: int) -> Function:
    """A part of a text, given by positions that are whole constants."""

    def value_range(arguments: list[ValueRange]) -> ValueRange:
        for argument in arguments[1:]:
            place = argument.low if argument.low == argument.high else None
            if place is None or place.denominator != 1 or abs(place) > _LAST_PLACE:
                raise InvalidQuery(
                    f"{name} takes whole constants as positions, as in {name}(x, 1)."
                )
        return ValueRange("text")

    def sql(arguments: list[Sql]) -> Sql:
        return _call(
            name, arguments[0], *(try_cast(argument, "bigint") for argument in arguments[1:])
        )

    return Function(2, most, ("text", "number"), value_range, sql)


def _count_function(name: str, least: int) -> Function:
    return Function(
        least,
        least,
        "text",
        lambda a: ValueRange("number", Fraction(0), None, Fraction(1)),
        lambda a: try_cast(_call(name, *a), "double"),
    )


def _escape_function(kind: type[exp.Expr]) -> Function:
    """A pattern with an escape character."""

    def sql(a: list[Sql]) -> Sql:
        like = kind(this=a[0], expression=a[1])
        return exp.paren(exp.Escape(this=like, expression=a[2]), copy=False)

    return Function(3, 3, "text", lambda a: ValueRange("boolean"), sql)


def _split_function() -> Function:
    """A part of a text between separators; empty if there is no such part."""

    def value_range(arguments: list[ValueRange]) -> ValueRange:
        place = arguments[2].low if arguments[2].low == arguments[2].high else None
        if place is None or place.denominator != 1 or not 1 <= place <= _MOST_PARTS:
            raise InvalidQuery(
                f"SPLIT_PART takes the number of a part from 1 to {_MOST_PARTS:,}, as in "
                "SPLIT_PART(x, '-', 1)."
            )
        return ValueRange("text")

    def sql(a: list[Sql]) -> Sql:
        return _call("SPLIT_PART", a[0], a[1], try_cast(a[2], "int"))

    return Function(3, 3, ("text", "text", "number"), value_range, sql)


def _json_text(a: list[Sql]) -> Sql:
    """What is not JSON is NULL before a path is looked up in it."""
    path = sqlglot.parse_one(f"x ->> {a[1].sql('duckdb')}", dialect="duckdb")
    json = exp.TryCast(this=a[0], to=exp.DataType.build("json"), safe=True)
    return exp.paren(exp.JSONExtractScalar(this=json, expression=path.args["expression"]))


def check_number_joined(parts: int) -> None:
    """Refuses to put too many texts together."""
    if parts > _MOST_JOINED:
        raise InvalidQuery(f"At most {_MOST_JOINED} texts can be put together in rows.")


def join_texts(parts: list[Sql], *, skip_nulls: bool) -> Sql:
    """Texts put together: CONCAT skips those that are NULL, a || b is NULL then. A part is
    written twice, so a chain must come here as one list."""
    if skip_nulls:
        parts = [_call("COALESCE", part, exp.Literal.string("")) for part in parts]
    length: Sql = _call("LENGTH", parts[0].copy())
    joined = parts[0]
    for part in parts[1:]:
        length = exp.Add(this=length, expression=_call("LENGTH", part.copy()))
        joined = exp.DPipe(this=joined, expression=part, safe=True)
    short = exp.LTE(this=length, expression=exp.Literal.number(LONGEST_JOINED))
    return case(short, joined)


def _join_function(least: int, *, skip_nulls: bool) -> Function:
    return Function(
        least,
        _MOST_JOINED,
        None,
        lambda a: ValueRange("text"),
        lambda a: join_texts(a, skip_nulls=skip_nulls),
    )


def _replace(a: list[Sql]) -> Sql:
    """Each occurrence of a constant, replaced by another one; NULL if a text could become long.

    Its length is LENGTH(x) + g * c, for c occurrences that grow by g characters each. Without
    them, k * c characters are missing, so nothing is divided: k times the length is compared.
    """
    text, old, new = a
    replaced = exp.Replace(this=text, expression=old, replacement=new)
    if len(new.name.encode()) <= len(old.name.encode()):
        return replaced
    size, growth = len(old.name), max(len(new.name) - len(old.name), 0)
    kept = exp.Replace(this=text.copy(), expression=old.copy(), replacement=_text(""))
    length = _call("LENGTH", text.copy())
    missing = exp.paren(exp.Sub(this=length.copy(), expression=_call("LENGTH", kept)))
    longer = exp.Add(
        this=exp.Mul(this=length, expression=exp.Literal.number(size)),
        expression=exp.Mul(this=missing, expression=exp.Literal.number(growth)),
    )
    most = exp.Literal.number(size * LONGEST_JOINED)
    return case(exp.LTE(this=longer, expression=most), replaced)


def _text(value: str) -> Sql:
    return exp.Literal.string(value)


def _like(kind: type[exp.Expr]) -> Callable[[list[Sql]], Sql]:
    return lambda a: exp.paren(kind(this=a[0], expression=a[1]), copy=False)


TEXTS: dict[str, Function] = {
    "lower": _text_function("LOWER"),
    "upper": _text_function("UPPER"),
    "trim": _text_function("TRIM", 2),
    "ltrim": _text_function("LTRIM", 2),
    "rtrim": _text_function("RTRIM", 2),
    "reverse": _text_function("REVERSE"),
    "substring": _part_function("SUBSTRING", 3),
    "left": _part_function("LEFT", 2),
    "right": _part_function("RIGHT", 2),
    "length": _count_function("LENGTH", 1),
    "strpos": _count_function("STRPOS", 2),
    "starts with": _test_function("STARTS_WITH"),
    "ends with": _test_function("ENDS_WITH"),
    "contains": _test_function("CONTAINS"),
    "like escape": _escape_function(exp.Like),
    "ilike escape": _escape_function(exp.ILike),
    "split part": _split_function(),
    "replace": Function(
        3,
        3,
        "text",
        lambda a: ValueRange("text"),
        _replace,
    ),
    "json text": Function(2, 2, "text", lambda a: ValueRange("text"), _json_text),
    "joined": _join_function(2, skip_nulls=False),
    "concat": _join_function(1, skip_nulls=True),
    "ilike": Function(2, 2, "text", lambda a: ValueRange("boolean"), _like(exp.ILike)),
}
