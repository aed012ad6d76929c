"""The columns of an answer: what each is computed from, and what is public about its value."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from deniable.query.language.expressions import Aggregate, Expression, plain
from deniable.query.language.question import Named, Question
from deniable.query.plan.plan import (
    Chosen,
    Feature,
    Node,
    Output,
)
from deniable.query.planner import choices
from deniable.query.planner.choices import Pick
from deniable.query.planner.output_nodes import node_of
from deniable.query.relations.scope import Scope
from deniable.query.statements.features import names
from deniable.query.statements.statistics import Statistic, root_up


def outputs(
    question: Question,
    found: Mapping[Aggregate, Statistic],
    picked: Mapping[Aggregate, Pick],
    nodes: Mapping[Aggregate, Node],
    grouped_by: tuple[Expression, ...],
    scope: Scope,
) -> tuple[Output, ...]:
    """One column for each selected expression; several for a histogram, quantiles, TOP_K."""
    made: list[Output] = []
    listed = {pick: place for place, pick in enumerate(dict.fromkeys(picked.values()))}
    places = {one: listed[pick] for one, pick in picked.items()}
    for one in question.outputs:
        expression = one.expression
        if isinstance(expression, Aggregate) and expression.name == "histogram":
            made += _bins(one, expression, found)
        elif isinstance(expression, Aggregate) and expression in picked:
            made += _chosen(one, expression, picked[expression], places[expression])
        else:
            low, high = _limits(expression, scope)
            counts = isinstance(expression, Aggregate) and expression.name.startswith("count")
            node = node_of(expression, nodes, grouped_by)
            made.append(Output(one.name, str(expression), node, low, high, counts, None, False))
    return tuple(made)


def _bins(
    one: Named, expression: Aggregate, found: Mapping[Aggregate, Statistic]
) -> Iterator[Output]:
    statistic = found[expression]
    place = list(dict.fromkeys(found.values())).index(statistic)
    for name, label in zip(names(place, statistic), statistic.bins, strict=True):
        node = Feature(name, place)
        shown = f"{one.name}[{label}]"
        yield Output(shown, str(expression), node, Fraction(0), None, True, None, False)


def _chosen(one: Named, expression: Aggregate, pick: Pick, place: int) -> Iterator[Output]:
    listed = choices.names(place, pick)
    if pick.key is not None:
        for i in range(expression.bins or 1):
            shown = one.name if expression.bins is None else f"{one.name}[{i + 1}]"
            node = Chosen(listed[i], place)
            yield Output(
                shown, str(expression), node, None, None, False, None, False, margin_in="rows"
            )
        return
    ends = pick.low * pick.step, pick.high * pick.step
    several = expression.name == "quantiles"
    for level in expression.levels or (choices.level_of(expression, pick),):
        node = Chosen(listed[pick.levels.index(level)], place)
        shown = f"{one.name}[{plain(level)}]" if several else one.name
        alone = Aggregate("quantile", expression.argument, levels=(level,))
        about = str(alone if several else expression)
        yield Output(shown, about, node, *ends, False, None, False, margin_in="ranks")


def _limits(expression: Expression, scope: Scope) -> tuple[Fraction | None, Fraction | None]:
    """What is public about an output's true value."""
    if not isinstance(expression, Aggregate):
        return None, None
    if expression.name.startswith("count"):
        return Fraction(0), Fraction(scope.table.row_ceiling)
    assert expression.argument is not None
    if expression.second is not None:
        return _limits_of_pair(expression, scope)
    if expression.name == "sum":
        return None, None
    low, high, step = scope.grid(expression.argument)
    if expression.name == "avg":
        return low * step, high * step
    # Half at either end is the widest spread; of a sample, that of two values.
    width = (high - low) * step
    widest = width * root_up(2) / 2 if expression.name.endswith("samp") else width / 2
    return Fraction(0), widest if expression.name.startswith("stddev") else widest**2


def _limits_of_pair(
    expression: Aggregate, scope: Scope
) -> tuple[Fraction | None, Fraction | None]:
    """A correlation's, and a covariance's: half at either end is the widest; two in a sample.
    A slope may be any number where the other column hardly varies."""
    if expression.name == "corr":
        return Fraction(-1), Fraction(1)
    if not expression.name.startswith("covar"):
        return None, None
    widest = Fraction(1, 2 if expression.name == "covar_samp" else 4)
    for one in expression.arguments:
        low, high, step = scope.grid(one)
        widest *= (high - low) * step
    return -widest, widest
