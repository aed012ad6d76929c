"""Junction trees: every table is in a clique, and the cliques of a column are connected."""

import random

import pytest

from deniable.synth.fit.junction_tree import JunctionTree


@pytest.mark.parametrize("seed", range(40))
def test_running_intersection(seed):
    dice = random.Random(seed)
    count = dice.randint(1, 9)
    sizes = [dice.randint(1, 5) for _ in range(count)]
    tables = [
        tuple(sorted(dice.sample(range(count), min(count, dice.randint(1, 3)))))
        for _ in range(dice.randint(0, 10))
    ]
    tree = JunctionTree.of(tables, sizes)
    assert all(tree.home(columns) >= 0 for columns in tables)
    assert tree.parents[0] == -1
    assert all(0 <= parent < child for child, parent in enumerate(tree.parents) if child)
    for column in range(count):
        holds = [i for i, clique in enumerate(tree.cliques) if column in clique]
        assert holds, "every column is in some clique"
        heads = [i for i in holds if tree.parents[i] not in holds]
        assert len(heads) == 1  # connected


def test_cells_and_homes():
    tree = JunctionTree.of([(0, 1), (1, 2), (0, 2)], (2, 3, 4))
    assert tree.cliques == ((0, 1, 2),)
    assert tree.cells == 24
    assert tree.home((0, 3)) == -1
    assert tree.shape((2, 0)) == (4, 2)
