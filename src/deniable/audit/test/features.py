"""Features of an output that an attacker may look at, each as one number.

Coordinates and how they relate (sum, largest, differences, ties), kinds and lengths, missing
numbers, and for floats the last binary digit and the fractional part, where wrong noise often
shows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.audit.test.outputs import Batch, Floats

_MOST_COLUMNS = 12
_MOST_DIFFERENCES = 15
_MANY_DIGITS = 20  # binary; a noisy multiple of a step has fewer, or repeats
_NEVER = 1100.0  # stands for the last digit of zero, which is a multiple of every 2**k


@dataclass(frozen=True, eq=False)
class OutputFeature:
    """A name, and how to compute the feature from a batch; the batch caches the result.

    If the numbers are codes, `codes` says what they mean. `low_digits` is true if the feature
    looks only at where the binary digits of a float end.
    """

    text: str
    read: Callable[[Batch], Floats]
    codes: Mapping[float, str] | None = None
    low_digits: bool = False

    def __call__(self, batch: Batch) -> Floats:
        if self not in batch.memo:
            batch.memo[self] = self.read(batch)
        return batch.memo[self]


def list_features(sample: Batch, other: Batch) -> list[OutputFeature]:
    """All features of such outputs; if there are many columns, of those that differ most."""
    columns = _most_different(sample, other)
    width = max(sample.width, other.width)
    listed = [_coordinate(j, width) for j in columns]
    if sample.kinds is not None or other.kinds is not None:
        listed += [_kind(j, width, sample, other) for j in columns]
    if sample.lengths is not None or other.lengths is not None:
        listed.append(OutputFeature("length", _length))
    if width > 1:
        listed += _relations(columns)
    if sample.floating or other.floating:
        for j in columns[:6]:
            listed += _float_features(j, width)
    return listed


def _most_different(sample: Batch, other: Batch) -> list[int]:
    width = max(sample.width, other.width)
    if width <= _MOST_COLUMNS:
        return list(range(width))
    distances = []
    for j in range(width):
        a, b = np.tanh(_plain(sample.column(j))), np.tanh(_plain(other.column(j)))
        distances.append(abs(a.mean() - b.mean()) + abs(a.std() - b.std()))
    best = np.argsort(distances)[::-1][: _MOST_COLUMNS - 4].tolist()
    return sorted({0, 1, width - 2, width - 1, *best})


def _plain(column: Floats) -> Floats:
    return np.nan_to_num(column, nan=0.0, posinf=0.0, neginf=0.0)


def _coordinate(j: int, width: int) -> OutputFeature:
    return OutputFeature(_coordinate_name("output", j, width), lambda batch: batch.column(j))


def _kind(j: int, width: int, sample: Batch, other: Batch) -> OutputFeature:
    """Which text, or what kind of number; nan for text that was not seen in the search."""
    known_kinds = np.union1d(sample.kind(j), other.kind(j))
    name = sample.name if sample.kinds is not None else other.name

    def read(batch: Batch) -> Floats:
        kinds = batch.kind(j)
        return np.where(np.isin(kinds, known_kinds), kinds, np.nan)

    codes = {float(code): name(code) for code in known_kinds.tolist()}
    return OutputFeature(f"kind of {_coordinate_name('output', j, width)}", read, codes)


def _coordinate_name(text: str, j: int, width: int) -> str:
    return text if width == 1 else f"{text}[{j}]"


def _length(batch: Batch) -> Floats:
    if batch.lengths is None:
        return np.full(len(batch), float(batch.width))
    return batch.lengths.astype(np.float64)


def _relations(columns: list[int]) -> list[OutputFeature]:
    """Features of several coordinates together."""
    listed = [
        OutputFeature("sum", lambda batch: np.nansum(batch.values, axis=1)),
        OutputFeature("largest", lambda batch: _reduce(np.nanmax, batch)),
        OutputFeature("smallest", lambda batch: _reduce(np.nanmin, batch)),
        OutputFeature("index of the largest", lambda batch: _argmax(batch.values)),
        OutputFeature("index of the smallest", lambda batch: _argmax(-batch.values)),
        OutputFeature("number of missing numbers", _missing),
        OutputFeature("number of distinct numbers", _distinct),
        OutputFeature("number of zeros", lambda batch: (batch.values == 0).sum(axis=1) * 1.0),
        OutputFeature("index of the first non-zero", _first),
        OutputFeature("last number", _last),
    ]
    pairs = [(i, j) for a, i in enumerate(columns) for j in columns[a + 1 :]]
    near = sorted(pairs, key=lambda pair: (pair[1] - pair[0], pair))[:_MOST_DIFFERENCES]
    return listed + [_difference(i, j) for i, j in near]


def _difference(i: int, j: int) -> OutputFeature:
    return OutputFeature(
        f"output[{i}] - output[{j}]", lambda batch: _subtract(batch.column(i), batch.column(j))
    )


def _subtract(a: Floats, b: Floats) -> Floats:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.subtract(a, b)


def _reduce(reduce: Callable[..., Any], batch: Batch) -> Floats:
    filled = ~np.isnan(batch.values).all(axis=1)
    reduced = np.full(len(batch), np.nan)
    reduced[filled] = reduce(batch.values[filled], axis=1)
    return reduced


def _argmax(values: Floats) -> Floats:
    best = np.argmax(np.nan_to_num(values, nan=-np.inf), axis=1)
    return np.asarray(best, dtype=np.float64)


def _missing(batch: Batch) -> Floats:
    return np.asarray(np.isnan(batch.values).sum(axis=1), dtype=np.float64)


def _distinct(batch: Batch) -> Floats:
    ordered = np.sort(batch.values, axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray((ordered[:, 1:] != ordered[:, :-1]).sum(axis=1) + 1.0)


def _first(batch: Batch) -> Floats:
    filled = (batch.values != 0) & ~np.isnan(batch.values)
    return np.where(filled.any(axis=1), np.argmax(filled, axis=1), batch.width).astype(float)


def _last(batch: Batch) -> Floats:
    """The last coordinate that is a number."""
    filled = ~np.isnan(batch.values[:, ::-1])
    place = batch.width - 1 - np.argmax(filled, axis=1)
    return np.asarray(batch.values[np.arange(len(batch)), place])


def _float_features(j: int, width: int) -> list[OutputFeature]:
    """Where wrong float noise often shows."""
    name = _coordinate_name("output", j, width)
    return [
        OutputFeature(
            f"exponent of the last binary digit of {name}",
            lambda batch: last_digit(batch.column(j)),
            low_digits=True,
        ),
        OutputFeature(
            f"trailing zero bits of {name}",
            lambda batch: _trailing_zeros(batch.column(j)),
            low_digits=True,
        ),
        OutputFeature(f"fractional part of {name}", lambda batch: _fraction(batch.column(j))),
    ]


def looks_continuous(batch: Batch) -> bool:
    """Whether outputs are floats that hardly repeat, with many digits, as float noise has."""
    if not batch.floating or len(np.unique(batch.keys)) < len(batch) / 2:
        return False
    zeros = np.column_stack([_trailing_zeros(batch.column(j)) for j in range(batch.width)])
    with np.errstate(invalid="ignore"):
        return bool((zeros < 53 - _MANY_DIGITS).any(axis=1).mean() > 0.5)


def last_digit(x: Floats) -> Floats:
    """The largest k for which x is a multiple of 2**k; nan if x is not finite.

    >>> last_digit(np.array([1.0, 0.75, 12.0, 5e-324])).tolist()
    [0.0, -2.0, 2.0, -1074.0]
    """
    exponent, zeros = _digits(x)
    return np.where(x == 0, _NEVER, exponent - 53 + zeros)


def _trailing_zeros(x: Floats) -> Floats:
    return np.where(x == 0, 53.0, _digits(x)[1])


def _digits(x: Floats) -> tuple[Floats, Floats]:
    finite = np.isfinite(x)
    mantissa, exponent = np.frexp(np.where(finite, x, 1.0))
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1.0
    return exponent.astype(np.float64), np.where(finite, zeros, np.nan)


def _fraction(x: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.mod(x, 1.0)
