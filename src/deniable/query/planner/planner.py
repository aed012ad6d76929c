"""The planner: a question, a policy and a budget become a frozen Plan, in the order of STEPS.

No step reads a row. A plan depends only on the question, the policy and the caller's request.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import prod

from deniable.errors import InvalidParameter, InvalidQuery
from deniable.exact.rationals import Number, positive, probability, rational
from deniable.policy import Policy
from deniable.query.language.expressions import aggregates_in
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import Aggregate, Call, ColumnRef, Expression
from deniable.query.plan.key_list import is_beside
from deniable.query.plan.plan import GroupKey, Plan
from deniable.query.plan.quoting import quote_name
from deniable.query.plan.statement_text import StatementText, levels_of
from deniable.query.planner.aggregate_nodes import build_nodes
from deniable.query.planner.choices import MODES, QUANTILES, choose_values, price_choices
from deniable.query.planner.draft import Draft, Request
from deniable.query.planner.levels import groupings_of, level_columns, level_limits
from deniable.query.planner.noise import split_budget
from deniable.query.planner.notes import note_names, write_notes
from deniable.query.planner.outputs import name_outputs, predict_margins
from deniable.query.relations.kind_checks import declare
from deniable.query.relations.resolve import resolve_question
from deniable.query.statements.aggregate_statement import AggregateStatement
from deniable.query.statements.cell_statement import CellStatement
from deniable.query.statements.group_keys import MOST_LISTED, key_of
from deniable.query.statements.statistics import COUNT_ROWS, OF_VALUES, statistics_for

DELTA_SHARE = Fraction(1, 100)  # of the budget's delta, for a question that names none
_LEAST_EPSILON, _MOST_EPSILON = Fraction(1, 10**30), 10**30  # floats propose in between
_MOST_BITS = 8192  # of a number that is written down
_WIDEST_SUM = 1 << 120
_MOST_GROUPS = 10**7
_MOST_LISTED = 20  # declared keys in a message
NO_AGGREGATE = "The question asks for no aggregate"
_MOST_LEVELS = 32  # of brackets and CASE in a statement: parsers recurse, and a stack is finite
_LARGEST_NOISE = 1 << 48  # grid steps; samplers serve a little more


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
    nulls: bool = False,
    brackets: bool = True,
    written: bool = True,
    level: tuple[int, ...] | None = None,
) -> Plan:
    """The plan for a question, before anything is spent.

    `delta` defaults to a hundredth of the budget's. `weights` ask for some outputs to be more
    accurate than others: twice the weight, half the margin. `brackets` are for quantiles.
    `nulls` makes NULL one more declared value of each key. `level` names keys by their places:
    the groups are those of these keys, and hold the rows that the finest groups hold.
    """
    share = policy.delta * DELTA_SHARE if delta is None else rational(delta, "delta")
    if not 0 <= share < 1:
        raise InvalidParameter(f"`delta` must be at least 0 and below 1. Found {delta}.")
    price, sure = positive(epsilon, "epsilon"), _level(confidence)
    check_sizes(price, share, sure)
    request = Request(
        epsilon=price,
        delta=share,
        confidence=sure,
        weights=dict(weights or {}),
        nonnegative=nonnegative,
        # Without groups all rows are in the only one, so there is no `other` group.
        other=other and bool(question.keys),
        nulls=nulls,
        brackets=brackets,
        delta_by_default=delta is None,
        written=written,
        level=level,
    )
    return _run_steps(request, question, policy)


def _run_steps(request: Request, question: Question, policy: Policy) -> Plan:
    """The plan. A question that nests too deeply is refused."""
    try:
        resolved, scope = resolve_question(question, policy)
        names = note_names(question, resolved, policy)
        draft = Draft(request, resolved, scope, scope.table, names)
        for step in STEPS:
            step(draft)
        plan = freeze(draft)
        if all(levels_of(statement.sql) <= _MOST_LEVELS for statement in plan.statements):
            return plan
    except RecursionError:
        pass
    raise InvalidQuery("The question nests too deeply: split its expressions.")


def _level(confidence: Number) -> Fraction:
    level = probability(confidence, "confidence")
    if not 0 < level < 1:
        raise InvalidParameter(f"`confidence` must lie between 0 and 1. Found {confidence}.")
    return level


def check_sizes(epsilon: Fraction, *others: Fraction) -> None:
    """Refuses a price that no noise could be drawn for, and numbers of very many digits."""
    digits = _bits(epsilon, *others)
    if not _LEAST_EPSILON <= epsilon <= _MOST_EPSILON or digits > _MOST_BITS:
        raise InvalidParameter(
            "`epsilon` is out of any useful range, 1e-30 to 1e30, or it, `delta` or "
            "`confidence` has thousands of digits."
        )


def _bits(*numbers: Fraction) -> int:
    return max(max(x.numerator.bit_length(), x.denominator.bit_length()) for x in numbers)


def find_keys(draft: Draft) -> None:
    """The keys that the question groups by, and how many groups one unit can be in."""
    keys = tuple(key_of(named, draft.scope) for named in draft.question.keys)
    if draft.request.nulls:
        keys = _add_nulls(draft, keys)
    draft.keys = keys
    draft.key_expressions = tuple(named.expression for named in draft.question.keys)
    draft.private = any(key.values is None for key in keys)
    _refuse_units(draft)
    if draft.private and draft.request.delta == 0:
        raise InvalidQuery(_no_delta(draft))
    # Every declared group is answered, even an empty one.
    declared = prod(len(key.values) for key in keys if key.values is not None)
    if declared > _MOST_GROUPS:
        raise InvalidQuery(
            f"The declared keys make {declared:,} groups, and every one of them is answered: "
            f"at most {_MOST_GROUPS:,}. Group by fewer columns, or more coarsely."
        )
    table = draft.table
    if not draft.private and table.expected_rows is not None:
        draft.rows_per_group = table.expected_rows / declared
    if keys and table.unit is not None:
        draft.groups = table.max_groups_per_unit
        if not draft.private:
            draft.groups = min(draft.groups, declared + draft.request.other)
    draft.limits = level_limits(draft)


def _add_nulls(draft: Draft, keys: tuple[GroupKey, ...]) -> tuple[GroupKey, ...]:
    """The keys with NULL as their last declared value. Of private keys it may be one anyway."""
    if draft.request.other:
        raise InvalidQuery(
            "The group of `other` rows holds those without a key, too. Ask for one of `other` "
            "and `nulls`."
        )
    if any(len(key.known) > MOST_LISTED and is_beside(key) for key in keys):
        raise InvalidQuery(
            f"`nulls` is for at most {MOST_LISTED:,} declared keys. Ask about the rows without "
            "a key by themselves, with WHERE ... IS NULL."
        )
    return tuple(
        key if key.values is None else replace(key, values=(*key.values, None)) for key in keys
    )


def collect_aggregates(draft: Draft) -> None:
    """Every aggregate of the question, each once, and which of them cost nothing extra."""
    question = draft.question
    expressions: list[Expression] = [named.expression for named in question.outputs]
    expressions += [expression for expression, _ in question.order]
    if question.having is not None:
        expressions.append(question.having)
    listed = dict.fromkeys(
        aggregate for part in expressions for aggregate in aggregates_in(part)
    )
    if not listed and not question.keys:
        raise InvalidQuery(
            f"{NO_AGGREGATE}: rows cannot be released. Ask for COUNT(*), SUM, AVG, MEDIAN, "
            "VARIANCE, STDDEV or HISTOGRAM."
        )
    if not listed and not draft.private:
        raise InvalidQuery(_declared_keys(draft))
    if draft.private:  # selecting the groups counts their units, so the count is free
        unit = draft.table.unit
        units = COUNT_ROWS if unit is None else Aggregate("count_units", ColumnRef(unit))
        draft.free = [units] if units in listed else []
    draft.aggregates = [aggregate for aggregate in listed if aggregate not in draft.free]


def _declared_keys(draft: Draft) -> str:
    """What a question for declared keys alone asks for: the policy says it already."""
    listed = []
    for key in draft.keys:
        values = [str(value) for value in (key.values or ())]
        more = f" and {len(values) - _MOST_LISTED:,} more" if len(values) > _MOST_LISTED else ""
        listed.append(f"{key.name}: {', '.join(values[:_MOST_LISTED])}{more}")
    return (
        "The policy declares these groups, so they are public, and to list them costs nothing: "
        f"{'; '.join(listed)}. Add an aggregate, such as COUNT(*), to learn about their rows, "
        "or ask for the keys of one whole table, without WHERE."
    )


def choose_statistics(draft: Draft) -> None:
    """For each aggregate that is added up, the statistic that it is read from."""
    table, request = draft.table, draft.request
    chosen = QUANTILES | MODES
    noisy = [aggregate for aggregate in draft.aggregates if aggregate.name not in chosen]
    # No grid is so fine that its noise would be too large to draw.
    steps = 2 * draft.groups * table.max_rows_per_unit_per_group * (len(draft.aggregates) + 1)
    finest = int(_LARGEST_NOISE * request.epsilon / steps)
    draft.statistic_of = statistics_for(noisy, draft.scope, finest=finest)
    draft.statistics = tuple(dict.fromkeys(draft.statistic_of.values()))
    if request.other and any(part.kind in OF_VALUES for part in draft.statistics):
        raise InvalidQuery(
            "COUNT(DISTINCT ...) and SUM(DISTINCT ...) have no `other` group: a value that "
            "occurs in several groups that are not shown cannot be counted once. Ask without "
            "`other`."
        )
    for statistic in draft.statistics:
        most = statistic.total * table.row_ceiling * table.max_rows_per_unit_per_group
        if most >= _WIDEST_SUM:
            raise InvalidQuery(
                f"Sums of {statistic.argument} may exceed 120 bits over {table.row_ceiling:,} "
                "rows. Declare a coarser step, narrower bounds or a lower row_ceiling."
            )


def write_statements(draft: Draft) -> None:
    """The SQL that the engine runs."""
    if not draft.request.written:
        return
    table, where, other = draft.table, draft.question.where, draft.request.other
    groupings = groupings_of(draft)
    limits = draft.groups, table.max_rows_per_unit_per_group
    draft.cells = CellStatement(draft.scope, where, groupings, *limits, other)
    blocks = list(draft.blocks)
    for place, statistic in enumerate(draft.statistics):
        if statistic.kind in OF_VALUES:
            blocks[place] = replace(blocks[place], sql=draft.cells.of_distinct(statistic))
    draft.blocks = tuple(blocks)
    if draft.private or any(part.kind not in OF_VALUES for part in draft.statistics):
        statement = AggregateStatement(
            scope=draft.scope,
            where=where,
            groupings=groupings,
            statistics=draft.statistics,
            max_groups_per_unit=draft.groups,
            max_rows_per_unit_per_group=table.max_rows_per_unit_per_group,
            count_units=draft.private,
            other=other,
            level=draft.request.level,
        )
        draft.engine_sql = StatementText(statement.sql())


STEPS: tuple[Callable[[Draft], None], ...] = (
    find_keys,
    collect_aggregates,
    choose_statistics,
    choose_values,
    build_nodes,
    split_budget,
    name_outputs,
    write_statements,
    price_choices,
    predict_margins,
    write_notes,
)


def freeze(draft: Draft) -> Plan:
    """The plan that the steps have drafted."""
    request, origin, limits = draft.request, draft.scope.origin, draft.limits
    assert limits is not None
    keys, outputs = level_columns(draft)
    return Plan(
        table=origin.tables[0],
        beside=origin.tables[1:],
        public=origin.public,
        unit=origin.unit,
        neighbors=draft.table.neighbors,
        max_groups_per_unit=limits.groups,
        max_rows_per_unit_per_group=limits.rows,
        max_rows_per_unit=limits.whole,
        keys=keys,
        blocks=draft.blocks,
        thresholding=draft.thresholding,
        outputs=outputs,
        having=draft.having,
        order=draft.order,
        limit=draft.question.limit,
        other=request.other,
        nonnegative=request.nonnegative,
        confidence=request.confidence,
        epsilon=request.epsilon,
        delta=draft.delta,
        engine_sql=draft.engine_sql,
        notes=draft.notes,
        choices=draft.choices,
    )


def _refuse_units(draft: Draft) -> None:
    """Refuses groups of one unit each: the threshold could show none, whatever it costs."""
    unit, table = draft.table.unit, draft.table.name
    for key, expression in zip(draft.keys, draft.key_expressions, strict=True):
        if key.values is None and unit is not None and _is_unit(expression, unit):
            raise InvalidQuery(
                f"GROUP BY {expression} makes a group for each {unit}, and a group of one "
                "person is never shown. Nothing was spent.\n  Leave it out of GROUP BY, or "
                f"summarize what each {unit} has, for example   SELECT AVG(n) AS mean FROM "
                f"(SELECT {quote_name(unit)}, COUNT(*) AS n FROM {quote_name(table)} GROUP BY "
                f"{quote_name(unit)})"
            )


def _is_unit(expression: Expression, unit: str) -> bool:
    """Whether an expression has another value for each unit: the unit, or a cast of it."""
    while isinstance(expression, Call) and expression.name.startswith("cast"):
        expression = expression.arguments[0]
    return isinstance(expression, ColumnRef) and expression.name.lower() == unit.lower()


def _no_delta(draft: Draft) -> str:
    pairs = zip(draft.keys, draft.key_expressions, strict=True)
    name, expression = next((key.name, what) for key, what in pairs if key.values is None)
    how = "Group by a column with declared keys,"
    if isinstance(expression, ColumnRef):
        how = f"Declare them, for example   {declare(expression, draft.table)}  "
    return (
        f"The groups of {name} are not declared, so even their names are private, and showing "
        f"them takes a delta above 0.\n  {how} or give the budget a delta, such as 1e-6."
    )
