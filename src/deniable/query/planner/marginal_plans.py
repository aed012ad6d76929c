"""Plans that measure marginals: the counts of all combinations of some columns' cells.

A cell is a value that an expression gives each row; the expressions and the lists of cells are
public. So every combination is declared, and is answered even if it has no rows. A unit has at
most m rows in all marginals alike, and they may all be in one cell. So it moves a marginal by m
(add-remove) or by m times the root of 2 (replace), in L2.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import prod

from deniable.exact.rationals import positive, rational
from deniable.mechanisms import Exponential, Gaussian, Laplace
from deniable.policy import Policy, Table
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import Expression, Named, Relation
from deniable.query.plan.contribution import Contribution
from deniable.query.plan.plan import (
    Block,
    Distances,
    Feature,
    GroupKey,
    KeyColumn,
    Output,
    Plan,
    TableDistance,
    Told,
)
from deniable.query.plan.quoting import quote_name
from deniable.query.plan.statement_text import StatementText
from deniable.query.relations.resolve import resolve_question
from deniable.query.statements.input_rows import Grouping
from deniable.query.statements.marginal_statement import COUNT, MarginalStatement, Merged
from deniable.query.statements.statistics import COUNT_ROWS, root_up

_ROW = Contribution(size=1, total=1, low=0, high=1)


@dataclass(frozen=True, slots=True)
class CellColumn:
    """The cells of one column, and the expression that gives each row its cell. It is NULL for
    a row without one."""

    key: GroupKey
    expression: Expression
    total: bool = False  # whether it gives every row one of the cells
    # The first of these that holds gives a row its cell; with `total`, the last cell is that of
    # rows where none holds. Empty: only the expression says it.
    tests: tuple[Expression, ...] = ()


class MarginalPlanner:
    """Plans for the marginals of one table."""

    def __init__(
        self,
        policy: Policy,
        table: Table,
        columns: Sequence[CellColumn],
        *,
        partial: bool = False,
        source: str | Relation | None = None,
        most_rows: int | None = None,
        nan_is_null: bool = False,
    ) -> None:
        """The rows are those of the table, or of a relation `source` of tables of its unit;
        then at most `most_rows` of a unit count."""
        rows, count = source or table.name, Named(COUNT, COUNT_ROWS)
        question = Question(rows, None, (), (count,), nan_is_null=nan_is_null)
        _, scope = resolve_question(question, policy)
        self.table, self.columns, self._origin = scope.table, tuple(columns), scope.origin
        self._keys = tuple(column.key for column in columns)
        expressions = [scope.resolve(column.expression) for column in columns]
        pairs = zip(self._keys, expressions, strict=True)
        groupings = tuple(Grouping(key, value, in_plan=False) for key, value in pairs)
        limit = most_rows or scope.table.max_rows_per_unit_per_group
        self._statement = MarginalStatement(scope, groupings, limit, partial)

    @property
    def max_rows_per_unit(self) -> int:
        """How many rows of one unit count."""
        return self._statement.max_rows_per_unit

    @property
    def sensitivity(self) -> Fraction:
        """How far one unit moves any one marginal, in L2; rounded up."""
        rows, neighbors = self.max_rows_per_unit, self.table.neighbors
        _, square = _ROW.sensitivities(
            groups=rows, rows=rows, neighbors=neighbors, keyed=True, most_rows=rows
        )
        return root_up(square)

    def _noise(self, mu_squared: Fraction) -> Gaussian:
        """Noise that costs this much for one marginal."""
        sensitivity = self.sensitivity
        variance = sensitivity**2 / positive(mu_squared, "mu_squared")
        return Gaussian(variance=variance, sensitivity=sensitivity)

    def plan(
        self,
        places: tuple[int, ...],
        *,
        mu_squared: Fraction,
        delta: Fraction,
        confidence: Fraction,
        merged: Merged | None = None,
    ) -> Plan:
        """The plan that measures the marginal of the columns at these places, with Gaussian
        noise that costs `mu_squared`. Its price is the epsilon that this has at `delta`.
        `merged` gives the cells of some columns other numbers, from 0: those are counted, over
        the same rows."""
        mechanism = self._noise(mu_squared)
        counted = self._plan_counts(places, mechanism, confidence, merged or {})
        return replace(counted, epsilon=_price(mechanism, delta), delta=delta)

    def plan_pure(
        self, places: tuple[int, ...], *, epsilon: Fraction, confidence: Fraction
    ) -> Plan:
        """The plan that measures a marginal with Laplace noise, at this price and no delta. A
        unit moves it by as many rows as count, in L1; by twice as many if it is replaced."""
        rows, neighbors = self.max_rows_per_unit, self.table.neighbors
        total, _ = _ROW.sensitivities(
            groups=rows, rows=rows, neighbors=neighbors, keyed=True, most_rows=rows
        )
        mechanism = Laplace(epsilon=epsilon, sensitivity=total)
        return replace(self._plan_counts(places, mechanism, confidence, {}), epsilon=epsilon)

    def _plan_counts(
        self,
        places: tuple[int, ...],
        mechanism: Gaussian | Laplace,
        confidence: Fraction,
        new: Merged,
    ) -> Plan:
        """The plan that measures a marginal with this noise, without its price."""
        keys = tuple(_merged_key(self._keys[place], new.get(place)) for place in places)
        names = ", ".join(key.name for key in keys)
        about = f"rows by {names}" if keys else "rows"
        shown = tuple(_shown(key, place) for place, key in enumerate(keys))
        margin, node = float(mechanism.margin(confidence)), Feature(COUNT, 0)
        count = Output(COUNT, "COUNT(*)", node, None, None, True, margin, estimated=False)
        return replace(
            self._empty(confidence),
            max_groups_per_unit=min(
                self.max_rows_per_unit, prod(len(key.values or ()) for key in keys)
            ),
            keys=keys,
            blocks=(Block((COUNT,), about, mechanism, reach=_ROW),),
            outputs=(*shown, count),
            engine_sql=self._statement.count(places, new),
        )

    def plan_choice(
        self,
        tables: Sequence[TableDistance],
        *,
        scale: int,
        epsilon: Fraction,
        confidence: Fraction,
    ) -> Plan:
        """The plan that chooses tables whose counts lie far from their models: as many as a
        tree over their `ends` has edges. Each choice costs `epsilon` in the exponential
        mechanism."""
        ends = {end for table in tables for end in table.ends}
        names = tuple(f"edge {i}" for i in range(len(ends) - 1))
        chosen = self._distances(
            names, "tables to measure", tables, scale, Exponential(epsilon=1)
        )
        far = root_up(int(chosen.reach(self.max_rows_per_unit, self.table.neighbors)))
        chosen = replace(chosen, mechanism=Exponential(epsilon=epsilon, sensitivity=far))
        return replace(
            self._empty(confidence),
            outputs=tuple(map(_told, names)),
            epsilon=epsilon * len(names),
            distances=chosen,
        )

    def plan_distances(
        self,
        tables: Sequence[TableDistance],
        *,
        scale: int,
        mu_squared: Fraction,
        delta: Fraction,
        confidence: Fraction,
    ) -> Plan:
        """The plan that measures how far tables of counts lie from their models, with Gaussian
        noise that costs `mu_squared` for all of them together."""
        names = tuple(f"distance {i}" for i in range(len(tables)))
        measured = self._distances(
            names, "errors of tables", tables, scale, Gaussian(variance=1)
        )
        far = root_up(int(measured.reach(self.max_rows_per_unit, self.table.neighbors)))
        noise = Gaussian(variance=far**2 / mu_squared, sensitivity=far)
        return replace(
            self._empty(confidence),
            outputs=tuple(map(_told, names)),
            epsilon=_price(noise, delta),
            delta=delta,
            distances=replace(measured, mechanism=noise),
        )

    def distance(
        self,
        columns: tuple[int, ...],
        model: Sequence[int],
        *,
        ends: tuple[int, int] = (0, 0),
        places: Sequence[int] = (),
        weight: int = 1,
        bias: int = 0,
    ) -> TableDistance:
        """The distance of the marginal of some columns from a model."""
        about = ", ".join(_plain_name(self._keys[place].name) for place in columns)
        return TableDistance(
            about, columns, tuple(model), ends, tuple(places), weight=weight, bias=bias
        )

    def _distances(
        self,
        names: tuple[str, ...],
        about: str,
        tables: Sequence[TableDistance],
        scale: int,
        mechanism: Exponential | Gaussian,
    ) -> Distances:
        sizes = tuple(len(key.values or ()) for key in self._keys)
        return Distances(names, about, tuple(tables), scale, mechanism, self._joint, sizes)

    @cached_property
    def _joint(self) -> StatementText:
        return self._statement.count_joint()

    def count_cells(self, places: tuple[int, ...]) -> int:
        """How many cells a marginal has."""
        return prod(len(self._keys[place].values or ()) for place in places)

    def _empty(self, confidence: Fraction) -> Plan:
        """A plan about the rows that are counted, without anything that is released."""
        rows = self.max_rows_per_unit
        return Plan(
            table=self._origin.tables[0],
            beside=self._origin.tables[1:],
            public=self._origin.public,
            unit=self._origin.unit,
            neighbors=self.table.neighbors,
            max_groups_per_unit=1,
            max_rows_per_unit_per_group=rows,
            max_rows_per_unit=rows,
            keys=(),
            blocks=(),
            thresholding=None,
            outputs=(),
            having=None,
            order=(),
            limit=None,
            other=False,
            nonnegative=False,
            confidence=confidence,
            epsilon=Fraction(0),
            delta=Fraction(0),
            engine_sql="",
            notes=(),
        )


@lru_cache(maxsize=256)
def _price(noise: Gaussian, delta: Fraction) -> Fraction:
    """The epsilon of this noise at delta; many tables of a copy have the same."""
    return rational(noise.loss.epsilon(delta))


def _merged_key(key: GroupKey, numbers: Sequence[int] | None) -> GroupKey:
    if numbers is None:
        return key
    return GroupKey(key.name, "number", tuple(range(max(numbers) + 1)), Fraction(1))


def _told(name: str) -> Output:
    return Output(name, name, Told(name), None, None, False, None, False)


def _shown(key: GroupKey, place: int) -> Output:
    return Output(key.name, key.name, KeyColumn(place), None, None, False, None, False)


def _plain_name(name: str) -> str:
    """The name of a column, in quotes if it could be taken for several of them."""
    return name if name.isidentifier() else quote_name(name)
