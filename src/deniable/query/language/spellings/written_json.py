"""JSON in a text column: `x ->> '$.a.b'`, the text at a constant path."""

from collections.abc import Callable, Iterable

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from deniable.errors import InvalidQuery
from deniable.query.language.syntax_tree import Call, Expression, Literal

_MOST_PARTS = 50
_MOST_PLACES = 1 << 31  # engines refuse a place that does not fit 64 bits
_PARTS = (exp.JSONPathRoot, exp.JSONPathKey, exp.JSONPathSubscript)
_MARKS = set("'\"\\*")  # in no key
_ARROWS = (TokenType.ARROW, TokenType.DARROW)
_FUNCTIONS = {
    "json_extract",
    "json_extract_string",
    "json_extract_path_text",
    "get_json_object",
}


def read_json(node: exp.Expr, read: Callable[[exp.Expr], Expression]) -> Call:
    """The text at a path, which is NULL where a text is not JSON or has no such path."""
    parts, value = _parts(node), node.this.unnest()
    while isinstance(value, exp.JSONExtract):  # x -> '$.a' ->> '$.b'
        parts, value = _parts(value) + parts, value.this.unnest()
    while isinstance(value, exp.Cast) and value.to.is_type("json"):
        value = value.this
    path = "$" + "".join(map(_write_part, parts))
    if len(parts) > _MOST_PARTS:
        raise _not_a_path()
    return Call("json text", (read(value), Literal(path)))


def refuse_json(node: exp.Expr, read: Callable[[exp.Expr], Expression]) -> Call:
    """x -> '$.a', which is JSON and no plain value."""
    value = node.this.sql("duckdb")
    path = "$" + "".join(map(_write_part, _parts(node)))
    raise InvalidQuery(
        f"{value} -> '{path}' is JSON, of which no aggregate can be bounded. Write ->>, which "
        f"takes the text there, as in {value} ->> '{path}', and CAST it if it is a number."
    )


def refuse_path(node: exp.Expr, read: Callable[[exp.Expr], Expression]) -> Call:
    """x #> path and x #>> path, which PostgreSQL has."""
    raise InvalidQuery(
        "#> and #>> are not supported. Write ->> with one path, as in x ->> '$.a.b[0]'."
    )


def refuse_arrow(node: exp.Expr, read: Callable[[exp.Expr], Expression]) -> Call:
    """-> inside a function, which also writes a function of list elements."""
    raise InvalidQuery(
        "-> is not supported inside a function. Write one path, as in COUNT(x ->> '$.a.b')."
    )


def _parts(node: exp.Expr) -> list[exp.Expr]:
    path = node.args.get("expression")
    if not isinstance(path, exp.JSONPath):
        raise _not_a_path()
    return [part for part in path.expressions if not isinstance(part, exp.JSONPathRoot)]


def _write_part(part: exp.Expr) -> str:
    """A step of a path in its only spelling: a key in quotes, or a place from 0."""
    if isinstance(part, exp.JSONPathSubscript) and type(part.this) is int:
        if not 0 <= part.this < _MOST_PLACES:
            raise _not_a_path()
        return f"[{part.this}]"
    plain = isinstance(part, exp.JSONPathKey) and isinstance(part.this, str)
    if not plain or not part.this.isprintable() or set(part.this) & _MARKS:
        raise _not_a_path()
    return f'."{part.this}"'


def _not_a_path() -> InvalidQuery:
    return InvalidQuery(
        "->> takes a constant path of keys and of places from 0, such as x ->> '$.name' or x "
        "->> '$.items[0].\"unit price\"'."
    )


def check_json_paths(tree: exp.Expr) -> None:
    """Refuses steps to many values, wherever they stand: sqlglot cannot write all of them."""
    if any(not isinstance(part, _PARTS) for part in tree.find_all(exp.JSONPathPart)):
        raise _not_a_path()


def check_json_keys(tokens: Iterable[Token]) -> None:
    """Refuses a key with a point or a bracket that does not begin with $. DuckDB takes it as
    one key, and other engines as a path."""
    awaited = False
    for token in tokens:
        if token.token_type in _ARROWS or token.text.lower() in _FUNCTIONS:
            awaited = True
        elif awaited and token.token_type is TokenType.STRING:
            awaited, key = False, token.text
            if not key.startswith("$") and any(sign in key for sign in ".[*"):
                raise InvalidQuery(
                    f"{key!r} may be one key of JSON or a path. Write '$.{key}' for a path, or "
                    f"'$.\"{key}\"' for one key."
                )
