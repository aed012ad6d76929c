"""One column: its kind, its bounds and grid, and the keys that groups may have."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast, get_args

from deniable.errors import InvalidParameter, InvalidPolicy
from deniable.exact.rationals import Number, positive, rational
from deniable.policy.list_types import check_element_kind, check_length, list_element

Kind: TypeAlias = Literal["number", "text", "boolean", "date"]
DeclaredKind: TypeAlias = Literal["number", "integer", "text", "boolean", "date", "timestamp"]
_DECLARED: tuple[DeclaredKind, ...] = get_args(DeclaredKind)

_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_INTEGERS = frozenset((*_SIGNED, *(f"U{name}" for name in _SIGNED)))
_FARTHEST = Fraction(10**60)  # of bounds: variances and margins of them are floats


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
    if name in ("VARCHAR", "ENUM", "UUID", "JSON"):
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
    kinds: set[Kind | None] = {_kind_of_class(key_type) for key_type in set(map(type, keys))}
    return kinds.pop() if len(kinds) == 1 else None


def _kind_of_class(key_type: type) -> Kind | None:
    if issubclass(key_type, bool):
        return "boolean"
    if issubclass(key_type, int | float):
        return "number"
    return "text" if issubclass(key_type, str) else None


KeyValue: TypeAlias = str | int | float | bool
Keys: TypeAlias = tuple[KeyValue, ...] | Literal["private"] | None


@dataclass(frozen=True, slots=True, init=False)
class Column:
    """What is public about one column.

    Values are clipped to `bounds`; the bounds are never checked against the data. Both are
    multiples of `step`, if there is one. `keys` are the values that a group may have, and all
    of them appear in an answer; "private" means that a key appears if enough units have it.
    The kind "integer" is a number that is rounded to the step 1. The kind "timestamp" is a date
    with a time of day: its groups are seconds, those of a date are days. A column whose kind
    is declared is read as that kind, whatever type the values of a frame gave it.

    A column with a `length` holds lists, and all else is declared about their elements. Only
    UNNEST reads it, and of a longer list the first `length` elements.

    >>> cost = Column("cost", bounds=(0, 10_000), step=0.01)
    >>> cost.kind, cost.step
    ('number', Fraction(1, 100))
    >>> codes = Column("codes", kind="text", length=5)
    >>> codes.kind, codes.elements.kind
    (None, 'text')
    """

    name: str
    kind: Kind | None  # None: not declared, so the source's type decides
    bounds: tuple[Fraction, Fraction] | None
    step: Fraction | None
    keys: Keys
    integer: bool | None  # whether it holds only integers; None: nothing was declared or read
    narrow: bool  # whether it certainly holds integers of at most 64 bits
    timed: bool = False  # for dates: whether they have a time of day
    elements: "Column | None" = None  # of lists: what is public about each element
    length: int | None = None  # of lists: how many elements count
    spread: bool = False  # whether it may differ in rows that UNNEST made of one
    of_list: str | None = None  # the list whose elements it has

    def __init__(
        self,
        name: str,
        *,
        kind: DeclaredKind | None = None,
        bounds: Sequence[Number] | None = None,
        step: Number | None = None,
        keys: Sequence[KeyValue] | str | None = None,
        integer: bool | None = None,
        narrow: bool = False,
        timed: bool = False,
        length: int | None = None,
        elements: "Column | None" = None,
        spread: bool = False,
        of_list: str | None = None,
    ) -> None:
        if length is not None:
            check_length(name, length)
            elements = elements or Column(name, kind=kind, bounds=bounds, step=step, keys=keys)
            kind = bounds = step = keys = integer = None  # its own are unknown
        object.__setattr__(self, "elements", elements)
        object.__setattr__(self, "length", length)
        limits = None if bounds is None else _bounds(name, bounds)
        if kind == "integer" and step is None and limits is not None:
            step = 1
        grid = None if step is None else _step(name, step, limits)
        values = _keys(name, keys)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "bounds", limits)
        object.__setattr__(self, "step", grid)
        object.__setattr__(self, "keys", values)
        object.__setattr__(self, "kind", _kind(name, kind, limits, values))
        if kind is not None and integer is None:
            integer = kind == "integer"
        if kind == "integer" and grid is not None and grid.denominator != 1:
            raise _bad(name, "step", f"must be whole for integers. Found {_decimal(grid)}")
        object.__setattr__(self, "integer", integer)
        object.__setattr__(self, "narrow", narrow)
        object.__setattr__(self, "timed", timed or kind == "timestamp")
        object.__setattr__(self, "spread", spread)
        object.__setattr__(self, "of_list", of_list)

    @property
    def has_declared_kind(self) -> bool:
        """Whether `kind` was declared, and does not only follow from bounds or keys.

        >>> Column("age", bounds=(0, 120)).has_declared_kind, Column("age", kind="integer").step
        (False, None)
        """
        return self.integer is not None

    def with_type(self, name: str, type_: str, *, untyped: bool = False) -> "Column":
        """This column with the name and the type that it has in its source.

        Text is read as numbers or booleans if `kind` says so. In an `untyped` source, such as
        a CSV file, everything is text, so bounds or keys say enough.

        >>> Column("Age", bounds=(0, 120)).with_type("age", "BIGINT").integer
        True
        """
        if self.elements is not None:
            elements = self.elements.with_type(name, list_element(name, type_), untyped=untyped)
            check_element_kind(name, elements.kind)
            return Column(name, length=self.length, elements=elements)
        source_kind = kind_of_type(type_)
        kind = self.kind or source_kind
        if source_kind == "text" and kind != "text" and not (self.has_declared_kind or untyped):
            raise InvalidPolicy(
                f"Column {name!r} has bounds or keys of kind {kind}, but its source holds text "
                f"({type_}). If all of its values are of that kind, but written as text, "
                f'declare that too:   {name} = {{ kind = "{kind}", ... }}',
                where=("columns", self.name),
            )
        if kind == "text" and source_kind == "date":
            kind = "date"  # keys that are dates are written as text
        if is_integer_type(type_) and self.bounds is not None:
            _check_integers_between(name, self.bounds)
        if kind is not None and not _can_read_as(kind, source_kind):
            raise InvalidPolicy(
                f"Column {name!r} is declared as {self.kind}, but its source has the type "
                f"{type_}, which cannot be read as {self.kind}. Remove the declaration, or "
                "declare another column.",
                where=("columns", self.name),
            )
        return Column(
            name,
            kind=kind,
            bounds=self.bounds,
            step=self.step,
            keys=self.keys,
            integer=is_integer_type(type_),
            narrow=fits_64_bits(type_),
            timed=self.timed or (not self.has_declared_kind and type_.startswith("TIMESTAMP")),
        )


def _bounds(name: str, bounds: Sequence[Number]) -> tuple[Fraction, Fraction]:
    if isinstance(bounds, str) or len(to_tuple(bounds) or ()) != 2:
        raise _bad(name, "bounds", f"must be two numbers, such as [0, 100]. Found {bounds!r}")
    shown = f"Found {list(bounds)}"
    try:
        low, high = (rational(bound, "bounds") for bound in bounds)
    except InvalidParameter:
        raise _bad(name, "bounds", f"must be two finite numbers. {shown}") from None
    if low >= high:
        raise _bad(name, "bounds", f"must be [low, high] with low < high. {shown}")
    if max(-low, high) > _FARTHEST or high - low < 1 / _FARTHEST:
        wrong = "must lie between -1e60 and 1e60, and be at least 1e-60 apart"
        raise _bad(name, "bounds", f"{wrong}: measure in another unit. {shown}")
    return low, high


def _step(name: str, step: Number, bounds: tuple[Fraction, Fraction] | None) -> Fraction:
    if bounds is None:
        why = "needs `bounds`, because it is the grid between them. Declare both, or remove it"
        raise _bad(name, "step", why)
    try:
        grid = positive(step, "step")
    except InvalidParameter:
        raise _bad(name, "step", f"must be a positive number. Found {step!r}") from None
    for bound in bounds:
        if bound % grid:
            inner = math.ceil(bounds[0] / grid) * grid, math.floor(bounds[1] / grid) * grid
            hint = (
                f"; use [{_decimal(inner[0])}, {_decimal(inner[1])}]"
                if inner[0] < inner[1]
                else ""
            )
            raise _bad(
                name,
                "bounds",
                f"must be multiples of the step, {_decimal(grid)}, so that clipped values stay "
                f"on the grid. {_decimal(bound)} is not{hint}",
            )
    return grid


def to_tuple(values: Any) -> tuple[Any, ...] | None:
    """The values of a list, an array or a Series, as Python values; None for anything else.

    >>> import numpy as np
    >>> to_tuple(np.array([1, 2])), to_tuple(["A"]), to_tuple(5)
    ((1, 2), ('A',), None)
    """
    for method in ("to_pylist", "tolist", "to_list"):  # of Arrow, NumPy and pandas, Polars
        if hasattr(values, method):
            values = getattr(values, method)()
            break
    return tuple(values) if isinstance(values, Iterable) else None


def _keys(name: str, keys: Sequence[KeyValue] | str | None) -> Keys:
    if keys is None or (isinstance(keys, str) and keys == "private"):
        return keys  # type: ignore[return-value]
    wrong = 'must be a list of distinct values of one kind, or "private"'
    values = None if isinstance(keys, str) else to_tuple(keys)
    if values is None:
        raise _bad(name, "keys", f"{wrong}. Found {keys!r}")
    values = tuple(value.isoformat() if type(value) is date else value for value in values)
    if not values:
        raise _bad(name, "keys", f"{wrong}. Found an empty list")
    kind = kind_of_keys(values)
    if kind is None or (kind == "number" and any(value != value for value in values)):
        raise _bad(name, "keys", f"{wrong}. Found {list(values)[:5]}")
    if len(set(values)) < len(values):
        twice = next(value for value, count in Counter(values).items() if count > 1)
        raise _bad(name, "keys", f"{wrong}. Found {twice!r} twice")
    if kind == "text" and not is_encodable("".join(values)):
        value = next(value for value in values if not is_encodable(value))
        raise _bad(
            name,
            "keys",
            f"must be text that UTF-8 can encode. Found {value!r}, with a lone surrogate",
        )
    return values


def is_encodable(text: str) -> bool:
    """Whether UTF-8 can encode a text: it has no lone surrogates.

    >>> is_encodable("Ä"), is_encodable("\\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _kind(
    name: str,
    declared: DeclaredKind | None,
    bounds: tuple[Fraction, Fraction] | None,
    keys: Keys,
) -> Kind | None:
    """The kind that all declarations agree on; None without declarations."""
    if declared is not None and declared not in _DECLARED:
        raise _bad(name, "kind", f"must be one of {', '.join(_DECLARED)}. Found {declared!r}")
    kinds_of: dict[DeclaredKind | None, Kind] = {"integer": "number", "timestamp": "date"}
    kind: Kind | None = kinds_of.get(declared, cast(Kind | None, declared))
    by_keys = kind_of_keys(keys) if isinstance(keys, tuple) else None
    if kind == "date" and by_keys == "text":
        by_keys = "date"  # dates in keys are text
    kinds = {each for each in (kind, "number" if bounds else None, by_keys) if each}
    if len(kinds) > 1:
        both = " and ".join(sorted(kinds))
        raise _bad(name, "kind", f"is ambiguous: the column is declared as {both}. Choose one")
    if kind == "date" and isinstance(keys, tuple):
        _check_days(name, declared, keys)
    if bounds and isinstance(keys, tuple):
        for key in keys:
            if not isinstance(key, str) and not bounds[0] <= rational(key) <= bounds[1]:
                raise _bad(
                    name,
                    "keys",
                    f"must lie within the bounds, because values are clipped. Found {key!r}",
                )
    return kinds.pop() if kinds else None


def _check_days(name: str, declared: DeclaredKind | None, keys: tuple[KeyValue, ...]) -> None:
    """Refuses keys that no day equals: their groups would be empty without a word."""
    if declared == "timestamp":
        raise _bad(
            name,
            "keys",
            "must be days, and a timestamp has a time of day. Declare the kind date, or remove "
            f"`keys` and write GROUP BY DATE_TRUNC('day', {name})",
        )
    for key in keys:
        try:
            day = date.fromisoformat(str(key)).isoformat()
        except ValueError:
            day = None
        if day != key:
            raise _bad(
                name, "keys", f"must be days, written like 2026-01-31. Found {str(key)[:40]!r}"
            )


def _check_integers_between(name: str, bounds: tuple[Fraction, Fraction]) -> None:
    if math.ceil(bounds[0]) > math.floor(bounds[1]):
        raise _bad(
            name,
            "bounds",
            "must have an integer between them, because the column holds integers. Found "
            f"[{_decimal(bounds[0])}, {_decimal(bounds[1])}]",
        )


def _can_read_as(kind: Kind, source_kind: Kind | None) -> bool:
    """Whether values of the source's kind can be read as `kind`. Text can hold any kind."""
    if source_kind in (kind, "text"):
        return True
    return kind == "number" and source_kind == "boolean"


def _bad(column: str, key: str, problem: str) -> InvalidPolicy:
    return InvalidPolicy(
        f"Column {column!r}: `{key}` {problem}.", where=("columns", column, key)
    )


def _decimal(number: Fraction) -> str:
    """A number as its owner would write it: as a decimal, if that is exact.

    >>> _decimal(Fraction(1, 100)), _decimal(Fraction(1, 3))
    ('0.01', '1/3')
    """
    if number.denominator == 1 or Fraction(repr(float(number))) != number:
        return str(number)
    return (
        f"{float(number):g}"
        if Fraction(f"{float(number):g}") == number
        else repr(float(number))
    )
