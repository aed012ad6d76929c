"""A Plan in the final text of one engine, written before the charge: exactly this text runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deniable.query.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class WrittenStatement:
    """One statement in the text that the engine runs, with its parameters."""

    kind: str  # "groups", "cells", "joint" or "stored"
    name: str  # the name of cells in the engine's result
    sql: str = field(repr=False)  # may hold the salt, as the parameters may
    parameters: Mapping[str, Any] = field(default_factory=dict, repr=False)
    columns: Mapping[str, str] = field(default_factory=dict)  # their kinds, for some drivers
    before: str = field(
        default="", repr=False
    )  # what defines the tables, before the plan's text
    cells: int = 0  # how many, if the engine returns the cell of each row and we count


@dataclass(frozen=True, slots=True)
class WrittenPlan:
    """A plan and its statements, in the order of `Plan.statements`."""

    plan: Plan
    statements: tuple[WrittenStatement, ...]

    @property
    def stored(self) -> WrittenStatement | None:
        """The statement of the stored rows, if there is one."""
        statements = [statement for statement in self.statements if statement.kind == "stored"]
        return statements[0] if statements else None
