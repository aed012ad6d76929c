"""Centres and axes as models: what k-means and principal components release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.learn.fit.cluster_steps import assign
from deniable.learn.fit.linear_fit import Vector
from deniable.learn.fit.noisy_moments import Matrix
from deniable.learn.fit.principal_axes import PrincipalAxes
from deniable.learn.fit.scaled_terms import ScaledTerm, read_terms


@dataclass(frozen=True, slots=True)
class CentreModel:
    """Centres in scaled units, one row each.

    >>> model = CentreModel((ScaledTerm("x", 5.0, 5.0),), np.array([[-1.0], [1.0]]))
    >>> model.nearest({"x": [1, 9]}).tolist(), model.centres_in_units.ravel().tolist()
    ([0, 1], [0.0, 10.0])
    """

    terms: tuple[ScaledTerm, ...]
    centres: Matrix

    @property
    def centres_in_units(self) -> Matrix:
        """The centres in the columns' own units."""
        return np.asarray(self.centres * halves_of(self.terms) + middles_of(self.terms))

    def nearest(self, columns: Mapping[str, Sequence[Any]]) -> "np.ndarray[Any, Any]":
        """The number of the nearest centre of each row."""
        return assign(read_terms(self.terms, columns), self.centres)

    def distances(self, columns: Mapping[str, Sequence[Any]]) -> Matrix:
        """The distance of each row to each centre, in scaled units."""
        rows = read_terms(self.terms, columns)
        return np.asarray(np.linalg.norm(rows[:, None, :] - self.centres[None], axis=2))


@dataclass(frozen=True, slots=True)
class AxesModel:
    """Principal axes of the terms, in the columns' units, or in scaled ones."""

    terms: tuple[ScaledTerm, ...]
    axes: PrincipalAxes  # its mean is measured from the middles of the bounds
    scaled: bool
    margin: float  # of eigenvalues in scaled units

    @property
    def units(self) -> Vector:
        """What a scaled number of 1 stands for."""
        return np.ones(len(self.terms)) if self.scaled else halves_of(self.terms)

    @property
    def mean(self) -> Vector:
        """The mean of the rows."""
        middles = middles_of(self.terms) / halves_of(self.terms) * self.units
        return np.asarray(self.axes.mean + middles)

    def coordinates(self, columns: Mapping[str, Sequence[Any]]) -> Matrix:
        """The coordinates of each row along the axes."""
        rows = read_terms(self.terms, columns) * self.units - self.axes.mean
        return np.asarray(rows @ self.axes.axes.T)


def halves_of(terms: Sequence[ScaledTerm]) -> Vector:
    """Half of the range of each term."""
    return np.array([term.half for term in terms])


def middles_of(terms: Sequence[ScaledTerm]) -> Vector:
    """The middle of the range of each term."""
    return np.array([term.middle for term in terms])
