"""The Plan: everything about an answer that is decided before a row is read.

A plan holds the integer aggregate as one SQL tree, the noise, the sensitivity, the loss, the
predicted margins and the post-processing. The cost preview, the refusal and the certificate
are readings of this one object, and nothing in it depends on a row.

What an engine does with a plan: it runs each of `statements`, which are in DuckDB's dialect,
and returns integers and keys, nothing else. There are two kinds of statement.

- `groups` (none or one, the first): one row a group with the key columns k0, k1, ..., the
  number of units (`units`, where keys are private) and one integer for each feature, in the
  order of `features`.
- `cells` (any number, each with a name): rows (k0, k1, ..., cell, n): of that group n rows,
  n > 0, fall into the cell of that number. Each (keys, cell) is there at most once, in no
  particular order, and a group or cell without a row is not there at all. An engine may
  count them in another way than by the statement's GROUP BY.

The placeholder `$salt`, where a statement has it, is a secret whole number of the engine's,
the same in all statements: which rows or groups of a unit are kept hangs on it.

Features of one block are paid for together: whatever one unit's rows are, they move the
block's integers by at most `sensitivity` (L1 for Laplace, L2 for Gaussian noise). A choice
(a quantile, a mode) is drawn from the cells of its own statement, once in every group. One
unit's rows are at most `changes` steps for it, all groups together, and its mechanism's loss
is that of one step: so it costs the loss of a group of `changes`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from deniable.mechanisms import Gaussian, Laplace, PermuteAndFlip, Quantiles, Thresholding
from deniable.privacy import Loss
from deniable.privacy.neighbors import Neighbors
from deniable.query.plan.contribution import Contribution

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
class Chosen:
    """A value that a choice released: one of its quantiles, or its most frequent ones."""

    name: str
    choice: int  # which choice pays for it


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A group's own key, by its place among the keys."""

    place: int


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation on noisy values: + - * / power sqrt abs, comparisons, and, or, not."""

    name: str
    arguments: "tuple[Node, ...]"


Node: TypeAlias = Number | Feature | Chosen | KeyColumn | Operation


@dataclass(frozen=True, slots=True)
class GroupKey:
    """A column that groups: declared values, all of which appear, or private ones."""

    name: str
    kind: str  # "text", "number", "boolean" or "date"
    values: tuple[KeyValue, ...] | None  # None: private, a key must earn its place
    step: Fraction | None = None  # of a number: the engine's integer times this is the key


@dataclass(frozen=True, slots=True)
class Block:
    """Integers that are measured together and paid for once."""

    features: tuple[str, ...]
    about: str  # "count, sum and mean of cost"
    mechanism: Laplace | Gaussian  # step 1; its sensitivity is the block's
    sql: str = ""  # a statement of its own, whose cells number the features; else the groups'
    reach: Contribution | None = None  # what one row adds, which the sensitivity follows from


@dataclass(frozen=True, slots=True)
class Choice:
    """Values that are chosen from the cells of one statement, in every group.

    Quantiles are all drawn together; of `labels` the most frequent one is chosen, then the
    most frequent of the others, as many as there are names.
    """

    names: tuple[str, ...]  # of the released values, in order
    about: str  # "quantiles 0.25, 0.5, 0.75 of cost"
    mechanism: Quantiles | PermuteAndFlip
    changes: int  # how many of the mechanism's steps one unit can be, in all groups together
    sql: str
    labels: tuple[KeyValue, ...] | None = None  # what each cell stands for; None: a grid point
    margin: int | None = None  # ranks that a quantile may be off, or rows a value be behind
    rows: int | None = None  # of quantiles: the most rows there may be, which the margin covers

    @property
    def name(self) -> str:
        """What its statement and cells are called."""
        return self.names[0]

    @property
    def cells(self) -> int:
        """How many cells there are, the empty ones too."""
        if isinstance(self.mechanism, Quantiles):
            return self.mechanism.grid.size
        return len(self.labels or ())

    @property
    def rounds(self) -> int:
        """How often the mechanism runs in a group."""
        return 1 if isinstance(self.mechanism, Quantiles) else len(self.names)

    @property
    def loss(self) -> Loss:
        """What it costs in all groups together."""
        return (self.mechanism.loss * self.rounds).group(self.changes)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement that the engine runs: `groups`, or `cells` under a name."""

    kind: str  # "groups" or "cells"
    name: str  # of cells: what they are called in what the engine returns
    sql: str


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
    margin_in: str = ""  # "ranks" or "rows", where the margin is not in the value's own unit
    likely: float | None = None  # then: in its own unit, were `expected_rows` spread evenly


@dataclass(frozen=True, slots=True)
class Plan:
    """A question, priced. Equal questions make equal plans."""

    table: str
    unit: str | None  # the column whose every value is one privacy unit; None: a row is one
    neighbors: Neighbors
    max_groups_per_unit: int
    max_rows_per_unit_per_group: int
    keys: tuple[GroupKey, ...]
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
    engine_sql: str  # the groups' statement, or empty where none is needed
    notes: tuple[str, ...]  # what the reader should know: clipping, splits, refusals avoided
    choices: tuple[Choice, ...] = ()
    part: tuple[tuple[str, KeyValue], ...] = ()  # (column, value): of these rows alone
    beside: tuple[str, ...] = ()  # other private tables that it reads
    public: tuple[str, ...] = ()  # public tables that it reads

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All that the engine runs, in DuckDB's dialect; an engine may write it in its own."""
        groups = [Statement("groups", "", self.engine_sql)] if self.engine_sql else []
        own = [Statement("cells", b.features[0], b.sql) for b in self.blocks if b.sql]
        drawn = [Statement("cells", one.name, one.sql) for one in self.choices]
        return (*groups, *own, *drawn)

    @property
    def tables(self) -> tuple[str, ...]:
        """Every private table that it reads; each of them is charged."""
        return (self.table, *self.beside)

    @property
    def features(self) -> tuple[str, ...]:
        """The integer columns of the groups' statement, in order."""
        return tuple(name for block in self.blocks if not block.sql for name in block.features)

    @property
    def loss(self) -> Loss:
        """What the whole release costs: blocks, choices and the choice of keys, composed."""
        parts: list[Loss] = [block.mechanism.loss for block in self.blocks]
        parts += [choice.loss for choice in self.choices]
        if self.thresholding is not None:
            parts.append(self.thresholding.loss)
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def least_changes(self, choice: Choice) -> int:
        """How many steps of the choice's mechanism one unit can be, at most. A plan that
        counts fewer is refused.

        A unit has m rows in each of g groups. Under "replace" its rows vanish from g groups
        and appear in g others. Without keys there is one group, where a row becomes another.
        """
        keyed, replace = bool(self.keys), self.neighbors == "replace"
        groups, rows = self.max_groups_per_unit, self.max_rows_per_unit_per_group
        if isinstance(choice.mechanism, Quantiles):
            once = replace and not keyed and choice.mechanism.neighbors == "replace"
            return groups * rows * (2 if replace and not once else 1)
        steps = math.ceil(rows / choice.mechanism.sensitivity)
        once = not replace or (not keyed and not choice.mechanism.monotone)
        return groups * steps * (1 if once else 2)
