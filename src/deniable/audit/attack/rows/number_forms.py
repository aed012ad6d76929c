"""The numbers of one answer, by what they are: sums of rows, averages, or neither."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.audit.attack.rows.published_numbers import (
    AverageParts,
    Integers,
    LoneParts,
    PublishedNumber,
)
from deniable.engines.handover.exact_groups import ExactGroups
from deniable.errors import InvalidParameter
from deniable.query.margins.linear_forms import LinearForm, RatioForm, features_of, form
from deniable.query.plan.plan import Chosen, KeyColumn, Plan, walk

_LONE = "it is not a sum of its rows: only whether it is about few people was looked at"
_LARGE = "what its rows add is too large for 64 bits"


@dataclass(frozen=True, slots=True, repr=False)
class SplitAnswer:
    """What each row adds to the numbers of one answer."""

    sums: dict[PublishedNumber, tuple[Integers, Fraction]] = field(default_factory=dict)
    averages: list[AverageParts] = field(default_factory=list)
    lone: list[LoneParts] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)  # outputs, and why

    @property
    def size(self) -> int:
        """How many numbers its vectors hold."""
        sums = sum(len(vector) for vector, _ in self.sums.values())
        return sums + sum(2 * len(average.above) for average in self.averages)


def split_answer(
    place: int, plan: Plan, exact: ExactGroups, many: int, room: int
) -> SplitAnswer:
    """A vector for each output and each group of a question whose last key is the row. Vectors
    of more numbers than there is room for are refused before they are made."""
    return _Splitting(place, plan, exact, many, room).split()


class _Splitting:
    def __init__(
        self, place: int, plan: Plan, exact: ExactGroups, many: int, room: int
    ) -> None:
        self._place, self._plan, self._exact, self._many = place, plan, exact, many
        self._room = room
        counted = {} if exact.units is None else {"units": exact.units}
        self._features: dict[str, Any] = counted | dict(exact.features)
        self._groups, self._rows = self._locate(exact.keys)
        self._answer = SplitAnswer()

    def split(self) -> SplitAnswer:
        forms = {
            output.name: (output.node, form(output.node))
            for output in self._plan.outputs
            if not isinstance(output.node, KeyColumn)
        }
        for name, (node, linear) in forms.items():
            try:
                if isinstance(linear, LinearForm) and self._has(linear):
                    self._add_sum(name, linear)
                elif isinstance(linear, RatioForm) and self._is_average(linear):
                    self._add_average(name, linear)
                elif features_of(node) or _list_chosen(node):
                    self._add_lone(name, node)
            except OverflowError:
                self._answer.skipped.append((name, _LARGE))
        linear_forms = {
            name: linear
            for name, (_, linear) in forms.items()
            if isinstance(linear, LinearForm) and self._has(linear) and not linear.constant
        }
        for name, (_, ratio) in forms.items():
            if isinstance(ratio, RatioForm) and self._is_average(ratio):
                self._multiply(name, ratio, linear_forms)
        return self._answer

    def _has(self, linear: LinearForm) -> bool:
        return bool(linear.weights) and all(
            feature in self._features for feature, _ in linear.weights
        )

    def _is_average(self, ratio: RatioForm) -> bool:
        constant = ratio.above.constant or ratio.below.constant
        return not constant and self._has(ratio.above) and self._has(ratio.below)

    def _add_sum(self, name: str, linear: LinearForm, times: str | None = None) -> None:
        scale = _scale(linear)
        for keys, vector in self._vectors(linear, scale):
            plus = linear.constant
            number = PublishedNumber(self._place, name, keys, times, plus=plus)
            self._answer.sums[number] = vector, scale

    def _add_average(self, name: str, ratio: RatioForm) -> None:
        above, below = _scale(ratio.above), _scale(ratio.below)
        pairs = zip(
            self._vectors(ratio.above, above), self._vectors(ratio.below, below), strict=True
        )
        for (keys, upper), (_, lower) in pairs:
            number = PublishedNumber(self._place, name, keys)
            self._answer.averages.append(AverageParts(number, upper, lower, above / below))

    def _multiply(self, name: str, ratio: RatioForm, sums: dict[str, LinearForm]) -> None:
        """An average beside the count of its values: their product is a sum. A count of rows
        is that count if no value is NULL."""
        for count, linear in sums.items():
            below, counted = self._add(ratio.below), self._add(linear)
            if (below * _scale(ratio.below) == counted * _scale(linear)).all():
                self._add_sum(name, ratio.above, count)
                return

    def _add(self, linear: LinearForm) -> NDArray[Any]:
        """What each row adds to a linear form, in whole numbers of its scale."""
        scale = _scale(linear)
        added = sum(
            np.asarray(self._features[feature], dtype=object) * int(weight / scale)
            for feature, weight in linear.weights
        )
        return np.asarray(added)

    def _vectors(
        self, linear: LinearForm, scale: Fraction
    ) -> Iterator[tuple[tuple[Any, ...], Integers]]:
        self._room -= len(self._groups) * self._many
        if self._room < 0:
            raise InvalidParameter(
                "These are too many questions, groups and rows for one attack: it would need "
                "more than 2 GB. Attack a random part of the rows, or of the questions."
            )
        added = _bounded(self._add(linear))
        for keys, members in self._groups.items():
            vector = np.zeros(self._many, dtype=np.int64)
            vector[self._rows[members]] = added[members]
            yield keys, vector

    def _add_lone(self, name: str, node: Any) -> None:
        """A number that is not linear: what it takes from each row that it reads."""
        self._answer.skipped.append((name, _LONE))
        cells = {self._plan.choices[source.choice].name for source in _list_chosen(node)}
        cells |= {source for source in features_of(node) if source in self._exact.cells}
        for source in sorted(cells):
            counted = self._exact.cells[source]
            groups, rows = self._locate(counted.keys)
            self._take(name, groups, rows, np.asarray(counted.cell, dtype=object)[:, None] + 1)
        used = [source for source in features_of(node) if source in self._features]
        if used and not cells:
            parts = [np.asarray(self._features[source], dtype=object) for source in used]
            self._take(name, self._groups, self._rows, np.stack(parts, axis=1))

    def _take(
        self,
        name: str,
        groups: dict[tuple[Any, ...], Integers],
        rows: Integers,
        parts: NDArray[Any],
    ) -> None:
        read = (parts != 0).any(axis=1)
        for keys, members in groups.items():
            own = members[read[members]]
            if len(own):
                number = PublishedNumber(self._place, name, keys)
                self._answer.lone.append(LoneParts(number, rows[own], parts[own]))

    def _locate(self, keys: Sequence[Any]) -> tuple[dict[tuple[Any, ...], Integers], Integers]:
        """The lines of each group, and the row of each line."""
        row = len(self._plan.keys) - 1
        rows = np.asarray(keys[row].to_numpy(zero_copy_only=False), dtype=np.int64)
        key_columns = [self._key_values(keys, i) for i in range(row)]
        lines: dict[tuple[Any, ...], list[int]] = {}
        for line, group in enumerate(
            zip(*key_columns, strict=True) if key_columns else [()] * len(rows)
        ):
            lines.setdefault(group, []).append(line)
        return {group: np.array(own, dtype=np.int64) for group, own in lines.items()}, rows

    def _key_values(self, keys: Sequence[Any], place: int) -> list[Any]:
        step, values = self._plan.keys[place].step, keys[place].to_pylist()
        if step is None:
            return list(values)
        return [None if key is None else float(key * step) for key in values]


def _list_chosen(node: Any) -> list[Chosen]:
    return [inner for inner in walk(node) if isinstance(inner, Chosen)]


def _scale(linear: LinearForm) -> Fraction:
    return Fraction(1, math.lcm(*(weight.denominator for _, weight in linear.weights)))


def _bounded(added: NDArray[Any]) -> Integers:
    """Whole numbers of which sums and differences fit into 64 bits."""
    if len(added) and max(abs(int(added.max())), abs(int(added.min()))) >= 2**60:
        raise OverflowError
    return added.astype(np.int64)
