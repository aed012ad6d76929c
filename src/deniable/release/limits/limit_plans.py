"""The plans of two histograms: of units by groups, and of pairs of a unit and a group by rows.

Each unit is one row of the first: it moves it by 1, or by 2 if it is replaced. In the second it
has at most as many pairs as the cap of groups, so it moves it by that cap, or by twice the cap.
How many rows the unit has does not matter: a pair is one row, at the number of its rows, and a
number above the cap counts as the cap. Both plans limit by themselves, whatever the policy's
own limits are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, positive, probability, whole
from deniable.exact.suggestions import suggest
from deniable.policy import Policy, Table
from deniable.query.language.expressions import conjunction
from deniable.query.language.parse import parse
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Derived,
    Expression,
    Literal,
    Named,
    Selection,
    TableRef,
)
from deniable.query.plan.plan import GroupKey, Plan
from deniable.query.planner.marginal_plans import CellColumn, MarginalPlanner
from deniable.query.planner.planner import check_sizes
from deniable.query.relations.resolve import resolve_question
from deniable.query.statements.group_keys import key_of
from deniable.release.session.door import Door

GROUPS_SHARE = Fraction(1, 4)  # of epsilon: one unit moves that histogram least
DEFAULT_GROUPS, DEFAULT_ROWS = 10, 20  # the caps, unless the policy's limits are larger
MOST_CAP = 200
ROWS = Aggregate("count", None)
_ROW_COUNT = ColumnRef(str(ROWS))  # as a sub-query names it


@dataclass(frozen=True, slots=True)
class LimitPlans:
    """Both plans, before any of them is run."""

    table: Table
    by: tuple[str, ...]
    keys: int | None  # how many groups there are; None: not declared
    groups: Plan | None  # None: without keys there is one group
    rows: Plan
    epsilon: Fraction
    confidence: Fraction

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plans that are run."""
        return (self.rows,) if self.groups is None else (self.groups, self.rows)


def plan_limits(
    session: Door,
    table: str | None,
    *,
    by: str | Sequence[str] | None = None,
    epsilon: Number,
    max_groups: int | None = None,
    max_rows: int | None = None,
    confidence: Number = 0.95,
) -> LimitPlans:
    """Both plans, and so their price. Nothing is spent."""
    subject = find_table(session.policy, table)
    price, level = positive(epsilon, "epsilon"), probability(confidence, "confidence")
    if not 0 < level < 1:
        raise InvalidParameter(f"`confidence` must lie between 0 and 1. Found {confidence}.")
    check_sizes(price, level)
    names = _columns(subject, by)
    keys = _group_keys(session.policy, subject, names)
    known = _count_keys(keys)
    most = min(known or MOST_CAP, _cap(max_groups, "max_groups", DEFAULT_GROUPS, subject))
    cap = _cap(max_rows, "max_rows", DEFAULT_ROWS, subject)
    pairs = _pairs(subject, keys)
    share = GROUPS_SHARE if keys else Fraction(0)

    def count(source: Derived, name: str, limit: int, units: int, epsilon: Fraction) -> Plan:
        cells = GroupKey(name, "number", tuple(range(1, limit + 1)), Fraction(1))
        planner = MarginalPlanner(
            _with_rows(session.policy, subject, limit),
            subject,
            [CellColumn(cells, _ROW_COUNT)],
            partial=True,
            source=source,
            most_rows=units,
        )
        plan = planner.plan_pure((0,), epsilon=epsilon, confidence=level)
        return session.rows.restrict(plan, session.policy)

    groups = None
    if keys:
        groups = count(_counted(subject, pairs), "groups", most, 1, price * share)
    rows = count(pairs, "rows", cap, most if keys else 1, price * (1 - share))
    return LimitPlans(subject, names, known, groups, rows, price, level)


def find_table(policy: Policy, name: str | None) -> Table:
    """The private table of that name, or the only one, if it has a unit."""
    private = {
        table.name.lower(): table for table in policy.tables.values() if not table.public
    }
    if name is None and len(private) != 1:
        raise InvalidParameter(f"Name the table: one of {', '.join(private)}.")
    subject = next(iter(private.values())) if name is None else private.get(str(name).lower())
    if subject is None:
        raise InvalidParameter(
            f"There is no private table {name!r}. " + suggest(str(name), private, "They are")
        )
    if subject.unit is None:
        raise InvalidParameter(
            f"Each row of {subject.name} is protected on its own, so it counts once and has no "
            "limits. If one person has several rows, declare the column that identifies them, "
            "`unit`."
        )
    return subject


def _columns(table: Table, by: str | Sequence[str] | None) -> tuple[str, ...]:
    names = [by] if isinstance(by, str) else list(by or ())
    spelt = {name.lower(): name for name in table.columns}
    for name in names:
        if not isinstance(name, str) or name.lower() not in spelt:
            raise InvalidParameter(
                f"`by` names columns of {table.name}. Found {name!r}. "
                + suggest(str(name), table.columns, "Its columns are")
            )
        if name.lower() == str(table.unit).lower():
            raise InvalidParameter(
                f"`by` names what questions group by, and {name} is the privacy unit itself."
            )
    return tuple(dict.fromkeys(spelt[name.lower()] for name in names))


def _group_keys(policy: Policy, table: Table, names: Sequence[str]) -> tuple[GroupKey, ...]:
    _, scope = resolve_question(Question(table.name, None, (), (Named("n", ROWS),)), policy)
    return tuple(key_of(Named(name, ColumnRef(name)), scope) for name in names)


def _count_keys(keys: Sequence[GroupKey]) -> int | None:
    """How many groups the declared keys make; None if some are not declared."""
    listed = [len(key.values) for key in keys if key.values is not None]
    return prod(listed) if len(listed) == len(keys) else None


def _cap(given: int | None, name: str, default: int, table: Table) -> int:
    limit = (
        table.max_groups_per_unit if name == "max_groups" else table.max_rows_per_unit_per_group
    )
    cap = whole(max(default, min(limit, MOST_CAP)) if given is None else given, name)
    if not 2 <= cap <= MOST_CAP:
        raise InvalidParameter(f"`{name}` must be 2 to {MOST_CAP}. Found {given}.")
    return cap


def _with_rows(policy: Policy, table: Table, cap: int) -> Policy:
    """The policy in which a unit's number of groups or rows is cut at the cap."""
    limited = replace(table, max_rows_per_unit_per_group=cap)
    tables = {**policy.tables, table.name: limited}
    return Policy(tables, epsilon=policy.epsilon, delta=policy.delta)


def _pairs(table: Table, keys: Sequence[GroupKey]) -> Derived:
    """One row for each unit and group that occur together, with their number of rows."""
    unit = Named(str(table.unit), ColumnRef(str(table.unit)))
    columns = [unit, *(Named(key.name, ColumnRef(key.name)) for key in keys)]
    where = conjunction(part for part in map(_declared, keys) if part is not None)
    return _grouped(TableRef(table.name), where, columns)


def _counted(table: Table, pairs: Derived) -> Derived:
    """One row for each unit, with its number of groups."""
    return _grouped(pairs, None, [Named(str(table.unit), ColumnRef(str(table.unit)))])


def _grouped(
    source: TableRef | Derived, where: Expression | None, columns: Sequence[Named]
) -> Derived:
    outputs = (*columns, Named(str(ROWS), ROWS))
    return Derived(Selection(source, outputs, where=where, keys=tuple(columns)))


def _declared(key: GroupKey) -> Expression | None:
    """The condition that a row is in a declared group; None if groups are private."""
    if key.values is None:
        return None
    column = ColumnRef(key.name)
    if key.kind == "boolean":
        return Call("not", (Call("is null", (column,)),))
    return Call("in", (column, *(_literal(key, value) for value in key.values)))


def _literal(key: GroupKey, value: object) -> Expression:
    if key.kind == "number":
        return Literal(Fraction(str(value)))
    if key.kind == "date":
        compared = parse(f"SELECT COUNT(*) AS n FROM t WHERE d = DATE '{value}'").where
        assert isinstance(compared, Call)
        return compared.arguments[1]
    return Literal(str(value))
