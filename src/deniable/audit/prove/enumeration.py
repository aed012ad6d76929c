"""Checks a mechanism's loss with certainty, by enumerating its outputs.

Works on mechanisms with `loss` and `pmf_bounds(output, value, bits)`, and on mechanisms that
choose by scores and have `pmf(scores)`. What is checked depends on the claim: see
`claim_checks`. Sums and ratios use certified integers, so floats decide nothing. The exceptions
are Renyi divergences, and mechanisms whose `pmf` returns floats: both are trusted to one part
in 2**30.
"""

import inspect
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import Any

from deniable.audit.prove.claim_checks import Rows, check_claim
from deniable.audit.prove.datasets import list_groups
from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.enclosures import Enclosure
from deniable.privacy import Loss

BITS = (256, 512, 1024, 2048)  # more bits are used if fewer cannot decide
SLACK = Fraction(1, 1 << 60)  # allowed relative error of odds that equal e**epsilon
_FLOAT_SLACK = Fraction(1, 1 << 30)
_FLOAT_ERROR = Fraction(1, 1 << 44)
_MOST_OUTPUTS = 1 << 14
_NEGLIGIBLE = 1e-15


@dataclass(frozen=True, slots=True)
class EnumerationResult:
    """If `private` or `violated` is true, it is certain. If neither is, the check is undecided.

    `event` names what violates the claim, or says what was checked. `missing` is an upper bound
    on the probability of outputs that were not checked.
    """

    private: bool
    violated: bool
    event: str
    missing: float

    def __str__(self) -> str:
        word = "violated" if self.violated else "private" if self.private else "undecided"
        rest = f" ({self.missing:.2g} of probability was not checked)"
        return f"{word}: {self.event}{rest if self.missing > _NEGLIGIBLE else ''}"


@dataclass(frozen=True, slots=True)
class _Distributions:
    """Enclosures of the probabilities of all outputs, one row for every input of a group."""

    outputs: Sequence[Any]
    rows: list[list[Enclosure]]
    slack: Fraction


def check(
    mechanism: Any,
    neighbors: Iterable[Sequence[Any]],
    outputs: Iterable[Any] | None = None,
    *,
    claim: Loss | None = None,
    bits: Sequence[int] = BITS,
) -> EnumerationResult:
    """Compares all pairs of each group of neighbours.

    Without `outputs` it enumerates nearly all of them. The claim is the mechanism's own `loss`
    unless another one is given. It is checked as what it is: the odds of every output for a
    pure loss, its own epsilon and delta for an approximate one, all epsilons for a curve.

    >>> from deniable import ApproximateLoss, Gaussian, Laplace, PureLoss
    >>> print(check(Laplace(epsilon=1), [(0, 1)]))
    private: no output exceeds the claim
    >>> print(check(Laplace(epsilon=2), [(0, 1)], claim=PureLoss(1)))
    violated: output 0, inputs 0 and 1
    >>> print(check(Gaussian(sigma=0.3), [(0, 1)], claim=ApproximateLoss(5, 1e-9)))
    violated: excess 0.0477 at epsilon 5, inputs 0 and 1
    """
    loss = mechanism.loss if claim is None else claim
    listed = None if outputs is None else list(outputs)
    worst = EnumerationResult(True, False, "", 0.0)
    for group in list_groups(neighbors):
        for precision in bits:
            result = _compare(mechanism, loss, group, listed, precision)
            if result.private or result.violated:
                break
        missing = max(worst.missing, result.missing)
        if result.violated:
            return replace(result, missing=missing)
        if not result.private or (worst.private and len(result.event) >= len(worst.event)):
            worst = result  # undecided, or the most cautious words
        worst = replace(worst, missing=missing)
    return worst


def _compare(
    mechanism: Any,
    loss: Loss,
    group: list[Any],
    outputs: list[Any] | None,
    bits: int,
) -> EnumerationResult:
    """Compares all pairs of one group."""
    distributions = _enclose_distributions(mechanism, group, outputs, bits)
    rows = distributions.rows
    unseen = max(1 - Fraction(sum(lo for lo, _ in row), 1 << bits) for row in rows)
    worst = EnumerationResult(True, False, "", float(max(unseen, Fraction(0))))
    for (value, row), (other, other_row) in permutations(zip(group, rows, strict=True), 2):
        pair = Rows(distributions.outputs, row, other_row, bits, distributions.slack)
        finding = check_claim(loss, pair)
        if finding.violated or (worst.private and not finding.private):
            event = f"{finding.event}, inputs {value} and {other}"
            worst = replace(worst, private=False, violated=finding.violated, event=event)
            if finding.violated:
                break
        elif worst.private and len(finding.event) >= len(
            worst.event
        ):  # the most cautious words
            worst = replace(worst, event=finding.event)
    return worst


def _enclose_distributions(
    mechanism: Any, group: list[Any], outputs: list[Any] | None, bits: int
) -> _Distributions:
    if not _has_pmf_by_output(mechanism):
        whole = [mechanism.pmf(scores) for scores in group]
        exact = all(isinstance(p, Fraction | int) for row in whole for p in row)
        error = Fraction(0) if exact else _FLOAT_ERROR
        rows = [[_enclose(Fraction(p), error, bits) for p in row] for row in whole]
        return _Distributions(range(len(rows[0])), rows, SLACK if exact else _FLOAT_SLACK)
    if outputs is not None:
        return _Distributions(outputs, _enclose_rows(mechanism, group, outputs, bits), SLACK)
    for candidates in _candidate_outputs(mechanism, group):
        rows = _enclose_rows(mechanism, group, candidates, bits)
        least = min(sum(lo for lo, _ in row) for row in rows)
        if (1 << bits) - least <= 1 << bits // 2:
            break
    # Very rare outputs would need more bits; they count as `missing`.
    common = [
        i for i in range(len(candidates)) if max(row[i][1] for row in rows) >> bits // 2 - 16
    ]
    return _Distributions(
        [candidates[i] for i in common], [[row[i] for i in common] for row in rows], SLACK
    )


def _enclose_rows(
    mechanism: Any, group: list[Any], outputs: Sequence[Any], bits: int
) -> list[list[Enclosure]]:
    return [[mechanism.pmf_bounds(o, value, bits) for o in outputs] for value in group]


def _has_pmf_by_output(mechanism: Any) -> bool:
    """Whether `pmf_bounds` takes one output at a time."""
    if hasattr(mechanism, "pmf_bounds"):
        return next(iter(inspect.signature(mechanism.pmf_bounds).parameters)) != "scores"
    if hasattr(mechanism, "pmf"):
        return False
    raise Unsupported(
        f"{type(mechanism).__name__} has no `pmf`, so its outputs cannot be enumerated. Test "
        "it as a black box: dp.audit.test(mechanism, neighbors=..., claim=...)."
    )


def _chooses_by_scores(mechanism: Any) -> bool:
    """Whether it chooses among candidates: then `pmf` takes only their scores."""
    if not hasattr(mechanism, "pmf"):
        return False
    parameters = inspect.signature(mechanism.pmf).parameters.values()
    return sum(parameter.default is parameter.empty for parameter in parameters) == 1


def _enclose(p: Fraction, error: Fraction, bits: int) -> Enclosure:
    return (p * (1 - error) * (1 << bits)).__floor__(), (
        p * (1 + error) * (1 << bits)
    ).__ceil__()


def _candidate_outputs(mechanism: Any, group: list[Any]) -> Iterator[Sequence[Any]]:
    """Sets of outputs, each wider than the one before."""
    categories = getattr(mechanism, "categories", None)
    if isinstance(categories, int):
        yield range(categories)
        return
    if _chooses_by_scores(mechanism) and all(hasattr(scores, "__len__") for scores in group):
        first = group[0]
        yield list(first) if isinstance(first, Mapping) else range(len(first))
        return
    step = getattr(mechanism, "step", None)
    if step is None or any(isinstance(value, list | tuple) for value in group):
        raise InvalidParameter(
            "Give `outputs`: for this mechanism and these inputs they cannot be derived from "
            "its fields."
        )
    ends = [Fraction(value) / step for value in group]
    width = 64
    while width <= _MOST_OUTPUTS:
        around = range(math.floor(min(ends)) - width, math.ceil(max(ends)) + width + 1)
        yield around if step == 1 else [_grid_point(k * step) for k in around]
        width *= 2


def _grid_point(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
