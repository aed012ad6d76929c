"""Events: sets of outputs, found on one sample and tested on another."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.audit.test.features import OutputFeature
from deniable.audit.test.outputs import Batch, Floats

Hits: TypeAlias = NDArray[np.bool_]

_MANY = 64  # more outputs than a clamp or a default makes frequent
_NAMED = 3  # this many are named, the others are counted


class Event(Protocol):
    """A set of outputs."""

    @property
    def text(self) -> str: ...

    @property
    def low_digits(self) -> bool: ...

    def hits(self, batch: Batch) -> Hits: ...


@dataclass(frozen=True)
class ThresholdEvent:
    """A feature at or above (or below) a threshold. nan is on neither side."""

    feature: OutputFeature
    threshold: float
    above: bool

    @property
    def text(self) -> str:
        if self.feature.codes is not None:
            return _describe_codes(
                self.feature, lambda read: (read >= self.threshold) == self.above, False
            )
        sign = ">=" if self.above else "<"
        return f"{self.feature.text} {sign} {self.threshold:.17g}"

    @property
    def low_digits(self) -> bool:
        return self.feature.low_digits

    def hits(self, batch: Batch) -> Hits:
        read = self.feature(batch)
        with np.errstate(invalid="ignore"):
            hits = read >= self.threshold if self.above else read < self.threshold
        return np.asarray(hits)


@dataclass(frozen=True)
class Bins:
    """Edges that cut the line into cells, and one more cell for nan.

    A cell goes from its edge up to the next one. The first cell has no lower end.
    """

    edges: Floats

    @property
    def cells(self) -> int:
        return len(self.edges) + 2

    def place(self, read: Floats) -> NDArray[np.int64]:
        """The number of each reading's cell; the last cell is for nan."""
        cells = np.searchsorted(self.edges, read, side="right")
        return np.where(np.isnan(read), self.cells - 1, cells)

    def describe(self, cell: int) -> str:
        if cell == self.cells - 1:
            return "not a number"
        if cell == 0:
            return f"below {self.edges[0]:.6g}" if len(self.edges) else "any number"
        if cell == self.cells - 2:
            return f"from {self.edges[-1]:.6g}"
        return f"from {self.edges[cell - 1]:.6g} to below {self.edges[cell]:.6g}"


@dataclass(frozen=True)
class CellEvent:
    """A feature in some cells of a line."""

    feature: OutputFeature
    bins: Bins
    chosen: Hits

    @property
    def text(self) -> str:
        cells = np.flatnonzero(self.chosen)
        if self.feature.codes is not None:
            return _describe_codes(
                self.feature,
                lambda read: self.chosen[self.bins.place(read)],
                bool(self.chosen[-1]),
            )
        text = ", or ".join(self.bins.describe(int(cell)) for cell in cells[:3])
        more = f", or in {len(cells) - 3} more ranges" if len(cells) > 3 else ""
        return f"{self.feature.text} {text}{more}"

    @property
    def low_digits(self) -> bool:
        return self.feature.low_digits

    def hits(self, batch: Batch) -> Hits:
        return np.asarray(self.chosen[self.bins.place(self.feature(batch))])


@dataclass(frozen=True)
class CellPairEvent:
    """Two features in some cells of a grid."""

    features: tuple[OutputFeature, OutputFeature]
    bins: tuple[Bins, Bins]
    chosen: Hits

    @property
    def text(self) -> str:
        first, second = self.features
        cells = np.argwhere(self.chosen)
        a, b = cells[0]
        more = f", and {len(cells) - 1} more such cells" if len(cells) > 1 else ""
        first_text, second_text = (
            _describe_cell(feature, bins, int(cell))
            for feature, bins, cell in zip((first, second), self.bins, (a, b), strict=True)
        )
        return f"{first_text} and {second_text}{more}"

    @property
    def low_digits(self) -> bool:
        return all(feature.low_digits for feature in self.features)

    def hits(self, batch: Batch) -> Hits:
        a, b = (
            bins.place(feature(batch))
            for bins, feature in zip(self.bins, self.features, strict=True)
        )
        return np.asarray(self.chosen[a, b])


def _describe_cell(feature: OutputFeature, bins: Bins, cell: int) -> str:
    if feature.codes is None:
        return f"{feature.text} {bins.describe(cell)}"
    return _describe_codes(
        feature, lambda read: bins.place(read) == cell, cell == bins.cells - 1
    )


def _describe_codes(
    feature: OutputFeature, chosen: Callable[[Floats], Hits], others: bool
) -> str:
    """What the chosen readings of a feature mean, as "output is 'yes'"."""
    codes = feature.codes or {}
    hits = chosen(np.array(list(codes), dtype=np.float64))
    names = [name for name, hit in zip(codes.values(), hits, strict=True) if hit]
    texts = names[:_NAMED] + ([f"one of {len(names) - _NAMED} more"] * (len(names) > _NAMED))
    texts += ["none of those seen in the search"] * others
    return f"{feature.text.removeprefix('kind of ')} is {' or '.join(texts)}"


@dataclass(frozen=True)
class ExactOutputEvent:
    """The output equals, to the last bit, one of a set that was seen in the search."""

    keys: NDArray[np.uint64]  # sorted
    example: str

    @property
    def text(self) -> str:
        if len(self.keys) == 1:
            return f"output is exactly {self.example}"
        return f"output is exactly one of {len(self.keys)}, such as {self.example}"

    @property
    def low_digits(self) -> bool:
        return len(self.keys) > _MANY  # of outputs that hardly repeat

    def hits(self, batch: Batch) -> Hits:
        place = np.minimum(np.searchsorted(self.keys, batch.keys), len(self.keys) - 1)
        return np.asarray(self.keys[place] == batch.keys)
