"""What plans charge covers what they run, for many kinds of plans."""

from itertools import product

import pytest

from deniable.ledger.charges import check_price
from deniable.mechanisms import Gaussian
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan

SCHEMA = {"u": "BIGINT", "x": "DOUBLE", "y": "DOUBLE", "k": "VARCHAR", "m": "BIGINT"}
QUESTIONS = {
    "private keys": "SELECT k, COUNT(*), AVG(x), VARIANCE(y) FROM d GROUP BY k",
    "declared keys": "SELECT m, COUNT(*), AVG(x), SUM(y) FROM d GROUP BY m",
    "no keys": "SELECT SUM(x), STDDEV(y), COUNT(*) FROM d",
    "keys alone": "SELECT k, m, COUNT(DISTINCT u) FROM d GROUP BY k, m",
}
GROUPS = [1, 4, 500]


def policy(groups, neighbors, delta):
    table = Table.declare(
        "d",
        unit="u",
        max_groups_per_unit=groups,
        max_rows_per_unit_per_group=3,
        neighbors=neighbors,
        bounds={"x": (0, 100), "y": (0, 10)},
        keys={"k": "private", "m": list(range(1000))},
    )
    return Policy([table.with_schema(SCHEMA)], epsilon=3, delta=delta)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("delta", [1e-6])
def test_every_plan_is_worth_its_price(groups, neighbors, delta):
    kinds = set()
    for text, other in product(QUESTIONS.values(), (False, True)):
        planned = plan(parse(text), policy(groups, neighbors, delta), epsilon=0.7, other=other)
        check_price(planned)
        kinds |= {type(block.mechanism) for block in planned.blocks}
    assert groups < 500 or Gaussian in kinds  # many groups are where Gaussian noise wins


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_groups_that_may_add_up_in_the_rest_are_paid_for(neighbors):
    """A unit's groups may all be in the group of the rest, so its L2 distance is its L1."""
    known = policy(500, neighbors, 1e-6)
    text = "SELECT k, COUNT(*) AS n FROM d GROUP BY k"
    plain, rest = (
        plan(parse(text), known, epsilon=1, other=other).blocks[0].mechanism
        for other in (False, True)
    )
    sides = 2 if neighbors == "replace" else 1
    assert rest.sensitivity == sides * 500 * 3
    assert isinstance(plain, Gaussian)
    assert plain.sensitivity < sides * 500
