"""A question, a policy and a budget into a frozen Plan: a few steps, each its own function.

Nothing here sees a row. What decides is the question, the policy and the caller's budget.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from deniable.errors import InvalidParameter, InvalidQuery
from deniable.exact.rationals import Number, positive, probability, rational
from deniable.policy import Policy, Table
from deniable.policy.suggestions import counted
from deniable.query.language.expressions import (
    Aggregate,
    ColumnRef,
    Expression,
    aggregates,
    plain,
)
from deniable.query.language.question import Question
from deniable.query.plan.plan import (
    Block,
    Feature,
    GroupKey,
    Node,
    Plan,
)
from deniable.query.planner import choices
from deniable.query.planner.choices import UnitShare, picks
from deniable.query.planner.forecast import forecast
from deniable.query.planner.noise import priced
from deniable.query.planner.output_nodes import node_of
from deniable.query.planner.outputs import outputs
from deniable.query.relations.resolve import sourced
from deniable.query.relations.scope import Scope
from deniable.query.statements import group_keys as grouping
from deniable.query.statements.aggregates import AggregateStatement
from deniable.query.statements.cells import CellStatement
from deniable.query.statements.features import names
from deniable.query.statements.measure import ROWS, statistics
from deniable.query.statements.rows import Grouping
from deniable.query.statements.statistics import Measured, Statistic

DELTA_SHARE = Fraction(1, 100)  # of the budget's delta, for a query that names none
UNITS = Feature("units", -1)
_LEAST, _MOST = Fraction(1, 10**30), 10**30  # epsilons; beyond, floats that propose give out
_LONGEST = 8192  # bits of a number that is written down
_WIDEST = 1 << 120
_MOST_GROUPS = 10**7
_LARGEST_NOISE = 1 << 48  # grid steps; samplers serve a little more


@dataclass(frozen=True, slots=True)
class Request:
    """What the caller wants of a plan, beside the question."""

    epsilon: Fraction
    delta: Fraction
    confidence: Fraction
    weights: Mapping[str, Number]
    nonnegative: bool
    other: bool
    delta_by_default: bool
    written: bool = True  # False: priced only, without the engine's SQL


def plan(
    question: Question,
    policy: Policy,
    *,
    epsilon: Number,
    delta: Number | None = None,
    confidence: Number = 0.95,
    weights: Mapping[str, Number] | None = None,
    nonnegative: bool = False,
    other: bool = False,
    written: bool = True,
) -> Plan:
    """The plan for a question, before anything is spent.

    `delta` defaults to a hundredth of the budget's; `weights` ask for some outputs to be more
    accurate than others: twice the weight, half the margin.
    """
    share = policy.delta * DELTA_SHARE if delta is None else rational(delta, "delta")
    if not 0 <= share < 1:
        raise InvalidParameter(f"`delta` must be at least 0 and below 1. Found {delta}.")
    level = probability(confidence, "confidence")
    if not 0 < level < 1:
        raise InvalidParameter(f"`confidence` must lie between 0 and 1. Found {confidence}.")
    price = positive(epsilon, "epsilon")
    if not _LEAST <= price <= _MOST or max(map(_bits, (price, share, level))) > _LONGEST:
        raise InvalidParameter(
            "`epsilon` is out of any useful range, or it, `delta` or `confidence` has "
            "thousands of digits."
        )
    wanted = Request(
        price,
        share,
        level,
        dict(weights or {}),
        nonnegative,
        other and bool(question.keys),  # without groups all rows are in the one there is
        delta is None,
        written,
    )
    try:
        asked, scope = sourced(question, policy)
        return _planned(asked, scope, wanted)
    except RecursionError:
        raise InvalidQuery("The question nests too deeply: split its expressions.") from None


def _bits(x: Fraction) -> int:
    return max(x.numerator.bit_length(), x.denominator.bit_length())


def _planned(question: Question, scope: Scope, wanted: Request) -> Plan:
    table = scope.table
    keys = tuple(grouping.key_of(one, scope) for one in question.keys)
    grouped_by = tuple(one.expression for one in question.keys)
    private = any(key.values is None for key in keys)
    if private and wanted.delta == 0:
        raise InvalidQuery(_no_delta(keys))
    asked = _asked(question, keys, private=private)
    free = _free(asked, table) if private else set()
    _check_groups(keys)
    groups = _groups(keys, table, wanted.other)
    paid = [one for one in asked if one not in free]
    noisy = [one for one in paid if one.name not in choices.QUANTILES | choices.MODES]
    # No grid is so fine that its noise would be too large to draw.
    reach = 2 * groups * table.max_rows_per_unit_per_group * (len(paid) + 1)
    found = statistics(noisy, scope, finest=int(_LARGEST_NOISE * wanted.epsilon / reach))
    measured = tuple(dict.fromkeys(found.values()))
    _check(measured, table, wanted)
    whose = UnitShare(groups, bool(keys), table, _expected(keys, table))
    picked = picks(
        [one for one in paid if one not in noisy],
        scope,
        epsilon=wanted.epsilon / (len(paid) + private or 1),
        unit=whose,
    )
    drawn = tuple(dict.fromkeys(picked.values()))
    nodes = _nodes(found, measured, free)
    nodes |= {one: choices.chosen(one, pick, drawn.index(pick)) for one, pick in picked.items()}
    hard = [choices.difficulty(one, whose, wanted.confidence) for one in drawn]
    price = priced(measured, nodes, question, keys, groups, table, wanted, hard)
    groupings = tuple(Grouping(k, e) for k, e in zip(keys, grouped_by, strict=True))
    limits = groups, table.max_rows_per_unit_per_group
    cells = None
    if wanted.written:
        cells = CellStatement(scope, question.where, groupings, *limits, wanted.other)
    tree = AggregateStatement(
        scope, question.where, groupings, measured, *limits, private, wanted.other
    )
    needed = private or any(one.kind != "distinct" for one in measured)
    made = Plan(
        table=scope.origin.tables[0],
        beside=scope.origin.tables[1:],
        public=scope.origin.public,
        unit=scope.origin.unit,
        neighbors=table.neighbors,
        max_groups_per_unit=groups,
        max_rows_per_unit_per_group=table.max_rows_per_unit_per_group,
        keys=keys,
        blocks=_with_statements(price.blocks, measured, cells),
        thresholding=price.thresholding,
        outputs=outputs(question, found, picked, nodes, grouped_by, scope),
        having=None if question.having is None else node_of(question.having, nodes, grouped_by),
        order=tuple((node_of(one, nodes, grouped_by), down) for one, down in question.order),
        limit=question.limit,
        other=wanted.other,
        nonnegative=wanted.nonnegative,
        confidence=wanted.confidence,
        epsilon=wanted.epsilon,
        delta=price.delta,
        engine_sql=tree.sql().sql(dialect="duckdb") if needed and wanted.written else "",
        notes=(
            *_notes(wanted, price.delta, measured, table),
            *choices.notes(picked),
            *_left_out(scope, keys, groups, paid),
        ),
        choices=tuple(
            choices.made(one, place, share, whose, cells, wanted.confidence)
            for place, (one, share) in enumerate(zip(drawn, price.choices, strict=True))
        ),
    )
    return replace(made, outputs=forecast(made, measured, table))


def _with_statements(
    blocks: tuple[Block, ...], measured: tuple[Statistic, ...], cells: CellStatement | None
) -> tuple[Block, ...]:
    """Distinct values are counted in a statement of their own."""
    return tuple(
        replace(block, sql=cells.of_values(one.argument))
        if cells is not None and one.kind == "distinct" and one.argument is not None
        else block
        for block, one in zip(blocks, measured, strict=True)
    )


def _expected(keys: tuple[GroupKey, ...], table: Table) -> float | None:
    """How many rows a group has, as far as the policy expects any."""
    groups = grouping.combinations(keys)
    if table.expected_rows is None or groups is None:
        return None
    return table.expected_rows / groups


def _asked(question: Question, keys: tuple[GroupKey, ...], *, private: bool) -> list[Aggregate]:
    """Every aggregate of the question, each once."""
    places: list[Expression] = [one.expression for one in question.outputs]
    places += [one for one, _ in question.order]
    if question.having is not None:
        places.append(question.having)
    asked = list(dict.fromkeys(one for place in places for one in aggregates(place)))
    if not asked and not question.keys:
        raise InvalidQuery(
            "The question asks for no aggregate: rows cannot be handed out. Ask for COUNT(*), "
            "SUM, AVG, MEDIAN, VARIANCE, STDDEV or HISTOGRAM."
        )
    if not asked and not private:
        raise InvalidQuery(
            f"The groups of {keys[0].name} are declared, so their names are known, and the "
            "question asks for nothing else. Add an aggregate, such as COUNT(*)."
        )
    return asked


def _free(asked: list[Aggregate], table: Table) -> set[Aggregate]:
    """The counts of units, which the choice of private keys yields at no further cost."""
    units = ROWS if table.unit is None else Aggregate("count_units", ColumnRef(table.unit))
    return {units} & set(asked)


def _nodes(
    found: Mapping[Aggregate, Statistic],
    measured: tuple[Statistic, ...],
    free: set[Aggregate],
) -> dict[Aggregate, Node]:
    blocks = {
        statistic: Measured(
            statistic, tuple(Feature(name, place) for name in names(place, statistic))
        )
        for place, statistic in enumerate(measured)
    }
    return dict.fromkeys(free, UNITS) | {
        one: blocks[statistic].node(one) for one, statistic in found.items()
    }


def _check_groups(keys: tuple[GroupKey, ...]) -> None:
    """All declared groups are answered, whether anybody is in them or not."""
    count = prod(len(key.values) for key in keys if key.values is not None)
    if count > _MOST_GROUPS:
        raise InvalidQuery(
            f"The declared keys make {count:,} groups, and every one of them is answered: at "
            f"most {_MOST_GROUPS:,}. Group by fewer columns, or more coarsely."
        )


def _groups(keys: tuple[GroupKey, ...], table: Table, other: bool) -> int:
    """How many groups one unit can be in."""
    if not keys or table.unit is None:
        return 1
    most = grouping.combinations(keys)
    return (
        table.max_groups_per_unit
        if most is None
        else min(table.max_groups_per_unit, most + other)
    )


def _check(measured: tuple[Statistic, ...], table: Table, wanted: Request) -> None:
    if wanted.other and any(one.kind == "distinct" for one in measured):
        raise InvalidQuery(
            "COUNT(DISTINCT ...) has no `other` group: values of several groups that are not "
            "shown cannot be counted once. Ask without other."
        )
    for one in measured:
        if one.total * table.row_ceiling * table.max_rows_per_unit_per_group >= _WIDEST:
            raise InvalidQuery(
                f"Sums of {one.argument} may exceed 120 bits over {table.row_ceiling:,} rows. "
                "Declare a coarser step, narrower bounds or a lower row_ceiling."
            )


def _notes(
    wanted: Request, delta: Fraction, measured: tuple[Statistic, ...], table: Table
) -> tuple[str, ...]:
    """What a reader of the answer should know."""
    notes = [
        f"{one.argument} is cut to {plain(one.low * one.step)} to {plain(one.high * one.step)} "
        f"and rounded to {plain(one.step)}."
        for one in (*measured, *(one.beside for one in measured if one.beside is not None))
        if one.kind in ("sum", "mean", "moments", "pair")
    ]
    if any(one.kind == "pair" for one in measured):
        notes.append(
            "Correlations, covariances and slopes are computed from noisy means and products "
            "of both columns, where both are known."
        )
    notes += [
        f"COUNT(DISTINCT {one.argument}) counts at most "
        f"{table.max_rows_per_unit_per_group:,} values of one unit in a group."
        for one in measured
        if one.kind == "distinct" and table.unit is not None
    ]
    if delta and wanted.delta_by_default:
        notes.append(f"Delta is {plain(delta)}, a hundredth of the budget's.")
    if wanted.nonnegative:
        notes.append("Negative counts are shown as 0.")
    return tuple(notes)


def _left_out(
    scope: Scope, keys: tuple[GroupKey, ...], groups: int, paid: list[Aggregate]
) -> list[str]:
    """What the limits on one unit may cost, which no margin covers."""
    table, one = scope.table, scope.origin.unit or "row"
    whole = not keys and all(aggregate.name == "count_units" for aggregate in paid)
    if table.unit is None or scope.origin.single or whole:
        return []
    rows = counted(table.max_rows_per_unit_per_group, "row")
    if not keys:
        limit = f"with at most {rows}"
    else:
        limit = f"in at most {counted(groups, 'group')}, with {rows} in each"
    return [f"One {one} counts {limit}: margins do not cover what is left out."]


def _no_delta(keys: tuple[GroupKey, ...]) -> str:
    name = next(key.name for key in keys if key.values is None)
    return (
        f"The groups of {name} are not declared, so their very names are private, and showing "
        f'them takes a delta above 0.\n  Declare them, for example   {name} = {{ keys = ["A", '
        f'"B"] }},   or give the budget a delta, such as 1e-6.'
    )
