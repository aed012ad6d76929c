"""How sessions begin: from a policy's file, from one frame, or as a rehearsal."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from deniable.exact.rationals import Number
from deniable.ledger.chained_ledger import MemoryLedger
from deniable.ledger.durable_ledger import ledger_of
from deniable.ledger.terms import Terms
from deniable.policy import Policy, Table, load
from deniable.release.session.owner_log import log_beside, noting
from deniable.release.session.session import Session


def open(
    path: str,
    *,
    analyst: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Session:
    """A session for the policy in a file, with the ledger that the policy names: unless it
    says otherwise, a SQLite file beside it, so that what was spent stays spent. `analyst` is
    who asks, where the policy cares. `progress` is told the share of a question's work that
    is done, from 0 to 1, where the engine knows it (Spark).

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
    from deniable.policy.file import located

    with located(path):
        return _session(load(path), analyst, progress)


def protect(
    source: Any,
    *,
    name: str = "data",
    epsilon: Number,
    delta: Number = 0,
    memory: int | str | None = None,
    **declared: Any,
) -> Session:
    """A session about one frame or file; `epsilon` and `delta` are the whole budget.

    `unit` names the column that identifies the privacy unit; without it each row is a unit.
    `bounds`, `step`, `keys` and `kind` say what is public about columns; `neighbors`,
    `max_groups_per_unit`, `max_rows_per_unit_per_group`, `row_ceiling` and `expected_rows`
    about the table. `memory` is what the engine may use ("4 GB") before it writes
    temporary files.

    >>> import pyarrow as pa
    >>> frame = pa.table({"ward": ["A", "B"], "cost": [10, 20]})
    >>> protect(frame, bounds={"cost": (0, 100)}, keys={"ward": ["A", "B"]}, epsilon=3)
    <session about data: epsilon 3, delta 0 left>
    """
    table = Table.declare(name, source, **declared)
    return _session(Policy([table], epsilon=epsilon, delta=delta, memory=memory))


def rehearse(policy: str | Path | Policy, *, analyst: str | None = None) -> Session:
    """A session on made-up rows that fit a policy's schema and bounds, to try code on.

    It costs nothing and looks at no row: questions are planned and charged as they would be,
    to a budget that is forgotten afterwards. The answers are about nobody, and say so.

    >>> from deniable.policy import Table
    >>> visits = Table.declare("visits", bounds={"cost": (0, 100)}, keys={"ward": ["A", "B"]})
    >>> session = rehearse(Policy([visits], epsilon=1))
    >>> answer = session.sql("SELECT AVG(cost) AS cost FROM visits", epsilon=0.5)
    >>> answer.rehearsal, answer.certificate
    (True, None)
    """
    from deniable.engines.rehearsal import open_rehearsal

    known = policy if isinstance(policy, Policy) else load(str(policy))
    ledger = MemoryLedger(terms=Terms.of(known))
    return Session(known, open_rehearsal(known), ledger, analyst=analyst, rehearsal=True)


def _session(
    policy: Policy,
    analyst: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Session:
    from deniable.engines.opening import opened

    log = log_beside(policy)
    with noting(log):
        engine = opened(policy)
    engine.progress = progress
    return Session(policy, engine, ledger_of(policy), analyst=analyst, log=log)
