"""Margins of errors."""

from fractions import Fraction

import pytest

from deniable.streams.counting.spread import Spread
from deniable.streams.counting.tree_errors import NodeError, certified_quantile

LEVEL = Fraction(19, 20)


def test_normal_and_fixed_parts():
    assert Spread(4.0).margin(LEVEL) == pytest.approx(2 * 1.959964, rel=1e-6)
    assert Spread(4.0, fixed=0.5).margin(LEVEL) - Spread(4.0).margin(LEVEL) == 0.5
    assert Spread(0.0).margin(LEVEL) == 0.0


def test_nodes_of_trees_have_a_law_of_their_own():
    nodes = (NodeError(Fraction(5), 0), NodeError(Fraction(5), 1))
    assert Spread(80.0, nodes=nodes).margin(LEVEL) == certified_quantile(nodes, LEVEL)


def test_independent_errors_add_up():
    leaf, above = NodeError(Fraction(2), 0), NodeError(Fraction(2), 3)
    both = Spread(1.0, 2.0, (above,)) + Spread(10.0, 20.0, (leaf,))
    assert both == Spread(11.0, 22.0, (leaf, above))
    assert both.deviation == pytest.approx(11**0.5)
