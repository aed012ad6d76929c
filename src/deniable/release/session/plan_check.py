"""Checks that a plan protects the privacy units that the session's policy protects."""

from deniable.engines.handover.written_plan import WrittenPlan
from deniable.errors import InvalidParameter
from deniable.policy import Policy
from deniable.query.plan.plan import Plan
from deniable.release.session.engine_run import Engine, PreparesPlans
from deniable.release.session.table_part import TablePart


def prepare_plan(
    plan: Plan, policy: Policy, rows: TablePart, engine: Engine
) -> Plan | WrittenPlan:
    """The plan in the engine's final text, which is what will run; or the plan itself, if the
    engine writes none. Refuses a plan that was made for other privacy units, or that the engine
    cannot run.

    A plan clips and limits by itself, so a plan made for other bounds is as private as any.
    A plan made for other units is not.
    """
    if not isinstance(plan, Plan):
        raise InvalidParameter(
            f"release() takes a Plan; got {type(plan).__name__}. Make one with   "
            'plan("SELECT COUNT(*) FROM data", epsilon=0.5)   or ask directly with sql(...).'
        )
    if not _protects_the_same_units(plan, policy) or not rows.holds(plan, policy):
        raise InvalidParameter(
            f"This plan about {', '.join(plan.tables)} was made for another policy: it does "
            "not protect the privacy units of this session. Make a new one with plan(...). "
            "Nothing was spent."
        )
    return engine.prepare(plan) if isinstance(engine, PreparesPlans) else plan


def _protects_the_same_units(plan: Plan, policy: Policy) -> bool:
    tables = [policy.tables.get(name) for name in plan.tables]
    public_tables = [policy.tables.get(name) for name in plan.public]
    return all(
        table is not None
        and not table.public
        and (plan.unit or "").lower() == (table.unit or "").lower()
        and plan.neighbors == table.neighbors
        for table in tables
    ) and all(table is not None and table.public for table in public_tables)
