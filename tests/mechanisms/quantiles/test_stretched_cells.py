"""Wide cells: as private as narrow ones, on every tiny table, and of use where atoms are."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from deniable.mechanisms.histogram import ColumnGrid
from deniable.mechanisms.quantiles import Quantiles
from deniable.mechanisms.quantiles.joint import JointQuantiles
from deniable.mechanisms.quantiles.recursive import RecursiveQuantiles
from deniable.mechanisms.quantiles.stretched_cells import StretchedCells, usual_atoms
from tests.mechanisms.quantiles.contract import MethodContract, rank_errors
from tests.mechanisms.quantiles.laws import mixed, of_joint, of_recursive

F = Fraction
ATOMS = ((1, 2),)


class WideContract(MethodContract):
    """Records of a wide cell are in any of its rooms; every way is listed."""

    flat = staticmethod(of_joint)

    def law(self, method, records):
        stretch = StretchedCells(method.size, method.atoms)
        flat = replace(method, size=stretch.width, atoms=())
        rooms = [
            range(first, first + dict(method.atoms).get(cell, 1))
            for cell in records
            for first in stretch.starts(np.array([cell])).tolist()
        ]
        laws = []
        for places in product(*rooms):
            law = {}
            for key, (lo, hi) in self.flat(flat, tuple(sorted(places))).items():
                cells = tuple(stretch.cell(room) for room in key)
                low, high = law.get(cells, (0, 0))
                law[cells] = (low + lo, high + hi)
            laws.append(law)
        return mixed(laws)


class TestJoint(WideContract):
    methods = (
        JointQuantiles((F(1, 3), F(2, 3)), F(1), "replace", 3, 0, ATOMS),
        JointQuantiles((F(1, 2),), F(1), "add-remove", 3, 1, ATOMS),
    )
    most = 3


class TestRecursive(WideContract):
    methods = (RecursiveQuantiles((F(1, 4), F(1, 2)), F(1), "add-remove", 3, 0, ATOMS),)
    flat = staticmethod(of_recursive)
    most = 3


@pytest.mark.parametrize("atoms", [(), ((0, 4),), ((3, 2), (9, 5)), ((0, 2), (1, 3), (2, 4))])
def test_rooms_and_cells(atoms):
    stretch = StretchedCells(10, atoms)
    rooms = [stretch.cell(room) for room in range(stretch.width)]
    widths = dict(atoms)
    assert rooms == [cell for cell in range(10) for _ in range(widths.get(cell, 1))]
    first = stretch.starts(np.arange(10)).tolist()
    assert [rooms[place] for place in first] == list(range(10))
    assert all(rooms[place - 1] != rooms[place] for place in first[1:])


def test_which_cells_are_wide_is_public():
    assert usual_atoms(ColumnGrid.of((-1, 1), F(1, 100))) == ((0, 6), (100, 12), (200, 6))
    assert usual_atoms(ColumnGrid.of((0, 1023), 1)) == ((0, 64), (1023, 32))
    assert usual_atoms(ColumnGrid.of((10, 1033), 1)) == ((0, 32), (1023, 32))
    assert usual_atoms(ColumnGrid.of((F(1, 2), F(2047, 2)), 1)) == (
        (0, 32),
        (1023, 32),
    )  # no zero


@pytest.mark.parametrize(("neighbors", "most"), [("replace", 14), ("add-remove", 8)])
def test_many_quantiles_of_half_zeros_are_as_near_as_those_of_smooth_columns(
    neighbors, most, size
):
    """29 quantiles: a joint choice on equal cells misses 24 ranks under replace."""
    trials = size(small=12, full=200, what="releases of 29 quantiles of half zeros")
    quantiles = [F(k, 30) for k in range(1, 30)]
    mechanism = Quantiles(
        quantiles, epsilon=1, bounds=(-100, 100), step=0.01, neighbors=neighbors
    )
    rng, errors = np.random.default_rng(6), []
    for _ in range(trials):
        column = np.where(rng.random(1000) < 0.5, 0.0, rng.exponential(10, 1000))
        cells = mechanism.grid.nearest(np.array(mechanism.release(column).values))
        records = mechanism.grid.nearest(column)
        errors.append(rank_errors(records, mechanism.grid.size, cells, quantiles).mean())
    assert np.mean(errors) <= most
