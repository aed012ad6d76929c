"""The Plan: everything about an answer that is decided before a row is read.

A plan holds the integer aggregate as one SQL tree, the noise, the sensitivity, the loss, the
predicted margins and the post-processing. The cost preview, the refusal and the certificate
are readings of this one object, and nothing in it depends on a row.

An engine runs `engine_sql` and returns, for each group, the key columns, the number of units
(`units`, where keys are private) and one integer for each feature, in the order of
`features`. Features of one block are paid for together: whatever one unit's rows are, they
move the block's integers by at most `sensitivity` (L1 for Laplace, L2 for Gaussian noise).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from deniable.mechanisms import Gaussian, Laplace, Thresholding
from deniable.privacy import Loss
from deniable.privacy.neighbors import Neighbors

KeyValue: TypeAlias = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Number:
    """A constant of the post-processing."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Feature:
    """A noisy integer: the sum over a group's rows of something between `low` and `high`."""

    name: str  # the engine's result column
    block: int  # which block pays for it


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A group's own key, by its place among the keys."""

    place: int


@dataclass(frozen=True, slots=True)
class Call:
    """An operation on noisy values: + - * / power sqrt abs, comparisons, and, or, not."""

    name: str
    arguments: "tuple[Node, ...]"


Node: TypeAlias = Number | Feature | KeyColumn | Call


@dataclass(frozen=True, slots=True)
class Key:
    """A column that groups: declared values, all of which appear, or private ones."""

    name: str
    kind: str  # "text", "number", "boolean" or "date"
    values: tuple[KeyValue, ...] | None  # None: private, a key must earn its place
    step: Fraction | None = None  # of a number: the engine's integer times this is the key

    @property
    def steps(self) -> list[int]:
        """Declared numbers in whole steps, as an engine returns them.

        >>> Key("decade", "number", (0, 10, 20), Fraction(10)).steps
        [0, 1, 2]
        """
        step, values = self.step or Fraction(1), self.values or ()
        if set(map(type, values)) <= {int}:  # a million of them should not take long
            whole: list[int] = list(values)  # type: ignore[arg-type]
            up, down = step.denominator, step.numerator
            return whole if up == down else [one * up // down for one in whole]
        return [round(Fraction(str(one)) / step) for one in values]


@dataclass(frozen=True, slots=True)
class Block:
    """Integers that are measured together and paid for once."""

    features: tuple[str, ...]
    about: str  # "count, sum and mean of cost"
    mechanism: Laplace | Gaussian  # step 1; its sensitivity is the block's


@dataclass(frozen=True, slots=True)
class Output:
    """One column of the answer."""

    name: str
    about: str  # the aggregate in SQL words: "AVG(cost)"
    node: Node
    low: Fraction | None  # what the true value lies between, as far as is public
    high: Fraction | None
    count: bool  # whether it counts rows or units, so that `nonnegative` may cut it at 0
    margin: float | None  # predicted, at `confidence`; None where it depends on the data
    estimated: bool  # whether the prediction rests on `expected_rows`


@dataclass(frozen=True, slots=True)
class Plan:
    """A question, priced. Equal questions make equal plans."""

    table: str
    unit: str | None  # the column whose every value is one privacy unit; None: a row is one
    neighbors: Neighbors
    max_groups: int
    max_rows: int
    keys: tuple[Key, ...]
    blocks: tuple[Block, ...]
    thresholding: Thresholding | None  # where keys are private
    outputs: tuple[Output, ...]
    having: Node | None
    order: tuple[tuple[Node, bool], ...]  # (what, descending)
    limit: int | None
    other: bool  # whether what is in no released group appears as one more, with keys None
    nonnegative: bool
    confidence: Fraction
    epsilon: Fraction  # what the ledger is charged
    delta: Fraction
    engine_sql: str  # in DuckDB's dialect; an engine may write it in its own
    notes: tuple[str, ...]  # what the reader should know: clipping, splits, refusals avoided

    @property
    def features(self) -> tuple[str, ...]:
        """The engine's integer columns, in order."""
        return tuple(name for block in self.blocks for name in block.features)

    @property
    def loss(self) -> Loss:
        """What the whole release costs: its blocks and the choice of keys, composed."""
        parts: list[Loss] = [block.mechanism.loss for block in self.blocks]
        if self.thresholding is not None:
            parts.append(self.thresholding.loss)
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total
