"""Ask by accuracy: the least epsilon whose predicted margins are as small as asked.

Planning is pure, so it can be tried: an epsilon is bracketed between one that misses the
margins and one that meets them, to a fifth of a per cent, and rounded up to the shortest
decimal of which 99 % would still miss. Nothing about a row is used. A margin that depends on
the data is predicted from the policy's public `expected_rows`, and refused without it; a
relative one is relative to a size that the caller names, or that was released before.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from deniable.errors import InvalidParameter, InvalidQuery
from deniable.exact.rationals import Number, positive
from deniable.policy import Policy
from deniable.query.language.decimal_text import decimal_text
from deniable.query.language.question import Question
from deniable.query.margins.linear_forms import features_of, has_chosen
from deniable.query.plan.plan import Node, Output, Plan
from deniable.query.planner.planner import plan

MOST = Fraction(1000)  # an epsilon that protects nobody: no search goes beyond
LEAST = Fraction(1, 10**6)
_NEAR = 1.002
_CLOSE = Fraction(99, 100)

Margins: TypeAlias = Number | Mapping[str, Number]


@dataclass(frozen=True, slots=True)
class MarginGoal:
    """The margin for every number of an answer, or for some of them by name.

    >>> MarginGoal.of(50).words
    '± 50'
    >>> MarginGoal.of({"n": 50, "cost": 2.5}).words
    'n ± 50, cost ± 2.5'
    """

    every: Fraction | None
    by_name: Mapping[str, Fraction]

    @classmethod
    def of(cls, margin: Margins) -> "MarginGoal":
        """A goal from what a caller writes."""
        if not isinstance(margin, Mapping):
            return cls(positive(margin, "margin"), {})
        if not margin:
            raise InvalidParameter("`margin` names no output. Write margin={'n': 50}.")
        return cls(None, {str(k): positive(v, f"margin[{k}]") for k, v in margin.items()})

    @classmethod
    def relative(cls, share: Margins, of: Any) -> "MarginGoal":
        """A goal of so large a share of sizes that are public or were released before.

        >>> MarginGoal.relative(0.05, 10_000).words
        '± 500'
        """
        shares = share if isinstance(share, Mapping) else None
        if shares is None and not isinstance(of, Mapping):
            return cls.of(positive(share, "relative") * _size(of, "of"))  # type: ignore[arg-type]
        names = list(shares if shares is not None else of)
        found: dict[str, Number] = {}
        for name in names:
            if isinstance(of, Mapping) and name not in of:
                raise InvalidParameter(f"`relative` names {name}, but `of` has no size for it.")
            size = _size(of[name] if isinstance(of, Mapping) else of, f"of[{name}]")
            part = shares[name] if shares is not None else share
            found[name] = positive(part, f"relative[{name}]") * size  # type: ignore[arg-type]
        return cls.of(found)

    @property
    def words(self) -> str:
        """The goal as it is shown."""
        if self.every is not None:
            return f"± {decimal_text(self.every)}"
        return ", ".join(f"{name} ± {decimal_text(one)}" for name, one in self.by_name.items())

    def asked(self, output: Output, names: "tuple[str, ...]") -> Fraction | None:
        """The margin asked of an output; a histogram's name stands for all of its bins."""
        if self.every is not None:
            return self.every if is_noisy(output.node) else None
        return self.by_name.get(output.name, self.by_name.get(_whole(output.name, names)))


def _whole(name: str, names: "tuple[str, ...]") -> str:
    """The selected column that an output belongs to: `ages` for `ages[0 to 30]`."""
    return next((one for one in names if name == one or name.startswith(one + "[")), name)


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


def plan_for_goal(question: Question, policy: Policy, goal: MarginGoal, **wishes: Any) -> Plan:
    """The plan of least epsilon, to one per cent, that is predicted to meet a goal.

    `wishes` are those of `plan` beside epsilon. Where every output has a goal and no weights
    are given, the budget is split so that all goals are met at the same epsilon.

    >>> from deniable.policy import Table
    >>> from deniable.query.language.parse import parse
    >>> policy = Policy([Table("visits").with_schema({"ward": "VARCHAR"})], epsilon=3)
    >>> found = plan_for_goal(
    ...     parse("SELECT COUNT(*) AS n FROM visits"), policy, MarginGoal.of(50)
    ... )
    >>> float(found.epsilon), found.outputs[0].margin
    (0.0594, 50.0)
    """

    wished = dict(wishes)

    def tried(epsilon: Fraction, *, written: bool = False) -> Plan:
        return plan(question, policy, epsilon=epsilon, written=written, **wished)

    first = tried(Fraction(1))
    names = tuple(one.name for one in question.outputs)
    ratio = _ratio_to(goal, names)
    _check(first, goal, names, policy)
    weights = _weights(first, goal, names)
    if weights and not wishes.get("weights"):
        wished["weights"] = weights
        if ratio(tried(Fraction(1))) >= ratio(first):
            del wished["weights"]
    epsilon = _search(tried, ratio)
    if epsilon is None:
        raise InvalidQuery(
            f"No epsilon up to {MOST} gives {goal.words}: the margin does not shrink any "
            "further. Ask for a wider one, or for fewer numbers at once."
        )
    whole = tried(epsilon, written=True)
    return replace(whole, notes=(*whole.notes, *_notes(whole, goal, names, policy)))


def _ratio_to(goal: MarginGoal, names: tuple[str, ...]) -> Callable[[Plan], float]:
    """How much wider than asked the widest predicted margin is."""

    def ratio(made: Plan) -> float:
        wide = 0.0
        for output in made.outputs:
            asked = goal.asked(output, names)
            margin = predicted_margin(output)
            if asked is not None and margin is not None:
                wide = max(wide, _over(margin, asked))
        return wide

    return ratio


def is_noisy(node: Node) -> bool:
    """Whether a node is computed from anything noisy or chosen, and so has a margin."""
    return bool(features_of(node)) or has_chosen(node)


def predicted_margin(output: Output) -> float | None:
    """The output's predicted margin in its own unit; None where nothing public predicts it."""
    return output.likely if output.margin_in else output.margin


def _over(margin: float, asked: Fraction) -> float:
    """margin / asked, above 1 whenever it exceeds it by any amount."""
    if math.isinf(margin):
        return math.inf
    ratio = float(Fraction(margin) / asked)
    return max(ratio, math.nextafter(1, 2)) if Fraction(margin) > asked else min(ratio, 1.0)


def _check(made: Plan, goal: MarginGoal, names: tuple[str, ...], policy: Policy) -> None:
    """Refuses names that are no numbers, and margins that nothing public predicts."""
    known = {_whole(one.name, names) for one in made.outputs if is_noisy(one.node)}
    known |= {one.name for one in made.outputs if is_noisy(one.node)}
    for name in goal.by_name:
        if name not in known:
            raise InvalidParameter(
                f"`margin` names {name}, which is no number of the answer. Numbers: "
                f"{', '.join(one for one in names if one in known)}."
            )
    for output in made.outputs:
        if goal.asked(output, names) is None or predicted_margin(output) is not None:
            continue
        raise InvalidQuery(
            f"The margin of {output.about} depends on the data, so no epsilon can be found "
            f"for it beforehand.\n  {_mend(made, policy)}or give an epsilon, and the margin "
            "comes with the answer."
        )


def _mend(made: Plan, policy: Policy) -> str:
    """What the owner could declare, so that the margin could be estimated."""
    private = next((key.name for key in made.keys if key.values is None), None)
    if policy.tables[made.table].expected_rows is None:
        return f"Declare tables.{made.table}: expected_rows = 100000   in the policy; "
    if private is not None:
        return f"Declare the keys of {private} in the policy; "
    return "Ask for something whose margin is known; "


def _weights(made: Plan, goal: MarginGoal, names: tuple[str, ...]) -> dict[str, Fraction]:
    """Weights that bring all outputs to their goals together; none if some have no goal."""
    found: dict[str, float] = {}
    for output in made.outputs:
        if not is_noisy(output.node):
            continue
        asked, margin = goal.asked(output, names), predicted_margin(output)
        if asked is None or margin is None or math.isinf(margin):
            return {}
        name = _whole(output.name, names)
        found[name] = max(found.get(name, 0.0), margin / float(asked))
    if len(found) < 2 or not min(found.values()) > 0:
        return {}
    fewest = max(min(found.values()), max(found.values()) / 1000)
    return {k: Fraction(round(100 * max(1.0, one / fewest)), 100) for k, one in found.items()}


def _search(
    tried: Callable[[Fraction], Plan], ratio: Callable[[Plan], float]
) -> Fraction | None:
    """The least epsilon that meets the goal; None if none does."""
    known: dict[Fraction, float] = {}

    def at(epsilon: Fraction) -> float:
        if epsilon not in known:
            try:
                known[epsilon] = ratio(tried(epsilon))
            except InvalidQuery:  # too small for its noise to be drawn
                known[epsilon] = math.inf
        return known[epsilon]

    low, high = _bracket(at)
    if high is None:
        return None
    while low is not None and high / low > _NEAR:
        middle = _short(math.sqrt(low) * math.sqrt(high))
        if middle <= low or middle >= high:
            break
        if at(middle) <= 1:
            high = middle
        else:
            low = middle
    for digits in range(1, 7):
        rounded = _up(high, digits)
        if rounded * _CLOSE < high and at(rounded) <= 1 and at(rounded * _CLOSE) > 1:
            return rounded
    return high


def _bracket(at: Callable[[Fraction], float]) -> tuple[Fraction | None, Fraction | None]:
    """An epsilon that misses and one that meets, near each other: margins go as 1/epsilon."""
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
        if high == LEAST or low == MOST:
            break
        push *= push
        epsilon = min(MOST, max(LEAST, _short(guess)))
    return low, high


def _short(epsilon: float) -> Fraction:
    """About that epsilon, in six digits."""
    return Fraction(f"{epsilon:.6g}")


def _up(epsilon: Fraction, digits: int) -> Fraction:
    """The epsilon rounded up to so many digits.

    >>> [float(_up(Fraction("0.05912"), digits)) for digits in (1, 2, 3)]
    [0.06, 0.06, 0.0592]
    """
    power = Fraction(10) ** (math.floor(math.log10(epsilon)) - digits + 1)
    return math.ceil(epsilon / power) * power


def _notes(
    made: Plan, goal: MarginGoal, names: tuple[str, ...], policy: Policy
) -> tuple[str, ...]:
    level = f"{100 * float(made.confidence):g} %"
    price = decimal_text(made.epsilon)
    told = f"Asked for {goal.words} at {level}: epsilon {price} is the least, to 1 %."
    rough = [
        one.name
        for one in made.outputs
        if (one.estimated or one.margin_in) and goal.asked(one, names) is not None
    ]
    if not rough:
        return (told,)
    rows = policy.tables[made.table].expected_rows
    return (
        told,
        f"For {', '.join(dict.fromkeys(_whole(one, names) for one in rough))} that is an "
        f"estimate, from expected_rows = {rows:,}; the margins beside the numbers are from "
        "the noisy answer.",
    )
