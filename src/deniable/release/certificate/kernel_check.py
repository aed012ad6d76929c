"""The kernel's opinion of a plan: what it is told about the tables, and what it derives.

A session asks for it before every charge. A certificate carries both, so a stranger can ask the
kernel again.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from deniable.errors import InvalidCertificate, PlanRefused
from deniable.exact.suggestions import pluralize
from deniable.kernel.facts import Facts, TableFacts
from deniable.kernel.verdict import KernelVerdict, check_plan
from deniable.policy import Column, Policy, Table
from deniable.query.plan import canonical
from deniable.query.plan.plan import Plan
from deniable.query.plan.quoting import quote_name
from deniable.query.statements.partition import part_reading

_NEIGHBORS = ("add-remove", "replace")
_OTHER_TEXT = "DuckDB's text of the same plan"


@dataclass(frozen=True, slots=True)
class KernelCheck:
    """A plan, the public facts about the tables that it reads, and the kernel's verdict."""

    plan: Plan
    facts: Facts
    verdict: KernelVerdict

    @classmethod
    def of(cls, plan: Plan, policy: Policy, *, withheld: bool = False) -> "KernelCheck":
        """Asks the kernel about a plan. Raises `PlanRefused` if it does not agree.

        The kernel cannot see the other parts of a partition. So the expression that tells the
        part of a row is compared here with the one in the partition's name. With `withheld`, no
        group is shown, so that keys may be private without a threshold.
        """
        facts = facts_about(plan, policy)
        verdict = check_plan(plan, facts, withheld=withheld)
        table = policy.tables[plan.table]
        if verdict.readings != tuple(
            (name, part_reading(table, name)) for name, _ in plan.part
        ):
            raise PlanRefused("The plan divides its table in another way than this session.")
        return cls(plan, facts, verdict)

    @classmethod
    def from_json(cls, plan: Plan, stated: Any) -> "KernelCheck":
        """Asks the kernel again, with the facts that a certificate states."""
        facts = read_facts(stated)
        again = cls(plan, facts, check_plan(plan, facts))
        follows = again.to_json(own_text="text" in stated)
        if canonical.canonical_text(follows) != canonical.canonical_text(stated):
            raise InvalidCertificate("The kernel derives other movements than it states.")
        return again

    def to_json(self, *, own_text: bool = False) -> dict[str, Any]:
        """The facts and the derived movements, as a certificate states them. With `own_text`,
        the engine runs a text of its own, and it says which one was read instead."""
        moves = [
            {"about": part.about, "l1": part.l1, "l2_squared": part.l2_squared}
            for part in self.verdict.parts
        ]
        told = {"tables": [asdict(table) for table in self.facts.tables], "moves": moves}
        return told | ({"text": _OTHER_TEXT} if own_text else {})

    def describe(self, engine: str | None = None, unit: str | None = None) -> str:
        """How far one unit moves the numbers, and in which text the kernel read that. `engine`
        is one that runs a text of its own."""
        unit, choices = unit or self.plan.unit or "row", len(self.plan.choices)
        moved = [part.l1 for part in self.verdict.parts]
        numbers, steps = moved[: len(moved) - choices], moved[len(moved) - choices :]
        moves = (
            [f"moves these numbers by at most {sum(numbers):,} grid steps"] if numbers else []
        )
        moves += [f"is at most {pluralize(sum(steps), 'step')} of a choice"] if steps else []
        text = f"one {unit} {' and '.join(moves)}"
        if engine is None:
            return text
        return f"{text} (read in DuckDB's SQL; {engine} runs its own text of the same plan)"


def facts_about(plan: Plan, policy: Policy) -> Facts:
    """The public facts about the tables that a plan reads. Of their columns, only those that a
    statement names: no other can change an answer."""
    text = "\n".join(statement.sql for statement in plan.statements).lower()
    names = [name for name in (*plan.tables, *plan.public) if name in policy.tables]
    return Facts(tuple(_describe(policy.tables[name], text) for name in names))


def _describe(table: Table, text: str) -> TableFacts:
    columns = {
        name: _kind(column)
        for name, column in table.columns.items()
        if quote_name(name).lower() in text or name == table.unit
    }
    return TableFacts(
        table.name, columns, table.public, table.unit, table.neighbors, table.row_ceiling
    )


def _kind(column: Column) -> str:
    if column.elements is not None:
        return f"list of {_kind(column.elements)}"
    if column.narrow:
        return "integer"
    return "wide" if column.integer else column.kind or "other"


def read_facts(stated: Any) -> Facts:
    """The facts in a certificate; an `InvalidCertificate` for anything else."""
    try:
        tables = tuple(TableFacts(**table) for table in stated["tables"])
        right = all(map(_is_right, tables))
    except (TypeError, KeyError):
        right = False
    if not right:
        raise InvalidCertificate("Invalid `kernel` in the statement: it must hold tables.")
    return Facts(tables)


def write_plan_check(plan: Plan, policy: Policy) -> str:
    """A plan and the kernel's opinion of it, as JSON for `deniable kernel`."""
    check = KernelCheck.of(plan, policy)
    document = {"plan": canonical.to_json(plan), "kernel": check.to_json()}
    return canonical.canonical_text(document) + "\n"


def read_plan_check(source: bytes) -> KernelCheck:
    """Asks the kernel about a plan in a release, a certificate or `write_plan_check`'s JSON."""
    document: Any = canonical.parse_json(source)
    try:
        document = document.get("certificate", document)
        stated = document.get("statement", document)["kernel"]
        plan = canonical.from_json(document["plan"])
    except (AttributeError, KeyError, TypeError):
        plan = None
    if not isinstance(plan, Plan):
        raise InvalidCertificate("This is no release, certificate or plan of Deniable.")
    return KernelCheck.from_json(plan, stated)


def _is_right(table: TableFacts) -> bool:
    return (
        isinstance(table.name, str)
        and isinstance(table.columns, Mapping)
        and all(isinstance(kind, str) for kind in table.columns.values())
        and type(table.public) is bool
        and (table.unit is None or table.unit in table.columns)
        and table.neighbors in _NEIGHBORS
        and type(table.row_ceiling) is int
        and table.row_ceiling > 0
    )
