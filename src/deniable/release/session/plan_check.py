"""Checks that a plan protects the privacy units that the session's policy protects."""

import re

from deniable.engines.handover.written_plan import WrittenPlan
from deniable.errors import InvalidParameter, InvalidQuery, PlanRefused
from deniable.policy import Policy
from deniable.query.plan.key_list import key_relation
from deniable.query.plan.plan import STORED, Plan
from deniable.query.plan.quoting import quote_name
from deniable.query.plan.statement_text import says_what_it_reads, tree_of
from deniable.query.plan.tables_read import tables_read
from deniable.release.session.table_part import TablePart

_GROUPED = re.compile(r" GROUP BY \w+$")


def check_plan(plan: Plan, policy: Policy, rows: TablePart) -> None:
    """Refuses a plan that was made for other privacy units, or reads other rows than these.

    A plan clips and limits by itself, so a plan made for other bounds is as private as any.
    A plan made for other units is not.
    """
    if type(plan) is not Plan:
        raise InvalidParameter(
            f"release() takes a Plan; got {type(plan).__name__}. Make one with   "
            'plan("SELECT COUNT(*) FROM data", epsilon=0.5)   or ask directly with sql(...).'
        )
    try:
        _check_statements(plan)
        same = _protects_the_same_units(plan, policy) and rows.holds(plan, policy)
    except RecursionError:
        raise InvalidQuery("The question nests too deeply: split it.") from None
    if not same:
        raise InvalidParameter(
            f"This plan about {', '.join(plan.tables)} was made for another policy: it does "
            "not protect the privacy units of this session. Make a new one with plan(...). "
            "Nothing was spent."
        )


def check_same_text(written: WrittenPlan) -> None:
    """Refuses to run another text than the one that the kernel reads. Where the engine returns
    the cell of each row and we count, it is the same text without its count. The definitions
    of the tables may stand before it."""
    for statement, written_statement in zip(
        written.plan.statements, written.statements, strict=True
    ):
        runs, checked = written_statement.sql, statement.sql
        if written_statement.before:
            definition = f"{quote_name(STORED)} AS MATERIALIZED ({written.plan.stored})"
            if (
                written.plan.stored
                and written_statement.kind != "stored"
                and definition not in written_statement.before
            ):
                raise PlanRefused("The engine would store other rows than the plan's.")
            runs = runs.removeprefix(written_statement.before).removeprefix(" ")
            runs = f"WITH {runs.removeprefix(', ')}" if runs.startswith(", ") else runs
        if written_statement.cells:
            cell, _, rows = runs.partition(" AS cell FROM ")
            runs = f"{cell} AS cell, COUNT(*) AS n FROM {rows}"
            checked = _GROUPED.sub("", checked)
        if runs != checked:
            raise PlanRefused("The engine would run another text than the plan's.")


def _check_statements(plan: Plan) -> None:
    """Refuses a plan whose statements read other tables than it names, or were changed.

    The tables that it names are charged. Its keys may be relations beside the statements.
    """
    named = {*plan.tables, *plan.public, *map(key_relation, range(len(plan.keys)))}
    for statement in plan.statements:
        if not says_what_it_reads(statement.sql):
            raise InvalidParameter(
                "A statement of this plan was changed: its text and its tree differ. Make a "
                "new plan with plan(...). Nothing was spent."
            )
        beside = set() if statement.kind == "stored" or not plan.stored else {STORED}
        read = {name for name, _ in tables_read(tree_of(statement.sql))}
        if not read <= named | beside:
            raise InvalidParameter(
                "A statement of this plan reads more than the tables that the plan names, "
                f"{', '.join((*plan.tables, *plan.public))}. Make a new plan with plan(...). "
                "Nothing was spent."
            )


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
