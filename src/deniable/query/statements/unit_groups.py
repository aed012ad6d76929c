"""Groups by unit: a plan whose groups have the privacy unit as one more key.

Its integers are never shown by group. A stream adds them up after its tally of each unit.
"""

from dataclasses import replace

from sqlglot import exp

from deniable.query.plan.plan import GroupKey, Plan
from deniable.query.plan.statement_text import StatementText, tree_of


def group_by_unit(plan: Plan, unit: str) -> Plan:
    """The plan with the unit `u` of its statement as its last key, without a threshold.

    The kernel refuses it wherever groups are shown.
    """
    tree = tree_of(plan.engine_sql).copy()
    assert isinstance(tree, exp.Select)
    count = len(plan.keys)
    keys, features = tree.expressions[:count], tree.expressions[count:]
    own = exp.alias_(exp.column("u"), f"k{count}")
    tree.set("expressions", [*keys, own, *features])
    tree.args["group"].append("expressions", exp.column("u"))
    named = (*plan.keys, GroupKey(unit, "text", None))
    return replace(plan, engine_sql=StatementText(tree), keys=named)
