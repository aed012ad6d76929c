"""The statement that adds up: clipped, gridded, contribution-bounded integers per group.

    rows       the rows to add up (`input_rows`)
    held       of each unit in each group: its number of rows, and sums over them
    bounded    the unit's features, scaled down if it has too many rows there
    chosen     of each unit, the groups that a keyed hash picks, if it has too many
    the answer the features added up over each group

With row privacy, features are added up over the rows directly, without the three in between.
A unit within its limits loses nothing. Scaling and choosing depend only on that unit's own
rows. Sums are integers of 128 bits, so the order of adding does not matter and, by the row
ceiling, none overflows.
"""

from dataclasses import dataclass
from itertools import pairwise

from sqlglot import exp

from deniable.query.language.syntax_tree import Expression, Literal
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import (
    Sql,
    case,
    copies,
    keep_rows,
    keyed_hash,
    named,
    number,
    subquery,
    wide,
)
from deniable.query.statements.column_pairs import products
from deniable.query.statements.input_rows import Grouping, InputRows, key_columns, most_groups
from deniable.query.statements.statistics import OF_VALUES, Statistic, bin_ends, labels


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateStatement:
    """Everything that the statement is made from."""

    scope: Scope
    where: Expression | None
    groupings: tuple[Grouping, ...]
    statistics: tuple[Statistic, ...]
    max_groups_per_unit: int
    max_rows_per_unit_per_group: int
    count_units: bool  # whether the number of units in each group is needed
    other: bool
    level: tuple[int, ...] | None = None  # the places of the keys to add up for; None: all

    def sql(self) -> exp.Select:
        """The whole statement."""
        # If each row is a unit, it does not matter whether its group is left out later.
        late = self.scope.table.unit is None and self.level is None
        inputs = InputRows(
            self.scope, self.where, self.groupings, self.statistics, self.other, late
        )
        rows = inputs.sql()
        keys = key_columns(self.groupings)
        units = [named(exp.Count(this=exp.Star()), "units")] if self.count_units else []
        if self.scope.table.unit is None:
            source, features = subquery(rows, "rows"), self._sums_over_rows()
        else:
            source = subquery(self._bound_contributions(rows, keys), "bounded")
            features = [
                named(_total(exp.column(name)), name)
                for place, statistic in self._listed()
                for name in statistic.feature_names(place)
            ]
        if self.level is not None:
            return self._add_up(source, features)
        answer = source.select(*keys, *units, *features, copy=False)
        if not keys:
            return answer
        answer = answer.group_by(*copies(keys), copy=False)
        return answer.having(*inputs.late_conditions(), copy=False)

    def _add_up(self, source: exp.Select, features: list[Sql]) -> exp.Select:
        """The features of a level's groups. No name may stand for two columns at once, so its
        keys are named apart before they get their numbers in the plan."""
        level = self.level or ()
        named_apart = [f"k{place}" for place in level]
        if level == tuple(range(len(level))):
            keys: list[Sql] = [exp.column(name) for name in named_apart]
            answer = source.select(*copies(keys), *features, copy=False)
            return answer.group_by(*keys, copy=False) if keys else answer
        rows = source.select(
            *(named(exp.column(name), f"p{i}") for i, name in enumerate(named_apart)),
            *(exp.column(name) for name in self._summed()),
            copy=False,
        )
        parts: list[Sql] = [exp.column(f"p{i}") for i in range(len(level))]
        keys = [named(part.copy(), f"k{i}") for i, part in enumerate(parts)]
        answer = subquery(rows, "parts").select(*keys, *features, copy=False)
        return answer.group_by(*parts, copy=False)

    def _summed(self) -> list[str]:
        """The columns that the features are sums over."""
        if self.scope.table.unit is None:
            return [
                f"x{i}" for i, statistic in self._listed() if statistic.argument is not None
            ]
        return [
            n for place, statistic in self._listed() for n in statistic.feature_names(place)
        ]

    def _bound_contributions(self, rows: exp.Select, keys: list[Sql]) -> exp.Select:
        """Each unit's features in its groups, within both contribution bounds."""
        by_unit = [exp.column("u"), *keys]
        held = subquery(rows, "rows").select(
            *copies(by_unit), *self._sums_of_unit(), copy=False
        )
        held = held.group_by(*copies(by_unit), copy=False)
        bounded = subquery(held, "held").select(
            *copies(by_unit), *self._features_of_unit(), copy=False
        )
        most = most_groups(self.groupings, other=self.other)
        if most is None or most > self.max_groups_per_unit:
            return self._limit_groups(bounded, keys)
        return bounded

    def _limit_groups(self, bounded: exp.Select, keys: list[Sql]) -> exp.Select:
        """At most `max_groups_per_unit` groups a unit, those with the least keyed hash."""
        drawn = keyed_hash([*self.scope.identity, *copies(keys)])
        return keep_rows(bounded, [drawn, *copies(keys)], self.max_groups_per_unit)

    def _listed(self) -> list[tuple[int, Statistic]]:
        """The statistics of this statement; distinct values have a statement of their own."""
        listed = enumerate(self.statistics)
        return [(i, statistic) for i, statistic in listed if statistic.kind not in OF_VALUES]

    def _sums_over_rows(self) -> list[Sql]:
        """The features of a group, added up over its rows."""
        features: list[Sql] = []
        for i, statistic in self._listed():
            above = _above(i, statistic)
            rows, present = exp.Count(this=exp.Star()), exp.Count(this=exp.column(f"x{i}"))
            formulas = self._formulas(
                i, statistic, rows, present, _total(above), _total(_square(above))
            )
            features += _name_all(formulas, statistic.feature_names(i))
        return features

    def _sums_of_unit(self) -> list[Sql]:
        """What `held` stores of a unit's rows in a group."""
        sums = [named(exp.Count(this=exp.Star()), "c")]
        for i, statistic in self._listed():
            if statistic.kind == "histogram":
                bins = enumerate(self._bins(i, statistic))
                sums += [named(_count_if(test), f"b{i}_{j}") for j, test in bins]
            elif statistic.kind == "pair":
                parts = enumerate(products(i, statistic))
                sums += [named(_total(part), f"b{i}_{j}") for j, part in parts]
            elif statistic.argument is not None and statistic.kind != "units":
                sums.append(named(exp.Count(this=exp.column(f"x{i}")), f"n{i}"))
            if statistic.kind in ("sum", "mean", "moments"):
                sums.append(named(_total(_above(i, statistic)), f"t{i}"))
            if statistic.kind == "moments":
                sums.append(named(_total(_square(_above(i, statistic))), f"q{i}"))
        return sums

    def _features_of_unit(self) -> list[Sql]:
        """The features of one unit, scaled down if it has more rows than the limit."""
        features: list[Sql] = []
        for i, statistic in self._listed():
            if statistic.kind in ("histogram", "pair"):
                formulas: list[Sql] = [exp.column(f"b{i}_{j}") for j in range(statistic.size)]
            else:
                sums = (exp.column(f"{letter}{i}") for letter in "ntq")
                formulas = self._formulas(i, statistic, exp.column("c"), *sums)
            if statistic.kind != "units":
                formulas = [self._scale_down(feature) for feature in formulas]
            features += _name_all(formulas, statistic.feature_names(i))
        return features

    def _scale_down(self, feature: Sql) -> Sql:
        """feature * limit / c, towards zero, where the number of rows c is above the limit."""
        most = exp.Literal.number(self.max_rows_per_unit_per_group)
        product = exp.Mul(this=wide(feature.copy()), expression=most.copy())
        share = exp.IntDiv(this=product, expression=exp.column("c"))
        return case(exp.GT(this=exp.column("c"), expression=most), share, feature)

    def _formulas(
        self,
        i: int,
        statistic: Statistic,
        rows: Sql,
        present: Sql,
        value_sum: Sql,
        square_sum: Sql,
    ) -> list[Sql]:
        """The features from the number of rows, of known arguments, and the sums over them."""
        width = statistic.width
        if statistic.kind == "units":
            return [number(1) if self.scope.table.unit is not None else rows]
        if statistic.kind == "count":
            return [rows]
        if statistic.kind == "histogram":
            return [_count_if(test) for test in self._bins(i, statistic)]
        if statistic.kind == "pair":
            return [_total(part) for part in products(i, statistic)]
        if statistic.kind == "present":
            features = [present]
        elif statistic.kind == "sum":
            features = [_multiples((1, value_sum), (statistic.low, present))]
        elif statistic.kind == "mean":
            features = [_multiples((width, present), (-1, value_sum)), value_sum]
        else:
            features = [
                _multiples((width**2, present), (-2 * width, value_sum), (1, square_sum)),
                _multiples((2 * width, value_sum), (-2, square_sum)),
                square_sum,
            ]
        if statistic.unknown:
            features.append(_multiples((statistic.total, rows), (-statistic.total, present)))
        return features

    def _bins(self, i: int, statistic: Statistic) -> list[Sql]:
        """For each bin, whether a row falls into it."""
        assert statistic.argument is not None
        value = exp.column(f"x{i}")
        if self.scope.value_range(statistic.argument).kind != "number":
            return [
                exp.EQ(
                    this=value.copy(),
                    expression=number(int(label))  # the argument of a statistic is a number
                    if isinstance(label, bool)
                    else self.scope.sql(Literal(label)),
                )
                for label in labels(statistic.argument, self.scope)
            ]
        ends = bin_ends(statistic.low, statistic.high, len(statistic.bins))
        ends[-1] += 1  # the last bin holds its upper end too
        return [
            exp.and_(
                exp.GTE(this=value.copy(), expression=exp.Literal.number(start)),
                exp.LT(this=value.copy(), expression=exp.Literal.number(end)),
            )
            for start, end in pairwise(ends)
        ]


def _above(i: int, statistic: Statistic) -> Sql:
    """The argument counted from its lower limit."""
    value = exp.column(f"x{i}")
    if statistic.low == 0:
        return value
    return exp.paren(exp.Sub(this=value, expression=number(statistic.low)))


def _name_all(features: list[Sql], names: tuple[str, ...]) -> list[Sql]:
    return [named(feature, name) for feature, name in zip(features, names, strict=True)]


def _square(value: Sql) -> Sql:
    """A value times itself, in 64 bits."""
    big = exp.cast(value, "bigint", copy=False)
    return exp.Mul(this=big, expression=big.copy())


def _total(value: Sql) -> Sql:
    """The sum; 0 if there are no rows."""
    return exp.func("COALESCE", exp.Sum(this=value), exp.Literal.number(0), copy=False)


def _count_if(test: Sql) -> Sql:
    """How many rows pass a test."""
    return exp.Count(this=case(test, exp.Literal.number(1)))


def _multiples(*terms: tuple[int, Sql]) -> Sql:
    """A sum of whole multiples, in wide integers."""
    result: Sql | None = None
    for factor, value in terms:
        if factor == 0:
            continue
        part = wide(value.copy())
        if factor != 1:
            part = exp.Mul(this=wide(number(factor)), expression=part)
        result = part if result is None else exp.Add(this=result, expression=part)
    assert result is not None
    return exp.paren(result)
