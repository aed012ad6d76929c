"""Plans written by hand, for engines that are tested before any planner."""

from fractions import Fraction

from deniable.mechanisms import Laplace, Quantiles, Thresholding
from deniable.query.plan.plan import (
    Block,
    Choice,
    GroupKey,
    Plan,
)

MEDIAN = Quantiles(0.5, epsilon=1, bounds=(0, 9), neighbors="add-remove")


def plan(sql, *, keys=(), features=("n",), private=False, cells=()):
    """A plan that runs this SQL; only what an engine reads has a meaning."""
    return Plan(
        table="visits",
        unit=None,
        neighbors="add-remove",
        max_groups_per_unit=1,
        max_rows_per_unit_per_group=1,
        keys=tuple(GroupKey(name, "text", None) for name in keys),
        blocks=(Block(tuple(features), "a test", Laplace(epsilon=1)),) if features else (),
        thresholding=Thresholding(epsilon=1, delta=1e-6) if private else None,
        outputs=(),
        having=None,
        order=(),
        limit=None,
        other=False,
        nonnegative=False,
        confidence=Fraction(95, 100),
        epsilon=Fraction(1),
        delta=Fraction(0),
        engine_sql=sql,
        notes=(),
        choices=tuple(
            Choice((f"q{i}_0",), "a test", MEDIAN, 1, cell_sql)
            for i, cell_sql in enumerate(cells)
        ),
    )


def shown(withheld):
    """What an engine withheld: (keys..., units, features...) a group, sorted."""

    def rows(result):
        columns = [column.to_pylist() for column in result.keys]
        columns += [] if result.units is None else [result.units.tolist()]
        columns += [column.tolist() for column in result.features.values()]
        return sorted(zip(*columns, strict=True), key=repr)

    return withheld.reveal_to(rows)
