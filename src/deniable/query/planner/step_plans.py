"""Plans for steps of learning: noisy sums of whole numbers of rows, at public places.

A row adds a vector (v0, v1, ...) to each of its places, which are as many as the program has,
and no place twice. So with m rows a unit, it moves the sums by m times the norm of that vector
times the root of the number of places (add-remove). A unit that is replaced moves them by the
root of 2 times that if no two rows' vectors can point against each other, and by up to twice.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

from deniable.exact.rationals import positive, rational
from deniable.mechanisms import Gaussian, Laplace
from deniable.policy import Policy, Table
from deniable.query.language.syntax_tree import Relation
from deniable.query.plan.contribution import Contribution
from deniable.query.plan.plan import Block, Feature, GroupKey, KeyColumn, Output, Plan
from deniable.query.plan.statement_text import StatementText
from deniable.query.planner.marginal_plans import CellColumn, MarginalPlanner
from deniable.query.relations.scope import Scope
from deniable.query.statements.input_rows import Grouping
from deniable.query.statements.row_integers import Range, Ref, RowInteger, Times
from deniable.query.statements.statistics import root_up
from deniable.query.statements.step_statement import StepProgram, StepStatement, sum_name

MOST_SUMS = 2_500  # of one step


class StepPlanner(MarginalPlanner):
    """Plans for the steps of one training. All steps read the same rows of each unit."""

    def __init__(
        self,
        policy: Policy,
        table: Table,
        columns: Sequence[CellColumn],
        *,
        source: Relation | None = None,
    ) -> None:
        """The rows are those of the table, or of a relation `source` that has them once. NaN
        is NULL, as it is in predictions."""
        most = None if source is None else table.max_rows_per_unit_per_group
        options: Any = {"partial": True, "nan_is_null": True}
        super().__init__(policy, table, columns, source=source, most_rows=most, **options)
        parts = zip(self._statement.groupings, columns, strict=True)
        numbered = tuple(_number_cells(*pair, self._statement.scope) for pair in parts)
        self._writer = StepStatement(replace(self._statement, groupings=numbered))

    @cached_property
    def _stored(self) -> StatementText:
        return self._writer.write_stored()

    def contribution(self, program: StepProgram) -> Contribution:
        """What one row adds at each of its places."""
        ranges = program.value_ranges
        square = sum(max(-low, high) ** 2 for low, high in ranges)
        against = 0 if is_gram(program.values) else max(0, -sum(map(_least_product, ranges)))
        return Contribution(
            size=len(ranges),
            total=sum(max(-low, high) for low, high in ranges),
            low=min(low for low, _ in ranges),
            high=max(high for _, high in ranges),
            square=square,
            against=against,
        )

    def sensitivities(self, program: StepProgram) -> tuple[int, int]:
        """L1, and the square of L2, of what one unit moves."""
        rows, places = self.max_rows_per_unit, max(1, len(program.places))
        return self.contribution(program).sensitivities(
            groups=min(rows * places, program.size),
            rows=rows,
            neighbors=self.table.neighbors,
            keyed=bool(program.places),
            most_rows=rows * places,
        )

    def plan_step(
        self,
        program: StepProgram,
        about: str,
        *,
        mu_squared: Fraction | None = None,
        epsilon: Fraction | None = None,
        delta: Fraction,
        confidence: Fraction = Fraction(19, 20),
    ) -> Plan:
        """The plan of one step: Gaussian noise that costs `mu_squared`, or Laplace noise that
        costs `epsilon`."""
        l1, square = self.sensitivities(program)
        mechanism: Laplace | Gaussian
        if epsilon is not None:
            mechanism = Laplace(epsilon=epsilon, sensitivity=max(1, l1))
            price, spare = epsilon, Fraction(0)
        else:
            far = root_up(max(1, square))
            mu = positive(mu_squared or 0, "mu_squared")
            mechanism = Gaussian(variance=far**2 / mu, sensitivity=far)
            price, spare = rational(mechanism.loss.epsilon(delta)), delta
        rows, places = self.max_rows_per_unit, max(1, len(program.places))
        names = tuple(sum_name(i) for i in range(len(program.values)))
        margin = float(mechanism.margin(confidence))
        key = GroupKey("place", "number", tuple(range(program.size)), Fraction(1))
        shown = [Output("place", "place", KeyColumn(0), None, None, False, None, False)]
        sums = [
            Output(name, f"SUM({name})", Feature(name, 0), None, None, False, margin, False)
            for name in names
        ]
        return replace(
            self._empty(confidence),
            max_groups_per_unit=min(rows * places, program.size),
            max_rows_per_unit=rows * places,
            keys=(key,) if program.places else (),
            blocks=(Block(names, about, mechanism, reach=self.contribution(program)),),
            outputs=(*(shown if program.places else ()), *sums),
            epsilon=price,
            delta=spare,
            engine_sql=self._writer.write(program),
            stored=self._stored,
        )


def _number_cells(grouping: Grouping, column: CellColumn, scope: Scope) -> Grouping:
    """The cells of a column by their numbers, where tests tell them."""
    if not column.tests:
        return replace(grouping, total=column.total)
    count = len(column.tests) + column.total
    key = GroupKey(column.key.name, "number", tuple(range(count)), Fraction(1))
    tests = tuple(map(scope.resolve, column.tests))
    return replace(grouping, key=key, total=column.total, tests=tests)


def _least_product(ends: Range) -> int:
    """The least product of two numbers of one range."""
    low, high = ends
    if low < 0 < high:
        return low * high
    return min(low * low, high * high)


def is_gram(values: Sequence[RowInteger]) -> bool:
    """Whether the values are all products of two of some numbers, z z'. The inner product of
    two rows' matrices is then the square of that of their vectors, which is not negative."""
    pairs = [
        tuple(sorted((value.first.name, value.second.name)))
        for value in values
        if isinstance(value, Times)
        and isinstance(value.first, Ref)
        and isinstance(value.second, Ref)
    ]
    names = sorted({name for pair in pairs for name in pair})
    wanted = [
        pair
        for pair in combinations_with_replacement(names, 2)
        for _ in range(1 if pair[0] == pair[1] else 2)
    ]
    return len(pairs) == len(values) and sorted(pairs) == wanted
