"""What was proved about a small randomized program: its exact epsilon.

For inputs x and y and an output o the odds are P(o | x) / P(o | y). Epsilon is the logarithm of
the largest odds over all neighbours and outputs: for any event the ratio of sums is at most the
largest ratio of terms. Every probability is a rational, so the odds are rational too.

A run that was cut off could have ended in any output, so its probability u is added to delta:
P(E | x) <= sum over E of resolved runs + u <= odds * P(E | y) + u.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.audit.prove.comparable_outputs import freeze
from deniable.audit.prove.probability_tables import format_odds, format_table, sort_outputs
from deniable.errors import InvalidParameter
from deniable.exact.enclosures import exp_neg
from deniable.exact.rationals import Number, probability, rational
from deniable.privacy import ApproximateLoss, Loss, PureLoss
from deniable.privacy.losses.loss import nonnegative

_BITS = 512


@dataclass(frozen=True, slots=True)
class WorstOutput:
    """The output with the largest odds, and its two inputs, the more probable one first."""

    output: Any
    inputs: tuple[Any, Any]
    odds: Fraction | float


@dataclass(frozen=True)
class Proof:
    """The exact privacy loss of a program.

    `odds` is e**epsilon, a Fraction, or `math.inf` for a program that is not private: then
    `worst` is the output that shows it. `table[x][o]` is P(o | x). `unresolved` is the
    largest probability of runs that were cut off; it counts as delta.

    >>> def rand_resp(x, flip):
    ...     return x if flip(Fraction(1, 2)) else flip(Fraction(1, 2))
    >>> from deniable.audit import prove
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
    def worst(self) -> WorstOutput:
        """Where the odds are largest."""
        candidates = [worst for x, y in self._ordered for worst in self._candidates(x, y)]
        return max(candidates, key=lambda candidate: candidate.odds)

    @property
    def odds(self) -> Fraction | float:
        """e**epsilon, exactly; `math.inf` if some output is possible for only one input."""
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
        """The output with the largest odds, as text."""
        first, other = self.worst.inputs
        text = f"output {self.worst.output}, inputs {first} and {other}"
        if self.private:
            return text
        chance = self.table[first][self.worst.output]
        return f"{text}: probability {chance} against {self._share(other, self.worst.output)}"

    def delta(self, epsilon: Number | None = None, *, odds: Number | None = None) -> Fraction:
        """The least delta at this epsilon: exact for `odds=`, else rounded up slightly."""
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
        """The inputs that could have led to an output.

        An input with runs that were cut off stays possible.
        """
        key = freeze(output)
        return tuple(
            x for x, row in self.table.items() if row.get(key, 0) > 0 or self.missing[x] > 0
        )

    def posterior(
        self, prior: Mapping[Any, Number] | None = None
    ) -> dict[Any, dict[Any, Fraction]]:
        """For each output, what an attacker then believes of each input.

        Without a `prior` the attacker starts with equal probabilities.

        >>> def rand_resp(x, flip):
        ...     return x if flip(Fraction(1, 2)) else flip(Fraction(1, 2))
        >>> from deniable.audit import prove
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
                after[output] = {x: p / total for x, p in joint.items()}
        return after

    @property
    def outputs(self) -> tuple[Any, ...]:
        """Every output that was reached, in order."""
        return sort_outputs({output for row in self.table.values() for output in row})

    @property
    def _ordered(self) -> list[tuple[Any, Any]]:
        return [pair for x, y in self.pairs for pair in ((y, x), (x, y))]

    def _candidates(self, x: Any, y: Any) -> list[WorstOutput]:
        """The odds of each output of x against y. They are infinite where y has no such output
        and its unresolved runs cannot explain it.
        """
        row, other, missing = self.table[x], self.table[y], self.missing[y]
        outputs = [
            WorstOutput(output, (x, y), p / other[output])
            for output, p in row.items()
            if other.get(output)
        ]
        most = max([candidate.odds for candidate in outputs], default=Fraction(1))
        for output, p in row.items():
            if not other.get(output) and (p > most * missing):
                outputs.append(WorstOutput(output, (x, y), math.inf))
        return outputs or [WorstOutput(next(iter(row), None), (x, y), Fraction(1))]

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
        probabilities = {freeze(x): probability(p, "prior") for x, p in prior.items()}
        belief = {x: probabilities.get(x, Fraction(0)) for x in self.table}
        if sum(belief.values()) != 1 or len(probabilities.keys() - belief.keys()) > 0:
            raise InvalidParameter(
                "`prior` must give each input of the proof a probability; these add up to 1. "
                f"Found a sum of {sum(belief.values())}; the inputs are "
                f"{', '.join(map(str, belief))}."
            )
        return belief

    def __str__(self) -> str:
        return "\n".join([self.claim, *format_table(self.table, self.outputs)])

    @property
    def claim(self) -> str:
        """The result in one sentence."""
        if not self.private:
            return f"not private at any epsilon: {self.event}"
        rest = self.delta(odds=self.odds)
        also = f" with delta = {float(rest):.3g} (runs cut off)" if rest else ""
        odds = format_odds(self.odds)
        return f"epsilon = ln {odds} = {self.epsilon}{also}, worst at {self.event}"
