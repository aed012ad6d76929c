"""Ask by accuracy: the least epsilon whose predicted margins are as small as requested.

Planning spends nothing, so several epsilons can be tried. The search narrows down to one that
misses the margins and one that meets them, within a fifth of a per cent, and rounds up to the
shortest decimal of which 99 % would still miss. No row is used. A margin that depends on the
data is predicted from the policy's public `expected_rows`, and refused without it. A relative
margin is relative to a size that the caller names, or that was released before.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from deniable.errors import InvalidParameter, InvalidQuery
from deniable.exact.rationals import Number, decimal_text, positive
from deniable.exact.text_formats import percent
from deniable.policy import Policy
from deniable.query.language.question import Question
from deniable.query.margins.linear_forms import features_of, has_chosen
from deniable.query.plan.plan import Node, Output, Plan
from deniable.query.planner.planner import plan

LARGEST_EPSILON = Fraction(1000)  # the search ends here: such an epsilon protects no one
SMALLEST_EPSILON = Fraction(1, 10**6)
_NEAR = 1.002
_CLOSE = Fraction(99, 100)

MarginOption: TypeAlias = Number | Mapping[str, Number]


@dataclass(frozen=True, slots=True)
class MarginGoal:
    """The margin for every number of an answer, or for some of them by name.

    >>> MarginGoal.of(50).description
    '± 50'
    >>> MarginGoal.of({"n": 50, "cost": 2.5}).description
    'n ± 50, cost ± 2.5'
    """

    every: Fraction | None
    by_name: Mapping[str, Fraction]

    @classmethod
    def of(cls, margin: MarginOption) -> "MarginGoal":
        """A goal from the caller's `margin`."""
        if not isinstance(margin, Mapping):
            return cls(positive(margin, "margin"), {})
        if not margin:
            raise InvalidParameter("`margin` names no output. Write margin={'n': 50}.")
        return cls(None, {str(k): positive(v, f"margin[{k}]") for k, v in margin.items()})

    @classmethod
    def relative(cls, share: MarginOption, of: Any) -> "MarginGoal":
        """A goal that is a share of sizes that are public or were released before.

        >>> MarginGoal.relative(0.05, 10_000).description
        '± 500'
        """
        shares = share if isinstance(share, Mapping) else None
        if shares is None and not isinstance(of, Mapping):
            return cls.of(positive(share, "relative") * _size(of, "of"))  # type: ignore[arg-type]
        names = list(shares if shares is not None else of)
        margins: dict[str, Number] = {}
        for name in names:
            if isinstance(of, Mapping) and name not in of:
                raise InvalidParameter(f"`relative` names {name}, but `of` has no size for it.")
            size = _size(of[name] if isinstance(of, Mapping) else of, f"of[{name}]")
            part = shares[name] if shares is not None else share
            margins[name] = positive(part, f"relative[{name}]") * size  # type: ignore[arg-type]
        return cls.of(margins)

    @property
    def description(self) -> str:
        """The goal as it is shown."""
        if self.every is not None:
            return f"± {decimal_text(self.every)}"
        return ", ".join(f"{name} ± {decimal_text(m)}" for name, m in self.by_name.items())

    def margin_for(self, output: Output, names: "tuple[str, ...]") -> Fraction | None:
        """The margin requested for an output; a histogram's name stands for all its bins."""
        if self.every is not None:
            return self.every if is_noisy(output.node) else None
        return self.by_name.get(
            output.name, self.by_name.get(_selected_column(output.name, names))
        )


def _selected_column(name: str, names: "tuple[str, ...]") -> str:
    """The selected column that an output belongs to: `ages` for `ages[0 to 30]`."""
    columns = (column for column in names if name == column or name.startswith(column + "["))
    return next(columns, name)


def _size(of: Any, name: str) -> Fraction:
    """A public size: a number, or the single number of an earlier answer."""
    if of is None:
        raise InvalidParameter(
            "A relative margin needs `of`: the size it is relative to, as a number that you "
            "know or as an answer already released. The data's own size is private."
        )
    value = getattr(of, "value", of)
    if value is None:
        raise InvalidParameter(f"`{name}` is an answer without a number.")
    size = abs(Fraction(value)) if isinstance(value, float | int) else positive(value, name)
    if size <= 0:
        raise InvalidParameter(f"`{name}` must not be zero. Found {value}.")
    return size


def plan_for_goal(question: Question, policy: Policy, goal: MarginGoal, **options: Any) -> Plan:
    """The plan of least epsilon, to one per cent, that is predicted to meet a goal.

    `options` are those of `plan`, without epsilon. Where every output has a goal and no weights
    are given, the budget is split so that all goals are met at the same epsilon.

    >>> from deniable.policy import Table
    >>> from deniable.query.language.parse import parse
    >>> policy = Policy([Table("visits").with_schema({"ward": "VARCHAR"})], epsilon=3)
    >>> question = parse("SELECT COUNT(*) AS n FROM visits")
    >>> cheapest = plan_for_goal(question, policy, MarginGoal.of(50))
    >>> float(cheapest.epsilon), cheapest.outputs[0].margin
    (0.0594, 50.0)
    """

    def try_epsilon(epsilon: Fraction, *, written: bool = False) -> Plan:
        return plan(question, policy, epsilon=epsilon, written=written, **options)

    first = try_epsilon(Fraction(1))
    names = tuple(named.name for named in question.outputs)
    width = _width_over(goal, names)
    _check(first, goal, names, policy)
    weights = _weights(first, goal, names)
    if weights and not options.get("weights"):
        options["weights"] = weights
        if width(try_epsilon(Fraction(1))) >= width(first):
            del options["weights"]
    epsilon = _search(try_epsilon, width)
    if epsilon is None:
        raise InvalidQuery(
            f"No epsilon up to {LARGEST_EPSILON} gives {goal.description}: the margin does not "
            "shrink any further. Ask for a wider one, or for fewer numbers at once."
        )
    cheapest = try_epsilon(epsilon, written=True)
    return replace(cheapest, notes=(*cheapest.notes, *_notes(cheapest, goal, names, policy)))


def _width_over(goal: MarginGoal, names: tuple[str, ...]) -> Callable[[Plan], float]:
    """A function of a plan: its widest predicted margin, as a multiple of the goal's."""

    def width(candidate: Plan) -> float:
        widest = 0.0
        for output in candidate.outputs:
            goal_margin, margin = goal.margin_for(output, names), predicted_margin(output)
            if goal_margin is not None and margin is not None:
                widest = max(widest, _width_ratio(margin, goal_margin))
        return widest

    return width


def is_noisy(node: Node) -> bool:
    """Whether a node is computed from anything noisy or chosen, and so has a margin."""
    return bool(features_of(node)) or has_chosen(node)


def predicted_margin(output: Output) -> float | None:
    """The output's predicted margin in its own unit; None if nothing public predicts it."""
    return output.likely if output.margin_in else output.margin


def _width_ratio(margin: float, goal_margin: Fraction) -> float:
    """margin / goal_margin, above 1 whenever the margin is larger by any amount."""
    if math.isinf(margin):
        return math.inf
    exact = Fraction(margin)
    ratio = float(exact / goal_margin)
    return max(ratio, math.nextafter(1, 2)) if exact > goal_margin else min(ratio, 1.0)


def _check(first: Plan, goal: MarginGoal, names: tuple[str, ...], policy: Policy) -> None:
    """Refuses names that are not numbers of the answer, and margins that nothing predicts."""
    noisy = [output.name for output in first.outputs if is_noisy(output.node)]
    numbers = {*noisy, *(_selected_column(name, names) for name in noisy)}
    for name in goal.by_name:
        if name not in numbers:
            raise InvalidParameter(
                f"`margin` names {name}, which is not a number of the answer. Numbers: "
                f"{', '.join(number for number in names if number in numbers)}."
            )
    for output in first.outputs:
        if goal.margin_for(output, names) is None or predicted_margin(output) is not None:
            continue
        raise InvalidQuery(
            f"The margin of {output.about} depends on the data, so no epsilon can be found "
            f"for it beforehand.\n  {_advice(first, policy)}or give an epsilon, and the margin "
            "comes with the answer."
        )


def _advice(first: Plan, policy: Policy) -> str:
    """What the owner could declare, so that the margin can be estimated."""
    private = next((key.name for key in first.keys if key.values is None), None)
    if policy.tables[first.table].expected_rows is None:
        return f"Declare tables.{first.table}: expected_rows = 100000   in the policy; "
    if private is not None:
        return f"Declare the keys of {private} in the policy; "
    return "Ask for something whose margin is known; "


def _weights(first: Plan, goal: MarginGoal, names: tuple[str, ...]) -> dict[str, Fraction]:
    """Weights with which all outputs meet their goals together; none if some have no goal."""
    ratios: dict[str, float] = {}
    for output in first.outputs:
        if not is_noisy(output.node):
            continue
        goal_margin, margin = goal.margin_for(output, names), predicted_margin(output)
        if goal_margin is None or margin is None or math.isinf(margin):
            return {}
        name = _selected_column(output.name, names)
        ratios[name] = max(ratios.get(name, 0.0), margin / float(goal_margin))
    if len(ratios) < 2 or not min(ratios.values()) > 0:
        return {}
    least = max(min(ratios.values()), max(ratios.values()) / 1000)
    return {k: Fraction(round(100 * max(1.0, r / least)), 100) for k, r in ratios.items()}


def _search(
    try_epsilon: Callable[[Fraction], Plan], width: Callable[[Plan], float]
) -> Fraction | None:
    """The least epsilon that meets the goal; None if none does."""
    widths: dict[Fraction, float] = {}

    def at(epsilon: Fraction) -> float:
        if epsilon not in widths:
            try:
                widths[epsilon] = width(try_epsilon(epsilon))
            except InvalidQuery:  # epsilon is too small: its noise is too large to draw
                widths[epsilon] = math.inf
        return widths[epsilon]

    low, high = _bracket(at)
    if high is None:
        return None
    while low is not None and high / low > _NEAR:
        middle = _six_digits(math.sqrt(low) * math.sqrt(high))
        if middle <= low or middle >= high:
            break
        if at(middle) <= 1:
            high = middle
        else:
            low = middle
    for digits in range(1, 7):
        rounded = _round_up(high, digits)
        if rounded * _CLOSE < high and at(rounded) <= 1 and at(rounded * _CLOSE) > 1:
            return rounded
    return high


def _bracket(at: Callable[[Fraction], float]) -> tuple[Fraction | None, Fraction | None]:
    """An epsilon that misses and one that meets, near each other.

    Margins are about proportional to 1 / epsilon.
    """
    low: Fraction | None = None
    high: Fraction | None = None
    epsilon, push = Fraction(1), 1.01
    for _ in range(60):
        ratio = at(epsilon)
        if ratio <= 1:
            high = epsilon
            guess = float(epsilon) * max(ratio, 1 / 64) / (push if low is None else 1)
        else:
            low = epsilon
            guess = float(epsilon) * min(ratio, 64.0) * (push if high is None else 1)
        if low is not None and high is not None:
            break
        if high == SMALLEST_EPSILON or low == LARGEST_EPSILON:
            break
        push *= push
        epsilon = min(LARGEST_EPSILON, max(SMALLEST_EPSILON, _six_digits(guess)))
    return low, high


def _six_digits(epsilon: float) -> Fraction:
    """The epsilon rounded to six digits."""
    return Fraction(f"{epsilon:.6g}")


def _round_up(epsilon: Fraction, digits: int) -> Fraction:
    """The epsilon rounded up to this many digits.

    >>> [float(_round_up(Fraction("0.05912"), digits)) for digits in (1, 2, 3)]
    [0.06, 0.06, 0.0592]
    """
    power = Fraction(10) ** (math.floor(math.log10(epsilon)) - digits + 1)
    return math.ceil(epsilon / power) * power


def _notes(
    cheapest: Plan, goal: MarginGoal, names: tuple[str, ...], policy: Policy
) -> tuple[str, ...]:
    level = percent(cheapest.confidence)
    price = decimal_text(cheapest.epsilon)
    goal_text = f"Asked for {goal.description} at {level}"
    note = f"{goal_text}: epsilon {price} is enough, and 1 % less is not."
    estimated = [
        _selected_column(output.name, names)
        for output in cheapest.outputs
        if (output.estimated or output.margin_in) and goal.margin_for(output, names) is not None
    ]
    rows = policy.tables[cheapest.table].expected_rows
    if not estimated:
        return (note,)
    if rows is None:
        return (
            note,
            "That is an estimate: margins of chosen rows depend on how many there are.",
        )
    return (
        note,
        f"For {', '.join(dict.fromkeys(estimated))} that is an estimate, from expected_rows = "
        f"{rows:,}; the margins shown with the numbers come from the noisy answer.",
    )
