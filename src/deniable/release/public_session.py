"""The session that an analyst uses: the door, plus SQL, the builder, parts and profiles."""

from collections.abc import Mapping, Sequence
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
from deniable.release.session.ask_options import AskOptions, with_names
from deniable.release.session.door import Door
from deniable.release.session.engine_run import Engine
from deniable.release.session.release import Release
from deniable.release.session.table_part import TablePart

if TYPE_CHECKING:
    from deniable.release.profile.profile import Profile


class Session(Door):
    """Asks questions about the tables of one policy and pays from one ledger.

    Open a session with `dp.open`, `dp.protect` or `dp.rehearse`.

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
        `weights` make some outputs more accurate, `nonnegative` shows negative counts as 0, and
        `other` adds a group for the rows of no other group. A question that was asked before
        gets the same answer at no cost; `fresh` pays for a new one. A `question_id` of your own
        has one charge and one outcome, so that asking again after a lost connection is safe.
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
        columns: Sequence[str] | None = None,
        cuts: Mapping[str, Sequence[Any]] | None = None,
        workload: Sequence[Sequence[str]] | None = None,
        rows: int | None = None,
        method: str = "auto",
        keys_epsilon: Number | None = None,
        missing: bool = True,
        confidence: Number = 0.95,
        explain: bool = False,
    ) -> Any:
        """A private copy of a table: rows that look like its rows, with a scorecard.

        Numbers are cut at private quantiles, or at public `cuts`. `keys_epsilon`, in addition,
        finds frequent keys of texts. `workload` names the tables that are scored: all pairs
        unless given. The copy has about as many rows as the table, or `rows`. If not
        `missing`, rows with NULL or undeclared values are left out. `explain` spends nothing.

        >>> import deniable as dp
        >>> import pyarrow as pa
        >>> people = pa.table({"sex": ["f", "m"] * 500, "smokes": [True, False] * 500})
        >>> data = dp.protect(people, keys={"sex": ["f", "m"]}, epsilon=2, delta=1e-6)
        >>> len(data.copy(epsilon=2, rows=100))
        100
        """
        return implementation("Session.copy")(
            self,
            table,
            epsilon=epsilon,
            delta=delta,
            columns=columns,
            cuts=cuts,
            workload=workload,
            rows=rows,
            method=method,
            keys_epsilon=keys_epsilon,
            missing=missing,
            confidence=confidence,
            explain=explain,
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
