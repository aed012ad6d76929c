"""One column: its kind, its bounds and grid, and the keys that groups may have."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from deniable.errors import InvalidParameter, InvalidPolicy
from deniable.exact.rationals import Number, positive, rational
from deniable.policy.value_kinds import (
    KINDS,
    Kind,
    integral,
    kind_of_keys,
    kind_of_type,
    narrow,
)

KeyValue: TypeAlias = str | int | float | bool
Keys: TypeAlias = tuple[KeyValue, ...] | Literal["private"] | None


@dataclass(frozen=True, slots=True, init=False)
class Column:
    """What is public about one column.

    `bounds` are clipped to, never checked against the data; both are whole multiples of
    `step`, where one is given. `keys` are the values that a group may have, all of which
    appear in an answer; "private" means that a key must earn its place.

    >>> cost = Column("cost", bounds=(0, 10_000), step=0.01)
    >>> cost.kind, cost.step
    ('number', Fraction(1, 100))
    """

    name: str
    kind: Kind | None  # None: not declared, so the source's type says
    bounds: tuple[Fraction, Fraction] | None
    step: Fraction | None
    keys: Keys
    integer: bool | None  # whether the source's type holds only integers; None: not yet known
    narrow: bool  # whether it surely holds integers of at most 64 bits

    def __init__(
        self,
        name: str,
        *,
        kind: Kind | None = None,
        bounds: Sequence[Number] | None = None,
        step: Number | None = None,
        keys: Sequence[KeyValue] | str | None = None,
        integer: bool | None = None,
        narrow: bool = False,
    ) -> None:
        limits = None if bounds is None else _bounds(name, bounds)
        grid = None if step is None else _step(name, step, limits)
        values = _keys(name, keys)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "bounds", limits)
        object.__setattr__(self, "step", grid)
        object.__setattr__(self, "keys", values)
        object.__setattr__(self, "kind", _kind(name, kind, limits, values))
        object.__setattr__(self, "integer", integer)
        object.__setattr__(self, "narrow", narrow)

    def seen_as(self, name: str, type_: str) -> "Column":
        """This column as the source has it: its spelling, and what its type adds.

        >>> Column("Age", bounds=(0, 120)).seen_as("age", "BIGINT").integer
        True
        """
        found = kind_of_type(type_)
        kind = self.kind or found
        if kind == "text" and found == "date":
            kind = "date"  # keys that are dates are written as text
        if kind is not None and not _reads_as(kind, found):
            raise InvalidPolicy(
                f"Column {name!r} is declared as {self.kind}, but its source holds {type_}, "
                "which cannot be read so. Remove the declaration or name another column.",
                where=("columns", self.name),
            )
        return Column(
            name,
            kind=kind,
            bounds=self.bounds,
            step=self.step,
            keys=self.keys,
            integer=integral(type_),
            narrow=narrow(type_),
        )


def _bounds(name: str, bounds: Sequence[Number]) -> tuple[Fraction, Fraction]:
    if isinstance(bounds, str) or len(listed(bounds) or ()) != 2:
        raise _bad(name, "bounds", f"must be two numbers, such as [0, 100]. Found {bounds!r}")
    try:
        low, high = (rational(one, "bounds") for one in bounds)
    except InvalidParameter:
        raise _bad(
            name, "bounds", f"must be two finite numbers. Found {list(bounds)}"
        ) from None
    if low >= high:
        raise _bad(name, "bounds", f"must be [low, high] with low < high. Found {list(bounds)}")
    return low, high


def _step(name: str, step: Number, bounds: tuple[Fraction, Fraction] | None) -> Fraction:
    if bounds is None:
        raise _bad(name, "step", "is the grid between two bounds: declare `bounds` as well")
    try:
        grid = positive(step, "step")
    except InvalidParameter:
        raise _bad(name, "step", f"must be a positive number. Found {step!r}") from None
    for bound in bounds:
        if bound % grid:
            inner = math.ceil(bounds[0] / grid) * grid, math.floor(bounds[1] / grid) * grid
            hint = (
                f"; [{_plain(inner[0])}, {_plain(inner[1])}] is" if inner[0] < inner[1] else ""
            )
            raise _bad(
                name,
                "bounds",
                f"must be whole multiples of the step, {_plain(grid)}, so that clipping stays "
                f"on the grid. {_plain(bound)} is not{hint}",
            )
    return grid


def listed(values: Any) -> tuple[Any, ...] | None:
    """The values of a list, an array or a Series, as Python has them; None if it is none.

    >>> import numpy as np
    >>> listed(np.array([1, 2])), listed(["A"]), listed(5)
    ((1, 2), ('A',), None)
    """
    for way in ("to_pylist", "tolist", "to_list"):  # of Arrow, NumPy and pandas, Polars
        if hasattr(values, way):
            values = getattr(values, way)()
            break
    return tuple(values) if isinstance(values, Iterable) else None


def _keys(name: str, keys: Sequence[KeyValue] | str | None) -> Keys:
    if keys is None or (isinstance(keys, str) and keys == "private"):
        return keys  # type: ignore[return-value]
    wrong = 'must be a list of distinct values of one kind, or "private"'
    found = None if isinstance(keys, str) else listed(keys)
    if found is None:
        raise _bad(name, "keys", f"{wrong}. Found {keys!r}")
    if not found:
        raise _bad(name, "keys", f"{wrong}. Found an empty list")
    if kind_of_keys(found) is None or any(one != one for one in found):
        raise _bad(name, "keys", f"{wrong}. Found {list(found)[:5]}")
    seen: set[Any] = set()
    for one in found:
        if one in seen:
            raise _bad(name, "keys", f"{wrong}. {one!r} is there twice")
        if isinstance(one, str) and not written(one):
            raise _bad(name, "keys", f"must be text that UTF-8 can write, unlike {one!r}")
        seen.add(one)
    return found


def written(text: str) -> bool:
    """Whether text has no half characters, which no engine can be told.

    >>> written("Ä"), written("\\ud800")
    (True, False)
    """
    return not any("\ud800" <= one <= "\udfff" for one in text)


def _kind(
    name: str, kind: Kind | None, bounds: tuple[Fraction, Fraction] | None, keys: Keys
) -> Kind | None:
    """The kind that all declarations agree on; None if they say nothing."""
    if kind is not None and kind not in KINDS:
        raise _bad(name, "kind", f"must be one of {', '.join(KINDS)}. Found {kind!r}")
    by_keys = kind_of_keys(keys) if isinstance(keys, tuple) else None
    if kind == "date" and by_keys == "text":
        by_keys = "date"  # TOML's dates and ours are text
    said = {one for one in (kind, "number" if bounds else None, by_keys) if one}
    if len(said) > 1:
        raise _bad(name, "kind", f"is {' and '.join(sorted(said))} at once by its declarations")
    if bounds and isinstance(keys, tuple):
        for one in keys:
            if not isinstance(one, str) and not bounds[0] <= rational(one) <= bounds[1]:
                raise _bad(name, "keys", f"lie outside the bounds, so no row can have {one!r}")
    return said.pop() if said else None


def _reads_as(kind: Kind, found: Kind | None) -> bool:
    """Whether values of one kind can be read as another; text may be anything."""
    return found == kind or found == "text" or (kind == "number" and found == "boolean")


def _bad(column: str, key: str, problem: str) -> InvalidPolicy:
    return InvalidPolicy(
        f"Column {column!r}: `{key}` {problem}.", where=("columns", column, key)
    )


def _plain(number: Fraction) -> str:
    """A number as its owner would write it: a decimal if it has one.

    >>> _plain(Fraction(1, 100)), _plain(Fraction(1, 3))
    ('0.01', '1/3')
    """
    if number.denominator == 1 or Fraction(repr(float(number))) != number:
        return str(number)
    return (
        f"{float(number):g}"
        if Fraction(f"{float(number):g}") == number
        else repr(float(number))
    )
