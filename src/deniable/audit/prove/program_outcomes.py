"""All outcomes of a small randomized program, found by one run for each.

The program draws through the functions `flip(p)`, `uniform(n)` and `choose(weights)` that it is
given. A run follows a recorded list of outcomes. Where the list ends, the run takes the most
probable outcome, and each outcome that was not taken becomes a new list. Probabilities are
rationals (or rational functions of an open parameter), so the distribution is exact. The most
probable lists come first. A program that may never end is followed up to the limits, and the
probability of the rest is known exactly.
"""

import copy
import heapq
import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import cycle, islice
from typing import Any, TypeAlias

from deniable.audit.prove.comparable_outputs import Raised, freeze
from deniable.audit.prove.replay import (
    COINS,
    CoinReplay,
    Probabilities,
    Probability,
    Script,
    TooManyDraws,
)
from deniable.errors import DeniableError, InvalidParameter

Program: TypeAlias = Callable[..., Any]

_REPEATED = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """How far to follow a program: draws in one run, and runs for each input."""

    draws: int = 200
    runs: int = 100_000


@dataclass(frozen=True, slots=True)
class OutcomeDistribution:
    """P(output) for every output that was reached, and the probability of the rest."""

    table: dict[Hashable, Probability]
    unresolved: Probability


def enumerate_outcomes(
    program: Program,
    data: Any,
    *,
    numbers: Probabilities,
    limits: Limits,
    extra: Mapping[str, Any],
    again: int = 2,
) -> OutcomeDistribution:
    """The exact distribution of `program(data, ...)`, and the probability left unresolved.

    The most probable runs are repeated, `again` times in all. The same coins must give the same
    output; otherwise the program has randomness of its own.
    """
    runner = _Runner(program, data, numbers, limits, extra, _coins(program))
    table: dict[Hashable, Probability] = {}
    nothing = numbers.one * 0
    unresolved = nothing
    todo: list[tuple[Fraction, int, Probability, Script]] = []
    heapq.heappush(todo, (Fraction(-1), 0, numbers.one, ()))
    runs = pushed = 0
    first_runs: list[tuple[Script, Hashable]] = []
    while todo and runs < limits.runs:
        replay, output = runner.run(heapq.heappop(todo)[3], first=runs == 0)
        if not replay.cut and len(first_runs) < again:
            first_runs.append((tuple(replay.taken), output))
        if replay.cut:
            unresolved = unresolved + replay.probability
        else:
            table[output] = table.get(output, nothing) + replay.probability
        for probability, path in replay.others:
            pushed += 1
            heapq.heappush(todo, (-numbers.size(probability), pushed, probability, path))
        runs += 1
    for script, output in islice(cycle(first_runs), again if first_runs else 0):
        runner.check_repeat(script, output)
    for _, _, probability, _ in todo:
        unresolved = unresolved + probability
    return OutcomeDistribution({output: p for output, p in table.items() if p}, unresolved)


@dataclass(frozen=True, slots=True)
class _Runner:
    """A program with its data and everything else that a run needs."""

    program: Program
    data: Any
    numbers: Probabilities
    limits: Limits
    extra: Mapping[str, Any]
    coins: Sequence[str]

    def run(self, script: Script, *, first: bool = False) -> tuple[CoinReplay, Hashable]:
        """One run and its output; None if the run was cut off."""
        replay = CoinReplay(script, self.numbers, self.limits.draws)
        coins = {name: getattr(replay, name) for name in self.coins}
        try:
            output = freeze(self.program(copy.deepcopy(self.data), **coins, **self.extra))
        except TooManyDraws:
            output = None
        except DeniableError:
            raise
        except Exception as error:
            if isinstance(error, TypeError | NameError | AttributeError) and first:
                raise  # a mistake in the program, not an output
            output = Raised(type(error).__name__, str(error))
        return replay, output

    def check_repeat(self, script: Script, output: Hashable) -> None:
        """Refuses a program that gives another output on the same coins."""
        replay, repeated = self.run(script)
        if repeated != output or replay.position != len(script) or replay.others:
            raise InvalidParameter(
                f"The program is not repeatable: with the same coins it gave {output} and "
                f"then {repeated}. It must keep no state between calls and take all "
                f"randomness from the coins: {', '.join(COINS)}."
            )


def repeats(inputs: int) -> int:
    """How many runs of each input to repeat: 64 in all, but at least two for each input.

    >>> repeats(2), repeats(1000)
    (32, 2)
    """
    return max(2, _REPEATED // max(1, inputs))


def _coins(program: Program) -> list[str]:
    """The coins that a program takes, after its first parameter, which is the data."""
    names = list(inspect.signature(program).parameters)[1:]
    return [name for name in COINS if name in names]


def check_signature(program: Program, names: Sequence[str]) -> None:
    """Refuses a program with a parameter that gets no value."""
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
    for parameter in parameters[1:]:
        optional = parameter.default is not parameter.empty
        if optional or parameter.name in (*COINS, *names):
            continue
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise InvalidParameter(
                f"The program has a parameter `{parameter.name}`, which is not one of flip, "
                "uniform and choose. Give it a default, or leave it open with "
                f'over={{"{parameter.name}": (0, 1)}}.'
            )
