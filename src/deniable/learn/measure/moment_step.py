"""The step that adds up z z': rows as whole numbers between -SCALE and SCALE.

The entry (i, j) is asked for twice off the diagonal, as z_i z_j and z_j z_i, and the two noisy
sums are averaged. This is the weighting under which the step moves by exactly |z|² (see
`fit.noisy_moments`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from deniable.errors import InvalidParameter
from deniable.learn.fit.noisy_moments import NoisyMoments
from deniable.learn.fit.noisy_sums import NoisySums
from deniable.learn.fit.scaled_terms import ScaledTerm
from deniable.learn.measure.column_roles import CellRole, GridRole
from deniable.query.planner.step_plans import MOST_SUMS
from deniable.query.statements.row_integers import Lookup, Ref, RowInteger, Times
from deniable.query.statements.step_statement import StepProgram

SCALE = 255  # a scaled number of 1 is this many steps


@dataclass(frozen=True, slots=True)
class CodedTerm:
    """A term, and the whole number that each value of a training's column gives it."""

    term: ScaledTerm
    place: int  # of the column in the training
    entries: tuple[int, ...]

    @property
    def number(self) -> RowInteger:
        """The row's number."""
        return Lookup(self.entries, Ref(f"c{self.place}"))


def code_terms(roles: Sequence[CellRole | GridRole]) -> list[CodedTerm]:
    """The terms of all columns: one for a number, one for each listed value of others.

    The first value gets no term: coefficients say how far others differ from it. Values that
    are not declared are taken as the first.

    >>> from fractions import Fraction
    >>> from deniable.query.plan.plan import GroupKey
    >>> age = GridRole("age", Fraction(0), Fraction(50), 3, None)
    >>> [coded.entries for coded in code_terms([age])]
    [(-255, 0, 255)]
    """
    coded_terms = []
    for place, role in enumerate(roles):
        if isinstance(role, GridRole):
            coded_terms.append(CodedTerm(_scaled(role), place, _centred(role.size)))
            continue
        for code, label in enumerate(role.cells.labels):
            if code and label is not None:
                entries = tuple(SCALE * (own == code) for own in range(role.size))
                term = ScaledTerm(role.name, cells=role.cells, code=code)
                coded_terms.append(CodedTerm(term, place, entries))
    return coded_terms


def _scaled(role: GridRole) -> ScaledTerm:
    half = float(role.step) * max(role.size - 1, 1) / 2
    return ScaledTerm(role.name, middle=float(role.low) + half, half=half)


def _centred(size: int) -> tuple[int, ...]:
    """Whole numbers from -SCALE to SCALE, evenly."""
    if size < 2:
        return (0,) * size
    last = size - 1
    return tuple((SCALE * (2 * code - last) * 2 + last) // (2 * last) for code in range(size))


def moment_program(sizes: Sequence[int], coded: Sequence[CodedTerm]) -> StepProgram:
    """All products of two of (1, terms), each ordered pair once."""
    count = len(coded) + 1
    if count**2 > MOST_SUMS:
        raise InvalidParameter(
            f"The model would have {count - 1} terms, and needs all {count**2:,} products of "
            f"two. At most {MOST_SUMS:,} are possible: name fewer `features`, or use a model "
            "on cells, such as LogisticRegression or AdditiveModel. Nothing was spent."
        )
    # A column to the kernel, not a constant: it has a name in every product.
    level: dict[str, RowInteger] = {"z0": Lookup((SCALE,) * sizes[0], Ref("c0"))}
    level |= {f"z{i}": own.number for i, own in enumerate(coded, start=1)}
    names = list(level)
    # Both products of a pair are written alike, so that the engine computes them once.
    pairs = [sorted(pair) for pair in product(range(len(names)), repeat=2)]
    values = tuple(Times(Ref(names[first]), Ref(names[second])) for first, second in pairs)
    return StepProgram(tuple(sizes), (level,), (), values)


def read_moments(sums: NoisySums) -> NoisyMoments:
    """The noisy moments of scaled terms; the first is the constant 1."""
    size = round(sums.values.shape[1] ** 0.5)
    matrix = sums.values[0].reshape(size, size).astype(np.float64)
    return NoisyMoments(matrix, sums.deviation).divided_by(SCALE**2)
