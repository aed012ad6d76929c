"""Writes lists in another engine's dialect: constant ones, and those that a source holds."""

from sqlglot import exp

from deniable.engines.dialect.engine_dialect import ValueWriter
from deniable.engines.dialect.typed_sql import ELEMENTS, Kind, TypedSQL
from deniable.errors import Unsupported


def _write_list_of(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    """A list of integers; its kind is that of its widest element."""
    parts = [to.write(part) for part in node.expressions]
    if to.dialect.lists is None or not {part.kind for part in parts} <= {"int", "bigint"}:
        raise to.unsupported(node)
    kind: Kind = "bigint" if any(part.kind == "bigint" for part in parts) else "int"
    return TypedSQL(to.dialect.lists[0].format(", ".join(part.sql for part in parts)), kind)


def spread(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    """A row for each element of a constant list."""
    listed = _write_list_of(to, node.this)
    assert to.dialect.lists is not None
    return TypedSQL(to.dialect.lists[2].format(listed.sql), listed.kind)


def _stored_list(to: ValueWriter, node: exp.Expr) -> tuple[TypedSQL, tuple[str, str]]:
    """A list that the source holds, and how its elements and its length are written."""
    listed = to.write(node)
    if listed.kind not in ELEMENTS or to.dialect.stored_lists is None:
        raise to.unsupported(node)
    return listed, to.dialect.stored_lists


def list_length(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    """How many elements a list has; NULL if it is NULL."""
    listed, (_, length) = _stored_list(to, node.this)
    return TypedSQL(length.format(listed.sql), "int")


def look_up(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    """An element of a constant list; or of one that the source holds, NULL outside of it."""
    if isinstance(node.expressions[0], exp.Column):
        values, (element, _) = _stored_list(to, node.expressions[0])
        place = to.write(node.expressions[1])
        return TypedSQL(element.format(values.sql, place.sql), ELEMENTS[values.kind])
    listed, place = _write_list_of(to, node.expressions[0]), to.write(node.expressions[1])
    assert to.dialect.lists is not None
    return TypedSQL(to.dialect.lists[1].format(listed.sql, place.sql), listed.kind)


def order_by_list(to: ValueWriter) -> Unsupported:
    """The refusal to sort lists: a NULL in them, or in their place, comes elsewhere than in
    DuckDB."""
    return Unsupported(
        f"{to.dialect.engine} cannot put rows in order by their lists as DuckDB does. Rows of "
        "one person that tie in ORDER BY are told apart by the other columns that are used, "
        "here by a list. Write RANK() in the place of ROW_NUMBER(), which treats rows that tie "
        "alike, or copy the table into DuckDB. Nothing was spent."
    )
