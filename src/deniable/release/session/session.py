"""A session: a policy, an engine and a ledger, and the one door from data to the world."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict, Unpack

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number
from deniable.ledger.ledger import (
    Entry,
    Ledger,
    Recalled,
    Remaining,
    like_this,
    touches,
)
from deniable.policy import Policy
from deniable.query.language.question import Question
from deniable.query.plan import canonical
from deniable.query.plan.plan import KeyValue, Plan
from deniable.query.planner.explain import Branch
from deniable.query.planner.request import planned
from deniable.release.answer.answer import Answer
from deniable.release.asking.builder_steps import AskOptions, BuiltQuestion
from deniable.release.asking.stages import explained, released
from deniable.release.certificate.certificate import (
    Certificate,
    LedgerPlace,
    cap,
    certified,
)
from deniable.release.session.engine_run import Engine, Writing, run
from deniable.release.session.receipt import receipt, received
from deniable.release.session.release import Release
from deniable.release.session.table_part import TablePart

if TYPE_CHECKING:
    from deniable.release.profile.profile import Profile


class Asking(TypedDict):
    """What a ledger is told about a question, beside its plan."""

    analyst: str | None
    plan_hash: str
    version: str


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

    def __init__(
        self,
        policy: Policy,
        engine: Engine,
        ledger: Ledger,
        *,
        analyst: str | None = None,
        log: Path | None = None,
        rehearsal: bool = False,
    ) -> None:
        schemas = {name: engine.schema(name) for name in policy.tables}
        self.policy = policy.with_schemas(schemas)
        self.analyst, self.rehearsal = analyst, rehearsal
        self._engine, self._ledger, self._log = engine, ledger, log
        self._policy_hash = canonical.digest(policy)
        self._within = TablePart()
        self._last: tuple[Plan, canonical.Json, str] | None = None

    def release(self, plan: Plan, *, fresh: bool = False) -> Release:
        """The answer to a plan: charged, then run, then noised. The only door there is.

        A plan that was answered before, on the same version of the data, gets the same answer
        at no further cost, unless a `fresh` one is asked for.
        """
        if not fresh and (kept := self._recalled(self._ours(plan))) is not None:
            return kept
        entry = self._ledger.reserve(
            self._ours(plan), part=self._within.path, **self._asked(plan)
        )
        return self._released(entry, plan)

    def release_all(
        self, plans: Sequence[Plan], *, delta: Number | None = None
    ) -> tuple[Release, ...]:
        """Answers to several plans that are all fixed now, charged in one commit or not at all.

        With a `delta` they are charged together, the tight price of all at that delta: many
        cost far less so than one by one. Nothing is answered from memory.

        >>> import deniable as dp
        >>> import pyarrow as pa
        >>> data = dp.protect(pa.table({"x": range(500)}), epsilon=1, delta=1e-6)
        >>> asked = [f"SELECT COUNT(*) AS n FROM data WHERE x > {i}" for i in range(100)]
        >>> plans = [data.plan(one, epsilon=0.02) for one in asked]
        >>> len(data.release_all(plans, delta=1e-6)), data.remaining.epsilon > 0
        (100, True)
        """
        if not isinstance(plans, Sequence):
            raise InvalidParameter(
                f"`plans` must be a list of plans. Found {type(plans).__name__}."
            )
        ours = [self._ours(plan) for plan in plans]
        tables = [name for plan in ours for name in (*plan.tables, *plan.public)]
        entries = self._ledger.reserve_all(
            ours,
            analyst=self.analyst,
            plan_hashes=[self._written(plan)[1] for plan in plans],
            version=self.policy.version(tables),
            part=self._within.path,
            delta=delta,
        )
        found: list[Release] = []
        try:
            for entry, plan in zip(entries, plans, strict=True):
                found.append(self._released(entry, plan))
        except BaseException:
            for entry in entries[len(found) + 1 :]:
                self._ledger.failed(entry, "not run")
            raise
        return tuple(found)

    def _released(self, entry: Entry, plan: Plan) -> Release:
        """What was charged is run, noised, settled and handed over."""
        answer = run(self._engine, plan, self._log)
        if isinstance(answer, BaseException):
            raise self._failed(entry, answer)
        return self._settled(entry, plan, answer)

    def _recalled(self, plan: Plan) -> Release | None:
        """The answer that was released before, if there is one."""
        found = self._ledger.recall(plan, **self._asked(plan))
        if found is None:
            return None
        return self._handed(plan, *self._received(plan, found), repeated=True)

    def _received(self, plan: Plan, found: Recalled) -> tuple[Answer, Certificate]:
        asked = self._asked(plan)
        which = {"plan_hash": asked["plan_hash"], "version": asked["version"]}
        return received(found.record, self._ledger.public_key, **which)

    def kept(self, plan: Plan) -> Answer | None:
        """The answer to a first step that was released before, to plan the next one by.

        Nobody is handed it: to receive it, `release` the plan.
        """
        asked = self._asked(self._ours(plan))
        found = self._ledger.kept(asked["plan_hash"], asked["version"])
        return None if found is None else self._received(plan, found)[0]

    def affords(self, plans: Sequence[Plan], *, fresh: bool = False) -> bool:
        """Whether all of these plans would be granted now, by what `release` would charge."""
        asked = [
            (plan, None if fresh else self._written(plan)[1], self._version(plan))
            for plan in plans
        ]
        return self._ledger.affords(asked, self.analyst, part=self._within.path)

    def _failed(self, entry: Entry, failure: BaseException) -> BaseException:
        reference = getattr(failure, "reference", "interrupted")
        self._ledger.failed(entry, reference)
        return failure

    def _settled(self, entry: Entry, plan: Plan, answer: Answer) -> Release:
        """The answer with its certificate; the ledger keeps both."""
        if self.rehearsal:
            self._ledger.settle(entry)
            return self._handed(plan, answer, None)
        placed = LedgerPlace(
            policy_hash=self._policy_hash,
            data_version=self._version(plan),
            analyst=self.analyst,
            position=entry.number,
            head=self._ledger.head,
            cap=cap(self.policy, plan.table),
            plan_hash=entry.plan_hash,
            written=self._written(plan)[0],
        )
        certificate = certified(plan, answer, placed, self._ledger)
        kept = receipt(answer, certificate)
        self._ledger.settle(entry, kept)
        return self._handed(plan, answer, certificate, kept=kept is not None)

    def _handed(
        self,
        plan: Plan,
        answer: Answer,
        certificate: Certificate | None,
        *,
        repeated: bool = False,
        kept: bool = True,
    ) -> Release:
        more = self._ledger.how_many(plan, self.analyst, part=self._within.path)
        return Release(
            plan,
            answer,
            self._left(plan.tables),
            certificate=certificate,
            more=like_this(more),
            repeated=repeated,
            rehearsal=self.rehearsal,
            kept=kept,
        )

    def _asked(self, plan: Plan) -> Asking:
        """Who asks what, about which version of the data."""
        plan_hash, version = self._written(plan)[1], self._version(plan)
        return {"analyst": self.analyst, "plan_hash": plan_hash, "version": version}

    def _version(self, plan: Plan) -> str:
        return self.policy.version((*plan.tables, *plan.public))

    def _written(self, plan: Plan) -> tuple[canonical.Json, str]:
        """The plan as it is written, and its hash; remembered, since a plan may be long."""
        last = self._last
        if last is None or last[0] is not plan:
            written = canonical.written(plan)
            last = self._last = plan, written, canonical.digest_of(written)
        return last[1:]

    def _ours(self, plan: Plan) -> Plan:
        """The plan, if it protects whom this session's policy protects.

        A plan clips and limits by itself, so one that was made for other bounds is as private
        as any; one that was made for other units, or none, is not.
        """
        if not isinstance(plan, Plan):
            raise InvalidParameter(
                f"A plan is released, and {type(plan).__name__} is none. Make one with   "
                'plan("SELECT COUNT(*) FROM data", epsilon=0.5)   or ask at once with sql(...).'
            )
        tables = [self.policy.tables.get(name) for name in plan.tables]
        beside = [self.policy.tables.get(name) for name in plan.public]
        protected = all(
            one is not None
            and not one.public
            and (plan.unit or "").lower() == (one.unit or "").lower()
            and plan.neighbors == one.neighbors
            for one in tables
        )
        ours = protected and self._within.holds(plan, self.policy)
        if ours and all(one is not None and one.public for one in beside):
            if isinstance(self._engine, Writing):
                self._engine.check(plan)
            return plan
        raise InvalidParameter(
            f"This plan about {', '.join(plan.tables)} was made for another policy: it does "
            "not protect whom this session protects. Make it anew with plan(...). Nothing was "
            "spent."
        )

    def plan(self, question: str | Question, **wishes: Unpack[AskOptions]) -> Plan:
        """The plan for a question in SQL, or built in Python: all that would happen.

        Nothing is spent. `epsilon` (and `delta`, where the plan needs one) is its price.
        """
        return self.plan_under(self.policy, question, wishes)

    def plan_under(
        self, policy: Policy, question: str | Question, wishes: Mapping[str, Any]
    ) -> Plan:
        """A plan with another policy's bounds, such as bounds that were found."""
        return self._within.restrict(planned(question, policy, **wishes), self.policy)

    def explain(self, question: str | Question, **wishes: Unpack[AskOptions]) -> Branch:
        """The plan as a tree to print: what is measured, how, at what price and margin."""
        return explained(self, question, wishes)

    def sql(self, text: str, *, fresh: bool = False, **wishes: Unpack[AskOptions]) -> Release:
        """The private answer to a question in SQL.

        `epsilon` is what it may cost; `delta` a hundredth of the budget's unless given.
        In place of epsilon, `margin` (or a `relative` one `of` a size) asks for an accuracy,
        as WITHIN does at the end of the SQL, and `bounds="find"` pays for missing bounds.
        `weights` ask for some outputs to be more accurate, `nonnegative` shows negative counts
        as 0, and `other` adds a group for all that is in no other. A question that was asked
        before gets its old answer, free of charge, unless a `fresh` one is wanted.
        """
        return released(self, text, wishes, fresh=fresh)

    def table(self, name: str) -> BuiltQuestion:
        """A question about a table, built step by step in Python."""
        return BuiltQuestion.about(self, name)

    def profile(self, table: str | None = None, *, epsilon: Number, **wishes: Any) -> "Profile":
        """A first look at a table, for exactly this epsilon, split over its columns.

        `delta` (a hundredth of the budget's unless given) pays for showing values that are
        private; `confidence` is that of the margins. Print it, or `save` it as a page.
        """
        from deniable.release.profile.profiling import profile

        return profile(self, table, epsilon=epsilon, **wishes)

    def partition(
        self, column: str, keys: Sequence[KeyValue], *, table: str | None = None
    ) -> "dict[KeyValue, Session]":
        """A session for each part of a table: the rows in which a column has that value.

        All of them together cost no more than the dearest one (the dearest two, where a unit
        may change its rows and so move). `keys` are public: choose them without looking.

        >>> import deniable as dp
        >>> import pyarrow as pa
        >>> data = dp.protect(pa.table({"ward": ["A", "B", "B"] * 50}), epsilon=1)
        >>> wards = data.partition("ward", ["A", "B"])
        >>> for ward in wards.values():
        ...     _ = ward.sql("SELECT COUNT(*) AS n FROM data", epsilon=0.5)
        >>> print(data.remaining)
        epsilon 0.5, delta 0
        """
        parts = self._within.divided(self.policy, column, keys, table)
        return {key: self._narrowed(within) for key, within in parts.items()}

    def _narrowed(self, within: TablePart) -> "Session":
        """This session, about fewer rows."""
        child = object.__new__(type(self))
        child.__dict__ |= self.__dict__ | {"_within": within}
        return child

    @property
    def remaining(self) -> Remaining:
        """What is left of the budget, of whichever of the budgets that apply has least.

        To a session about a part, what may still be asked there: as much as to the whole, and
        more while other parts were dearer.
        """
        return self._left(None if self._within.table is None else (self._within.table,))

    def _left(self, tables: tuple[str, ...] | None) -> Remaining:
        path, name = self._within.path, self._within.table
        many = 1 if name is None else touches(self.policy.tables[name].neighbors)
        return self._ledger.left(self.analyst, tables=tables, part=path, touches=many)

    @property
    def ledger(self) -> Ledger:
        """What was spent, by whom, on what."""
        return self._ledger

    def close(self) -> None:
        """Lets go of the data, unless this is a session about a part of it."""
        if not self._within.part:
            self._engine.close()
            self._ledger.close()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        about = str(self._within) if self._within.part else ", ".join(self.policy.tables)
        what = "rehearsal" if self.rehearsal else "session"
        return f"<{what} about {about}: {self.remaining} left>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A session holds data and a key, so it is not pickled.")
