"""The plans of a watch: the question about the days of the steps that are read now.

The question is planned with these days as the declared keys of its time column, so a plan reads
no other days and shows nothing about them. It is a plan like any other, at the price of the
whole watch, and the kernel derives how far one unit moves its integers. They get the noise of
the watch, not the plan's.

Where the table protects persons, the statement's last sum is made for each person and day
instead of for each day, so that the tally of a person's whole life can be kept: the groups have
the person as one more key, which is never shown.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidQuery
from deniable.policy import Column, Policy, Table
from deniable.query.language.parse import parse
from deniable.query.language.syntax_tree import ColumnRef
from deniable.query.plan.plan import Feature, KeyColumn, Node, Number, Operation, Output, Plan
from deniable.query.statements.unit_groups import group_by_unit
from deniable.release.session.door import Door
from deniable.streams.watching.watched import SHOWN_BESIDE

_SHAPE = (
    "A watch counts rows or sums one column, by one column of days, of one table, as in   "
    "SELECT day, COUNT(*) FROM visits GROUP BY day"
)


@dataclass(frozen=True, slots=True)
class WatchQuestion:
    """A question that can be watched."""

    text: str
    table: str
    column: str  # of the days
    unit: str | None

    @classmethod
    def read(cls, session: Door, text: str) -> "WatchQuestion":
        """The question, after checking its shape."""
        question = parse(text)
        table = session.policy.tables.get(str(question.table))
        if not isinstance(question.table, str) or table is None or table.public:
            raise InvalidQuery(f"{_SHAPE}. Here it is not about one private table.")
        plain = not (question.having or question.order or question.limit or question.distinct)
        if len(question.keys) != 1 or question.by_all or not plain:
            raise InvalidQuery(f"{_SHAPE}. Leave out all other clauses but WHERE.")
        key = question.keys[0].expression
        names = {name.lower(): name for name in table.columns}
        column = names.get(key.name.lower()) if isinstance(key, ColumnRef) else None
        if column is None or table.columns[column].kind != "date":
            raise InvalidQuery(
                f"{_SHAPE}. Its key must be a column of dates. A column of text can be "
                'declared as one, with   kind = "date"'
            )
        return cls(text, table.name, column, table.unit)

    def plan(
        self, session: Door, days: Sequence[datetime.date], most: int, epsilon: Fraction
    ) -> Plan:
        """The plan that reads these days; `most` rows of one person count on a day."""
        policy = _with_days(session.policy, self, days, most)
        plan = session.plan_under(policy, self.text, {"epsilon": epsilon, "delta": 0})
        _scale(plan)
        return plan if self.unit is None else group_by_unit(plan, self.unit)


def row_values(plan: Plan) -> tuple[int, int, Fraction]:
    """What one row adds at least and at most, in grid steps; and the grid."""
    reach = plan.blocks[0].reach
    assert reach is not None
    return min(0, int(reach.low)), max(0, int(reach.high)), _scale(plan)


def watched_number(plan: Plan, column: str) -> Output:
    """The one output that is not a key. Its name must be one that no other column has."""
    (number,) = (out for out in plan.outputs if not isinstance(out.node, KeyColumn))
    names = [name.lower() for name in (number.name, column)]
    taken = {*names} & {*SHOWN_BESIDE}
    if taken or names[0] == names[1]:
        raise InvalidQuery(
            f"The numbers of a watch are shown beside columns named {', '.join(SHOWN_BESIDE)} "
            f"and {column}, so none can have the name {min(taken, default=number.name)!r}. "
            "Give the number another name with AS, or the days in a view of the table. Nothing "
            "was spent."
        )
    return number


def _scale(plan: Plan) -> Fraction:
    """The grid of the one number that is watched; refuses any other shape of answer."""
    nodes = [output.node for output in plan.outputs if not isinstance(output.node, KeyColumn)]
    sums = len(plan.blocks) == 1 and len(plan.blocks[0].features) == 1 and not plan.choices
    if len(nodes) == 1 and sums and plan.engine_sql and plan.distances is None:
        node: Node = nodes[0]
        scale = Fraction(1)
        if isinstance(node, Operation) and node.name == "*" and len(node.arguments) == 2:
            first, second = node.arguments
            if isinstance(first, Number) and first.value > 0:
                node, scale = second, first.value
        if isinstance(node, Feature) and node.block == 0:
            return scale
    raise InvalidQuery(f"{_SHAPE}. Here another number is asked for, or several.")


def _with_days(
    policy: Policy, question: WatchQuestion, days: Sequence[datetime.date], most: int
) -> Policy:
    """The policy with these days as the keys of the time column, and room for a person's
    rows."""
    table = policy.tables[question.table]
    old = table.columns[question.column]
    dated = Column(old.name, kind="date", keys=[day.isoformat() for day in days])
    limits: dict[str, Any] = {}
    if table.unit is not None:
        limits = {"max_groups_per_unit": len(days), "max_rows_per_unit_per_group": most}
    changed = Table(
        table.name,
        table.source,
        unit=table.unit,
        neighbors=table.neighbors,
        row_ceiling=table.row_ceiling,
        columns={**table.columns, question.column: dated},
        **limits,
    )
    return Policy(
        [changed if name == table.name else own for name, own in policy.tables.items()],
        epsilon=policy.epsilon,
        delta=policy.delta,
    )
