"""What each row would add to each number, for each value that its secret could have.

A published count or sum is then linear in unknowns that say which value each person has: that
is what differencing and reconstruction work on. The attacker knows all other columns.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.audit.attack.rows.owned_sources import OwnedRows
from deniable.audit.attack.rows.published_numbers import (
    MOST_NUMBERS,
    Contributions,
    PublishedNumber,
)
from deniable.audit.attack.rows.row_contributions import NO_NUMBER, contribute
from deniable.errors import InvalidParameter

MOST_VALUES = 12


@dataclass(frozen=True, slots=True, repr=False)
class SecretAverage:
    """`above[v, j]`, `below[v, j]`: what row j adds to both sums of an average if its secret
    has the value v. The exact average is `scale * exact_above / exact_below`."""

    number: PublishedNumber
    above: NDArray[np.int64]
    below: NDArray[np.int64]
    scale: Fraction
    exact_above: int
    exact_below: int

    @property
    def exact(self) -> float:
        """The exact average in units of its scale; NaN if it is of no value."""
        return self.exact_above / self.exact_below if self.exact_below else np.nan

    @property
    def moved(self) -> NDArray[np.bool_]:
        """Which rows' secrets it depends on."""
        changed = (self.above != self.above[:1]) | (self.below != self.below[:1])
        return np.asarray(changed.any(axis=0))


@dataclass(frozen=True, slots=True, repr=False)
class SecretContributions:
    """`parts[v, i, j]`: what row j adds to number i if its secret has the value v. Private."""

    numbers: tuple[PublishedNumber, ...]
    values: tuple[Any, ...]
    actual: NDArray[np.int64]  # the place of each row's true value
    parts: NDArray[np.int64]
    scales: tuple[Fraction, ...]
    skipped: tuple[tuple[str, str], ...]
    averages: tuple[SecretAverage, ...] = ()  # those that are not a product in `numbers`
    # Numbers that are not linear, and which rows' secrets they depend on.
    lone: tuple[tuple[PublishedNumber, NDArray[np.bool_]], ...] = ()

    def exact_answers(self) -> NDArray[np.int64]:
        """The exact numbers, in units of their scales."""
        actual_parts = np.take_along_axis(self.parts, self.actual[None, None, :], axis=0)[0]
        return np.asarray(actual_parts.sum(axis=1), dtype=np.int64)


def contribute_by_value(
    owned: OwnedRows, texts: Sequence[str], secret: str
) -> SecretContributions:
    """Contributions for each value of a column; it may have up to twelve."""
    if secret not in owned.rows.column_names:
        raise InvalidParameter(
            f"The table has no column {secret!r}. It has: {', '.join(owned.rows.column_names)}."
        )
    column = owned.rows[secret].to_pylist()
    values = tuple(sorted(set(column), key=lambda value: (value is not None, str(value))))
    if not 2 <= len(values) <= MOST_VALUES:
        raise InvalidParameter(
            f"A secret has 2 to {MOST_VALUES} different values. {secret!r} has {len(values)}. "
            "Make a column of few values of it, such as: above 50,000, or not."
        )
    room = MOST_NUMBERS // len(values)
    splits = [contribute(owned, texts, {secret: value}, room=room) for value in values]
    listed = dict.fromkeys(number for split in splits for number in split.numbers)
    numbers = tuple(n for n in listed if all(_holds(n, split) for split in splits))
    scales = {
        n: s for split in splits for n, s in zip(split.numbers, split.scales, strict=True)
    }
    at = {number: place for place, number in enumerate(numbers)}
    parts = np.zeros((len(values), len(numbers), owned.rows.num_rows), dtype=np.int64)
    for v, split in enumerate(splits):
        for number, vector in zip(split.numbers, split.vectors, strict=True):
            if number in at:
                parts[v, at[number]] = vector
    place = {value: i for i, value in enumerate(values)}
    actual = np.array([place[value] for value in column], dtype=np.int64)
    ordered = tuple(scales[number] for number in numbers)
    skipped = dict.fromkeys(entry for split in splits for entry in split.skipped)
    return SecretContributions(
        numbers,
        values,
        actual,
        parts,
        ordered,
        tuple(entry for entry in skipped if _is_skipped(entry, splits)),
        tuple(_average(splits, actual, {n.place for n in numbers if n.times is not None})),
        tuple(_look_alone(splits, owned.rows.num_rows)),
    )


def _is_skipped(entry: tuple[str, str], contributions: Sequence[Contributions]) -> bool:
    """A question may publish a number for one value of the secret only, and is attacked."""
    return entry[1] != NO_NUMBER or all(
        entry in contribution.skipped for contribution in contributions
    )


def _average(
    contributions: Sequence[Contributions],
    actual: NDArray[np.int64],
    known: Container[tuple[int, str, tuple[Any, ...]]],
) -> Iterator[SecretAverage]:
    """The averages that are not known as sums already."""
    by_value = [
        {average.number: average for average in several.averages} for several in contributions
    ]
    none, rows = np.zeros(len(actual), dtype=np.int64), np.arange(len(actual))
    for number, any_of in {
        n: average for listed in by_value for n, average in listed.items()
    }.items():
        if number.place in known:
            continue
        parts = [listed.get(number) for listed in by_value]
        above = np.stack([none if average is None else average.above for average in parts])
        below = np.stack([none if average is None else average.below for average in parts])
        totals = int(above[actual, rows].sum()), int(below[actual, rows].sum())
        yield SecretAverage(number, above, below, any_of.scale, *totals)


def _look_alone(
    contributions: Sequence[Contributions], many: int
) -> Iterator[tuple[PublishedNumber, NDArray[np.bool_]]]:
    by_value = [{part.number: part for part in several.lone} for several in contributions]
    for number in dict.fromkeys(number for listed in by_value for number in listed):
        parts = [listed.get(number) for listed in by_value]
        wide = max(part.parts.shape[1] for part in parts if part is not None)
        none = np.zeros((many, wide), dtype=object)
        spread = [none if part is None else part.spread(many) for part in parts]
        changes = [(part != spread[0]).any(axis=1) for part in spread]
        yield number, np.asarray(np.any(changes, axis=0), dtype=np.bool_)


def _holds(number: PublishedNumber, known: Contributions) -> bool:
    """Whether an average times a count is a sum for this value of the secret, too: not if the
    count has rows whose averaged value is NULL then. It is attacked as an average instead."""
    if number.times is None or number in known.numbers:
        return True
    return replace(number, output=number.times, times=None) not in known.numbers
