"""Releases cross-tables: one charge for all measured tables."""

from collections.abc import Sequence
from typing import Any

from deniable.query.planner.explain import Branch
from deniable.release.session.door import Door
from deniable.synth.crosstabs.crosstab_plans import plan_crosstabs
from deniable.synth.crosstabs.crosstabs import Crosstabs


def release_crosstabs(
    session: Door, tables: Sequence[Sequence[str]], *, fresh: bool = False, **options: Any
) -> Crosstabs:
    """Cross-tables of one table. Tables that were released before are given again."""
    plans = plan_crosstabs(session, tables, **options)
    measured = tuple(plans.plans.values())
    kept = [] if fresh else [session.recall(plan) for plan in measured]
    found = [release for release in kept if release is not None]
    repeated = not fresh and len(found) == len(measured)
    releases = found if repeated else session.release_all(measured, delta=plans.delta)
    return Crosstabs.read(plans, releases, session.remaining, repeated=repeated)


def explain_crosstabs(
    session: Door, tables: Sequence[Sequence[str]], **options: Any
) -> Branch:
    """What `release_crosstabs` would measure. Nothing is spent, and no row is read."""
    plans = plan_crosstabs(session, tables, **options)
    checks = {session.describe_check(plan) for plan in plans.plans.values()}
    tree = plans.explain()
    lines = tuple(Branch(f"checked: {check}") for check in sorted(checks))
    return Branch(tree.text, (*tree.below, *lines))


