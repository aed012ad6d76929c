"""Opens a session: from a policy file, from one frame, or as a rehearsal."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from deniable.exact.rationals import Number
from deniable.ledger.beginning import load_with_ledger
from deniable.ledger.memory_ledger import MemoryLedger
from deniable.ledger.terms import Terms
from deniable.mechanisms.named_arguments import check_call
from deniable.policy import Policy, Table, load
from deniable.policy.column import DeclaredKind
from deniable.policy.table import ROW_CEILING, Malformed
from deniable.privacy.neighbors import Neighbors
from deniable.release.public_session import Session
from deniable.release.session.connecting import connect


@check_call
def open(
    path: str,
    *,
    analyst: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Session:
    """A session for a policy file.

    The ledger is the one that the policy names, or a SQLite file next to the policy. It keeps
    what was spent when the session ends. `analyst` is the name of the person who asks, if the
    policy has budgets for analysts. `progress` is called with the share of the work that is
    done, from 0 to 1, if the engine knows it (Spark).

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "visits.csv").write_text("ward,cost\\nA,10\\n")
    >>> _ = (folder / "deniable.toml").write_text('''
    ... [budget]
    ... epsilon = 3
    ... [tables.visits]
    ... source = "visits.csv"
    ... ''')
    >>> open(str(folder / "deniable.toml"))
    <session about visits: epsilon 3, delta 0 left>
    """
    from deniable.policy.file import name_line_in_errors

    with name_line_in_errors(path):
        policy = load_with_ledger(path)
        return connect(policy, Session, analyst=analyst, progress=progress)


@check_call
def protect(
    source: Any,
    *,
    name: str = "data",
    epsilon: Number,
    delta: Number = 0,
    unit: str | None = None,
    neighbors: Neighbors = "add-remove",
    max_groups_per_unit: int | None = None,
    max_rows_per_unit_per_group: int | None = None,
    bounds: Mapping[str, tuple[Number, Number]] | None = None,
    step: Mapping[str, Number] | None = None,
    keys: Mapping[str, Any] | None = None,
    kind: Mapping[str, DeclaredKind] | None = None,
    length: Mapping[str, int] | None = None,
    row_ceiling: int = ROW_CEILING,
    expected_rows: int | None = None,
    malformed: Malformed = "refuse",
    version: str = "",
    sample: Mapping[str, Any] | None = None,
    memory: int | str | None = None,
) -> Session:
    """A session about one frame or file; `epsilon` and `delta` are the whole budget.

    `unit` names the column that identifies the privacy unit; without it the unit is the row.
    `bounds`, `step`, `keys`, `kind` and `length` declare what is public about columns;
    `neighbors`, `max_groups_per_unit`, `max_rows_per_unit_per_group`, `row_ceiling` and
    `expected_rows` what is public about the table, and `sample` how its rows were drawn.
    `memory` is what the engine may use ("4 GB") before it writes temporary files.

    >>> import pyarrow as pa
    >>> frame = pa.table({"ward": ["A", "B"], "cost": [10, 20]})
    >>> protect(frame, bounds={"cost": (0, 100)}, keys={"ward": ["A", "B"]}, epsilon=3)
    <session about data: epsilon 3, delta 0 left>
    """
    columns: dict[str, Any] = {"bounds": bounds, "step": step, "keys": keys, "kind": kind}
    columns |= {"length": length}
    rows: dict[str, Any] = {"row_ceiling": row_ceiling, "expected_rows": expected_rows}
    rows |= {"malformed": malformed, "unit": unit, "neighbors": neighbors, "version": version}
    rows |= {"max_groups_per_unit": max_groups_per_unit, "sample": sample}
    rows["max_rows_per_unit_per_group"] = max_rows_per_unit_per_group
    table = Table.declare(name, source, **columns, **rows)
    return connect(Policy([table], epsilon=epsilon, delta=delta, memory=memory), Session)


@check_call
def rehearse(policy: str | Path | Policy, *, analyst: str | None = None) -> Session:
    """A session on made-up rows that fit a policy's schema and bounds, for trying out code.

    It costs nothing and reads no row. Questions are planned and charged as usual, but to a
    budget that is forgotten afterwards. Each answer says that it is a rehearsal.

    >>> from deniable.policy import Table
    >>> visits = Table.declare("visits", bounds={"cost": (0, 100)}, keys={"ward": ["A", "B"]})
    >>> session = rehearse(Policy([visits], epsilon=1))
    >>> answer = session.sql("SELECT AVG(cost) AS cost FROM visits", epsilon=0.5)
    >>> answer.rehearsal, answer.certificate
    (True, None)
    """
    from deniable.engines.rehearsal import open_rehearsal

    declared = policy if isinstance(policy, Policy) else load(str(policy))
    ledger = MemoryLedger(terms=Terms.from_policy(declared))
    engine = open_rehearsal(declared)
    return Session(declared, engine, ledger, analyst=analyst, rehearsal=True)
