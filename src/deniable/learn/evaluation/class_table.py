"""Several classes: one noisy table of (group, actual class, predicted class).

A row of the test part is in exactly one cell, so the table has the sensitivity of one count.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.learn.evaluation.ratio_intervals import NoiseLaw, ScoreReading, difference


@dataclass(frozen=True, slots=True)
class ClassTable:
    """Noisy counts of (group, actual class, predicted class).

    >>> counts = np.array([[[70.0, 10.0], [5.0, 15.0]]])
    >>> table = ClassTable(counts, NoiseLaw(1.0), ("no", "yes"))
    >>> print(table.accuracy())
    0.850 (0.827 to 0.874)
    >>> print(table.recall("yes"))
    0.750 (0.677 to 0.833)
    """

    counts: NDArray[Any]  # kept as floats
    noise: NoiseLaw
    classes: tuple[Any, ...]
    groups: tuple[Any, ...] = (None,)

    def __post_init__(self) -> None:
        shape = (len(self.groups), len(self.classes), len(self.classes))
        if np.shape(self.counts) != shape:
            raise InvalidParameter(
                f"`counts` must have the shape {shape}: groups, actual classes, predicted "
                f"classes. Found {np.shape(self.counts)}."
            )
        object.__setattr__(self, "counts", np.asarray(self.counts, dtype=np.float64))

    def accuracy(self, group: Any = None, confidence: float = 0.95) -> ScoreReading:
        """The share of rows whose class is predicted rightly."""
        right = np.broadcast_to(np.eye(len(self.classes)), self.counts.shape)
        mask = self._mask(group)
        return self.noise.ratio(
            right * mask, np.ones_like(self.counts) * mask, self.counts, confidence
        )

    def recall(self, name: Any, confidence: float = 0.95) -> ScoreReading:
        """Of the rows of a class, the share that is predicted so."""
        place = self._place(name)
        whole, part = np.zeros_like(self.counts), np.zeros_like(self.counts)
        whole[:, place, :], part[:, place, place] = 1.0, 1.0
        return self.noise.ratio(part, whole, self.counts, confidence)

    def precision(self, name: Any, confidence: float = 0.95) -> ScoreReading:
        """Of the rows that are predicted to be of a class, the share that is."""
        place = self._place(name)
        whole, part = np.zeros_like(self.counts), np.zeros_like(self.counts)
        whole[:, :, place], part[:, place, place] = 1.0, 1.0
        return self.noise.ratio(part, whole, self.counts, confidence)

    def confusion(self, confidence: float = 0.95) -> dict[tuple[Any, Any], ScoreReading]:
        """The number of rows by (actual class, predicted class)."""
        readings = {}
        for actual_place, actual in enumerate(self.classes):
            for predicted_place, predicted in enumerate(self.classes):
                cells = np.zeros_like(self.counts)
                cells[:, actual_place, predicted_place] = 1.0
                readings[actual, predicted] = self.noise.sum_reading(
                    cells, self.counts, confidence
                )
        return readings

    def accuracy_gap(self, first: Any, second: Any, confidence: float = 0.95) -> ScoreReading:
        """How far the accuracy in one group is above that in another."""
        return difference(self.accuracy(first, confidence), self.accuracy(second, confidence))

    def _place(self, name: Any) -> int:
        if name not in self.classes:
            known = ", ".join(map(repr, self.classes))
            raise InvalidParameter(f"Unknown class {name!r}. There are: {known}.")
        return self.classes.index(name)

    def _mask(self, group: Any) -> NDArray[np.float64]:
        mask = np.ones((len(self.groups), 1, 1))
        if group is not None:
            if group not in self.groups:
                known = ", ".join(map(repr, self.groups))
                raise InvalidParameter(f"Unknown group {group!r}. There are: {known}.")
            mask[:] = 0.0
            mask[self.groups.index(group)] = 1.0
        return mask
