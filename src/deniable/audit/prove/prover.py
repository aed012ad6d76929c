"""`prove`: runs a program for every input and reads the result as a proof."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, overload

from deniable.audit.prove.curve import EpsilonCurve, prove_curve
from deniable.audit.prove.datasets import Datasets, make_datasets
from deniable.audit.prove.program_outcomes import (
    Limits,
    Program,
    check_signature,
    enumerate_outcomes,
    repeats,
)
from deniable.audit.prove.proof import Proof
from deniable.audit.prove.replay import Probabilities
from deniable.exact.rationals import Number

DEFAULT = Limits()
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

    The program's first argument is the data. `flip(p)` is 1 with probability p, `uniform(n)` is
    a number from 0 to n - 1, `choose(weights)` is an index. `neighbors` holds pairs of inputs,
    or is a relation over all lists of up to `size` records from `domain`. With
    `over={"p": (0, 1)}` the program's argument `p` stays open, and the result is an
    `EpsilonCurve` instead of a `Proof`.

    >>> from fractions import Fraction
    >>> def majority(votes, flip):
    ...     sent = [vote if flip(Fraction(3, 4)) else 1 - vote for vote in votes]
    ...     return int(sum(sent) >= 2)
    >>> prove(majority, "replace", domain=[0, 1], size=3).odds
    Fraction(11, 5)
    """
    datasets = make_datasets(neighbors, domain, size)
    check_signature(program, list(over or ()))
    if over is not None:
        return prove_curve(program, datasets, over=over, limits=limits)
    return _prove(program, datasets, limits)


def _prove(program: Program, datasets: Datasets, limits: Limits) -> Proof:
    """Enumerates the program for every input."""
    numbers, again = Probabilities(), repeats(len(datasets.inputs))
    outcomes = {
        x: enumerate_outcomes(
            program, data, numbers=numbers, limits=limits, extra={}, again=again
        )
        for x, data in datasets.inputs.items()
    }
    return Proof(
        table={x: distribution.table for x, distribution in outcomes.items()},
        pairs=datasets.pairs,
        missing={x: distribution.unresolved for x, distribution in outcomes.items()},
    )
