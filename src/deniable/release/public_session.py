"""The session that an analyst uses: the door, plus SQL, the builder, parts and profiles."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from deniable.exact.rationals import Number
from deniable.ledger.ledger import Ledger
from deniable.policy import Policy
from deniable.public_methods import implementation
from deniable.query.language.question import Question
from deniable.query.plan.plan import KeyValue
from deniable.query.planner.explain import Branch
from deniable.release.asking.builder_steps import BuiltQuestion
from deniable.release.asking.stages import explain_question, release_question
from deniable.release.session.ask_options import (
    AskOptions,
    CopyOptions,
    StreamOptions,
    with_names,
)
from deniable.release.session.door import Door
from deniable.release.session.engine_run import Engine
from deniable.release.session.release import Release
from deniable.release.session.table_part import TablePart

if TYPE_CHECKING:
    from deniable.release.limits.limits import LimitsReport
    from deniable.release.profile.profile import Profile


class Session(Door):
    """Asks questions about the tables of one policy and pays from one ledger.

    Open a session with `dp.open`, `dp.protect` or `dp.rehearse`.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> visits = dp.protect(pa.table({"ward": ["A", "B"] * 50}), name="visits", epsilon=1)
    >>> question = "SELECT COUNT(*) AS n FROM visits"
    >>> print(visits.explain(question, epsilon=0.5))  # doctest: +ELLIPSIS
    Answer at epsilon 0.5...
    >>> answer = visits.sql(question, epsilon=0.5)
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
        # Repeats the signature so that errors about it name `Session`.
        super().__init__(policy, engine, ledger, analyst=analyst, log=log, rehearsal=rehearsal)

    @with_names("question, epsilon=0.5")
    def sql(
        self,
        text: str,
        *,
        fresh: bool = False,
        question_id: str | None = None,
        **options: Unpack[AskOptions],
    ) -> Release:
        """The private answer to a question in SQL.

        `epsilon` is its price; `delta` is a hundredth of the budget's delta unless given.
        Instead of epsilon, `margin` (or a `relative` margin `of` a size) sets the accuracy,
        like WITHIN at the end of the SQL. `bounds="find"` pays for finding missing bounds.
        `weights` make some outputs more accurate, `nonnegative` shows negative counts as 0,
        `other` adds a group for the rows of no other group, `nulls` one for NULL beside
        declared keys. `brackets=False` asks for quantiles without intervals in the column's
        unit: their values are sharper. A question that was asked before gets the same answer at
        no cost; `fresh` pays for a new one. A `question_id` of your own has one charge and one
        outcome, so that asking again after a lost connection is safe.
        """
        return release_question(self, text, options, fresh=fresh, question_id=question_id)

    @with_names("question, epsilon=0.5")
    def explain(self, question: str | Question, **options: Unpack[AskOptions]) -> Branch:
        """The plan as a tree to print: aggregates, noise, price and expected margins."""
        return explain_question(self, question, options)

    def table(self, name: str) -> BuiltQuestion:
        """A question about a table, built step by step in Python."""
        return BuiltQuestion.about(self, name)

    def profile(
        self,
        table: str | None = None,
        *,
        epsilon: Number,
        delta: Number | None = None,
        confidence: Number = 0.95,
    ) -> "Profile":
        """A first look at a table. It costs exactly `epsilon`, split over the columns.

        `delta` (a hundredth of the budget's delta unless given) pays for showing private keys;
        `confidence` is the confidence of the margins. Print the profile, or `save` it as HTML.
        """
        from deniable.release.profile.profiling import profile

        return profile(self, table, epsilon=epsilon, delta=delta, confidence=confidence)

    def limits(
        self,
        table: str | None = None,
        *,
        by: str | Sequence[str] | None = None,
        epsilon: Number,
        max_groups: int | None = None,
        max_rows: int | None = None,
        answer_epsilon: Number = 1,
        confidence: Number = 0.95,
    ) -> "LimitsReport":
        """What limits on one unit leave out, for questions that group `by` these columns.

        It measures two noisy histograms, up to the caps `max_groups` and `max_rows`, and costs
        exactly `epsilon`. From them follow the share that each limit leaves out, the margin of
        a count that it costs (at `answer_epsilon`) and a recommendation. Answers of COUNT(*)
        over the same groups then quote it.

        >>> import deniable as dp
        >>> import pyarrow as pa
        >>> visits = pa.table({"patient": [i // 2 for i in range(4000)]})
        >>> caps = {"max_groups_per_unit": 1, "max_rows_per_unit_per_group": 1}
        >>> data = dp.protect(visits, unit="patient", epsilon=3, **caps)
        >>> limits = data.limits(epsilon=1)
        >>> round(limits.choice(groups=1, rows=1).left_out.value, 1)
        0.5
        """
        from deniable.release.limits.measuring import measure_limits

        return measure_limits(
            self,
            table,
            by=by,
            epsilon=epsilon,
            max_groups=max_groups,
            max_rows=max_rows,
            answer_epsilon=answer_epsilon,
            confidence=confidence,
        )

    def crosstabs(
        self,
        tables: Sequence[Sequence[str]],
        *,
        epsilon: Number,
        table: str | None = None,
        delta: Number | None = None,
        cuts: Mapping[str, Sequence[Any]] | None = None,
        weights: Mapping[tuple[str, ...], Number] | None = None,
        missing: bool = True,
        confidence: Number = 0.95,
        fresh: bool = False,
        explain: bool = False,
    ) -> Any:
        """Several cross-tables of one table at one price. They add up to each other.

        A column is counted by its declared keys, or in intervals: `cuts` says where they begin.
        `weights` make some tables more accurate: twice the weight, about half the variance or
        less. With `missing`, NULL and values that are not declared are a cell of their own;
        without it, rows with such a value in any of the columns are left out. `explain` shows
        what would be measured, with which noise and margins, and spends nothing.

        >>> import deniable as dp
        >>> import pyarrow as pa
        >>> people = pa.table({"sex": ["f", "m"] * 500, "age": range(1000)})
        >>> declared = {"keys": {"sex": ["f", "m"]}, "bounds": {"age": (0, 1000)}}
        >>> data = dp.protect(people, epsilon=1, delta=1e-6, **declared)
        >>> tables = data.crosstabs([["sex", "age"]], cuts={"age": [500]}, epsilon=1)
        >>> tables["age"].labels
        (('0 to 500', '500 to 1000', None),)
        """
        return implementation("Session.crosstabs")(
            self,
            tables,
            table=table,
            epsilon=epsilon,
            delta=delta,
            cuts=cuts,
            weights=weights,
            missing=missing,
            confidence=confidence,
            fresh=fresh,
            explain=explain,
        )

    def copy(
        self,
        table: str | None = None,
        *,
        epsilon: Number,
        delta: Number | None = None,
        progress: Callable[[float], None] | None = None,
        explain: bool = False,
        **options: Unpack[CopyOptions],
    ) -> Any:
        """A private copy of a table: rows that look like its rows, with a scorecard.

        Numbers are cut at private quantiles, or at public `cuts`; so are days, inside of
        `dates`. `keys_epsilon`, in addition, finds frequent keys of texts. `workload` names the
        tables that matter and are scored, maybe with weights: all pairs unless given. `method`
        is "mst", "aim" or "auto". The copy has about as many rows as the table, or `rows`.
        `depends` says which columns follow from others, `impossible` which values never occur
        together. If not `missing`, rows with NULL or undeclared values are left out. `progress`
        is told the share that is done. `explain` spends nothing.

        >>> import deniable as dp
        >>> import pyarrow as pa
        >>> people = pa.table({"sex": ["f", "m"] * 500, "smokes": [True, False] * 500})
        >>> data = dp.protect(people, keys={"sex": ["f", "m"]}, epsilon=2, delta=1e-6)
        >>> len(data.copy(epsilon=2, rows=100))
        100
        """
        price = {"epsilon": epsilon, "delta": delta, "progress": progress}
        copy = implementation("Session.copy")
        return copy(self, table, explain=explain, **price, **options)

    def copy_related(
        self,
        parent: str,
        child: str,
        *,
        epsilon: Number,
        delta: Number | None = None,
        explain: bool = False,
        **options: Any,
    ) -> Any:
        """Copies of two tables of one privacy unit, such as patients and their visits.

        The copied children belong to the copied parents, by a made-up key. How children of one
        parent depend on each other is lost. Each table gets half of the price. `cuts`, `dates`,
        `method`, `missing` and `confidence` are those of `copy`.

        >>> import deniable as dp
        >>> import pyarrow as pa
        >>> from deniable.policy import Policy, Table
        >>> from deniable.release.session.connecting import connect
        >>> people = pa.table({"id": [1, 2], "old": [True, False]})
        >>> visits = pa.table({"id": [1, 1], "new": [True, False]})
        >>> limits = {"unit": "id", "max_groups_per_unit": 2}
        >>> tables = [
        ...     Table("people", people, **limits, max_rows_per_unit_per_group=1),
        ...     Table("visits", visits, **limits, max_rows_per_unit_per_group=2),
        ... ]
        >>> with connect(Policy(tables, epsilon=1, delta=1e-6), Session) as data:
        ...     both = data.copy_related("people", "visits", epsilon=1)
        >>> both.children.column_names
        ['id', 'new']
        """
        return implementation("Session.copy_related")(
            self, parent, child, epsilon=epsilon, delta=delta, explain=explain, **options
        )

    def counter(
        self,
        name: str,
        *,
        horizon: int | None = None,
        person: str | None = None,
        bounds: tuple[Number, Number] = (0, 1),
        grid: Number = 1,
        table: str | None = None,
        **options: Unpack[StreamOptions],
    ) -> Any:
        """A count or bounded sum over time. It is charged once, and read as often as one likes.

        `horizon` is the number of steps, such as days. The price is `epsilon` (and `delta`) or
        `rho`, for all of them together. What is protected is one event; or, with `per_person`,
        all events of a `person`, of which that many count in the counter's life. `window` shows
        the sum of the last steps instead of all. `bounds` and `grid` are those of the values
        that are added. The same name opens the same counter again, after a restart too.
        `explain` spends nothing.

        >>> import deniable as dp
        >>> import pyarrow as pa
        >>> data = dp.protect(pa.table({"x": [1]}), epsilon=1, delta=1e-6)
        >>> visits = data.counter("visits", horizon=365, epsilon=1)
        >>> visits.add(times=40)
        >>> visits.step().margin, visits.read(1) == visits.read()
        (17, True)
        """
        events = {"horizon": horizon, "person": person, "bounds": bounds, "grid": grid}
        make = implementation("Session.counter")
        return make(self, name, table=table, **events, **options)

    def watch(
        self,
        question: str,
        *,
        until: Any,
        since: Any = None,
        every: str | int = "day",
        name: str | None = None,
        wait: int = 0,
        **options: Unpack[StreamOptions],
    ) -> Any:
        """A standing question about a table that grows: a number every day, or week.

        `question` counts rows or sums a column by one column of dates. Steps are `every` day,
        "week" or number of days, from `since` (today) `until` a last day. All of them are
        charged now, together; the price and other options are those of `counter`. A step is
        read once, `wait` days after it is over; what comes to the table later does not count.
        If the table protects persons, `per_person` rows of each count in all steps together.
        The same name (or question) opens the same watch again. `explain` spends nothing.

        >>> import deniable as dp
        >>> import pyarrow as pa
        >>> from datetime import date
        >>> visits = pa.table({"day": [date(2026, 1, 1)] * 40 + [date(2026, 1, 2)] * 50})
        >>> data = dp.protect(visits, name="visits", epsilon=1, delta=1e-6)
        >>> text, days = "SELECT day, COUNT(*) FROM visits GROUP BY day", "2026-12-31"
        >>> daily = data.watch(text, since="2026-01-01", until=days, epsilon=1)
        >>> [row["day"].isoformat() for row in daily.read(through="2026-01-02").rows()]
        ['2026-01-01', '2026-01-02']
        """
        steps = {"until": until, "since": since, "every": every, "wait": wait}
        return implementation("Session.watch")(self, question, name=name, **steps, **options)

    def experiment(
        self,
        table: str,
        *,
        arm: str,
        outcome: str,
        epsilon: Number,
        looks: int = 1,
        arms: int = 2,
        control: Any = None,
        confidence: Number = 0.95,
    ) -> Any:
        """An A/B test: `arm` is a column with declared keys, `outcome` one with bounds.

        `power` and `units_needed` plan it and spend nothing; `run` looks once. Several looks
        are charged at once, by `reserve`, and their intervals hold together. The first arm is
        the control, unless `control` names another.

        >>> import deniable as dp
        >>> import pyarrow as pa
        >>> rows = pa.table({"arm": ["a", "b"] * 2000, "bought": [1, 0, 0, 0] * 1000})
        >>> bounds, keys = {"bought": (0, 1)}, {"arm": ["a", "b"]}
        >>> shop = dp.protect(rows, bounds=bounds, keys=keys, epsilon=1)
        >>> trial = shop.experiment("data", arm="arm", outcome="bought", epsilon=1)
        >>> print(trial.units_needed(baseline=0.2, effect=0.02))
        6,515 (without noise 6,507)
        >>> trial.run().decided
        True
        """
        return implementation("Session.experiment")(
            self,
            table,
            arm=arm,
            outcome=outcome,
            epsilon=epsilon,
            looks=looks,
            arms=arms,
            control=control,
            confidence=confidence,
        )

    def partition(
        self, column: str, keys: Sequence[KeyValue], *, table: str | None = None
    ) -> "dict[KeyValue, Session]":
        """A session for each part of a table: the rows in which a column has one of the keys.

        Together the parts cost as much as the most expensive one (the two most expensive ones
        with neighbors="replace", because a unit may move to another part). `keys` are public:
        choose them without looking at the data.

        >>> import deniable as dp
        >>> import pyarrow as pa
        >>> data = dp.protect(pa.table({"ward": ["A", "B", "B"] * 50}), epsilon=1)
        >>> wards = data.partition("ward", ["A", "B"])
        >>> for ward in wards.values():
        ...     _ = ward.sql("SELECT COUNT(*) AS n FROM data", epsilon=0.5)
        >>> print(data.remaining)
        epsilon 0.5, delta 0
        """
        parts = self.rows.divide(self.policy, column, keys, table)
        return {key: self._about(part) for key, part in parts.items()}

    def _about(self, rows: TablePart) -> "Session":
        """The same session, about fewer rows."""
        child = object.__new__(type(self))
        child.__dict__ |= self.__dict__ | {"_records": replace(self._records, rows=rows)}
        return child

    def __repr__(self) -> str:
        about = str(self.rows) if self.rows.part else ", ".join(self.policy.tables)
        what = "rehearsal" if self.rehearsal else "session"
        return f"<{what} about {about}: {self.remaining} left>"
