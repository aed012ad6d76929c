"""Linkage: which columns, known from elsewhere, single people out (Sweeney 2000).

For every set of up to four columns the people are counted who are alone in their cell. A person
in a cell of k people is found with probability 1/k by an attacker who knows these columns, so
the expected number of right matches is the number of cells.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deniable.audit.attack.finding_sections import Section, show_share
from deniable.audit.attack.findings import AttackFinding
from deniable.audit.attack.rows.owned_sources import read_owned
from deniable.audit.test.progress import progress
from deniable.errors import InvalidParameter
from deniable.exact.rationals import whole

Codes = NDArray[np.int64]
_EDGES = (1, 2, 3, 5, 10)  # k = 1, 2, 3-4, 5-9, 10 and more
_DENSE = 4  # cells for each person, up to which they are counted without sorting


@dataclass(frozen=True, slots=True)
class LinkedSet:
    """How far one set of columns singles people out."""

    columns: tuple[str, ...]
    alone: int  # people who are the only one in a cell
    matches: float  # how many people an attacker who knows the columns is expected to find
    histogram: tuple[int, ...]  # people with k = 1, 2, 3-4, 5-9, 10 and more


@dataclass(frozen=True, repr=False, eq=False)
class LinkageFinding(AttackFinding):
    """Sets of columns, those that single out most people first."""

    title: ClassVar[str] = "Linkage: which columns single people out"
    people: int
    sets: tuple[LinkedSet, ...]
    examined: int
    most_columns: int
    made_up: bool = False

    def share(self, *columns: str) -> float:
        """The share of people whom these columns single out."""
        for link in self.sets:
            if set(link.columns) == set(columns):
                return link.alone / max(1, self.people)
        raise InvalidParameter(
            f"The set {', '.join(columns)} was not examined: see `columns` and `most_columns`. "
            "A set that contains one which singles out everybody does so, too."
        )

    def worst(self, count: int = 10) -> tuple[LinkedSet, ...]:
        """The sets that single out most; of equal ones those with fewer columns first."""
        return self.sets[:count]

    def sections(self) -> Sequence[Section]:
        rows = [
            (
                ", ".join(link.columns),
                f"{link.alone:,} ({show_share(link.alone / max(1, self.people), 1)})",
                f"{link.matches:,.0f}",
                " / ".join(f"{n:,}" for n in link.histogram),
            )
            for link in self.worst()
        ]
        about = (
            f"{self.people:,} people; {self.examined:,} sets of up to {self.most_columns} "
            "columns. Sets that single out everybody were not extended."
        )
        columns = ("columns", "alone", "expected matches", "people with k = 1/2/3-4/5-9/10+")
        fix = (
            "To protect them: answer questions with noise, and never hand out rows with these "
            "columns. Rounding and leaving out columns only moves the problem."
        )
        return [
            Section("Worst sets first", (about,), columns, tuple(rows)),
            Section("", (fix,)),
        ]


def linkage(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    unit: str | None = None,
    most_columns: int = 4,
    table: str | None = None,
    show_progress: bool | None = None,
) -> LinkageFinding:
    """Which sets of up to `most_columns` columns single people out, worst first.

    `source` is a frame, a data file, or a policy file whose key is at hand. `unit` is the
    column that identifies a person, if a person may have several rows; it is not examined.

    >>> people = pa.table({"zip": [1, 1, 2, 2], "sex": ["f", "m", "f", "f"]})
    >>> risks = linkage(people)
    >>> risks.share("zip"), risks.share("zip", "sex")
    (0.0, 0.5)
    """
    options = {} if unit is None else {"unit": unit}
    owned = read_owned(source, table=table, **options)
    limit = whole(most_columns, "most_columns", least=1)
    own = owned.table.unit
    names = [name for name in owned.rows.column_names if name != own]
    if columns is not None:
        if unknown := [name for name in columns if name not in owned.rows.column_names]:
            raise InvalidParameter(f"The table has no column {unknown[0]!r}.")
        names = list(dict.fromkeys(columns))
    units = None if own is None else encode(owned.rows[own])
    codes = {name: encode(owned.rows[name]) for name in names}
    total = sum(math.comb(len(names), size) for size in range(1, limit + 1))
    with progress(total, show_progress, what="sets") as show:
        sets, count = [], 0
        for link, passed in _examine(codes, units, limit):
            sets.append(link)
            count = passed
            show(count)
    people = owned.rows.num_rows if units is None else len(np.unique(units))
    ordered = sorted(sets, key=lambda link: (-link.alone, len(link.columns), -link.matches))
    return LinkageFinding(people, tuple(ordered), len(sets), limit, owned.made_up)


def encode(column: Any) -> Codes:
    """The values of a column as whole numbers from 0; NULL is a value.

    >>> encode(pa.chunked_array([["a", None, "a"]])).tolist()
    [0, 1, 0]
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # an empty column, or one that is too long for one
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    coded = pc.dictionary_encode(array, null_encoding="encode")
    return np.asarray(coded.indices, dtype=np.int64)


def _examine(
    codes: dict[str, Codes], units: Codes | None, limit: int
) -> Iterator[tuple[LinkedSet, int]]:
    """Every set, smaller ones first, and how many sets were passed by then."""
    people = 0 if not codes else len(next(iter(codes.values())))
    whole_sets: set[frozenset[str]] = set()
    join = _joiner(codes)
    count = people if units is None else len(np.unique(units))
    passed = 0
    for size in range(1, limit + 1):
        for names in combinations(codes, size):
            passed += 1
            if any(whole_set <= set(names) for whole_set in whole_sets):
                continue
            key = join(names)
            sizes = _unit_sizes(key) if units is None else _group_sizes(key, units)
            link = _describe(names, *sizes)
            if link.alone == count and count:
                whole_sets.add(frozenset(names))
            yield link, passed


def _joiner(codes: dict[str, Codes]) -> Callable[[tuple[str, ...]], Codes]:
    """Joins columns into one number. Pairs are renumbered, so that four fit into 64 bits."""
    pairs: dict[tuple[str, ...], Codes] = {(name,): code for name, code in codes.items()}

    def join(names: tuple[str, ...]) -> Codes:
        if names not in pairs and len(names) == 2:
            pairs[names] = _renumber(_product(pairs[names[:1]], pairs[names[1:]]))
        if names in pairs:
            return pairs[names]
        first = join(names[:2])
        for start in range(2, len(names), 2):
            first = _product(first, join(names[start : start + 2]))
            if len(names) > start + 2:
                first = _renumber(first)
        return first

    return join


def _product(a: Codes, b: Codes) -> Codes:
    return a * (int(b.max(initial=0)) + 1) + b


def _renumber(key: Codes) -> Codes:
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def _cell_sizes(key: Codes) -> Codes:
    """The number of rows in each cell that is not empty."""
    top = int(key.max(initial=0)) + 1
    if top <= _DENSE * len(key):
        counts = np.bincount(key)
        return counts[counts > 0].astype(np.int64)
    ordered = np.sort(key)
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return np.diff(np.append(starts, len(ordered))).astype(np.int64)


def _unit_sizes(key: Codes) -> tuple[Codes, float]:
    """k of each person where every row is a person, and the expected matches."""
    sizes = _cell_sizes(key)
    return np.repeat(sizes, sizes), float(len(sizes))


def _group_sizes(key: Codes, units: Codes) -> tuple[Codes, float]:
    """k of each person with several rows: that of the smallest of the person's cells."""
    many = int(units.max(initial=0)) + 1
    pairs = np.unique(_renumber(key) * many + units)
    cells, people = pairs // many, pairs % many
    sizes = np.bincount(cells)[cells]
    least = np.full(many, np.iinfo(np.int64).max)
    np.minimum.at(least, people, sizes)
    return least, float((1 / least).sum())


def _describe(names: tuple[str, ...], sizes: Codes, matches: float) -> LinkedSet:
    places = np.searchsorted(_EDGES, sizes, side="right") - 1
    histogram = np.bincount(places, minlength=len(_EDGES))
    return LinkedSet(names, int(histogram[0]), matches, tuple(int(n) for n in histogram))
