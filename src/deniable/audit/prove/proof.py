"""The exact epsilon of a small randomized program.

For inputs x and y and an output o the odds are P(o | x) / P(o | y); epsilon is the logarithm of
the largest over all neighbours and outputs, since for any event the ratio of sums is at most
the largest ratio of terms. Every probability is a rational, so the odds are too.

A run that was cut off could have ended in any output, so its probability u is added to delta:
P(E | x) <= sum over E of what was resolved + u <= odds * P(E | y) + u.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias, overload

from deniable.audit.prove.coins import (
    Limits,
    OutcomeLaw,
    Program,
    Space,
    check_signature,
    frozen,
    law,
    repeats,
)
from deniable.audit.prove.curve import EpsilonCurve, curve
from deniable.audit.prove.datasets import Datasets, datasets
from deniable.audit.prove.probability_tables import drawn, in_order, shown
from deniable.errors import InvalidParameter
from deniable.exact.enclosures import exp_neg
from deniable.exact.rationals import Number, probability, rational
from deniable.privacy import ApproximateLoss, Loss, PureLoss
from deniable.privacy.losses.loss import nonnegative

DEFAULT = Limits()
_BITS = 512


@dataclass(frozen=True, slots=True)
class Worst:
    """The output that tells most, and the inputs that it tells apart, the likelier first."""

    output: Any
    inputs: tuple[Any, Any]
    odds: Fraction | float


@dataclass(frozen=True)
class Proof:
    """What a program gives away, exactly.

    `odds` is e**epsilon, a Fraction, or `math.inf` for a program that is not private: then
    `worst` is the event that gives it away. `table[x][o]` is P(o | x). `unresolved` is the
    largest probability of runs that were cut off; it counts as delta.

    >>> def rand_resp(x, flip):
    ...     return x if flip(Fraction(1, 2)) else flip(Fraction(1, 2))
    >>> proof = prove(rand_resp, neighbors=[(0, 1)])
    >>> print(proof)
    epsilon = ln 3 = 1.0986122886681098, worst at output 1, inputs 1 and 0
      input  P(0)  P(1)
      0       3/4   1/4
      1       1/4   3/4
    >>> proof.odds, proof.delta(odds=2)
    (Fraction(3, 1), Fraction(1, 4))
    """

    table: dict[Any, dict[Any, Fraction]]
    pairs: tuple[tuple[Any, Any], ...]
    missing: dict[Any, Fraction] = field(repr=False)

    @property
    def unresolved(self) -> Fraction:
        """The largest probability, over the inputs, of runs that were cut off."""
        return max(self.missing.values())

    @cached_property
    def worst(self) -> Worst:
        """Where the odds are largest."""
        found = [one for x, y in self._ordered for one in self._told(x, y)]
        return max(found, key=lambda one: one.odds)

    @property
    def odds(self) -> Fraction | float:
        """e**epsilon, exactly; `math.inf` if some output is possible for one input only."""
        return self.worst.odds

    @property
    def private(self) -> bool:
        """Whether epsilon is finite."""
        return self.odds != math.inf

    @property
    def epsilon(self) -> float:
        """ln(odds), rounded up."""
        return PureLoss(odds=self.odds).epsilon() if self.private else math.inf

    @property
    def loss(self) -> Loss:
        """The loss that was proved, to add to others."""
        if not self.private:
            raise InvalidParameter(f"No loss was proved: {self.event}.")
        rest = self.delta(odds=self.odds)
        return ApproximateLoss(odds=self.odds, delta=rest) if rest else PureLoss(odds=self.odds)

    @property
    def event(self) -> str:
        """The output that gives most away, in words."""
        likelier, other = self.worst.inputs
        text = f"output {self.worst.output}, inputs {likelier} and {other}"
        if self.private:
            return text
        chance = self.table[likelier][self.worst.output]
        return f"{text}: probability {chance} against {self._share(other, self.worst.output)}"

    def delta(self, epsilon: Number | None = None, *, odds: Number | None = None) -> Fraction:
        """The least delta at this epsilon: exact for `odds=`, else rounded up a hair."""
        if (epsilon is None) == (odds is None):
            raise InvalidParameter("Give exactly one of `epsilon` and `odds` (e**epsilon).")
        if odds is not None:
            factor = rational(odds, "odds")
        else:
            assert epsilon is not None
            inverse = exp_neg(nonnegative(epsilon, "epsilon"), _BITS)[1]
            factor = Fraction(1 << _BITS, inverse)
        return max(self._excess(x, y, factor) for x, y in self._ordered)

    def feasible(self, output: Any) -> tuple[Any, ...]:
        """The inputs that could have led to an output: all of them, if it tells nothing surely.

        An input with runs that were cut off stays possible.
        """
        key = frozen(output)
        return tuple(
            x for x, row in self.table.items() if row.get(key, 0) > 0 or self.missing[x] > 0
        )

    def posterior(
        self, prior: Mapping[Any, Number] | None = None
    ) -> dict[Any, dict[Any, Fraction]]:
        """For each output, what an attacker then believes of each input; evenly split before.

        >>> def rand_resp(x, flip):
        ...     return x if flip(Fraction(1, 2)) else flip(Fraction(1, 2))
        >>> after = prove(rand_resp, neighbors=[(0, 1)]).posterior({1: 0.1, 0: 0.9})
        >>> after[1][1], after[0][1]
        (Fraction(1, 4), Fraction(1, 28))
        """
        belief = self._prior(prior)
        after: dict[Any, dict[Any, Fraction]] = {}
        for output in self.outputs:
            joint = {x: belief[x] * row.get(output, 0) for x, row in self.table.items()}
            total = sum(joint.values())
            if total:
                after[output] = {x: one / total for x, one in joint.items()}
        return after

    @property
    def outputs(self) -> tuple[Any, ...]:
        """Every output that was reached, in order."""
        return in_order({output for row in self.table.values() for output in row})

    @property
    def _ordered(self) -> list[tuple[Any, Any]]:
        return [both for x, y in self.pairs for both in ((y, x), (x, y))]

    def _told(self, x: Any, y: Any) -> list[Worst]:
        """The odds of each output of x, for what the unresolved runs of y cannot explain."""
        row, other, missing = self.table[x], self.table[y], self.missing[y]
        found = [
            Worst(output, (x, y), p / other[output])
            for output, p in row.items()
            if other.get(output)
        ]
        most = max([one.odds for one in found], default=Fraction(1))
        for output, p in row.items():
            if not other.get(output) and (p > most * missing):
                found.append(Worst(output, (x, y), math.inf))
        return found or [Worst(next(iter(row), None), (x, y), Fraction(1))]

    def _excess(self, x: Any, y: Any, odds: Fraction) -> Fraction:
        other = self.table[y]
        resolved = (
            max(Fraction(0), p - odds * other.get(output, 0))
            for output, p in self.table[x].items()
        )
        return min(Fraction(1), sum(resolved, start=self.missing[x]))

    def _share(self, x: Any, output: Any) -> str:
        p = self.table[x].get(output, Fraction(0))
        return f"at most {float(p + self.missing[x]):.3g}" if self.missing[x] else str(p)

    def _prior(self, prior: Mapping[Any, Number] | None) -> dict[Any, Fraction]:
        if prior is None:
            return dict.fromkeys(self.table, Fraction(1, len(self.table)))
        given = {frozen(x): probability(p, "prior") for x, p in prior.items()}
        belief = {x: given.get(x, Fraction(0)) for x in self.table}
        if sum(belief.values()) != 1 or len(given.keys() - belief.keys()) > 0:
            raise InvalidParameter(
                "`prior` must give each input of the proof a probability, 1 in all. Found "
                f"{sum(belief.values())} in all; the inputs are {', '.join(map(str, belief))}."
            )
        return belief

    def __str__(self) -> str:
        return "\n".join([self.claim, *drawn(self.table, self.outputs)])

    @property
    def claim(self) -> str:
        """One sentence."""
        if not self.private:
            return f"not private at any epsilon: {self.event}"
        rest = self.delta(odds=self.odds)
        also = f" with delta = {float(rest):.3g} (runs cut off)" if rest else ""
        return f"epsilon = ln {shown(self.odds)} = {self.epsilon}{also}, worst at {self.event}"


Groups: TypeAlias = str | Iterable[Sequence[Any]]


@overload
def prove(
    program: Program,
    neighbors: Groups | None = None,
    *,
    domain: Iterable[Any] | None = None,
    size: int | None = None,
    over: None = None,
    limits: Limits = DEFAULT,
) -> Proof: ...
@overload
def prove(
    program: Program,
    neighbors: Groups | None = None,
    *,
    domain: Iterable[Any] | None = None,
    size: int | None = None,
    over: Mapping[str, tuple[Number, Number]],
    limits: Limits = DEFAULT,
) -> EpsilonCurve: ...
def prove(
    program: Program,
    neighbors: Groups | None = None,
    *,
    domain: Iterable[Any] | None = None,
    size: int | None = None,
    over: Mapping[str, tuple[Number, Number]] | None = None,
    limits: Limits = DEFAULT,
) -> Proof | EpsilonCurve:
    """The exact epsilon of a program that draws through `flip`, `uniform` and `choose`.

    The program's first argument is the data; `flip(p)` is 1 with probability p, `uniform(n)` is
    a number below n, `choose(weights)` an index. `neighbors` holds pairs of inputs, or is a
    relation over all lists of up to `size` records from `domain`. With `over={"p": (0, 1)}` the
    program's argument `p` is left open, and a `Curve` comes back instead of a `Proof`.

    >>> def majority(votes, flip):
    ...     said = [vote if flip(Fraction(3, 4)) else 1 - vote for vote in votes]
    ...     return int(sum(said) >= 2)
    >>> prove(majority, "replace", domain=[0, 1], size=3).odds
    Fraction(11, 5)
    """
    found = datasets(neighbors, domain, size)
    check_signature(program, list(over or ()))
    if over is not None:
        return curve(program, found, over=over, limits=limits)
    return proof(found, laws(program, found, limits))


def laws(program: Program, found: Datasets, limits: Limits) -> dict[Any, OutcomeLaw]:
    """The law of the program for every input."""
    space, again = Space(), repeats(len(found.inputs))
    return {
        x: law(program, data, space=space, limits=limits, extra={}, again=again)
        for x, data in found.inputs.items()
    }


def proof(found: Datasets, by_input: Mapping[Any, OutcomeLaw]) -> Proof:
    """Reads the laws of all inputs as one proof."""
    return Proof(
        table={x: one.table for x, one in by_input.items()},
        pairs=found.pairs,
        missing={x: one.unresolved for x, one in by_input.items()},
    )
