"""Combinations of published numbers that depend on few people, in the row space of the numbers.

Each number is a vector of integers, one for each profile (people to whom all numbers react in
the same way). The matrix is reduced modulo a random prime of 31 bits, which is unlucky with
probability below one in a million. Every set of profiles that *some* combination, however long,
depends on alone is then found in the null space (`dependent_profiles`), up to a limit of work
that is stated. Short recipes are computed again in whole numbers.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from deniable.audit.attack.dependent_profiles import (
    MOST_WORK,
    find_dependent,
    solve_relation,
)
from deniable.exact.bits import SYSTEM, draw_integer

Matrix = NDArray[np.int64]
_MOST_TRIPLES = 60  # numbers, up to which three of them are combined
_LONGEST_RECIPE = 12


@dataclass(frozen=True, slots=True)
class IsolatedPeople:
    """A set of profiles that a combination depends on. `recipe` is the combination, if it is
    short: the places of the numbers, and their factors."""

    profiles: tuple[int, ...]
    people: int
    recipe: tuple[tuple[int, Fraction], ...] = ()


def merge_profiles(vectors: Matrix) -> tuple[Matrix, NDArray[np.int64]]:
    """The different columns, and which of them each person has.

    >>> merge_profiles(np.array([[1, 0, 1]]))[1].tolist()
    [1, 0, 1]
    """
    different, place = np.unique(vectors, axis=1, return_inverse=True)
    return different, np.asarray(place, dtype=np.int64).reshape(-1)


@dataclass(frozen=True, slots=True)
class Isolation:
    """Sets of few people that combinations depend on, the smallest first. `complete` is the
    most profiles of a set up to which every set was looked at; None: all sets were."""

    sets: tuple[IsolatedPeople, ...]
    complete: int | None


def isolate(
    vectors: Matrix, people: Sequence[int], fewer_than: int, most_work: int = MOST_WORK
) -> Isolation:
    """Sets of fewer than that many people that combinations depend on. Each profile is
    reported once, in the smallest set found.

    >>> everybody, all_but_one = [1, 1, 1], [1, 1, 0]
    >>> isolation = isolate(np.array([everybody, all_but_one]), [5, 5, 1], fewer_than=2)
    >>> smallest = isolation.sets[0]
    >>> smallest.profiles, [(place, int(factor)) for place, factor in smallest.recipe]
    ((2,), [(0, 1), (1, -1)])
    """
    sizes = np.asarray(people, dtype=np.int64)
    best: dict[int, IsolatedPeople] = {}

    def keep(several: Iterable[IsolatedPeople]) -> None:
        for group in several:
            for profile in group.profiles:
                if profile not in best or _rank(group) < _rank(best[profile]):
                    best[profile] = group

    keep(_combine_two(vectors, sizes, fewer_than))
    searched = _search_row_space(vectors, sizes, fewer_than, most_work)
    keep(searched.sets)
    if not all(group.recipe for group in best.values()):
        keep(_combine_three(vectors, sizes, fewer_than))
    return Isolation(tuple(sorted(set(best.values()), key=_rank)), searched.complete)


def _rank(group: IsolatedPeople) -> tuple[int, bool, int, tuple[int, ...]]:
    return group.people, not group.recipe, len(group.recipe), group.profiles


def _combine_two(vectors: Matrix, sizes: Matrix, limit: int) -> Iterator[IsolatedPeople]:
    """One number or two, with factors 1 and -1. Only pairs whose supports differ by few people
    can leave few, and one product of matrices finds these."""
    many = len(vectors)
    for i in range(many):
        yield from _small(vectors[i : i + 1], sizes, limit, [((i, 1),)])
    counted = (vectors != 0).astype(np.float64)  # exact: whole numbers below 2**53
    weighted = counted * sizes
    supports = weighted.sum(axis=1)
    differ = supports[:, None] + supports[None, :] - 2 * (weighted @ counted.T)
    first, second = np.nonzero(np.triu(differ < limit, k=1))
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        for sign in (-1, 1):
            joined = (vectors[i] + sign * vectors[j])[None]
            yield from _small(joined, sizes, limit, [((i, 1), (j, sign))])


def _combine_three(vectors: Matrix, sizes: Matrix, limit: int) -> Iterator[IsolatedPeople]:
    """Three numbers with factors 1 and -1, unless there are too many numbers."""
    many = len(vectors)
    for i, j in combinations(range(many if many <= _MOST_TRIPLES else 0), 2):
        for sign in (-1, 1):
            both = vectors[i] + sign * vectors[j]
            for last in (-1, 1):
                recipes = [((i, 1), (j, sign), (k, last)) for k in range(j + 1, many)]
                yield from _small(both + last * vectors[j + 1 :], sizes, limit, recipes)


def _small(
    joined: Matrix, sizes: Matrix, limit: int, recipes: Sequence[tuple[tuple[int, int], ...]]
) -> Iterator[IsolatedPeople]:
    counts = (joined != 0) @ sizes
    for place in np.flatnonzero((counts > 0) & (counts < limit)).tolist():
        profiles = tuple(np.flatnonzero(joined[place]).tolist())
        recipe = tuple((at, Fraction(factor)) for at, factor in recipes[place])
        yield IsolatedPeople(profiles, int(counts[place]), recipe)


def _search_row_space(vectors: Matrix, sizes: Matrix, limit: int, most_work: int) -> Isolation:
    """Every smallest set that a vector of the row space depends on, with its recipe."""
    prime = _random_prime()
    reduced, steps, pivots = _reduce(vectors, prime)
    free = np.setdiff1d(np.arange(vectors.shape[1]), pivots)
    # A basis of the null space, up to signs of rows, which no dependence minds.
    null_space = np.zeros((vectors.shape[1], len(free)), dtype=np.int64)
    null_space[pivots] = reduced[:, free]
    null_space[free, np.arange(len(free))] = prime - 1
    small = find_dependent(null_space, sizes, limit, prime, most_work)
    sets = []
    for profiles in small.sets:
        factors = solve_relation(null_space[list(profiles)], prime)
        combined = np.zeros(len(vectors), dtype=np.int64)
        for profile, factor in zip(profiles, factors, strict=True):
            if profile in pivots:
                combined = (combined + steps[pivots.index(profile)] * factor) % prime
        recipe = _recipe(combined, vectors, profiles, prime)
        sets.append(IsolatedPeople(profiles, int(sizes[list(profiles)].sum()), recipe))
    return Isolation(tuple(sets), None if small.complete >= limit - 1 else small.complete)


def _reduce(vectors: Matrix, prime: int) -> tuple[Matrix, Matrix, list[int]]:
    """The reduced row echelon form, the combinations that give its rows, and its pivots."""
    many, wide = vectors.shape
    work = np.concatenate([vectors % prime, np.eye(many, dtype=np.int64)], axis=1)
    pivots: list[int] = []
    for column in range(wide):
        row = len(pivots)
        if row == many:
            break
        below = np.flatnonzero(work[row:, column])
        if not len(below):
            continue
        pivot = row + int(below[0])
        work[[row, pivot]] = work[[pivot, row]]
        work[row] = work[row] * pow(int(work[row, column]), -1, prime) % prime
        others = np.flatnonzero(work[:, column])
        others = others[others != row]
        factors = prime - work[others, column][:, None]
        # The row is zero before its pivot, and a product of residues leaves room for a sum.
        rest = work[others, column:] + factors * work[row, column:]
        work[others, column:] = rest % prime
        pivots.append(column)
    rank = len(pivots)
    return work[:rank, :wide], work[:rank, wide:], pivots


def _recipe(
    combined: Matrix, vectors: Matrix, support: Sequence[int], prime: int
) -> tuple[tuple[int, Fraction], ...]:
    """The combination in fractions, if it is short and right in whole numbers; else ()."""
    places = np.flatnonzero(combined).tolist()
    if len(places) > _LONGEST_RECIPE:
        return ()
    factors = [_to_fraction(int(combined[place]), prime) for place in places]
    total = sum(
        (vectors[place].astype(object) * factor)
        for place, factor in zip(places, factors, strict=True)
    )
    right = set(np.flatnonzero(np.asarray(total) != 0).tolist()) == set(support)
    return tuple(zip(places, factors, strict=True)) if right else ()


def _to_fraction(residue: int, prime: int) -> Fraction:
    """The fraction with the smallest numerator and denominator that is this modulo the prime.

    >>> _to_fraction(pow(2, -1, 2147483647), 2147483647)
    Fraction(1, 2)
    """
    a, b, s, t = prime, residue, 0, 1
    while b * b * 2 > prime:
        quotient = a // b
        a, b, s, t = b, a - quotient * b, t, s - quotient * t
    return Fraction(b, t)


def _random_prime() -> int:
    """A random prime of 31 bits: products of two residues fit into 64."""
    while True:
        candidate = 2**30 + draw_integer(SYSTEM, 30) | 1
        if all(candidate % d for d in range(3, 46341, 2)):
            return candidate
