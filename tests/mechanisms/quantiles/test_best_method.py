import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms.quantiles.best_method import METHODS, choose_method


@pytest.mark.parametrize(
    ("count", "neighbors", "name"),
    [
        (1, "replace", "independent"),
        (1, "add-remove", "independent"),
        (3, "replace", "joint"),
        (3, "add-remove", "recursive"),
        (9, "replace", "joint"),
        (9, "add-remove", "fixed-target"),
        (50, "replace", "recursive"),
        (50, "add-remove", "recursive"),
        (300, "replace", "tree"),
        (300, "add-remove", "tree"),
    ],
)
def test_auto(count, neighbors, name):
    method, why = choose_method("auto", count, neighbors, 1000)
    assert method.name == name
    assert len(why) > 20


def test_the_tree_needs_a_grid_that_it_can_hold():
    assert choose_method("auto", 300, "replace", 1 << 30)[0].name == "recursive"


def test_a_small_grid_has_a_small_tree():
    assert choose_method("auto", 29, "replace", 121)[0].name == "tree"
    assert choose_method("auto", 29, "add-remove", 121)[0].name == "tree"
    assert choose_method("auto", 29, "add-remove", 1000)[0].name == "fixed-target"


@pytest.mark.parametrize("name", METHODS)
def test_by_name(name):
    assert choose_method(name, 2, "add-remove", 10)[0].name == name


def test_bad_names_are_refused():
    with pytest.raises(InvalidParameter, match='"recursive"'):
        choose_method("fastest", 2, "replace", 10)
    with pytest.raises(InvalidParameter, match="joint"):
        choose_method("fixed-target", 2, "replace", 10)
