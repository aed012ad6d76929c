"""A session: a policy, an engine and a ledger, and the one door from data to the world."""

import logging
import secrets
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Protocol, Unpack, runtime_checkable

from deniable.engines.aggregated import Aggregated
from deniable.engines.withheld import Withheld
from deniable.errors import EngineFailed, InvalidParameter
from deniable.exact.rationals import Number
from deniable.policy import Policy, Table, load
from deniable.query.explain import Branch, explain
from deniable.query.parse import parse
from deniable.query.plan import Plan
from deniable.query.planner import plan as planned
from deniable.query.question import Question
from deniable.release.answer import Answer, answered
from deniable.release.asking import Asked, Wishes
from deniable.release.durable import ledger_of
from deniable.release.ledger import Ledger, Remaining
from deniable.release.release import Release

log = logging.getLogger("deniable.engine")


class Engine(Protocol):
    """What a session needs of an engine."""

    def schema(self, table: str) -> Mapping[str, str]: ...

    def run(self, plan: Plan) -> Withheld[Aggregated]: ...

    def close(self) -> None: ...


@runtime_checkable
class Streaming(Protocol):
    """An engine that hands its groups over in batches, so that all need not fit in memory."""

    def stream(self, plan: Plan) -> Withheld[Iterator[Aggregated]]: ...


def _integers(engine: Engine, plan: Plan) -> Withheld[Any]:
    """All at once where there are cells, which belong to groups of any batch."""
    if isinstance(engine, Streaming) and len(plan.statements) == 1:
        return engine.stream(plan)
    return engine.run(plan)


class Session:
    """Questions to the tables of one policy, paid from one ledger.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> visits = dp.protect(pa.table({"ward": ["A", "B"] * 50}), name="visits", epsilon=1)
    >>> print(
    ...     visits.explain("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
    ... )  # doctest: +ELLIPSIS
    Answer at epsilon 0.5...
    >>> answer = visits.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
    >>> answer.margin, str(visits.remaining)
    (6, 'epsilon 0.5, delta 0')
    """

    def __init__(self, policy: Policy, engine: Engine, ledger: Ledger) -> None:
        schemas = {name: engine.schema(name) for name in policy.tables}
        self.policy = policy.with_schemas(schemas)
        self._engine, self._ledger = engine, ledger

    def release(self, plan: Plan) -> Release:
        """The answer to a plan: charged, then run, then noised. The only door there is."""
        entry = self._ledger.reserve(self._ours(plan))
        answer = self._answer(plan)
        if isinstance(answer, EngineFailed):
            self._ledger.failed(entry, answer.reference)
            raise answer
        self._ledger.settle(entry)
        return Release(plan, answer, self._ledger.remaining)

    def _ours(self, plan: Plan) -> Plan:
        """The plan, if it protects whom this session's policy protects.

        A plan clips and limits by itself, so one that was made for other bounds is as private
        as any; one that was made for other units, or none, is not.
        """
        table = self.policy.tables.get(plan.table)
        if table is not None and not table.public:
            ours = table.unit, table.neighbors
            if (plan.unit, plan.neighbors) == ours:
                return plan
        raise InvalidParameter(
            f"This plan about {plan.table} was made for another policy: it does not protect "
            "whom this session protects. Make it anew with plan(...). Nothing was spent."
        )

    def _answer(self, plan: Plan) -> Answer | EngineFailed:
        """The answer, or the one failure. What went wrong is neither said nor kept: its words
        and frames might hold a number, so even the exception's context is empty."""
        try:
            return _integers(self._engine, plan).reveal_to(partial(answered, plan))
        except EngineFailed as failure:
            return EngineFailed(failure.reference)
        except Exception as problem:
            reference = secrets.token_hex(4)
            log.error("reference %s: %s after the engine", reference, type(problem).__name__)
            return EngineFailed(reference)

    def plan(self, question: str | Question, **wishes: Unpack[Wishes]) -> Plan:
        """The plan for a question in SQL, or built in Python: all that would happen.

        Nothing is spent. `epsilon` (and `delta`, where the plan needs one) is its price.
        """
        asked = parse(question) if isinstance(question, str) else question
        return planned(asked, self.policy, **wishes)

    def explain(self, question: str | Question, **wishes: Unpack[Wishes]) -> Branch:
        """The plan as a tree to print: what is measured, how, at what price and margin."""
        return explain(self.plan(question, **wishes))

    def sql(self, text: str, **wishes: Unpack[Wishes]) -> Release:
        """The private answer to a question in SQL.

        `epsilon` is what it may cost; `delta` a hundredth of the budget's unless given.
        `weights` ask for some outputs to be more accurate, `nonnegative` shows negative counts
        as 0, and `other` adds a group for all that is in no other.
        """
        return self.release(self.plan(text, **wishes))

    def table(self, name: str) -> Asked:
        """A question about a table, built step by step in Python."""
        return Asked.about(self, name)

    @property
    def remaining(self) -> Remaining:
        """What of the budget is left."""
        return self._ledger.remaining

    def close(self) -> None:
        """Lets go of the data and of the ledger."""
        self._engine.close()
        self._ledger.close()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<session about {', '.join(self.policy.tables)}: {self.remaining} left>"


def open(path: str) -> Session:
    """A session for the policy in a file, with the ledger that the policy names: unless it
    says otherwise, a SQLite file beside it, so that what was spent stays spent.

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
        return _session(load(path))


def protect(
    source: Any, *, name: str = "data", epsilon: Number, delta: Number = 0, **declared: Any
) -> Session:
    """A session about one frame or file; `epsilon` and `delta` are the whole budget.

    `unit` names the column that tells people apart (none: each row is somebody), `bounds`,
    `step`, `keys` and `kind` say what is public about columns, and `neighbors`, `max_groups`,
    `max_rows`, `row_ceiling` and `expected_rows` about the table.

    >>> import pyarrow as pa
    >>> frame = pa.table({"ward": ["A", "B"], "cost": [10, 20]})
    >>> protect(frame, bounds={"cost": (0, 100)}, keys={"ward": ["A", "B"]}, epsilon=3)
    <session about data: epsilon 3, delta 0 left>
    """
    table = Table.declare(name, source, **declared)
    return _session(Policy([table], epsilon=epsilon, delta=delta))


def _session(policy: Policy) -> Session:
    from deniable.engines.duckdb import DuckDB

    engine = DuckDB.open(policy)
    return Session(policy, engine, ledger_of(policy))
