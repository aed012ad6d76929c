"""A question that is built step by step in Python, then released."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Unpack

from deniable.exact.suggestions import suggest
from deniable.query.language.builder import QuestionBuilder, count
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import Aggregate
from deniable.query.plan.plan import Plan
from deniable.query.planner.explain import Branch
from deniable.release.asking.stages import explain_question, release_question
from deniable.release.session.ask_options import AskOptions, with_names
from deniable.release.session.door import Door
from deniable.release.session.release import Release

_STEPS = ("where", "group_by", "agg", "release")
# What other libraries call these steps, and what to write here.
_COUNT = "Write   .agg(n=dp.count())   or, for a number of rows alone, only .release(...)."
_AGG = "Write   .agg(n=dp.count())   with the aggregates that you mean."
_WHERE = 'Write   .where("age >= 18")   with the condition that you mean.'
_INSTEAD = {
    **dict.fromkeys(("count", "size", "value_counts"), _COUNT),
    **dict.fromkeys(("aggregate", "select"), _AGG),
    **dict.fromkeys(("filter", "query"), _WHERE),
    "groupby": 'Write   .group_by("ward")   with the column that you mean.',
}
_AGGREGATES = {
    **{name: name for name in ("sum", "mean", "median", "min", "max")},
    **{"avg": "mean", "average": "mean", "var": "variance", "std": "stddev"},
}


def _instead(name: str) -> str:
    """What to write instead of a step that there is not.

    >>> _instead("avg")
    'Write   .agg(mean=dp.mean("cost"))   with the column that you mean.'
    """
    if called := _AGGREGATES.get(name.lower()):
        return f'Write   .agg({called}=dp.{called}("cost"))   with the column that you mean.'
    return _INSTEAD.get(name.lower()) or suggest(name, _STEPS, "The steps are")


@dataclass(frozen=True, slots=True)
class BuiltQuestion:
    """A question about a table of a session; every step returns a new one.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> frame = pa.table({"ward": ["A", "B"] * 300, "age": [30, 60] * 300})
    >>> visits = dp.protect(
    ...     frame, keys={"ward": ["A", "B"]}, bounds={"age": (0, 99)}, epsilon=2
    ... )
    >>> adults = visits.table("data").where("age >= 18").group_by("ward")
    >>> answer = adults.agg(n=dp.count(), age=dp.mean("age")).release(epsilon=1)
    >>> answer.columns
    ('ward', 'n', 'age')
    >>> adults.release(epsilon=0.5).columns
    ('ward', 'n')
    """

    session: Door
    builder: QuestionBuilder

    if not TYPE_CHECKING:  # a type checker finds unknown steps by itself

        def __getattr__(self, name: str) -> NoReturn:
            """Says how to write what is spelt in another way here, such as `.count()`."""
            raise AttributeError(
                f"A question has no step `{name}`. {_instead(name)}", name=name, obj=self
            )

    @classmethod
    def about(cls, session: Door, table: str) -> "BuiltQuestion":
        """A question about all rows of a table."""
        return cls(session, QuestionBuilder(table))

    def where(self, condition: str) -> "BuiltQuestion":
        """Keeps the rows for which a condition holds. Several conditions must all hold."""
        return BuiltQuestion(self.session, self.builder.where(condition))

    def group_by(self, *columns: str, **named: str) -> "BuiltQuestion":
        """Groups by columns, or by expressions under a name."""
        return BuiltQuestion(self.session, self.builder.group_by(*columns, **named))

    @with_names("n=dp.count()")
    def agg(
        self,
        *,
        having: str | None = None,
        order_by: str | None = None,
        descending: bool = False,
        limit: int | None = None,
        **outputs: Aggregate | str,
    ) -> "ReadyQuestion":
        """Returns the group keys and these aggregates, under these names."""
        question = self.builder.agg(
            having=having, order_by=order_by, descending=descending, limit=limit, **outputs
        )
        return ReadyQuestion(self.session, question)

    @with_names("epsilon=0.5")
    def release(self, **options: Unpack[AskOptions]) -> Release:
        """The number of rows, in each group if there are groups; `agg` asks for more."""
        return self.agg(n=count()).release(**options)


@dataclass(frozen=True, slots=True)
class ReadyQuestion:
    """A complete question. It needs only its price."""

    session: Door
    question: Question

    @with_names("epsilon=0.5")
    def plan(self, **options: Unpack[AskOptions]) -> Plan:
        """The plan, equal to that of the same question in SQL."""
        return self.session.plan(self.question, **options)

    @with_names("epsilon=0.5")
    def explain(self, **options: Unpack[AskOptions]) -> Branch:
        """The plan as a tree to print."""
        return explain_question(self.session, self.question, options)

    @with_names("epsilon=0.5")
    def release(
        self,
        *,
        fresh: bool = False,
        question_id: str | None = None,
        **options: Unpack[AskOptions],
    ) -> Release:
        """The private answer. A kept answer costs nothing; `fresh` pays for a new one.

        `question_id` is that of `Session.sql`.
        """
        arguments = {"fresh": fresh, "question_id": question_id}
        return release_question(self.session, self.question, options, **arguments)  # type: ignore[arg-type]
