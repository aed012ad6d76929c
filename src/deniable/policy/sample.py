"""How the rows of a table were drawn from a population: what `population()` may project.

    [tables.visits.sample]
    fraction = 0.1                        # a tenth of all rows, at random

    [tables.panel.sample]
    by = "region"                         # strata: a declared key
    frame = { north = 52000, south = 81000 }
    clustered = true                      # whole units were drawn

Nothing about privacy follows from it: no amplification is claimed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, TypeAlias

from deniable.errors import InvalidParameter, InvalidPolicy
from deniable.exact.rationals import Number, rational, whole
from deniable.exact.suggestions import suggest
from deniable.policy.column import Column, KeyValue

Strata: TypeAlias = Mapping[KeyValue, Number]

_KEYS = ("fraction", "frame", "by", "clustered")


@dataclass(frozen=True, slots=True, init=False)
class Sample:
    """A random sample: `fraction` is the share of the population that was drawn, or `frame` the
    size of the population, in units if it is `clustered` and in rows otherwise. With `by`, a
    declared key, there is one number for each stratum.

    >>> Sample(fraction=0.1).stratum(None)
    (Fraction(1, 10), None)
    >>> Sample(by="region", frame={"north": 5000, "south": 8000}).stratum("south")
    (None, 8000)
    """

    fraction: Fraction | Mapping[KeyValue, Fraction] | None
    frame: int | Mapping[KeyValue, int] | None
    by: str | None
    clustered: bool

    def __init__(
        self,
        *,
        fraction: Number | Strata | None = None,
        frame: int | Mapping[KeyValue, int] | None = None,
        by: str | None = None,
        clustered: bool = False,
    ) -> None:
        if (fraction is None) == (frame is None):
            raise InvalidPolicy(
                "A sample needs either its `fraction` of the population, such as 0.1, or the "
                "`frame`: how large the population is.",
                where=("sample",),
            )
        given = fraction if frame is None else frame
        if (by is not None) != isinstance(given, Mapping):
            raise InvalidPolicy(
                "A stratified sample has one number for each stratum, and `by` names the key, "
                'for example   by = "region", fraction = { north = 0.1, south = 0.2 }',
                where=("sample",),
            )
        values = {
            "fraction": _each(fraction, _check_fraction),
            "frame": _each(frame, lambda size: _check(lambda: whole(size, "frame"), "frame")),
            "by": by,
            "clustered": bool(clustered),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def read(
        cls, given: Any, unit: str | None, columns: Mapping[str, Column]
    ) -> "Sample | None":
        """The sample that a table declares, after checking it against the table."""
        if given is None:
            return None
        if isinstance(given, Mapping):
            for key in given:
                if key not in _KEYS:
                    raise InvalidPolicy(
                        f"Unknown key `{key}` of a sample. {suggest(key, _KEYS, 'Keys are')}",
                        where=("sample", str(key)),
                    )
            given = cls(**given)
        if not isinstance(given, cls):
            raise InvalidPolicy(
                'A sample is declared as {"fraction": 0.1} or {"frame": 50000}. Found '
                f"{given!r}.",
                where=("sample",),
            )
        if given.clustered and unit is None:
            raise InvalidPolicy(
                "A `clustered` sample draws whole units. Name the column that identifies one, "
                'for example   unit = "patient".',
                where=("sample", "clustered"),
            )
        return given if given.by is None else given._match(columns)

    def _match(self, columns: Mapping[str, Column]) -> "Sample":
        """The same sample with strata spelt like the declared keys."""
        by_name = {name.lower(): column for name, column in columns.items()}
        column = by_name.get(str(self.by).lower())
        keys = None if column is None else column.keys
        numbers = self.fraction if self.frame is None else self.frame
        assert isinstance(numbers, Mapping)
        named = {str(name): number for name, number in numbers.items()}
        if not isinstance(keys, tuple) or {str(key) for key in keys} != set(named):
            raise InvalidPolicy(
                f"A sample that is stratified by {self.by} needs declared keys of that column, "
                "and one number for each of them.",
                where=("sample", "by"),
            )
        assert column is not None
        matched: Any = {key: named[str(key)] for key in keys}
        kind = "fraction" if self.frame is None else "frame"
        return Sample(**{kind: matched}, by=column.name, clustered=self.clustered)

    def stratum(self, key: KeyValue | None) -> tuple[Fraction | None, int | None]:
        """The sampled fraction and the size of the population: of a stratum, or of all."""
        return _at(self.fraction, key), _at(self.frame, key)

    def to_json(self) -> dict[str, Any]:
        """What `read` reads, ready for JSON."""
        return {
            "fraction": _each(self.fraction, str),
            "frame": _each(self.frame, int),
            "by": self.by,
            "clustered": self.clustered,
        }


def _each(given: Any, check: Any) -> Any:
    if given is None:
        return None
    if isinstance(given, Mapping):
        return MappingProxyType({key: check(value) for key, value in given.items()})
    return check(given)


def _at(numbers: Any, key: KeyValue | None) -> Any:
    return numbers[key] if isinstance(numbers, Mapping) else numbers


def _check_fraction(entry: Any) -> Fraction:
    number = Fraction(entry) if isinstance(entry, str) else entry
    fraction = _check(lambda: rational(number, "fraction"), "fraction")
    if not 0 < fraction <= 1:
        raise InvalidPolicy(
            f"`fraction` of a sample must be above 0 and at most 1. Found {entry}.",
            where=("sample", "fraction"),
        )
    return Fraction(fraction)


def _check(check: Any, key: str) -> Any:
    try:
        return check()
    except InvalidParameter as problem:
        raise InvalidPolicy(str(problem), where=("sample", key)) from None
