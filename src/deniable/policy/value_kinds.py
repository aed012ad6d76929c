"""The four kinds of values that questions support, derived from types and declared keys."""

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

Kind: TypeAlias = Literal["number", "text", "boolean", "date"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_INTEGERS = frozenset((*_SIGNED, *(f"U{name}" for name in _SIGNED)))


def kind_of_type(type_: str) -> Kind | None:
    """The kind of a DuckDB type; None for types that questions do not support.

    >>> kind_of_type("DECIMAL(18,3)"), kind_of_type("ENUM('a', 'b')"), kind_of_type("BLOB")
    ('number', 'text', None)
    """
    name = type_.upper().partition("(")[0].strip()
    if type_.endswith("]") or name in ("STRUCT", "MAP", "UNION"):
        return None
    if name in _INTEGERS or name in ("FLOAT", "DOUBLE", "DECIMAL"):
        return "number"
    if name in ("VARCHAR", "ENUM", "UUID"):
        return "text"
    if name == "BOOLEAN":
        return "boolean"
    return "date" if name == "DATE" or name.startswith("TIMESTAMP") else None


def is_integer_type(type_: str) -> bool:
    """Whether a DuckDB type holds only integers.

    >>> is_integer_type("BIGINT"), is_integer_type("DECIMAL(9,0)"), is_integer_type("DOUBLE")
    (True, True, False)
    """
    name, _, rest = type_.upper().partition("(")
    return name in _INTEGERS or (name == "DECIMAL" and rest.rstrip(")").endswith(",0"))


def fits_64_bits(type_: str) -> bool:
    """Whether a DuckDB type holds only integers that fit into 64 bits with a sign.

    >>> (
    ...     fits_64_bits("INTEGER"),
    ...     fits_64_bits("UINTEGER"),
    ...     fits_64_bits("UBIGINT"),
    ...     fits_64_bits("HUGEINT"),
    ... )
    (True, True, False, False)
    """
    return type_.upper() in _INTEGERS - {"HUGEINT", "UHUGEINT", "UBIGINT"}


def kind_of_keys(keys: Iterable[object]) -> Kind | None:
    """The kind that all keys share; None if they differ. Dates are written as text.

    >>> kind_of_keys([1, 2.5]), kind_of_keys(["A"]), kind_of_keys([True, 1])
    ('number', 'text', None)
    """
    kinds: set[Kind | None] = {_kind_of_key(key) for key in keys}
    return kinds.pop() if len(kinds) == 1 else None


def _kind_of_key(key: object) -> Kind | None:
    if isinstance(key, bool):
        return "boolean"
    if isinstance(key, int | float):
        return "number"
    return "text" if isinstance(key, str) else None
