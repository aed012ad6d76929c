"""What is publicly known about the rows of a table: dependencies, and impossible combinations.

A column that depends on another one (a city's state) is not measured: it follows. A combination
that cannot occur has no rows in the copy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.synth.domain.column_cells import ColumnCells, Label

Values: TypeAlias = tuple[Label, ...]
_MOST_TOGETHER = 3  # columns of an impossible combination
_MOST_TRIES = 10_000  # to find a row that is possible


@dataclass(frozen=True, slots=True)
class Dependence:
    """A column whose value follows from another column's value."""

    place: int
    source: int
    values: Mapping[Label, Label]

    def codes(self, cells: Sequence[ColumnCells]) -> NDArray[np.int64]:
        """The cell of the column for each cell of its source. Without a value of
        the source there is no value."""
        own, source = cells[self.place].labels, cells[self.source].labels
        return np.array([own.index(self.values.get(label)) for label in source], np.int64)


@dataclass(frozen=True, slots=True)
class CopyRules:
    """All dependencies, and all combinations that cannot occur."""

    depends: tuple[Dependence, ...] = ()
    impossible: tuple[tuple[tuple[int, Values], ...], ...] = ()

    @property
    def derived(self) -> frozenset[int]:
        """The places of columns that are not measured."""
        return frozenset(dependence.place for dependence in self.depends)

    @property
    def joined(self) -> frozenset[int]:
        """The places of columns with impossible combinations."""
        return frozenset(place for combination in self.impossible for place, _ in combination)

    def fill(self, codes: NDArray[np.int64], cells: Sequence[ColumnCells]) -> None:
        """Derives the columns that depend on others."""
        for dependence in self.depends:
            codes[:, dependence.place] = dependence.codes(cells)[codes[:, dependence.source]]

    def never(self, cells: Sequence[ColumnCells]) -> dict[tuple[int, ...], NDArray[np.bool_]]:
        """By the places of columns: true in the cells that no row may have."""
        tables: dict[tuple[int, ...], NDArray[np.bool_]] = {}
        for combination in self.impossible:
            places = tuple(sorted(place for place, _ in combination))
            values = dict(combination)
            table = np.ones([cells[place].size for place in places], dtype=np.bool_)
            for axis, place in enumerate(places):
                listed = np.array([label in values[place] for label in cells[place].labels])
                table &= listed.reshape([-1 if i == axis else 1 for i in range(len(places))])
            tables[places] = tables.get(places, False) | table
        return tables


def read_rules(
    depends: Mapping[str, Any] | None,
    impossible: Sequence[Mapping[str, Any]] | None,
    names: Sequence[str],
    cells: Sequence[ColumnCells | None],
) -> CopyRules:
    """The rules of a request. Every fault is found here."""
    known = {name.lower(): place for place, name in enumerate(names)}

    def find(name: object, what: str) -> int:
        place = known.get(str(name).lower(), -1)
        own = cells[place] if place >= 0 else None
        if own is None or own.cuts:
            raise InvalidParameter(
                f"`{what}` names {name!r}, which is not a column of the copy with declared "
                "values. Nothing was spent."
            )
        return place

    links = tuple(
        _read_dependence(find(name, "depends"), rule, find, cells)
        for name, rule in (depends or {}).items()
    )
    derived = {link.place for link in links}
    if any(link.source in derived for link in links):
        raise InvalidParameter("`depends`: a column may not depend on one that depends too.")
    zeros = tuple(
        _read_impossible(combination, find, cells) for combination in impossible or ()
    )
    rules = CopyRules(links, zeros)
    if rules.joined & derived:
        raise InvalidParameter(
            "`impossible` names a column that depends on another one: name that other one."
        )
    known_cells = [own for own in cells if own is not None]
    if len(known_cells) == len(cells) and any(
        t.all() for t in rules.never(known_cells).values()
    ):
        raise InvalidParameter("`impossible` leaves no combination of some columns.")
    if not _can_hold(rules.impossible, cells):
        raise InvalidParameter(
            "`impossible`: these combinations contradict each other, or are too many to tell. "
            "Every row would have one of them. Leave some out. Nothing was spent."
        )
    return rules


def _can_hold(
    zeros: Sequence[tuple[tuple[int, Values], ...]], cells: Sequence[ColumnCells | None]
) -> bool:
    """Whether some row avoids all combinations, found within many tries. Of a column's
    values only those matter that are named in the fewest combinations."""
    choices: list[list[frozenset[int]]] = []
    for place in sorted({place for combination in zeros for place, _ in combination}):
        own = cells[place]
        named = [dict(combination).get(place, ()) for combination in zeros]
        value_hits = {
            frozenset(i for i, values in enumerate(named) if label in values)
            for label in (() if own is None else own.labels)
        } or {frozenset[int]()}
        here = frozenset(i for i, combination in enumerate(zeros) if place in dict(combination))
        choices.append(
            [
                here - hits
                for hits in value_hits
                if not any(fewer < hits for fewer in value_hits)
            ]
        )
    # What is left to choose, and the combinations that no column so far has avoided.
    waiting, tries = [(0, frozenset(range(len(zeros))))], 0
    while waiting and tries < _MOST_TRIES:
        depth, left = waiting.pop()
        tries += 1
        if not left:
            return True
        if depth < len(choices):
            waiting += [(depth + 1, left - avoids) for avoids in choices[depth]]
    return False


def _read_dependence(place: int, rule: Any, find: Any, cells: Any) -> Dependence:
    example = 'depends={"state": ("city", {"Paris": "IDF", "Lyon": "ARA"})}'
    pair = isinstance(rule, Sequence) and not isinstance(rule, str) and len(rule) == 2
    if not pair or not isinstance(rule[1], Mapping):
        raise InvalidParameter(f"Write dependencies as {example}. Found {rule!r}.")
    source, values = find(rule[0], "depends"), dict(rule[1])
    own, other = cells[place].labels, cells[source].labels
    lacks = [label for label in other if label is not None and label not in values]
    strange = [value for value in values.values() if value not in own]
    if lacks or strange or source == place:
        what = f"a value for {lacks[0]!r}" if lacks else f"the value {strange[:1]!r}"
        raise InvalidParameter(
            f"`depends`: every value of {rule[0]} needs a declared value of the column that "
            f"depends on it. Look at {what}. Nothing was spent."
        )
    return Dependence(place, source, values)


def _read_impossible(rule: Any, find: Any, cells: Any) -> tuple[tuple[int, Values], ...]:
    example = 'impossible=[{"sex": "m", "pregnant": True}]'
    if not isinstance(rule, Mapping) or not 2 <= len(rule) <= _MOST_TOGETHER:
        raise InvalidParameter(
            f"An impossible combination names two or three columns: {example}. Found {rule!r}."
        )
    pairs = []
    for name, entry in rule.items():
        place = find(name, "impossible")
        values = tuple(entry) if isinstance(entry, list | tuple | set) else (entry,)
        for value in values:
            if value not in cells[place].labels:
                raise InvalidParameter(f"`impossible`: {name} has no value {value!r}.")
        pairs.append((place, values))
    return tuple(pairs)
