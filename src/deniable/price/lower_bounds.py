"""Lower bounds: the least error that any private method can have, each with its reference.

**Unbiased answers.** Let an unbiased mechanism answer f, and let k changes of the data move f
by reach(k). Then reach(k) = E((A - f)(L - 1)), where L is the likelihood ratio of the two
outputs. By Cauchy and Schwarz the variance is at least reach(k)**2 / chi2, where chi2 is the
variance of L: Hammersley 1950, Chapman & Robbins 1951. At distance k, epsilon-privacy allows at
most chi2 = e**(k eps) + e**(-k eps) - 2 = 4 sinh(k eps / 2)**2, mu-Gaussian privacy
e**(k**2 mu**2) - 1, and rho-zCDP e**(2 k**2 rho) - 1.

**Unbiased choices** give no answer a higher probability than the true one. The probability of
the true one is at most 1 / sum over t of exp(-2 epsilon D(x, t)), where D is the number of
changes that make t true: Asi & Duchi 2020.

**Two hypotheses** whose parameters lie d apart, with n independent records each. Couple the two
samples so that they differ in h records, h ~ Binomial(n, total variation). At distance h the
two error probabilities add up to at least 2 / (1 + e**(h eps)), and the risk is d / 4 times the
mean of that. This sharpens Acharya, Sun & Zhang, "Differentially private Assouad, Fano, and Le
Cam", 2021.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import Number, positive, rational, whole
from deniable.mechanisms import InverseSensitivity
from deniable.privacy import Loss, PureLoss

_FAR = 700.0  # e**700 is nearly the largest float


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit for every method of the kind that it names.

    `value` is a least variance (or risk), or a greatest probability, as `kind` says. `changes`
    is the number of changed records that the argument uses.

    >>> print(unbiased(PureLoss(1)))
    variance >= 0.920674 (Hammersley 1950; Chapman & Robbins 1951; at 1 change)
    """

    value: float
    kind: str
    reference: str
    changes: int = 1

    def __str__(self) -> str:
        sign = "<=" if self.kind == "probability" else ">="
        changes = f"{self.changes} change{'s' * (self.changes != 1)}"
        return f"{self.kind} {sign} {self.value:.6g} ({self.reference}; at {changes})"


def unbiased(
    loss: Loss,
    *,
    reach: Number | Callable[[int], Number] = 1,
    changes: int = 1,
) -> Bound:
    """The least variance of any unbiased answer of this loss, by the strongest known bound.

    `reach` is how far one change can move the answer, or a function of the number of changes k;
    then the best k up to `changes` is taken. Where k changes move it k times as far as one
    does, k = 1 is the best.

    >>> round(unbiased(PureLoss(0.5)).value, 6)  # the geometric mechanism has twice this
    3.917698
    """
    ways = []
    for k in range(1, whole(changes, "changes") + 1):
        moved = float(rational(reach(k) if callable(reach) else reach * k, "reach"))
        ways.append((moved**2 / _divergence(loss, k), k))
    value, k = max(ways)
    return Bound(value, "variance", "Hammersley 1950; Chapman & Robbins 1951", k)


def unbiased_classical(
    epsilon: Number,
    *,
    reach: Number | Callable[[int], Number] = 1,
    changes: int | None = None,
) -> Bound:
    """The textbook bound: max over k of reach(k)**2 / (4 (1 + e**(2 k epsilon))).

    It is valid, and at least 33 times weaker than `unbiased` for small epsilon. Use it only to
    compare.

    >>> round(unbiased_classical(0.5).value, 6)
    0.119203
    """
    exact = positive(epsilon, "epsilon")
    most = math.ceil(2 / exact) if changes is None else whole(changes, "changes")
    ways = []
    for k in range(1, most + 1):
        moved = float(rational(reach(k) if callable(reach) else reach * k, "reach"))
        ways.append((moved**2 / (4 * (1 + math.exp(min(2 * k * float(exact), _FAR)))), k))
    value, k = max(ways)
    return Bound(value, "variance", "Asi & Duchi 2020, unbiased case", k)


def unbiased_simple(epsilon: Number, *, reach: Number = 1) -> Bound:
    """The short form of the textbook bound, reach**2 / (68 epsilon**2), for epsilon up to 1.

    >>> round(unbiased_simple(0.5).value, 6)
    0.058824
    """
    exact = positive(epsilon, "epsilon")
    if exact > 1:
        raise Unsupported(
            f"The short form holds for epsilon up to 1. Found {epsilon}: use `unbiased`, which "
            "holds for every epsilon and is stronger."
        )
    moved = positive(reach, "reach")
    return Bound(
        float(moved**2 / (68 * exact**2)),
        "variance",
        "Asi & Duchi 2020, short form",
        math.ceil(1 / (2 * exact)),
    )


def discrete(distances: Iterable[int], epsilon: Number) -> Bound:
    """The highest probability with which any unbiased choice can name the true answer.

    `distances` are the numbers of changes that make each answer true, 0 for the true one.

    >>> round(discrete([0, 1, 2], 1).value, 6)
    0.866813
    """
    exact = float(positive(epsilon, "epsilon"))
    changes = [whole(int(d), "distances", least=0) for d in distances if d >= 0]
    if not changes or min(changes) != 0:
        raise InvalidParameter("`distances` must contain a 0, for the true answer.")
    total = sum(math.exp(-2 * exact * d) for d in changes)
    nearest = min((d for d in changes if d), default=1)
    return Bound(1 / total, "probability", "Asi & Duchi 2020, discrete case", nearest)


def quarter_optimality(mechanism: InverseSensitivity, data: Any) -> tuple[float, Bound]:
    """The probability of the true answer, and the bound that it attains: that of all unbiased
    choices with a quarter of its epsilon (half of it, between two answers).

    >>> middle = InverseSensitivity.median(range(9), epsilon=1, neighbors="replace")
    >>> probability, bound = quarter_optimality(middle, [3, 4, 4, 5, 8])
    >>> abs(probability - bound.value) < 1e-12
    True
    """
    distances = [int(distance) for distance in mechanism.distance(data)]
    law = mechanism.pmf(data)
    true = [t for t, d in zip(mechanism.outputs, distances, strict=True) if d == 0]
    if len(true) != 1:
        raise Unsupported(
            f"The bound needs data with one true answer. Found {len(true)} true answers."
        )
    share = 2 if isinstance(mechanism.loss, PureLoss) else 4
    epsilon = rational(mechanism.loss.epsilon()) / share
    return law[true[0]], discrete(distances, epsilon)


def two_point(
    *,
    apart: Number,
    n: int,
    epsilon: Number,
    total_variation: Number,
    kullback_leibler: Number | None = None,
) -> Bound:
    """The least risk, E|estimate - parameter|, of any epsilon-private estimator from n records,
    at the worse of two distributions whose parameters lie `apart`: the strongest form.

    >>> print(two_point(apart=0.1, n=100, epsilon=0.5, total_variation=0.02))
    risk >= 0.014468 (Acharya, Sun & Zhang 2021, by coupling; at 2 changes)
    """
    return max(
        two_point_forms(
            apart=apart,
            n=n,
            epsilon=epsilon,
            total_variation=total_variation,
            kullback_leibler=kullback_leibler,
        ),
        key=lambda bound: bound.value,
    )


def two_point_forms(
    *,
    apart: Number,
    n: int,
    epsilon: Number,
    total_variation: Number,
    kullback_leibler: Number | None = None,
) -> tuple[Bound, ...]:
    """Every form of the two-point bound. The first is at least as large as all other private
    ones; the last, without privacy, may be larger.

    >>> forms = two_point_forms(apart=1, n=10, epsilon=1, total_variation=0.1)
    >>> [round(form.value, 4) for form in forms]
    [0.1523, 0.1345, 0.1301, 0.092]
    """
    d, people = float(positive(apart, "apart")), whole(n, "n")
    eps, tv = float(positive(epsilon, "epsilon")), rational(total_variation, "total_variation")
    if not 0 <= tv <= 1:
        raise InvalidParameter(
            f"`total_variation` must lie between 0 and 1. Found {total_variation}."
        )
    expected = people * float(tv)
    changes = max(1, round(expected))
    mean = _mean_overlap(people, float(tv), eps)
    odds = math.exp(min(eps * expected, _FAR))
    kept = (1 + math.expm1(-eps) * float(tv)) ** people
    who = "Acharya, Sun & Zhang 2021"
    forms = [
        Bound(d / 4 * mean, "risk", f"{who}, by coupling", changes),
        Bound(d / 2 / (1 + odds), "risk", f"{who}, at the mean distance", changes),
        Bound(d / 4 * kept, "risk", f"{who}, product form", changes),
        Bound(d / 4 / odds, "risk", f"{who}, classical form", changes),
    ]
    if kullback_leibler is not None:
        divergence = float(rational(kullback_leibler, "kullback_leibler"))
        value = d / 8 * math.exp(-people * divergence)
        forms.append(Bound(value, "risk", "Le Cam; Bretagnolle & Huber 1979, no privacy"))
    return tuple(forms)


def _divergence(loss: Loss, k: int) -> float:
    """The largest chi-square divergence that the loss allows over k changes, rounded up."""
    if loss.slack:
        raise Unsupported(
            f"{loss!r} does not limit the variance: with probability delta it may reveal "
            "everything. Use a pure, a Gaussian or a concentrated loss."
        )
    limits = []
    if loss.exact_epsilon is not None:
        exponent = min(k * loss.epsilon(), _FAR)
        limits.append(4 * math.sinh(exponent / 2) ** 2)
    if loss.mu_squared is not None:
        limits.append(math.expm1(min(float(k * k * loss.mu_squared), _FAR)))
    elif loss.rho is not None:
        limits.append(math.expm1(min(float(2 * k * k * loss.rho), _FAR)))
    if not limits:
        raise Unsupported(f"{loss!r} does not limit the variance of an output.")
    return max(min(limits), 1e-300)


def _mean_overlap(n: int, tv: float, epsilon: float) -> float:
    """E(2 / (1 + e**(epsilon h))), h ~ Binomial(n, tv), without the far tails."""
    from scipy.stats import binom

    low, high = (int(end) for end in binom.interval(1 - 1e-12, n, tv))
    return float(
        sum(
            float(binom.pmf(h, n, tv)) * 2 / (1 + math.exp(min(epsilon * h, _FAR)))
            for h in range(low, high + 1)
        )
    )
