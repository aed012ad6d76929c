"""A policy as JSON, and back: what is public about it, and nothing about where the data lies.

An analyst elsewhere plans with it, and a process that only runs an engine opens its sources by
it. Sources, ledgers and keys are not written: who reads it gives the sources, if it needs them.
"""

import datetime
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidPolicy
from deniable.exact.foreign_text import read_rational
from deniable.policy.budget import Budget, Schedule
from deniable.policy.column import Column
from deniable.policy.policy import Policy
from deniable.policy.table import Table

VERSION = 1
_PLAIN_COLUMN = ("kind", "integer", "narrow", "timed")
_LIMITS = ("max_groups_per_unit", "max_rows_per_unit_per_group")
_PLAIN_TABLE = (
    *("unit", "neighbors", *_LIMITS, "row_ceiling", "expected_rows", "public"),
    *("malformed", "version"),
)
_PATHS = ("unit_column", "unit_path", "unique")  # written only if they are set


def write_policy(policy: Policy) -> dict[str, Any]:
    """What a policy declares, ready for JSON.

    >>> policy = Policy([Table.declare("visits", bounds={"cost": (0, 99)})], epsilon=3)
    >>> write_policy(policy)["tables"][0]["columns"][0]["bounds"]
    ['0', '99']
    >>> read_policy(write_policy(policy)) == policy
    True
    """
    return {
        "version": VERSION,
        "tables": [_write_table(table) for table in policy.tables.values()],
        "budget": _write_budget(policy.budget),
        "filters": list(policy.filters),
        "units": {name: _write_budget(budget) for name, budget in policy.units.items()},
        "analysts": {name: _write_budget(budget) for name, budget in policy.analysts.items()},
        "memory": policy.memory,
    }


def read_policy(written: Any, *, sources: Mapping[str, Any] | None = None) -> Policy:
    """The policy that `write_policy` wrote, with sources if they are known here."""
    try:
        if written["version"] != VERSION:
            raise InvalidPolicy(
                f"This policy is written in version {written['version']!r} of its form, and "
                f"this version of Deniable knows {VERSION}. Use the same version as the server."
            )
        budget = _read_budget(written["budget"])
        return Policy(
            [_read_table(table, sources or {}) for table in written["tables"]],
            epsilon=budget.epsilon,
            delta=budget.delta,
            schedule=budget.schedule,
            filters=written["filters"],
            units={name: _read_budget(own) for name, own in written["units"].items()},
            analysts={name: _read_budget(own) for name, own in written["analysts"].items()},
            memory=written["memory"],
        )
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        if isinstance(problem, InvalidPolicy):
            raise
        raise InvalidPolicy("This is not a policy that Deniable wrote.") from None


def _write_table(table: Table) -> dict[str, Any]:
    plain = {name: getattr(table, name) for name in _PLAIN_TABLE}
    plain |= {name: getattr(table, name) for name in _PATHS if getattr(table, name)}
    columns = [_write_column(column) for column in table.columns.values()]
    budget = None if table.budget is None else _write_budget(table.budget)
    written = {"name": table.name, **plain, "columns": columns, "budget": budget}
    return written if table.sample is None else written | {"sample": table.sample.to_json()}


def _read_table(written: Mapping[str, Any], sources: Mapping[str, Any]) -> Table:
    name, budget = written["name"], written["budget"]
    plain = {key: written[key] for key in _PLAIN_TABLE}
    plain |= {key: written[key] for key in _PATHS if key in written}
    if plain["unit"] is None:
        plain |= dict.fromkeys(_LIMITS)
    columns = [_read_column(column) for column in written["columns"]]
    return Table(
        name,
        sources.get(name),
        **plain,
        columns={column.name: column for column in columns},
        budget=None if budget is None else _read_budget(budget),
        sample=written.get("sample"),
    )


def _write_column(column: Column) -> dict[str, Any]:
    keys = list(column.keys) if isinstance(column.keys, tuple) else column.keys
    lists = {}  # written only for lists
    if column.elements is not None:
        lists = {"length": column.length, "elements": _write_column(column.elements)}
    return {
        "name": column.name,
        **{name: getattr(column, name) for name in _PLAIN_COLUMN},
        "bounds": None if column.bounds is None else [str(bound) for bound in column.bounds],
        "step": None if column.step is None else str(column.step),
        "keys": keys,
        **lists,
    }


def _read_column(written: Mapping[str, Any]) -> Column:
    bounds, step = written["bounds"], written["step"]
    if "length" in written:
        elements = _read_column(written["elements"])
        return Column(written["name"], length=written["length"], elements=elements)
    column = Column(
        written["name"],
        kind=written["kind"],
        bounds=None if bounds is None else [read_rational(bound) for bound in bounds],
        step=None if step is None else read_rational(step),
        keys=written["keys"],
        integer=written["integer"],
        narrow=written["narrow"],
        timed=written["timed"],
    )
    # A kind that follows from bounds or keys leaves open whether there are only integers.
    object.__setattr__(column, "integer", written["integer"])
    return column


def _write_budget(budget: Budget) -> dict[str, Any]:
    grows = budget.schedule
    schedule = grows and {
        "start": grows.start.isoformat(),
        "every": grows.every,
        "epsilon": str(grows.epsilon),
        "delta": str(grows.delta),
        "times": grows.times,
    }
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta), "schedule": schedule}


def _read_budget(written: Mapping[str, Any]) -> Budget:
    grows = written["schedule"]
    schedule = grows and Schedule(
        start=datetime.date.fromisoformat(grows["start"]),
        every=grows["every"],
        epsilon=read_rational(grows["epsilon"]),
        delta=read_rational(grows["delta"]),
        times=grows["times"],
    )
    epsilon, delta = (Fraction(read_rational(written[name])) for name in ("epsilon", "delta"))
    return Budget(epsilon, delta, schedule=schedule)
