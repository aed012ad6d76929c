"""Functions of numbers through Ibis: DuckDB's to the last bit, and total."""

import math

import pytest

from deniable.engines.ibis.number_functions import _power_of, _remainder_of
from tests.engines import ibises

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

VALUES = [
    "EXP(1 / real)",
    "LN(1 / real)",
    "LOG2(real)",
    "LOG10(real)",
    "POWER(real, -1)",
    "POWER(1 / real, 3)",
    "POWER(real, 0.5)",
    "POWER(CAST(said AS DOUBLE), 3)",
    "POWER(CAST(said AS DOUBLE), -2)",
    "ROUND(1 / real, 2)",
    "ROUND(real, 1)",
    "ROUND(whole, -2)",
    "ROUND(CAST(said AS DOUBLE), -12)",
    "ROUND(CAST(said AS DOUBLE), 3)",
    "TRUNC(1 / real)",
    "real // 7",
    "SIGN(1 / real)",
    "SQRT(1 / real)",
    "SIN(CAST(said AS DOUBLE))",
    "COS(real)",
    "(1 / real) % 3",
    "7 % real",
    "CAST(said AS DOUBLE) % real",
    "NULLIF(real, 7.25)",
]


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_values_are_duckdbs(backend):
    ibises.same(backend, [ibises.asked(VALUES)])
    ibises.same(backend, [ibises.asked(VALUES, of="COUNT({})")])


@pytest.mark.parametrize("base", [0.0, -0.0, 2.0, -2.0, 1e300, -1e300, math.inf, math.nan])
@pytest.mark.parametrize("power", [0.0, 3.0, -3.0, 2.0, -2.0, 0.5, -0.5, 4e15])
def test_powers_are_what_c_makes_of_them(base, power):
    import numpy as np

    with np.errstate(all="ignore"):
        wanted = float(np.float64(base) ** np.float64(power))
    found = _power_of(base, power)
    assert found == wanted or (math.isnan(found) and math.isnan(wanted))


def test_remainders_have_the_sign_of_what_is_divided():
    assert _remainder_of(-7.0, 3.0) == -1.0
    assert _remainder_of(7.0, -math.inf) == 7.0
    assert math.isnan(_remainder_of(math.inf, 3.0))
    assert math.isnan(_remainder_of(7.0, 0.0))
    assert _remainder_of(None, 3.0) is None
    assert _power_of(3.0, None) is None
