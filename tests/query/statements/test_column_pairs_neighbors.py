"""Whatever one unit's rows are, the products of two columns move no further than declared."""

import re

import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.mechanisms import Gaussian
from tests.query.pairs import pairs
from tests.query.statements.test_aggregate_statement_neighbors import (
    MUTANTS,
    SHAPES,
    Probe,
    engines,
    within,
)

__all__ = ["engines"]  # the tables of neighbours, as for single columns

AGGREGATES = {
    "covariance": "COVAR_POP(x, ROUND(y))",
    "slope": "REGR_SLOPE(ROUND(y), x), REGR_INTERCEPT(ROUND(y), x)",
    "correlation": "CORR(x, ROUND(y)), COVAR_SAMP(x, ROUND(y))",
}


class PairProbe(Probe):
    """What is declared comes from the plan's own blocks."""

    def allowed(self):
        sizes = [
            block.reach.sensitivities(
                groups=self.declared.max_groups_per_unit,
                rows=self.declared.max_rows_per_unit_per_group,
                neighbors=self.relation,
                keyed=bool(self.key),
            )
            for block in self.declared.blocks
        ]
        for (l1, square), mine, theirs in zip(
            sizes, self.declared.blocks, self.plan.blocks, strict=True
        ):
            assert mine.reach == theirs.reach  # both are on the same grid
            norm = square if isinstance(mine.mechanism, Gaussian) else l1**2
            assert mine.mechanism.sensitivity**2 >= norm
        if self.declared.thresholding is not None:
            sides = 2 if self.relation == "replace" else 1
            sizes.append((sides * self.declared.max_groups_per_unit,) * 2)
        return sizes


@pytest.mark.one_in(2)
@pytest.mark.parametrize("whose", ["person", "row"])
@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_no_unit_moves_the_products_further_than_declared(engines, aggregate, whose, relation):
    person = whose == "person"
    count, opened = engines
    reached = []
    for key, where in SHAPES:
        probe = PairProbe(
            AGGREGATES[aggregate], key, where, count=count, relation=relation, person=person
        )
        moved, allowed = probe.moved(opened[relation, person]), probe.allowed()
        assert within(moved, allowed), (key, where, moved, allowed)
        reached += [l1 / most for (l1, _), (most, _) in zip(moved, allowed, strict=True)]
    assert max(reached) >= 0.5


@pytest.mark.one_in(3)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("mutant", MUTANTS)
def test_with_a_clip_or_limit_removed_it_fails(mutant, aggregate, relation):
    count = 400
    table = pairs(count, relation=relation, person=True, seed=7, wild=False)
    probe = PairProbe(
        AGGREGATES[aggregate], "ward", "", count=count, relation=relation, person=True
    )
    sql = probe.plan.engine_sql
    for pattern, instead in MUTANTS[mutant]:
        sql, changes = re.subn(pattern, instead, sql)
        assert changes, probe.plan.engine_sql
    with DuckDB.open({"data": table}) as engine:
        assert within(probe.moved(engine), probe.allowed())
        assert not within(probe.moved(engine, sql), probe.allowed())
