"""Every outcome of a small randomized program, by running it once for each.

The program draws through `flip(p)`, `uniform(n)` and `choose(weights)` that we hand it. A run
follows a recorded list of outcomes and, where that ends, takes the likeliest; each outcome that
was not taken becomes a list of its own. Probabilities are rationals (or rational functions of
a parameter left open), so what comes out is the exact law. The likeliest lists are followed
first, so a program that may never end is followed as far as the limits allow, and what is left
is known exactly too.
"""

import copy
import heapq
import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import cycle, islice
from typing import Any, TypeAlias

import numpy as np

from deniable.audit.prove.ratios import RationalFunction
from deniable.audit.prove.typed_numbers import told
from deniable.errors import DeniableError, InvalidParameter
from deniable.exact.rationals import Number, rational, whole

Probability: TypeAlias = Any  # Fraction, or Ratio where a parameter is open
Program: TypeAlias = Callable[..., Any]

COINS = ("flip", "uniform", "choose")
_REPEATED = 64
_Ended: TypeAlias = tuple[tuple[tuple[int, int], ...], Hashable]  # a run's outcomes, and output


@dataclass(frozen=True, slots=True)
class Limits:
    """How far to follow a program: draws in one run, and runs for each input."""

    draws: int = 200
    runs: int = 100_000


@dataclass(frozen=True, slots=True)
class OutcomeLaw:
    """P(output) for every output that was reached, and the probability of the rest."""

    table: dict[Hashable, Probability]
    unresolved: Probability


@dataclass(frozen=True, slots=True)
class Raised:
    """A program that fails has an output too: the failure, with what it says.

    >>> print(Raised("ValueError", "no such ward"))
    raises ValueError: no such ward
    """

    error: str
    message: str = ""

    def __str__(self) -> str:
        return f"raises {self.error}" + (f": {self.message}" if self.message else "")


class _TooLong(BaseException):
    """Ends a run at its limit; no `except Exception` in the program stops it."""


class _Replay:
    """One run: hands out recorded outcomes, then the likeliest ones."""

    def __init__(self, script: tuple[tuple[int, int], ...], space: "Space", most: int) -> None:
        self.taken = list(script)
        self.given = len(script)
        self.position = 0
        self.space = space
        self.most = most
        self.cut = False  # whether the run was ended, even if the program caught that
        self.probability: Probability = space.one
        self.others: list[tuple[Probability, tuple[tuple[int, int], ...]]] = []

    def flip(self, p: Number = Fraction(1, 2)) -> int:
        """1 with probability p, else 0."""
        heads = self.space.probability(p)
        return self._draw([1 - heads, heads])

    def uniform(self, n: int) -> int:
        """A whole number below n, each as likely."""
        count = whole(n, "n")
        return self._draw([self.space.one / count] * count)

    def choose(self, weights: Any) -> Any:
        """The index of a weight, or the key of a mapping, as likely as its weight says."""
        keys = list(weights) if isinstance(weights, Mapping) else None
        listed = list(weights.values()) if isinstance(weights, Mapping) else list(weights)
        exact = [self.space.weight(one) for one in listed]
        total = sum(exact, start=self.space.one * 0)
        if not total:
            raise InvalidParameter("`weights` must not all be zero: nothing could be chosen.")
        index = self._draw([one / total for one in exact])
        return index if keys is None else keys[index]

    def _draw(self, chances: list[Probability]) -> int:
        if self.position < self.given:
            index, options = self.taken[self.position]
            if options != len(chances):
                raise InvalidParameter(
                    "The program did not repeat itself: with the same coins it asked for a "
                    f"draw among {len(chances)} outcomes where it had asked for {options}. "
                    "It must keep no state between calls and draw only from the coins."
                )
        else:
            if self.position >= self.most:
                self.cut = True
                raise _TooLong
            index = max(range(len(chances)), key=lambda i: self.space.size(chances[i]))
            for other, chance in enumerate(chances):
                if other != index and chance:
                    path = (*self.taken, (other, len(chances)))
                    self.others.append((self.probability * chance, path))
            self.taken.append((index, len(chances)))
        self.position += 1
        self.probability = self.probability * chances[index]
        return index


class Space:
    """The numbers that probabilities are made of."""

    one: Probability = Fraction(1)

    def probability(self, p: Any) -> Probability:
        exact = rational(p, "p")
        if not 0 <= exact <= 1:
            raise InvalidParameter(f"`p` must be a probability, from 0 to 1. Found {p}.")
        return exact

    def weight(self, weight: Any) -> Probability:
        exact = rational(weight, "weights")
        if exact < 0:
            raise InvalidParameter(f"`weights` must not be negative. Found {weight}.")
        return exact

    def size(self, probability: Probability) -> Fraction:
        """For ordering only: the likeliest is followed first."""
        return probability  # type: ignore[no-any-return]


class OpenSpace(Space):
    """Rational functions of a parameter between `low` and `high`."""

    def __init__(self, name: str, low: Fraction, high: Fraction) -> None:
        self.parameter = RationalFunction.variable(name)
        self.one = self.parameter * 0 + 1
        self.low, self.high = low, high
        self.sample = low + (high - low) * Fraction(5, 13)  # seldom a breakpoint
        self._sound: dict[RationalFunction, bool] = {}

    def probability(self, p: Any) -> RationalFunction:
        exact = self.weight(p)
        if not self._nonnegative(1 - exact):
            self._refuse(p)
        return exact

    def weight(self, weight: Any) -> RationalFunction:
        exact = (
            weight if isinstance(weight, RationalFunction) else self.one * rational(weight, "p")
        )
        if not self._nonnegative(exact):
            self._refuse(weight)
        return exact

    def _nonnegative(self, value: RationalFunction) -> bool:
        if value not in self._sound:
            self._sound[value] = value.nonnegative(self.low, self.high)
        return self._sound[value]

    def _refuse(self, p: Any) -> None:
        raise InvalidParameter(
            f"`{p}` is not a probability for every {self.parameter} from {self.low} to "
            f"{self.high}. Narrow the range."
        )

    def size(self, probability: RationalFunction) -> Fraction:
        return probability(self.sample)


def law(
    program: Program,
    data: Any,
    *,
    space: Space,
    limits: Limits,
    extra: Mapping[str, Any],
    again: int = 2,
) -> OutcomeLaw:
    """The exact law of `program(data, ...)`, and what was left unresolved.

    The likeliest runs are repeated, `again` times in all: the same coins must give the same
    output, or the program has randomness of its own.
    """
    names = [name for name in COINS if name in wanted(program)]
    table: dict[Hashable, Probability] = {}
    nothing = space.one * 0
    unresolved = nothing
    todo: list[tuple[Fraction, int, Probability, tuple[tuple[int, int], ...]]] = []
    heapq.heappush(todo, (Fraction(-1), 0, space.one, ()))
    runs = pushed = 0
    kept: list[_Ended] = []
    while todo and runs < limits.runs:
        script = heapq.heappop(todo)[3]
        replay = _Replay(script, space, limits.draws)
        output = _output(program, data, replay, names, extra, first=runs == 0)
        if not replay.cut and len(kept) < again:
            kept.append((tuple(replay.taken), output))
        if replay.cut:
            unresolved = unresolved + replay.probability
        else:
            table[output] = table.get(output, nothing) + replay.probability
        for probability, path in replay.others:
            pushed += 1
            heapq.heappush(todo, (-space.size(probability), pushed, probability, path))
        runs += 1
    for script, output in islice(cycle(kept), again if kept else 0):
        replay = _Replay(script, space, limits.draws)
        repeated = _output(program, data, replay, names, extra)
        if repeated != output or replay.position != len(script) or replay.others:
            raise InvalidParameter(
                f"The program did not repeat itself: with the same coins it gave {output} and "
                f"then {repeated}. It must keep no state between calls and draw only from "
                f"the coins: {', '.join(COINS)}."
            )
    for _, _, probability, _ in todo:
        unresolved = unresolved + probability
    return OutcomeLaw({output: p for output, p in table.items() if p}, unresolved)


def _output(
    program: Program,
    data: Any,
    replay: _Replay,
    names: Sequence[str],
    extra: Mapping[str, Any],
    *,
    first: bool = False,
) -> Hashable:
    """What one run gives; None where it was cut off."""
    coins = {name: getattr(replay, name) for name in names}
    try:
        return frozen(program(copy.deepcopy(data), **coins, **extra))
    except _TooLong:
        return None
    except DeniableError:
        raise
    except Exception as error:
        if isinstance(error, TypeError | NameError | AttributeError) and first:
            raise  # a slip in the program, not an output
        return Raised(type(error).__name__, str(error))


def repeats(inputs: int) -> int:
    """How many runs of each input to repeat: 64 in all, or two each where there are many.

    >>> repeats(2), repeats(1000)
    (32, 2)
    """
    return max(2, _REPEATED // max(1, inputs))


def wanted(program: Program) -> list[str]:
    """The names of a program's arguments after the data; the first is the data."""
    return [one.name for one in inspect.signature(program).parameters.values()][1:]


def frozen(value: Any) -> Hashable:
    """An output or an input as something that can be compared and counted: 1, 1.0 and True are
    three of them.

    >>> frozen([1, {"a": [2]}])
    (1, (('a', (2,)),))
    """
    match value:
        case np.ndarray():
            return frozen(value.tolist())
        case np.generic():
            return frozen(value.item())
        case list() | tuple():
            return tuple(frozen(one) for one in value)
        case set() | frozenset():
            return frozenset(frozen(one) for one in value)
        case Mapping():
            return tuple(sorted(((frozen(k), frozen(v)) for k, v in value.items()), key=repr))
        case Hashable():
            kept: Hashable = told(value)
            return kept
    return repr(value)


def check_signature(program: Program, given: Sequence[str]) -> None:
    """Refuses a program that asks for something nobody will hand it."""
    if not callable(program):
        raise InvalidParameter(
            "A program must be a function, as `def program(x, flip): ...`. Found "
            f"{type(program).__name__}."
        )
    parameters = list(inspect.signature(program).parameters.values())
    if not parameters:
        raise InvalidParameter(
            "The program takes no data. Write it as `def program(x, flip): ...`."
        )
    for one in parameters[1:]:
        unknown = one.name not in (*COINS, *given) and one.default is one.empty
        if unknown and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise InvalidParameter(
                f"The program asks for `{one.name}`, which is none of flip, uniform and "
                f"choose. Give it a default, or leave it open with "
                f'over={{"{one.name}": (0, 1)}}.'
            )
