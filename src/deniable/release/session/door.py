"""A policy, an engine and a ledger: the one door from data to released numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn, Self, Unpack

from deniable.engines.handover.written_plan import WrittenPlan
from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number
from deniable.ledger.ledger import (
    AskedRun,
    Entry,
    Ledger,
    RecalledAnswer,
    Remaining,
    ReservedRun,
)
from deniable.ledger.run_requests import tables_of_run
from deniable.policy import Policy
from deniable.privacy import Loss
from deniable.query.language.question import Question
from deniable.query.plan import canonical
from deniable.query.plan.plan import Plan
from deniable.query.planner.request import make_plan
from deniable.release.answer.answer_table import Answer
from deniable.release.session.ask_options import AskOptions, with_names
from deniable.release.session.engine_run import (
    Engine,
    KeptCounts,
    forget_stored,
    measure,
    run,
    runs_plan_text,
)
from deniable.release.session.plan_check import check_plan, check_same_text
from deniable.release.session.release import Release
from deniable.release.session.release_records import (
    ReleaseRecords,
    private_tables,
    widest_neighbors,
    write_receipt,
)
from deniable.release.session.runs import RecalledRun, Run, StepDoor
from deniable.release.session.stream_door import StreamDoor
from deniable.release.session.table_part import TablePart


class Door:
    """The only way from the tables of one policy to released numbers, paid from one ledger.

    A plan is checked, charged and run; its integers get noise; then the charge is settled and
    the answer is handed over. `asking` and `profile` make plans for it; `Session` is this class
    with the ways to ask.
    """

    # Here an outcome is told when it is known. A server waits for a slot, and then writes an
    # answer and a failure at the same moment. It returns the failure of what was late for it.
    _wait_for_slot: Callable[..., BaseException | None] = staticmethod(lambda: None)
    # Here SQL over released rows runs in this process. A server answers it as a whole, because
    # it signs the rows.
    _answer_elsewhere: Callable[..., Any] = staticmethod(lambda *_, **__: None)

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
        self.rehearsal = rehearsal
        self._engine, self._ledger, self._log = engine, ledger, log
        self._records = ReleaseRecords(
            self.policy,
            ledger,
            analyst=analyst,
            engine=engine.name,
            policy_hash=canonical.digest(policy),
            rehearsal=rehearsal,
            own_text=not runs_plan_text(engine),
        )

    def release(
        self, plan: Plan, *, fresh: bool = False, question_id: str | None = None
    ) -> Release:
        """Charges a plan, runs it, adds noise and returns the answer.

        A plan that was answered before, on the same version of the same sources, gets the same
        answer at no further cost. `fresh` pays for a new answer. A `question_id` of your own
        makes it safe to ask again after a lost connection: it has one charge and one outcome.
        """
        self._check(plan)
        write = cache(partial(self._write, plan))
        arguments: AskedRun = {
            **self._records.facts(plan),
            "part": self.rows.path,
            "fresh": fresh,
            "question_id": question_id,
            "prepare": write,
        }
        with self._ledger.ask(plan, **arguments) as outcome:
            if isinstance(outcome, RecalledAnswer):
                return self._records.repeat(plan, outcome)
            return self._run_and_settle(outcome, plan, write())

    def release_all(
        self, plans: Sequence[Plan], *, delta: Number | None = None
    ) -> tuple[Release, ...]:
        """Answers several plans that are all fixed now; all of them are charged, or none.

        With a `delta`, the ledger charges the tight price of all plans together at that delta.
        For many plans this is far less than the sum of their prices. No kept answer is used.

        >>> import deniable as dp
        >>> import pyarrow as pa
        >>> data = dp.protect(pa.table({"x": range(500)}), epsilon=1, delta=1e-6)
        >>> questions = [f"SELECT COUNT(*) AS n FROM data WHERE x > {i}" for i in range(100)]
        >>> plans = [data.plan(question, epsilon=0.02) for question in questions]
        >>> len(data.release_all(plans, delta=1e-6)), data.remaining.epsilon > 0
        (100, True)
        """
        if not isinstance(plans, Sequence):
            raise InvalidParameter(
                f"release_all() takes a list of Plans; got {type(plans).__name__}."
            )
        ready = [_prepare(self, plan) for plan in plans]
        tables = [name for plan in plans for name in (*plan.tables, *plan.public)]
        entries = self._ledger.reserve_all(
            plans,
            analyst=self.analyst,
            plan_hashes=[self._records.canonical_form(plan)[1] for plan in plans],
            version=self.policy.data_name(tables),
            part=self.rows.path,
            delta=delta,
        )
        releases: list[Release] = []
        try:
            for entry, plan, written in zip(entries, plans, ready, strict=True):
                releases.append(self._run_and_settle(entry, plan, written))
        except BaseException:
            for entry in entries[len(releases) + 1 :]:
                self._ledger.fail(entry, "not run")
            raise
        return tuple(releases)

    @property
    def analyst(self) -> str | None:
        """The person who asks, if the policy has budgets for analysts."""
        return self._records.analyst

    @analyst.setter
    def analyst(self, name: str | None) -> None:
        self._records.analyst = name

    @property
    def rows(self) -> TablePart:
        """The rows that this session is about."""
        return self._records.rows

    def _run(
        self, written: WrittenPlan, kept: KeptCounts | None = None
    ) -> Answer | BaseException:
        return run(self._engine, written, self._log, kept)

    def _run_and_settle(self, entry: Entry, plan: Plan, written: WrittenPlan) -> Release:
        """Runs a charged plan, adds noise, settles the charge and hands the answer over."""
        answer = self._run(written)
        if plan.stored:
            forget_stored(self._engine)
        if isinstance(answer, BaseException):
            raise self._record_failure(entry, answer)
        return self._settle(entry, plan, answer)

    def recall(self, plan: Plan) -> Release | None:
        """The kept answer to a plan, if it is free for this analyst; None otherwise."""
        self._check(plan)
        recalled = self._ledger.recall(**self._records.facts(plan))
        return None if recalled is None else self._records.repeat(plan, recalled)

    @contextmanager
    def reserve_run(
        self,
        loss: Loss,
        *,
        tables: Sequence[str] | None = None,
        delta: Number | None = None,
        filters: Sequence[str] | None = None,
    ) -> Iterator[Run]:
        """One charge for several steps, of which each may depend on the answers before it.

        The whole loss is charged now, and never refunded. Each `release` of the run must fit
        what is left of it. `Ledger.reserve_run` says which losses can be reserved, and what
        `delta` and `filters` are for. `tables` are those that the steps may read: all private
        ones unless given.

        >>> import deniable as dp
        >>> import pyarrow as pa
        >>> data = dp.protect(
        ...     pa.table({"age": [30, 60] * 500}), bounds={"age": (0, 99)}, epsilon=1
        ... )
        >>> with data.reserve_run(dp.PureLoss(0.5)) as run:
        ...     old = run.sql("SELECT COUNT(*) AS n FROM data WHERE age > 50", epsilon=0.2)
        ...     if old.value > 100:
        ...         mean = run.sql(
        ...             "SELECT AVG(age) AS age FROM data WHERE age > 50", epsilon=0.3
        ...         )
        >>> print(data.remaining)
        epsilon 0.5, delta 0
        """
        private = private_tables(self.policy, self.rows)
        if not private:
            raise InvalidParameter("Every table of this policy is public: a run costs nothing.")
        names = tables_of_run(tables, private)
        reserved = self._ledger.reserve_run(
            loss,
            tables=names,
            delta=delta,
            filters=filters,
            neighbors=widest_neighbors(self.policy, names),
            analyst=self.analyst,
            version=self.policy.data_name(names),
            part=self.rows.path,
        )
        with self._open_run(reserved, None) as run:
            yield run

    @contextmanager
    def run_like(
        self,
        plans: Sequence[Plan],
        *,
        fresh: bool = False,
        question_id: str | None = None,
        purpose: Mapping[str, Any] | None = None,
    ) -> Iterator[Run | RecalledRun]:
        """A run for a question of several steps, at the price of these plans together.

        The plans stand for its steps: they are what is charged. A step may be another plan that
        costs no more. The same question again gets the same answers at no further cost.
        `purpose` says what the steps answer: a server runs them all by itself.
        """
        for plan in plans:
            self._check(plan)
        forms = [self._records.canonical_form(plan)[1] for plan in plans]
        tables = [name for plan in plans for name in (*plan.tables, *plan.public)]
        question = canonical.digest_json(["deniable run 1", *forms])
        facts: AskedRun = {
            "analyst": self.analyst,
            "plan_hash": question,
            "version": self.policy.data_name(tables),
            "part": self.rows.path,
            "fresh": fresh,
            "question_id": question_id,
            "prepare": lambda: [self._write(plan) for plan in plans],
        }
        with self._ledger.ask_run(plans, **facts) as outcome:
            if isinstance(outcome, RecalledAnswer):
                yield RecalledRun(self._records, outcome.record, question)
                return
            with self._open_run(outcome, question) as run:
                yield run

    def _open_run(
        self, reserved: ReservedRun, question: str | None
    ) -> AbstractContextManager[Run]:
        door = StepDoor(
            self.plan,
            partial(_prepare, self),
            partial(self._run, kept={}),
            partial(forget_stored, self._engine),
        )
        return Run(door, self._records, reserved, question).ended()

    def _record_failure(self, entry: Entry, failure: BaseException) -> BaseException:
        reference = getattr(failure, "reference", "interrupted")
        self._wait_for_slot()
        self._ledger.fail(entry, reference)
        return failure

    def _settle(self, entry: Entry, plan: Plan, answer: Answer) -> Release:
        """Certifies an answer, settles its charge and hands it over; the ledger keeps both."""
        if self.rehearsal:
            self._ledger.settle(entry)
            return self._records.hand_over(plan, answer, None)
        certificate = self._records.certify(plan, answer, entry.number)
        receipt = write_receipt(answer, certificate)
        late = self._wait_for_slot()
        if late is not None:
            raise self._record_failure(entry, late)
        self._ledger.settle(entry, receipt)
        return self._records.hand_over(plan, answer, certificate, kept=receipt is not None)

    def _check(self, plan: Plan) -> None:
        """Refuses a plan that may not run, or with which the kernel does not agree."""
        check_plan(plan, self.policy, self.rows)
        self._records.check(plan)

    def _write(self, plan: Plan) -> WrittenPlan:
        written = self._engine.prepare(plan)
        if runs_plan_text(self._engine):
            check_same_text(written)
        return written

    def check(self, plan: Plan) -> None:
        """Refuses a plan that may not or cannot be run. Nothing is spent or read."""
        _prepare(self, plan)

    def describe_check(self, plan: Plan) -> str:
        """What the kernel derives about a plan, in words. Refuses a plan that it refuses."""
        own = None if runs_plan_text(self._engine) else self._engine.name
        return self._records.check(plan).describe(own)

    @with_names("question, epsilon=0.5")
    def plan(self, question: str | Question, **options: Unpack[AskOptions]) -> Plan:
        """The plan for a question in SQL or built in Python. Nothing is spent or read.

        The plan is complete: the statements, the noise, the price and the expected margins.
        `epsilon` (and `delta`, if the plan needs one) is its price.
        """
        return self.plan_under(self.policy, question, options)

    def plan_under(
        self, policy: Policy, question: str | Question, options: Mapping[str, Any]
    ) -> Plan:
        """A plan with the bounds of another policy, such as bounds that were found."""
        return self.rows.restrict(make_plan(question, policy, **options), self.policy)

    @property
    def remaining(self) -> Remaining:
        """What is left of the budget. If several budgets apply, the smallest remainder.

        A session about a part can spend what the whole can spend, and more if other parts have
        cost more than this one.
        """
        return self._records.remaining_for(
            None if self.rows.table is None else (self.rows.table,)
        )

    @property
    def ledger(self) -> Ledger:
        """The ledger: every charge, with its analyst and its table."""
        return self._ledger

    def close(self) -> None:
        """Closes the engine and the ledger. A session about a part leaves them open."""
        if not self.rows.part:
            self._engine.close()
            self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("A session cannot be pickled: it holds data and a signing key.")


def _prepare(door: Door, plan: Plan) -> WrittenPlan:
    """The final text of a plan, which will run. Refuses what may not or cannot be run."""
    door._check(plan)
    return door._write(plan)


def remember_limits(door: Door, run: Run | RecalledRun, plan: Plan, measured: str) -> None:
    """Lets answers of this session and of later ones quote what limits leave out, if they count
    what this plan counts."""
    door._records.measured[plan.engine_sql] = measured
    if isinstance(run, Run):
        run.keep_note(plan, measured)


def stream_door(door: Door) -> StreamDoor:
    """What a stream needs of its session: one charge, steps in the ledger, and plans whose
    integers go to the stream's own noise."""
    run = partial(measure, door._engine, log_file=door._log)
    return StreamDoor(door.policy, door.rows, door._records, door._write, run)
