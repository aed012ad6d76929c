from fractions import Fraction

import numpy as np
import pytest

from deniable.query.margins.evaluation import evaluate
from deniable.query.margins.slopes import SmoothFormula, is_smooth
from deniable.query.plan.plan import Feature, KeyColumn, Number, Operation

A, B, TWO = Feature("a", 0), Feature("b", 0), Number(Fraction(2))
FORMULAS = {
    "product": Operation("*", (A, B, Operation("+", (A, TWO)))),
    "quotient": Operation("/", (Operation("*", (A, A)), B)),
    "root": Operation("sqrt", (Operation("*", (A, B)),)),
    "power": Operation("power", (Operation("/", (A, B)), TWO)),
    "exponent": Operation("power", (A, Operation("/", (B, A)))),
    "difference": Operation("-", (Operation("negative", (Operation("*", (A, B)),)), B)),
    "key": Operation("*", (Operation("*", (A, B)), KeyColumn(0))),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_slopes_are_those_of_differences(name):
    node, point, keys = (
        FORMULAS[name],
        np.array([[3.0, 7.0], [5.0, 2.0]]),
        (np.array([2.0, 9.0]),),
    )
    assert is_smooth(node)

    def at(where):
        return evaluate(node, dict(zip("ab", where, strict=True)), keys)

    value, slopes = SmoothFormula(node, {}, keys).value_and_slopes(point)
    assert value == pytest.approx(at(point))
    for i in range(2):
        step = np.zeros((2, 1))
        step[i] = 1e-5
        assert slopes[i] == pytest.approx(
            (at(point + step) - at(point - step)) / 2e-5, rel=1e-6
        )


def test_some_groups_keep_their_own_keys():
    formula = SmoothFormula(FORMULAS["key"], {}, (np.array([2.0, 9.0]),))
    value, _ = formula.value_and_slopes(np.array([[3.0], [5.0]]), np.array([1]))
    assert value.tolist() == [135]
