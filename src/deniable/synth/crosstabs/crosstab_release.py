"""Releases cross-tables: one charge for all measured tables."""

from collections.abc import Sequence
from typing import Any

from deniable.query.plan.plan import Plan
from deniable.query.planner.explain import Branch
from deniable.release.session.door import Door
from deniable.release.session.release import Release
from deniable.synth.crosstabs.crosstab_plans import CrosstabPlans, plan_crosstabs
from deniable.synth.crosstabs.crosstabs import Crosstabs


def release_crosstabs(
    session: Door,
    tables: Sequence[Sequence[str]],
    *,
    fresh: bool = False,
    explain: bool = False,
    **options: Any,
) -> Crosstabs | Branch:
    """Cross-tables of one table. Tables that were released before are given again.

    With `explain`: what would be measured. Nothing is spent, and no row is read.
    """
    plans = plan_crosstabs(session, tables, **options)
    if explain:
        return _explain(session, plans)
    measured = tuple(plans.plans.values())
    kept = None if fresh else _recall_all(session, measured)
    releases = session.release_all(measured, delta=plans.delta) if kept is None else kept
    return Crosstabs.read(plans, releases, session.remaining, repeated=kept is not None)


def _recall_all(session: Door, plans: Sequence[Plan]) -> list[Release] | None:
    """The kept answers to all plans, if all were kept and are free."""
    releases = []
    for plan in plans:
        kept = session.recall(plan)
        if kept is None:
            return None
        releases.append(kept)
    return releases


def _explain(session: Door, plans: CrosstabPlans) -> Branch:
    """The plans as a tree, and what the kernel derives about them."""
    checks = {session.describe_check(plan) for plan in plans.plans.values()}
    tree = plans.explain()
    lines = tuple(Branch(f"checked: {check}") for check in sorted(checks))
    return Branch(tree.text, (*tree.below, *lines))
