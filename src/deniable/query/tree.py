"""The engine's SQL: clipped, gridded, contribution-bounded integers, one row a group.

    clean      the columns that are used, cast to their kind and clipped
    said       of the rows that WHERE keeps: the keys k0, k1, ... and the arguments y0, y1, ...
    rows       the arguments in whole steps x0, x1, ..., clipped once more; declared keys only
    held       of each unit in each group: its number of rows, and sums over them
    bounded    the unit's features, scaled down if it has too many rows there
    chosen     of each unit, the groups that a keyed hash picks, if it has too many
    the answer the features added up over each group

With row privacy the three before the last are not needed. A unit within its limits loses
nothing. Scaling and choosing depend on that unit's own rows alone. Sums are integers of 128
bits, so no order of adding matters and, by the row ceiling, none overflows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise
from operator import lt
from typing import TypeAlias

from sqlglot import exp

from deniable.query.blocks import Statistic
from deniable.query.expressions import Call, Column, Expression, Literal, walk
from deniable.query.functions import Sql, case, clip, double
from deniable.query.measure import bin_ends, labels
from deniable.query.plan import Key
from deniable.query.scope import Scope, double_literal

Part: TypeAlias = Callable[[int, Sql], Sql]

_LARGEST_INT = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Grouping:
    """A key of the plan, and the row expression that it groups by."""

    key: Key
    expression: Expression


@dataclass(frozen=True, slots=True)
class Tree:
    """Everything that the engine's SQL is made from."""

    scope: Scope
    where: Expression | None
    groupings: tuple[Grouping, ...]
    statistics: tuple[Statistic, ...]
    max_groups: int
    max_rows: int
    units: bool  # whether the number of units in each group is wanted
    other: bool

    def sql(self) -> exp.Select:
        """The whole query."""
        if self.scope.table.unit is None:
            features = self._features(*_of_rows())
            answer = _from(self._rows(), "rows").select(
                *self._keys(), *self._units(), *features
            )
            return self._grouped(answer)
        held = _from(self._rows(), "rows").select(_column("u"), *self._keys(), *self._sums())
        held = held.group_by(_column("u"), *self._keys())
        bounded = _from(held, "held").select(_column("u"), *self._keys(), *self._bounded())
        if self.groupings and self._may_exceed():
            bounded = self._chosen(bounded)
        totals = [_named(_total(_column(name)), name) for name in self._names()]
        answer = _from(bounded, "bounded").select(*self._keys(), *self._units(), *totals)
        return self._grouped(answer)

    def _grouped(self, answer: exp.Select) -> exp.Select:
        return answer.group_by(*self._keys()) if self.groupings else answer

    def _may_exceed(self) -> bool:
        combinations = 1
        for grouping in self.groupings:
            if grouping.key.values is None:
                return True
            combinations *= len(grouping.key.values) + self.other
        return combinations > self.max_groups

    def _rows(self) -> exp.Select:
        unit = [_column("u")] if self.scope.table.unit is not None else []
        steps = [_named(self._steps(i, one), f"x{i}") for i, one in self._with_argument()]
        rows = _from(self._said(), "said").select(*(unit + self._keys() + steps or [_one()]))
        return rows.where(*self._listed())

    def _said(self) -> exp.Select:
        unit = [_column("u")] if self.scope.table.unit is not None else []
        keys = [_named(self._key_sql(one), f"k{i}") for i, one in enumerate(self.groupings)]
        values = [
            _named(self.scope.sql(one.argument), f"y{i}")
            for i, one in self._with_argument()
            if one.argument is not None
        ]
        said = _from(self._clean(), "clean").select(*(unit + keys + values or [_one()]))
        return said if self.where is None else said.where(self.scope.sql(self.where))

    def _clean(self) -> exp.Select:
        table = self.scope.table
        used = [one.expression for one in self.groupings if self._whole_key(one) is None]
        used += [one.argument for _, one in self._with_argument() if one.argument is not None]
        used += [] if self.where is None else [self.where]
        columns = {
            leaf.name: None for one in used for leaf in walk(one) if isinstance(leaf, Column)
        }
        selected = [_named(self.scope.leaf(name), self.scope.alias(name)) for name in columns]
        flagged = {
            leaf.arguments[0].name: None
            for one in used
            for leaf in walk(one)
            if isinstance(leaf, Call)
            and leaf.name == "outside"
            and isinstance(leaf.arguments[0], Column)
        }
        selected += [
            _named(self.scope.outside(name), f"{self.scope.alias(name)}_out")
            for name in flagged
        ]
        selected += [
            _named(self.scope.whole_leaf(name), f"{self.scope.alias(name)}_key")
            for name in dict.fromkeys(filter(None, map(self._whole_key, self.groupings)))
        ]
        source = exp.to_identifier(table.name, quoted=True)
        if table.unit is None:
            return exp.select(*(selected or [_one()])).from_(source)
        # Rows that belong to nobody count for nothing: who stands behind them is unknown.
        unit = exp.column(table.unit, quoted=True)
        owned = exp.Not(this=exp.Is(this=unit.copy(), expression=exp.null()))
        return exp.select(*selected, _named(unit, "u")).from_(source).where(owned)

    def _whole_key(self, grouping: Grouping) -> str | None:
        """The column, if a key is one of integers: no need to go through doubles."""
        one = grouping.expression
        if isinstance(one, Column) and grouping.key.kind == "number" and grouping.key.step == 1:
            return one.name if self.scope.column(one.name).integer else None
        return None

    def _steps(self, i: int, one: Statistic) -> Sql:
        """An argument in whole steps; a column was clipped to the same limits already."""
        assert one.argument is not None
        value, kind = _column(f"y{i}"), self.scope.facts(one.argument).kind
        if one.kind == "present" or kind not in ("number", "boolean"):
            return value
        if kind == "boolean":
            value = double(value)
        if one.step != 1:
            value = exp.Mul(this=value, expression=double_literal(1 / one.step))
        if not isinstance(one.argument, Column):
            value = clip(value, _number(one.low), _number(one.high))
        wide = max(abs(one.low), abs(one.high), one.width) > _LARGEST_INT
        return exp.cast(value, "bigint" if wide else "int", copy=False)

    def _key_sql(self, grouping: Grouping) -> Sql:
        key, value = grouping.key, self.scope.sql(grouping.expression)
        whole = self._whole_key(grouping)
        if whole is not None:
            value = _column(f"{self.scope.alias(whole)}_key")
        elif key.kind == "number":
            scaled = exp.Mul(
                this=value, expression=double_literal(1 / (key.step or Fraction(1)))
            )
            value = _try_cast(exp.func("ROUND", scaled, copy=False), "bigint")
        elif key.kind == "date":
            value = _try_cast(_try_cast(value, "date"), "text")
        if self.other and key.values is not None:
            return case(self._in(value.copy(), key), value)
        return value

    def _listed(self) -> list[Sql]:
        """Only declared keys make groups, unless the rest is asked for."""
        if self.other:
            return []
        return [
            self._in(_column(f"k{i}"), one.key)
            for i, one in enumerate(self.groupings)
            if one.key.values is not None
        ]

    def _in(self, value: Sql, key: Key) -> Sql:
        assert key.values is not None
        if key.kind == "number":
            ends = key.steps
            if len(ends) > 1 and _unbroken(ends):
                between = exp.Literal.number(ends[0]), exp.Literal.number(ends[-1])
                return exp.Between(this=value, low=between[0], high=between[1])
            return exp.In(this=value, expressions=[exp.Literal.number(one) for one in ends])
        if key.kind == "boolean" and len(key.values) == 2:
            return exp.Not(this=exp.Is(this=value, expression=exp.null()))
        kept = [one if isinstance(one, bool) else str(one) for one in key.values]
        return exp.In(this=value, expressions=[self.scope.sql(Literal(one)) for one in kept])

    def _keys(self) -> list[Sql]:
        return [_column(f"k{i}") for i in range(len(self.groupings))]

    def _units(self) -> list[Sql]:
        return [_named(exp.Count(this=exp.Star()), "units")] if self.units else []

    def _with_argument(self) -> list[tuple[int, Statistic]]:
        return [
            (i, one)
            for i, one in enumerate(self.statistics)
            if one.argument is not None and one.kind != "units"
        ]

    def _names(self) -> list[str]:
        return [name for i, one in enumerate(self.statistics) for name in names(i, one)]

    def _features(self, rows: Sql, present: Part, plus: Part, squares: Part) -> list[Sql]:
        """All features, from the number of rows and the parts of each statistic."""
        features: list[Sql] = []
        for i, one in enumerate(self.statistics):
            above = _above(i, one)
            parts = present(i, above), plus(i, above), squares(i, above)
            found = self._formulas(i, one, rows, *parts)
            features += [_named(f, n) for f, n in zip(found, names(i, one), strict=True)]
        return features

    def _sums(self) -> list[Sql]:
        """What `held` keeps of a unit's rows in a group."""
        kept = [_named(exp.Count(this=exp.Star()), "c")]
        for i, one in enumerate(self.statistics):
            if one.kind == "histogram":
                bins = enumerate(self._bins(i, one))
                kept += [_named(_count_if(test), f"b{i}_{j}") for j, test in bins]
            elif one.argument is not None and one.kind != "units":
                kept.append(_named(exp.Count(this=_column(f"x{i}")), f"n{i}"))
            if one.kind in ("sum", "mean", "moments"):
                kept.append(_named(_total(_above(i, one)), f"t{i}"))
            if one.kind == "moments":
                kept.append(_named(_total(_square(_above(i, one))), f"q{i}"))
        return kept

    def _bounded(self) -> list[Sql]:
        """A unit's features, scaled to `max_rows` where it has more rows than that."""
        features: list[Sql] = []
        for i, one in enumerate(self.statistics):
            if one.kind == "histogram":
                found: list[Sql] = [_column(f"b{i}_{j}") for j in range(len(one.bins))]
            else:
                parts = (_column(f"{letter}{i}") for letter in "ntq")
                found = self._formulas(i, one, _column("c"), *parts)
            if one.kind != "units":
                found = [self._scaled(feature) for feature in found]
            features += [_named(f, n) for f, n in zip(found, names(i, one), strict=True)]
        return features

    def _scaled(self, feature: Sql) -> Sql:
        """feature * max_rows / c, towards zero, where c > max_rows."""
        most = exp.Literal.number(self.max_rows)
        product = exp.Mul(this=_wide(feature.copy()), expression=most.copy())
        share = exp.IntDiv(this=product, expression=_column("c"))
        return case(exp.GT(this=_column("c"), expression=most), share, feature)

    def _formulas(
        self, i: int, one: Statistic, rows: Sql, present: Sql, plus: Sql, squares: Sql
    ) -> list[Sql]:
        """The features from the number of rows, of known arguments, and the sums over them."""
        width = one.width
        if one.kind == "units":
            return [_one() if self.scope.table.unit is not None else rows]
        if one.kind == "count":
            return [rows]
        if one.kind == "histogram":
            return [_count_if(test) for test in self._bins(i, one)]
        if one.kind == "present":
            found = [present]
        elif one.kind == "sum":
            found = [_plus((1, plus), (one.low, present))]
        elif one.kind == "mean":
            found = [_plus((width, present), (-1, plus)), plus]
        else:
            found = [
                _plus((width**2, present), (-2 * width, plus), (1, squares)),
                _plus((2 * width, plus), (-2, squares)),
                squares,
            ]
        if one.unknown:
            found.append(_plus((one.total, rows), (-one.total, present)))
        return found

    def _bins(self, i: int, one: Statistic) -> list[Sql]:
        """For each bin, whether a row falls into it."""
        assert one.argument is not None
        value = _column(f"x{i}")
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

    def _chosen(self, bounded: exp.Select) -> exp.Select:
        """At most `max_groups` groups a unit, those with the least keyed hash."""
        drawn = exp.func("HASH", _column("u"), *self._keys(), exp.Placeholder(this="salt"))
        order = exp.Order(expressions=[exp.Ordered(this=one) for one in (drawn, *self._keys())])
        place = exp.Window(
            this=exp.RowNumber(), partition_by=[_column("u")], order=order, over="OVER"
        )
        ranked = _from(bounded, "ranked").select(exp.Star(), _named(place, "place"))
        kept = exp.LTE(this=_column("place"), expression=exp.Literal.number(self.max_groups))
        return _from(ranked, "chosen").select(exp.Star()).where(kept)


def _unbroken(numbers: list[int]) -> bool:
    """Whether whole numbers follow one another without a gap."""
    span = numbers[-1] - numbers[0] + 1
    return span == len(numbers) and all(map(lt, numbers, islice(numbers, 1, None)))


def names(place: int, statistic: Statistic) -> list[str]:
    """The result columns of a statistic's features."""
    return [f"f{place}_{j}" for j in range(statistic.size)]


def _from(inner: exp.Select, name: str) -> exp.Select:
    return exp.Select().from_(inner.subquery(name))


def _column(name: str) -> Sql:
    return exp.column(name)


def _named(sql: Sql, name: str) -> Sql:
    return exp.alias_(sql, name, copy=False)


def _try_cast(sql: Sql, kind: str) -> Sql:
    return exp.TryCast(this=sql, to=exp.DataType.build(kind), safe=True)


def _wide(sql: Sql) -> Sql:
    return exp.cast(sql, "int128", copy=False)


def _above(i: int, one: Statistic) -> Sql:
    """The argument counted from its lower limit."""
    value = _column(f"x{i}")
    return (
        value if one.low == 0 else exp.paren(exp.Sub(this=value, expression=_number(one.low)))
    )


def _number(value: int) -> Sql:
    return exp.Literal.number(value) if value >= 0 else exp.paren(exp.Literal.number(value))


def _square(value: Sql) -> Sql:
    big = exp.cast(value, "bigint", copy=False)
    return exp.Mul(this=big, expression=big.copy())


def _total(value: Sql) -> Sql:
    return exp.func("COALESCE", exp.Sum(this=value), exp.Literal.number(0), copy=False)


def _of_rows() -> tuple[Sql, Part, Part, Part]:
    """The number of rows, and how the parts of a statistic are added up over rows."""
    return (
        exp.Count(this=exp.Star()),
        lambda i, above: exp.Count(this=_column(f"x{i}")),
        lambda i, above: _total(above),
        lambda i, above: _total(_square(above)),
    )


def _one() -> Sql:
    return exp.Literal.number(1)


def _count_if(test: Sql) -> Sql:
    return exp.Count(this=case(test, exp.Literal.number(1)))


def _plus(*terms: tuple[int, Sql]) -> Sql:
    """A sum of whole multiples, in wide integers."""
    made: Sql | None = None
    for factor, value in terms:
        if factor == 0:
            continue
        part = _wide(value.copy())
        if factor != 1:
            part = exp.Mul(this=_wide(_number(factor)), expression=part)
        made = part if made is None else exp.Add(this=made, expression=part)
    assert made is not None
    return exp.paren(made)
