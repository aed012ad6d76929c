"""Measures what limits leave out: both histograms in one run, which is charged once."""

from fractions import Fraction
from typing import Any

from deniable.errors import DeniableError
from deniable.exact.rationals import Number, positive
from deniable.ledger.ledger import Remaining
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import ColumnRef, Named
from deniable.query.plan.plan import Plan
from deniable.release.limits.limit_plans import ROWS, LimitPlans, plan_limits
from deniable.release.limits.limits import LimitsReport
from deniable.release.limits.unit_histograms import UnitHistogram, UnitHistograms
from deniable.release.session.door import Door, remember_limits
from deniable.release.session.release import Release


def measure_limits(
    session: Door, table: str | None, *, answer_epsilon: Number = 1, **options: Any
) -> LimitsReport:
    """Both histograms at one charge, and what follows from them. The same call again is free.

    The ledger keeps the result: answers that it covers quote it, also in later sessions.
    """
    margin_price = positive(answer_epsilon, "answer_epsilon")
    limits_plan = plan_limits(session, table, **options)
    covered = _covered_plan(session, limits_plan)
    price = {"epsilon": limits_plan.epsilon, "confidence": limits_plan.confidence}
    caps = {name: options.get(name) for name in ("max_groups", "max_rows")}
    request = {
        "limits": {"table": limits_plan.table.name, "by": limits_plan.by, **price, **caps}
    }
    with session.run_like(limits_plan.plans, purpose=request) as run:
        releases = [run.release(plan) for plan in limits_plan.plans]
        limits = _report(session, limits_plan, releases, margin_price)
        if covered is not None:
            remember_limits(session, run, covered, limits.quote)
    return limits


def _report(
    session: Door, limit_plans: LimitPlans, releases: list[Release], margin_price: Fraction
) -> LimitsReport:
    *groups, rows = (_read(limit_plans, release) for release in releases)
    subject = limit_plans.table
    return LimitsReport(
        table=subject.name,
        unit=str(subject.unit),
        by=limit_plans.by,
        neighbors=subject.neighbors,
        histograms=UnitHistograms(
            groups[0] if groups else None,
            rows,
            limit_plans.keys if limit_plans.by else 1,
            limit_plans.confidence,
        ),
        current=(
            subject.max_groups_per_unit if limit_plans.by else 1,
            subject.max_rows_per_unit_per_group,
        ),
        answer_epsilon=margin_price,
        price=Remaining(limit_plans.epsilon, Fraction(0)),
        remaining=session.remaining,
        plans=limit_plans.plans,
        repeated=all(release.repeated for release in releases),
    )


def _read(limit_plans: LimitPlans, release: Release) -> UnitHistogram:
    """The histogram in a release; its cells are in the order of the declared numbers."""
    plan = release.plan
    table = release.to_arrow()
    counts = dict(
        zip(*(table[output.name].to_pylist() for output in plan.outputs), strict=True)
    )
    cells = plan.keys[0].values or ()
    noise = plan.blocks[0].mechanism.noise()
    return UnitHistogram(plan.keys[0].name, tuple(int(counts[cell]) for cell in cells), noise)


def _covered_plan(session: Door, limit_plans: LimitPlans) -> Plan | None:
    """The plan of COUNT(*) over the measured keys. Only its statement is compared.
    None if groups are private: then those that are not shown are left out, too."""
    if limit_plans.keys is None:
        return None
    keys = tuple(Named(name, ColumnRef(name)) for name in limit_plans.by)
    outputs = (*keys, Named("n", ROWS))
    question = Question(limit_plans.table.name, None, keys, outputs)
    try:
        return session.plan(question, epsilon=1)
    except DeniableError:
        return None
