"""The columns of an answer: what each is computed from, its public limits, its margin.

Margins are predicted before anything is spent. They are certain where only the noise matters.
The margin of an average or a variance also depends on how many rows there are. It is estimated
from the policy's public `expected_rows`, spread evenly over the groups, and left out otherwise.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from deniable.errors import InvalidQuery
from deniable.exact.rationals import decimal_text
from deniable.mechanisms import PermuteAndFlip, QuantileIntervals, Quantiles
from deniable.mechanisms.noise.additive import Noise
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    Expression,
    Literal,
    Named,
)
from deniable.query.margins.chosen_rows import (
    chooses_rows,
    confidence_for_each,
    declared_groups,
)
from deniable.query.margins.evaluation import Values
from deniable.query.margins.formula_parts import jumps
from deniable.query.margins.linear_forms import LinearForm, features_of, form
from deniable.query.margins.margins import margins, noise_of_features
from deniable.query.plan.plan import (
    Choice,
    Chosen,
    Feature,
    KeyColumn,
    Output,
)
from deniable.query.planner.draft import Draft, UnpricedChoice
from deniable.query.planner.noise import expected_features
from deniable.query.planner.output_nodes import output_kind, output_node
from deniable.query.relations.scope import Scope
from deniable.query.statements.statistics import Statistic, root_up

_ROUNDED = frozenset(("round", "floor", "ceil", "trunc", "cast integer"))


def name_outputs(draft: Draft) -> None:
    """A step of the planner: outputs, HAVING and ORDER BY as post-processing.

    There is one column for each selected expression, and several for a histogram, quantiles
    and TOP_K.
    """
    outputs: list[Output] = []
    for named in draft.question.outputs:
        expression = named.expression
        if isinstance(expression, Aggregate) and expression.name == "histogram":
            statistic = draft.statistic_of[expression]
            place = draft.statistics.index(statistic)
            outputs += _bin_outputs(named, statistic, place)
        elif isinstance(expression, Aggregate) and expression in draft.choice_of:
            choice = draft.choice_of[expression]
            outputs += _chosen_outputs(
                named.name, expression, choice, draft.unpriced.index(choice)
            )
        else:
            low, high = _limits(expression, draft.scope)
            counts = isinstance(expression, Aggregate) and expression.name.startswith("count")
            node = output_node(expression, draft)
            kind = output_kind(node, draft) or "number"
            outputs.append(
                Output(
                    *(named.name, str(expression), node, low, high, counts, None, False),
                    kind="number" if isinstance(node, KeyColumn) else kind,
                )
            )
    draft.outputs = tuple(outputs)
    having, order = draft.question.having, draft.question.order
    draft.having = None if having is None else output_node(having, draft)
    if draft.having is not None and output_kind(draft.having, draft) not in ("boolean", None):
        raise InvalidQuery(
            f"HAVING {having} is not a condition. Write one that is true or false, such as "
            "COUNT(*) > 10."
        )
    draft.order = tuple((output_node(expression, draft), down) for expression, down in order)


def _bin_outputs(named: Named, statistic: Statistic, place: int) -> Iterator[Output]:
    names = statistic.feature_names(place)
    about = str(named.expression)
    for name, label in zip(names, statistic.bins, strict=True):
        node = Feature(name, place)
        shown = f"{named.name}[{label}]"
        yield Output(shown, about, node, Fraction(0), None, True, None, False)


def _chosen_outputs(
    name: str, aggregate: Aggregate, choice: UnpricedChoice, place: int
) -> Iterator[Output]:
    names = choice.names(place)
    if choice.key is not None:
        for i in range(aggregate.bins or 1):
            shown = name if aggregate.bins is None else f"{name}[{i + 1}]"
            node = Chosen(names[i], place)
            yield Output(
                shown, str(aggregate), node, None, None, False, None, False, margin_in="rows"
            )
        return
    ends = choice.low * choice.step, choice.high * choice.step
    several = aggregate.name == "quantiles"
    for level in aggregate.levels or (choice.level_of(aggregate),):
        node = Chosen(names[choice.levels.index(level)], place)
        shown = f"{name}[{decimal_text(level)}]" if several else name
        single = Aggregate("quantile", aggregate.argument, levels=(level,))
        about = str(single if several else aggregate)
        yield Output(shown, about, node, *ends, False, None, False, margin_in="ranks")


def _limits(expression: Expression, scope: Scope) -> tuple[Fraction | None, Fraction | None]:
    """What is public about an output's true value."""
    if isinstance(expression, Call) and expression.name in ("+", "-"):
        return _difference_limits(expression, scope)
    if isinstance(expression, Literal) and isinstance(expression.value, Fraction):
        return expression.value, expression.value
    if isinstance(expression, Call) and expression.name in _ROUNDED:
        ends = _limits(expression.arguments[0], scope)
        down, up = (None if end is None else (end.__floor__(), end.__ceil__()) for end in ends)
        return down and Fraction(down[0]), up and Fraction(up[1])
    if isinstance(expression, Call) and expression.name in ("cast number", "round to"):
        digits = expression.arguments[-1]
        fine = expression.name == "cast number" or (
            isinstance(digits, Literal) and isinstance(digits.value, Fraction)
        )
        inner = Call("round", expression.arguments[:1])
        return _limits(inner, scope) if fine else (None, None)
    if not isinstance(expression, Aggregate):
        return None, None
    if expression.name.startswith("count"):
        return Fraction(0), Fraction(scope.table.row_ceiling)
    assert expression.argument is not None
    if expression.second is not None:
        return _pair_limits(expression, scope)
    if expression.name in ("sum", "sum_distinct"):
        return None, None
    low, high, step = scope.grid(expression.argument)
    if expression.name == "avg":
        return low * step, high * step
    # The widest spread has half of the values at either end; in a sample, one of two each.
    width = (high - low) * step
    widest = width * root_up(2) / 2 if expression.name.endswith("samp") else width / 2
    return Fraction(0), widest if expression.name.startswith("stddev") else widest**2


def _difference_limits(call: Call, scope: Scope) -> tuple[Fraction | None, Fraction | None]:
    """The limits of a sum or a difference, such as AVG(x) - AVG(y)."""
    low, high = _limits(call.arguments[0], scope)
    for argument in call.arguments[1:]:
        least, most = _limits(argument, scope)
        if call.name == "-":
            least, most = (None if end is None else -end for end in (most, least))
        low = None if low is None or least is None else low + least
        high = None if high is None or most is None else high + most
    return low, high


def _pair_limits(aggregate: Aggregate, scope: Scope) -> tuple[Fraction | None, Fraction | None]:
    """The limits of a correlation, and of a covariance: the widest has half of the rows at
    either end; in a sample, one of two each. A slope may be any number where the other column
    hardly varies."""
    if aggregate.name == "corr":
        return Fraction(-1), Fraction(1)
    if not aggregate.name.startswith("covar"):
        return None, None
    widest = Fraction(1, 2 if aggregate.name == "covar_samp" else 4)
    for argument in aggregate.arguments:
        low, high, step = scope.grid(argument)
        widest *= (high - low) * step
    return -widest, widest


def predict_margins(draft: Draft) -> None:
    """A step of the planner: the outputs with their predicted margins."""
    rows = draft.rows_per_group
    features = expected_features(draft.statistics, rows or 1.0)
    features |= {"units": np.array([rows or 1.0])}
    noises = noise_of_features(draft.blocks, draft.thresholding)
    outputs = []
    for output in draft.outputs:
        if isinstance(output.node, Chosen):
            choice = draft.choices[output.node.choice]
            outputs.append(_predict_chosen(output, choice, rows))
        else:
            outputs.append(_predict(output, noises, features, draft))
    draft.outputs = tuple(outputs)


def _predict(
    output: Output, noises: Mapping[str, Noise], features: Mapping[str, Values], draft: Draft
) -> Output:
    """The output with its margin, unless it is a key or its margin depends on the data."""
    certain = isinstance(form(output.node), LinearForm)
    unknown = output.kind != "number" or (jumps(output.node) and not certain)
    if not features_of(output.node) or (not certain and draft.rows_per_group is None):
        return output
    if unknown:
        return output
    confidence = draft.request.confidence
    if chooses_rows(draft.having, draft.order, draft.question.limit):
        groups = declared_groups(draft.keys, other=draft.request.other)
        confidence = confidence_for_each(confidence, groups or 1)
        certain = certain and groups is not None
    margin = margins(
        output.node, noises, features, confidence=confidence, low=output.low, high=output.high
    )
    half = float(np.ceil(margin[0]) if output.count else margin[0])  # as it is released
    return replace(output, margin=half, estimated=not certain)


def _predict_chosen(output: Output, choice: Choice, rows: float | None) -> Output:
    """The margin in ranks or rows is certain. In the column's own unit it is an estimate, as if
    the rows were spread evenly. The ends of its interval, or other quantiles around it, show
    the real margin afterwards."""
    likely = None
    assert choice.margin is not None
    if not isinstance(choice.mechanism, PermuteAndFlip) and rows is not None:
        grid = choice.mechanism.grid
        share = min(1.0, choice.margin / max(rows, 1.0))
        likely = float((grid.size - 1) * grid.step) * share
    if _lies_between(output, choice):
        return replace(output, margin=likely, estimated=likely is not None, margin_in="")
    return replace(output, margin=float(choice.margin), likely=likely)


def _lies_between(output: Output, choice: Choice) -> bool:
    """Whether both ends of its interval are drawn; or other quantiles are released above and
    below this one, and the rows are counted too. Then its margin in the column's own unit is
    known afterwards. One end of MIN and of MAX is a bound: their margins are in ranks."""
    if not isinstance(output.node, Chosen):
        return False
    if isinstance(choice.mechanism, QuantileIntervals):
        level = choice.mechanism.quantiles[choice.names.index(output.node.name)]
        return choice.mechanism.brackets and 0 < level < 1
    if not isinstance(choice.mechanism, Quantiles):
        return False
    inside = output.node.name in choice.names[1:-1]
    return inside and choice.mechanism.method in ("fixed-target", "tree")
