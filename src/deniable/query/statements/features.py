"""The features of statistics: over rows, of a unit's rows in a group, and bounded.

With row privacy the features are added up over rows at once. Otherwise `held` keeps, of each
unit in each group, its number of rows and the sums over them, and its features are made from
these and scaled down where it has too many rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from sqlglot import exp

from deniable.query.language.expressions import Literal
from deniable.query.relations.functions import Sql, case
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_terms import (
    column,
    count_if,
    multiples,
    named,
    number,
    square,
    total,
    wide,
)
from deniable.query.statements.column_pairs import products
from deniable.query.statements.measure import bin_ends, labels
from deniable.query.statements.statistics import Statistic

Part: TypeAlias = Callable[[int, Sql], Sql]


@dataclass(frozen=True, slots=True)
class Features:
    """The features of a plan's statistics."""

    scope: Scope
    statistics: tuple[Statistic, ...]
    max_rows_per_unit_per_group: int

    def names(self) -> list[str]:
        """The result columns, in order."""
        return [name for i, one in self._listed() for name in names(i, one)]

    def _listed(self) -> list[tuple[int, Statistic]]:
        """The statistics of this statement; distinct values are counted in their own."""
        return [(i, one) for i, one in enumerate(self.statistics) if one.kind != "distinct"]

    def over_rows(self) -> list[Sql]:
        """The features of a group, added up over its rows."""
        rows, present, plus, squares = _of_rows()
        features: list[Sql] = []
        for i, one in self._listed():
            above = _above(i, one)
            parts = present(i, above), plus(i, above), squares(i, above)
            found = self._formulas(i, one, rows, *parts)
            features += [named(f, n) for f, n in zip(found, names(i, one), strict=True)]
        return features

    def sums(self) -> list[Sql]:
        """What `held` keeps of a unit's rows in a group."""
        kept = [named(exp.Count(this=exp.Star()), "c")]
        for i, one in self._listed():
            if one.kind == "histogram":
                bins = enumerate(self._bins(i, one))
                kept += [named(count_if(test), f"b{i}_{j}") for j, test in bins]
            elif one.kind == "pair":
                parts = enumerate(products(i, one))
                kept += [named(total(part), f"b{i}_{j}") for j, part in parts]
            elif one.argument is not None and one.kind != "units":
                kept.append(named(exp.Count(this=column(f"x{i}")), f"n{i}"))
            if one.kind in ("sum", "mean", "moments"):
                kept.append(named(total(_above(i, one)), f"t{i}"))
            if one.kind == "moments":
                kept.append(named(total(square(_above(i, one))), f"q{i}"))
        return kept

    def bounded(self) -> list[Sql]:
        """The features of one unit, scaled down if it has more rows than the limit."""
        features: list[Sql] = []
        for i, one in self._listed():
            if one.kind in ("histogram", "pair"):
                found: list[Sql] = [column(f"b{i}_{j}") for j in range(one.size)]
            else:
                parts = (column(f"{letter}{i}") for letter in "ntq")
                found = self._formulas(i, one, column("c"), *parts)
            if one.kind != "units":
                found = [self._scaled(feature) for feature in found]
            features += [named(f, n) for f, n in zip(found, names(i, one), strict=True)]
        return features

    def _scaled(self, feature: Sql) -> Sql:
        """feature * limit / c, towards zero, where the number of rows c is above the limit."""
        most = exp.Literal.number(self.max_rows_per_unit_per_group)
        product = exp.Mul(this=wide(feature.copy()), expression=most.copy())
        share = exp.IntDiv(this=product, expression=column("c"))
        return case(exp.GT(this=column("c"), expression=most), share, feature)

    def _formulas(
        self, i: int, one: Statistic, rows: Sql, present: Sql, plus: Sql, squares: Sql
    ) -> list[Sql]:
        """The features from the number of rows, of known arguments, and the sums over them."""
        width = one.width
        if one.kind == "units":
            return [number(1) if self.scope.table.unit is not None else rows]
        if one.kind == "count":
            return [rows]
        if one.kind == "histogram":
            return [count_if(test) for test in self._bins(i, one)]
        if one.kind == "pair":
            return [total(part) for part in products(i, one)]
        if one.kind == "present":
            found = [present]
        elif one.kind == "sum":
            found = [multiples((1, plus), (one.low, present))]
        elif one.kind == "mean":
            found = [multiples((width, present), (-1, plus)), plus]
        else:
            found = [
                multiples((width**2, present), (-2 * width, plus), (1, squares)),
                multiples((2 * width, plus), (-2, squares)),
                squares,
            ]
        if one.unknown:
            found.append(multiples((one.total, rows), (-one.total, present)))
        return found

    def _bins(self, i: int, one: Statistic) -> list[Sql]:
        """For each bin, whether a row falls into it."""
        assert one.argument is not None
        value = column(f"x{i}")
        if self.scope.facts(one.argument).kind != "number":
            listed = labels(one.argument, self.scope)
            return [
                exp.EQ(this=value.copy(), expression=self.scope.sql(Literal(label)))
                for label in listed
            ]
        ends = bin_ends(one.low, one.high, len(one.bins))
        ends[-1] += 1  # the last bin holds its upper end too
        return [
            exp.and_(
                exp.GTE(this=value.copy(), expression=exp.Literal.number(start)),
                exp.LT(this=value.copy(), expression=exp.Literal.number(end)),
            )
            for start, end in pairwise(ends)
        ]


def names(place: int, statistic: Statistic) -> list[str]:
    """The result columns of a statistic's features."""
    return [f"f{place}_{j}" for j in range(statistic.size)]


def _above(i: int, one: Statistic) -> Sql:
    """The argument counted from its lower limit."""
    value = column(f"x{i}")
    return value if one.low == 0 else exp.paren(exp.Sub(this=value, expression=number(one.low)))


def _of_rows() -> tuple[Sql, Part, Part, Part]:
    """The number of rows, and how the parts of a statistic are added up over rows."""
    return (
        exp.Count(this=exp.Star()),
        lambda i, above: exp.Count(this=column(f"x{i}")),
        lambda i, above: total(above),
        lambda i, above: total(square(above)),
    )
