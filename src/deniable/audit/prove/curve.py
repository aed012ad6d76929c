"""Epsilon as an exact function of an open parameter.

Each output's odds are a rational function of the parameter. Epsilon is the logarithm of the
largest. Which one is largest changes only where two of them meet (a root of the difference) or
where one is infinite (a pole). Between such points one test value decides.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from deniable.audit.prove.datasets import Datasets
from deniable.audit.prove.polynomials import Root, between, roots
from deniable.audit.prove.program_outcomes import (
    Limits,
    Program,
    enumerate_outcomes,
    repeats,
)
from deniable.audit.prove.proof import Proof
from deniable.audit.prove.rational_functions import RationalFunction
from deniable.audit.prove.replay import OpenProbabilities
from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, rational
from deniable.privacy import PureLoss


@dataclass(frozen=True, slots=True)
class CurvePiece:
    """From `low` to `high` the odds are largest at this output, for these inputs."""

    low: Root
    high: Root
    odds: RationalFunction
    output: Any
    inputs: tuple[Any, Any]


@dataclass(frozen=True)
class EpsilonCurve:
    """The exact odds over a range of the open parameter, in pieces.

    >>> from deniable.audit import prove
    >>> def two_coins(x, flip, p):
    ...     return x if flip(p) else flip(p)
    >>> print(prove(two_coins, neighbors=[(0, 1)], over={"p": (0, 1)}))
    epsilon = ln((2 - p)/(1 - p)) for p from 0 to 1/2, worst at output 1, inputs 1 and 0
    epsilon = ln((1 - p + p^2)/(1 - 2*p + p^2)) for p from 1/2 to 1, worst at output 0, inputs 0
    and 1
    """

    parameter: str
    low: Fraction
    high: Fraction
    pieces: tuple[CurvePiece, ...]
    poles: tuple[Root, ...]
    giveaway: tuple[Any, tuple[Any, Any]] | None
    table: dict[Any, dict[Any, RationalFunction]]
    pairs: tuple[tuple[Any, Any], ...]
    missing: dict[Any, RationalFunction]

    @property
    def private(self) -> bool:
        """Whether epsilon is finite, except perhaps at the `poles`."""
        return self.giveaway is None

    @property
    def breakpoints(self) -> tuple[Root, ...]:
        """Where another output, or other inputs, become the worst case."""
        return tuple(piece.low for piece in self.pieces[1:])

    def at(self, value: Number) -> Proof:
        """The proof for one value of the parameter.

        >>> from deniable.audit import prove
        >>> curve = prove(
        ...     lambda x, flip, p: x if flip(p) else flip(p),
        ...     neighbors=[(0, 1)],
        ...     over={"p": (0, 1)},
        ... )
        >>> curve.at(Fraction(1, 2)).odds
        Fraction(3, 1)
        """
        exact = rational(value, self.parameter)
        if not self.low < exact < self.high:
            raise InvalidParameter(
                f"`{self.parameter}` must lie between {self.low} and {self.high}, the range of "
                f"the proof. Found {value}."
            )
        table = {
            x: {output: p for output, function in row.items() if (p := function(exact))}
            for x, row in self.table.items()
        }
        missing = {x: function(exact) for x, function in self.missing.items()}
        return Proof(table, self.pairs, missing)

    def odds(self, value: Number) -> Fraction | float:
        """e**epsilon at one value of the parameter."""
        return self.at(value).odds

    def epsilon(self, value: Number) -> float:
        """ln(odds) at one value of the parameter, rounded up."""
        odds = self.odds(value)
        return math.inf if odds == math.inf else PureLoss(odds=odds).epsilon()

    def __str__(self) -> str:
        p = self.parameter
        if self.giveaway is not None:
            output, (x, y) = self.giveaway
            return (
                f"not private for any {p} from {self.low} to {self.high}: output {output}, "
                f"inputs {x} and {y}: probability {self.table[x][output]} against 0"
            )
        lines = [
            f"epsilon = ln({piece.odds}) for {p} from {piece.low} to {piece.high}, "
            f"worst at output {piece.output}, inputs {piece.inputs[0]} and {piece.inputs[1]}"
            for piece in self.pieces
        ]
        lines += [f"epsilon is infinite at {p} = {pole}" for pole in self.poles]
        if any(self.missing.values()):
            middle = (self.low + self.high) / 2
            rest = max(self.missing.values(), key=lambda function: function(middle))
            lines.append(f"and delta = {rest} (runs cut off)")
        return "\n".join(lines)


def prove_curve(
    program: Program,
    datasets: Datasets,
    *,
    over: Mapping[str, tuple[Number, Number]],
    limits: Limits,
) -> EpsilonCurve:
    """Enumerates the program with one open parameter and takes the largest odds everywhere."""
    name, low, high = _range(over)
    numbers = OpenProbabilities(name, low, high)
    extra, again = {name: numbers.parameter}, repeats(len(datasets.inputs))
    outcomes = {
        x: enumerate_outcomes(
            program, data, numbers=numbers, limits=limits, extra=extra, again=again
        )
        for x, data in datasets.inputs.items()
    }
    table = {x: distribution.table for x, distribution in outcomes.items()}
    missing = {x: distribution.unresolved for x, distribution in outcomes.items()}
    worst, giveaway = _candidates(datasets, table, missing, numbers.sample)
    pieces, poles = ([], []) if giveaway else _envelope(worst, low, high)
    return EpsilonCurve(
        name, low, high, tuple(pieces), tuple(poles), giveaway, table, datasets.pairs, missing
    )


def _range(over: Mapping[str, tuple[Number, Number]]) -> tuple[str, Fraction, Fraction]:
    if len(over) != 1:
        raise InvalidParameter(
            f"`over` must name exactly one parameter. Found {', '.join(over) or 'none'}."
        )
    [(name, ends)] = over.items()
    low, high = (rational(end, name) for end in ends)
    if low >= high:
        raise InvalidParameter(f"The range of `{name}` is empty. Found {low} to {high}.")
    return name, low, high


Key = tuple[Any, tuple[Any, Any]]


def _candidates(
    datasets: Datasets,
    table: dict[Any, dict[Any, RationalFunction]],
    missing: dict[Any, RationalFunction],
    sample: Fraction,
) -> tuple[dict[RationalFunction, Key], Key | None]:
    """Every odds function with the first output that has it; and an output, if there is one,
    that shows the program is not private."""
    worst: dict[RationalFunction, Key] = {}
    ordered = [pair for x, y in datasets.pairs for pair in ((x, y), (y, x))]
    for x, y in ordered:
        for output, p in table[x].items():
            other = table[y].get(output)
            if other:
                worst.setdefault(p / other, (output, (x, y)))
    most = max((odds(sample) for odds in worst), default=Fraction(1))
    for x, y in ordered:
        for output, p in table[x].items():
            if not table[y].get(output) and p(sample) > most * missing[y](sample):
                return worst, (output, (x, y))
    return worst, None


def _envelope(
    worst: dict[RationalFunction, Key], low: Fraction, high: Fraction
) -> tuple[list[CurvePiece], list[Root]]:
    """The pieces of the largest of all odds functions, and their poles."""
    poles = sorted({root for odds in worst for root in roots(odds.bottom, low, high)})
    cuts: list[tuple[Root, Root, RationalFunction]] = []
    for odds in sorted(
        worst, key=lambda function: function((low + high) / 2 + (high - low) / 97)
    ):
        if not cuts:
            cuts = [(Root.at(low), Root.at(high), odds)]
            continue
        cuts = _raise_envelope(cuts, odds, poles, (low, high))
    pieces = [CurvePiece(a, b, odds, *worst[odds]) for a, b, odds in cuts]
    return pieces, poles


def _raise_envelope(
    cuts: list[tuple[Root, Root, RationalFunction]],
    odds: RationalFunction,
    poles: list[Root],
    ends: tuple[Fraction, Fraction],
) -> list[tuple[Root, Root, RationalFunction]]:
    """The larger of an envelope and one more function."""
    higher: list[tuple[Root, Root, RationalFunction]] = []
    for a, b, old in cuts:
        meets = roots((old - odds).top, *ends)
        inside = sorted({root for root in [*meets, *poles] if a < root < b})
        points = [a, *inside, b]
        for start, end in pairwise(points):
            x = between(start, end)
            best = odds if odds(x) > old(x) else old
            joined = higher and higher[-1][2] == best and start not in poles
            if joined:
                higher[-1] = (higher[-1][0], end, best)
            else:
                higher.append((start, end, best))
    return higher
