"""The Plan: everything about an answer that is decided before a row is read.

A plan holds the integer aggregate as one SQL tree, the noise, the sensitivity, the loss, the
predicted margins and the post-processing. The cost preview, the refusal and the certificate
are all derived from this one object, and nothing in it depends on a row.

An engine runs each of a plan's `statements` and returns only integers and keys. Each is a tree
and its text in DuckDB's dialect (`StatementText`). There are these kinds
of statement.

- `groups` (at most one, and it comes first): one row per group, with the key columns k0, k1,
  ..., the number of units (`units`, if keys are private) and one integer for each feature, in
  the order of `features`.
- `cells` (any number, each with a name): rows (k0, k1, ..., cell, n). They say that n rows of
  that group fall into that cell, with n > 0. Each (keys, cell) occurs at most once, in any
  order. A group or cell without rows does not occur. An engine may count them in another way
  than by the statement's GROUP BY.
- `stored` (at most one, and it comes last): the rows of the relation `(stored rows)`, which the
  others may read. It returns nothing. An engine may keep these rows for later plans with the
  same text, or compute them wherever they are read.

The placeholder `$salt` in a statement is a secret integer of the engine, the same in all
statements. It decides which rows or groups of a unit are kept.

The features of one block are paid for together: the rows of one unit change the block's
integers by at most `sensitivity` (L1 for Laplace, L2 for Gaussian noise). A choice (a quantile,
a mode) is drawn from the cells of its own statement, once in every group. The rows of one unit
are at most `changes` steps for it, in all groups together. The mechanism's loss is that of one
step, so the choice costs the loss of a group of `changes`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, cast

from deniable.mechanisms import (
    Exponential,
    Gaussian,
    Laplace,
    PermuteAndFlip,
    QuantileIntervals,
    Quantiles,
    Thresholding,
)
from deniable.privacy import Loss
from deniable.privacy.neighbors import Neighbors
from deniable.public_methods import implementation
from deniable.query.plan.contribution import Contribution

KeyValue: TypeAlias = str | int | float | bool
STORED = "(stored rows)"  # the name of that relation; no table of a policy has such a name


@dataclass(frozen=True, slots=True)
class Number:
    """A constant of the post-processing."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Constant:
    """A text, a truth value or NULL of the post-processing."""

    value: str | bool | None


@dataclass(frozen=True, slots=True)
class Feature:
    """A noisy integer: the sum over a group's rows of something between `low` and `high`."""

    name: str  # the engine's result column
    block: int  # the index of the block that pays for it


@dataclass(frozen=True, slots=True)
class Chosen:
    """A value that a choice released: one of its quantiles, or its most frequent ones."""

    name: str
    choice: int  # the index of the choice that pays for it


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A key of the group, by its position among the keys."""

    place: int


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation on noisy values: + - * / power sqrt abs, comparisons, and, or, not."""

    name: str
    arguments: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Told:
    """What the plan's distances release under a name: a noisy distance, or a chosen table."""

    name: str


Node: TypeAlias = Number | Constant | Feature | Chosen | KeyColumn | Operation | Told


def walk(node: Node) -> Iterator[Node]:
    """A node and all nodes below it, each before those below it, from left to right.

    >>> [type(inner).__name__ for inner in walk(Operation("sqrt", (KeyColumn(0),)))]
    ['Operation', 'KeyColumn']
    """
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        yield inner
        if isinstance(inner, Operation):
            waiting += reversed(inner.arguments)


@dataclass(frozen=True, slots=True)
class GroupKey:
    """A column to group by: its declared values, which all appear, or private ones."""

    name: str
    kind: str  # "text", "number", "boolean", "date" or "moment" (whole seconds since 1970)
    # None: private, shown if enough units have the key. A last value None is the group of NULL.
    values: tuple[KeyValue | None, ...] | None
    step: Fraction | None = None  # for numbers: the key is the engine's integer times this

    @property
    def nulls(self) -> bool:
        """Whether NULL is one of the declared values.

        >>> GroupKey("ward", "text", ("A", None)).nulls, GroupKey("ward", "text", None).nulls
        (True, False)
        """
        return self.values is not None and self.values[-1:] == (None,)

    @property
    def known(self) -> tuple[KeyValue, ...]:
        """The declared values without NULL; none if they are private."""
        listed = self.values or ()
        return cast(tuple[KeyValue, ...], listed[:-1] if self.nulls else listed)


@dataclass(frozen=True, slots=True)
class Block:
    """Integers that are measured together and paid for once."""

    features: tuple[str, ...]
    about: str  # "count, sum and mean of cost"
    mechanism: Laplace | Gaussian  # step 1; its sensitivity is the block's
    sql: str = ""  # its own statement, with one cell per feature; empty: the groups' statement
    reach: Contribution | None = None  # what one row adds; it gives the sensitivity


@dataclass(frozen=True, slots=True)
class Choice:
    """Values that are chosen from the cells of one statement, in every group.

    Quantiles are all drawn together. From `labels` the most frequent one is chosen, then the
    most frequent of the rest, until there is one for each name.
    """

    names: tuple[str, ...]  # names of the released values, in order
    about: str  # "quantiles 0.25, 0.5, 0.75 of cost"
    mechanism: Quantiles | QuantileIntervals | PermuteAndFlip
    changes: int  # the most steps of the mechanism that one unit can be, in all groups together
    sql: str
    labels: tuple[KeyValue, ...] | None = None  # the value of each cell; None: grid points
    # How many ranks a quantile, or rows a frequent value, may be off; or intervals' reach.
    margin: int | None = None
    rows: int | None = None  # for `Quantiles`: the margin holds for up to this many rows

    @property
    def name(self) -> str:
        """The name of its statement and cells."""
        return self.names[0]

    @property
    def cells(self) -> int:
        """The number of cells, including empty ones."""
        if isinstance(self.mechanism, PermuteAndFlip):
            return len(self.labels or ())
        return self.mechanism.grid.size

    @property
    def rounds(self) -> int:
        """How many times the mechanism runs in each group."""
        return len(self.names) if isinstance(self.mechanism, PermuteAndFlip) else 1

    @property
    def loss(self) -> Loss:
        """The loss in all groups together."""
        return (self.mechanism.loss * self.rounds).group(self.changes)


@dataclass(frozen=True, slots=True)
class TableDistance:
    """How far a table of counts lies from public integers: the sum over the model's cells of
    |scale * count - model|, times a weight, less a bias. A cell of the model may stand for
    several counted cells; the cells of the table's last column vary fastest."""

    about: str  # "ward, age"
    columns: tuple[int, ...]  # the table's columns, by their places in the statement
    model: tuple[int, ...]
    ends: tuple[int, int] = (0, 0)  # of a table that may be chosen: the columns that it joins
    places: tuple[int, ...] = ()  # the model's cell of each counted cell; empty: the same cell
    weight: int = 1
    bias: int = 0


@dataclass(frozen=True, slots=True)
class Distances:
    """Distances of several tables of counts from public integers. One statement counts the rows
    of each combination of all columns' cells, c0, c1, ...; every table is added up from it.

    Gaussian noise: all of them are released; one unit moves the whole vector by at most the
    mechanism's sensitivity (L2). Exponential mechanism: tables with large distances are chosen,
    one for each name, each among those that join columns which the chosen ones do not connect;
    one unit moves any one distance by at most the mechanism's sensitivity.
    """

    names: tuple[str, ...]  # of what is released
    about: str
    tables: tuple[TableDistance, ...]
    scale: int
    mechanism: Exponential | Gaussian
    sql: str
    sizes: tuple[int, ...]  # the number of cells of each column of the statement

    @property
    def loss(self) -> Loss:
        """The loss of all that is released."""
        once: Loss = self.mechanism.loss
        return once if isinstance(self.mechanism, Gaussian) else once * len(self.names)

    def reach(self, rows: int, neighbors: Neighbors) -> Fraction:
        """The square of how far a unit of that many rows moves one distance, or all of them."""
        step = self.scale * rows * (1 if neighbors == "add-remove" else 2)
        weights = [table.weight**2 for table in self.tables]
        many = sum(weights) if isinstance(self.mechanism, Gaussian) else max(weights)
        return Fraction(step**2 * many)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement that the engine runs: `groups`, `cells` under a name, `joint` cells, or
    what rows are `stored`."""

    kind: str  # "groups", "cells", "joint" or "stored"
    name: str  # the name of cells in the engine's result
    sql: str


@dataclass(frozen=True, slots=True)
class Output:
    """One column of the answer."""

    name: str
    about: str  # the aggregate in SQL: "AVG(cost)"
    node: Node
    low: Fraction | None  # public bounds of the true value; None: not known
    high: Fraction | None
    count: bool  # whether it counts rows or units, so that `nonnegative` may clip it at 0
    margin: float | None  # predicted, at `confidence`; None if it depends on the data
    estimated: bool  # whether the prediction uses `expected_rows`
    margin_in: str = ""  # "ranks" or "rows", if the margin is not in the value's own unit
    likely: float | None = None  # then: in its own unit, if `expected_rows` are spread evenly
    kind: str = "number"  # others ("text", "boolean", "date") have no margin


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question is answered, and what it costs. Equal questions make equal plans."""

    table: str
    unit: str | None  # the column that identifies the privacy unit; None: each row is a unit
    neighbors: Neighbors
    max_groups_per_unit: int
    max_rows_per_unit_per_group: int
    keys: tuple[GroupKey, ...]
    blocks: tuple[Block, ...]
    thresholding: Thresholding | None  # None: all keys are declared
    outputs: tuple[Output, ...]
    having: Node | None
    order: tuple[tuple[Node, bool], ...]  # (by what, whether descending)
    limit: int | None
    other: bool  # whether the rows of no released group appear as one more, with keys None
    nonnegative: bool
    confidence: Fraction
    epsilon: Fraction  # the charge to the ledger
    delta: Fraction
    engine_sql: str  # the groups' statement; empty if none is needed
    notes: tuple[str, ...]  # what the reader should know about clipping, splits and so on
    choices: tuple[Choice, ...] = ()
    part: tuple[tuple[str, KeyValue], ...] = ()  # (column, value): only these rows are read
    beside: tuple[str, ...] = ()  # other private tables that it reads
    public: tuple[str, ...] = ()  # public tables that it reads
    distances: Distances | None = None
    max_rows_per_unit: int | None = None  # in all groups together; None: see the two limits
    stored: str = ""  # the statement of the relation `(stored rows)`; empty without one

    def _repr_html_(self) -> str:
        return str(implementation("Plan.explain")(self)._repr_html_())

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements for the engine, in DuckDB's dialect; an engine may translate them."""
        groups = [Statement("groups", "", self.engine_sql)] if self.engine_sql else []
        own = [Statement("cells", b.features[0], b.sql) for b in self.blocks if b.sql]
        drawn = [Statement("cells", choice.name, choice.sql) for choice in self.choices]
        joint = () if self.distances is None else (self.distances.sql,)
        far = [Statement("joint", "cells of all columns", sql) for sql in joint]
        stored = [Statement("stored", STORED, self.stored)] if self.stored else []
        return (*groups, *own, *drawn, *far, *stored)

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
        """The loss of the whole release: blocks, choices and selection of keys, composed."""
        parts: list[Loss] = [block.mechanism.loss for block in self.blocks]
        parts += [choice.loss for choice in self.choices]
        if self.thresholding is not None:
            parts.append(self.thresholding.loss)
        if self.distances is not None:
            parts.append(self.distances.loss)
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
        if not isinstance(choice.mechanism, PermuteAndFlip):
            once = replace and not keyed and choice.mechanism.neighbors == "replace"
            return groups * rows * (2 if replace and not once else 1)
        steps = math.ceil(rows / choice.mechanism.sensitivity)
        once = not replace or (not keyed and not choice.mechanism.monotone)
        return groups * steps * (1 if once else 2)
