"""Neighbours are exactly the pairs that the relation names."""

from itertools import combinations

import pytest

from deniable.audit.prove.datasets import make_datasets
from deniable.errors import DeniableError


def test_replace_pairs_differ_in_one_place():
    datasets = make_datasets("replace", domain=[0, 1, 2], size=2)
    wanted = {
        frozenset(pair)
        for pair in combinations(datasets.inputs, 2)
        if sum(a != b for a, b in zip(*pair, strict=True)) == 1
    }
    assert {frozenset(pair) for pair in datasets.pairs} == wanted
    assert len(datasets.pairs) == len(wanted) == 18


def test_add_remove_pairs_differ_in_one_record():
    datasets = make_datasets("add-remove", domain=[0, 1], size=3)
    assert len(datasets.inputs) == 1 + 2 + 4 + 8
    for longer, shorter in datasets.pairs:
        assert shorter in {longer[:i] + longer[i + 1 :] for i in range(len(longer))}
    assert ((0, 1, 0), (0, 0)) in datasets.pairs
    assert ((1,), ()) in datasets.pairs


def test_groups_and_domains():
    assert make_datasets([(0, 1, 2)]).pairs == ((0, 1), (0, 2), (1, 2))
    assert make_datasets(None, domain="ab").pairs == (("a", "b"),)
    assert make_datasets([([1], [1, 2])]).pairs == (((1,), (1, 2)),)


@pytest.mark.parametrize(
    "bad",
    [
        {"neighbors": None},
        {"neighbors": []},
        {"neighbors": [(1,)]},
        {"neighbors": "replace"},
        {"neighbors": "replace", "domain": [0, 1]},
        {"neighbors": None, "domain": [0, 1], "size": 2},
        {"neighbors": "nearby", "domain": [0, 1], "size": 2},
        {"neighbors": "replace", "domain": range(50), "size": 5},
    ],
    ids=str,
)
def test_what_cannot_be_compared_is_refused(bad):
    with pytest.raises(DeniableError):
        make_datasets(**bad)
