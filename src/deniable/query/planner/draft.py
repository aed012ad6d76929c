"""A plan in the making: what the caller asks for, and what the planner's steps have decided."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from deniable.exact.rationals import Number, decimal_text
from deniable.mechanisms import Thresholding
from deniable.policy import Table
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import Aggregate, Expression
from deniable.query.plan.plan import (
    Block,
    Choice,
    GroupKey,
    Node,
    Output,
)
from deniable.query.relations.scope import Scope
from deniable.query.statements.cell_statement import CellStatement
from deniable.query.statements.statistics import Statistic

TYPICAL_ROWS = 10_000  # in a group, where the policy does not declare `expected_rows`


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the caller asks of a plan, apart from the question."""

    epsilon: Fraction
    delta: Fraction
    confidence: Fraction
    weights: Mapping[str, Number]
    nonnegative: bool
    other: bool
    nulls: bool
    delta_by_default: bool
    # The keys, by their places, of a level whose groups are sums of the finest ones; None: all.
    level: tuple[int, ...] | None = None
    brackets: bool = True  # whether the ends of quantiles' intervals are drawn
    written: bool = True  # False: noise and cost only, without the engine's SQL


@dataclass(frozen=True, slots=True)
class UnpricedChoice:
    """Values of one argument that are chosen together, before their epsilon is known."""

    argument: Expression
    levels: tuple[Fraction, ...] = ()  # of quantiles; 0 is MIN and 1 is MAX
    low: int = 0
    high: int = 1
    step: Fraction = Fraction(1)
    key: GroupKey | None = None  # of the most frequent values
    most: int = 1  # how many of them
    brackets: bool = False  # whether the ends of intervals are drawn, too

    @property
    def candidates(self) -> int:
        """How many values there are to choose from."""
        return len((self.key and self.key.values) or ()) or self.high - self.low + 1

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """The bounds of the grid."""
        return self.low * self.step, self.high * self.step

    @property
    def about(self) -> str:
        """What is chosen, as `explain` shows it."""
        if self.key is not None:
            several = "value" if self.most == 1 else f"{self.most} values"
            return f"most frequent {several} of {self.argument}, of {self.candidates:,}"
        ends = {Fraction(0): "MIN", Fraction(1): "MAX"}
        levels = ", ".join(ends.get(level, decimal_text(level)) for level in self.levels)
        return f"quantile{'s' * (len(self.levels) > 1)} {levels} of {self.argument}"

    def names(self, place: int) -> tuple[str, ...]:
        """The names of the chosen values, for the choice at this place of a plan."""
        count = len(self.levels) or self.most
        return tuple(f"q{place}_{j}" for j in range(count))

    def level_of(self, aggregate: Aggregate) -> Fraction:
        """The level of a quantile; MIN and MAX are quantiles too."""
        if aggregate.name in ("min", "max"):
            return Fraction(aggregate.name == "max")
        return aggregate.levels[0]


@dataclass(frozen=True, slots=True)
class UnitLimits:
    """How many groups one unit is in, how many rows it has in each, and in all of them."""

    groups: int
    rows: int
    whole: int | None = None  # None: what follows from the other two


@dataclass(slots=True)
class Draft:
    """Each step sets its own fields, and reads those that earlier steps have set.

    Two steps add to what an earlier one has set: `write_statements` gives the blocks of
    distinct counts their SQL, and `predict_margins` gives the outputs their margins.
    """

    request: Request
    question: Question
    scope: Scope
    table: Table
    name_notes: tuple[str, ...] = ()  # where a name does not mean what was written
    # set by find_keys
    keys: tuple[GroupKey, ...] = ()
    key_expressions: tuple[Expression, ...] = ()
    private: bool = False  # whether some key is private, so that groups must be selected
    groups: int = 1  # how many groups one unit can be in
    rows_per_group: float | None = None  # expected by the policy
    limits: UnitLimits | None = None  # what one unit has in the groups that are answered
    # set by collect_aggregates
    aggregates: list[Aggregate] = field(default_factory=list)  # those that are paid for
    free: list[Aggregate] = field(default_factory=list)  # counts that selecting groups yields
    # set by choose_statistics and choose_values
    statistic_of: dict[Aggregate, Statistic] = field(default_factory=dict)
    statistics: tuple[Statistic, ...] = ()  # each once
    choice_of: dict[Aggregate, UnpricedChoice] = field(default_factory=dict)
    unpriced: tuple[UnpricedChoice, ...] = ()  # each once
    # set by build_nodes
    nodes: dict[Aggregate, Node] = field(default_factory=dict)
    # set by split_budget
    blocks: tuple[Block, ...] = ()
    choice_epsilons: tuple[Fraction, ...] = ()
    thresholding: Thresholding | None = None
    delta: Fraction = Fraction(0)
    # set by name_outputs
    outputs: tuple[Output, ...] = ()
    having: Node | None = None
    order: tuple[tuple[Node, bool], ...] = ()
    # set by write_statements
    engine_sql: str = ""
    cells: CellStatement | None = None
    # set by price_choices and write_notes
    choices: tuple[Choice, ...] = ()
    notes: tuple[str, ...] = ()
