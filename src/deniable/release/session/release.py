"""A release: the noisy numbers with their margins, the price, and what is left."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter
from deniable.exact.foreign_text import printable
from deniable.exact.html_tables import html_table
from deniable.ledger.ledger import Remaining
from deniable.policy.sample import Sample
from deniable.privacy import Loss
from deniable.public_methods import implementation
from deniable.query.plan.plan import Plan
from deniable.query.planner.for_population import asked_for_population
from deniable.query.planner.notes import note_rows_without_key
from deniable.release.answer import formatting
from deniable.release.answer.answer_table import Answer
from deniable.release.answer.wide_margins import (
    describe_margins,
    explain_empty_answer,
    margin_units,
    warn_of_large_epsilon,
    warn_of_wide_margins,
)
from deniable.release.certificate.certificate import Certificate, document_text
from deniable.release.certificate.document import write_document
from deniable.release.session.released_rows import ReleasedRows

_NOT_KEPT = "This answer is too large to be kept (over 4 MB): asking again is charged again."


@dataclass(frozen=True, slots=True, repr=False)
class Release(ReleasedRows):
    """A private answer: a table in which every column of numbers has three columns beside it:
    its margin, and the low and the high end of its interval.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> ages = pa.table({"age": [34, 51, 29, 62] * 500})
    >>> people = dp.protect(ages, bounds={"age": (18, 90)}, epsilon=2)
    >>> answer = people.sql("SELECT COUNT(*) AS n FROM data", epsilon=1)
    >>> print(answer)  # doctest: +SKIP
            n
    ---------
    2,001 ± 3
    <BLANKLINE>
    Margins hold at 95 % each. Cost: epsilon 1, delta 0. Left: epsilon 1, delta 0. That is
    one more question like this one.
    >>> abs(answer.value - 2000) < 60, answer.margin
    (True, 3)
    >>> answer.value - answer.low, answer.high - answer.value
    (3, 3)
    >>> float(answer) == answer["n"][0] == [row["n"] for row in answer][0]
    True
    """

    plan: Plan
    answer: Answer = field(compare=False)
    remaining: Remaining  # after this release
    certificate: Certificate | None = None  # None for a rehearsal
    more: str = ""  # how many more such questions the budget allows, as text
    repeated: bool = False  # whether this answer was released before; then it costs nothing
    rehearsal: bool = False  # whether the rows are made up
    kept: bool = True  # whether the ledger keeps this answer; then asking again costs nothing
    left_out: str = ""  # what the limits leave out, if `Session.limits` has measured it
    sample: Sample | None = None  # how the rows were drawn, if the policy says it

    @property
    def loss(self) -> Loss:
        """The privacy loss of everything that was run."""
        return self.plan.loss

    @property
    def for_population(self) -> bool:
        """Whether the question ended with FOR POPULATION."""
        return asked_for_population(self.plan)

    @property
    def units(self) -> dict[str, str]:
        """The unit of the margins of quantiles ("ranks") and modes ("rows"), by column."""
        return margin_units(self.plan)

    @property
    def margin(self) -> Any:
        """The margin, if the answer is a single number."""
        return self.answer.table[self.answer.margins[self._only_number()]][0].as_py()

    @property
    def low(self) -> Any:
        """The low end of the interval, if the answer is a single number."""
        return self._end(0)

    @property
    def high(self) -> Any:
        """The high end of the interval, if the answer is a single number."""
        return self._end(1)

    def _end(self, side: int) -> Any:
        name = self._only_number()
        if name in self.answer.ends:
            return self.answer.table[self.answer.ends[name][side]][0].as_py()
        # The answer was released before there were ends, or it is a label.
        unknown = name in self.units or self.margin is None or self.value is None
        return None if unknown else self.value + (self.margin if side else -self.margin)

    @property
    def warnings(self) -> tuple[str, ...]:
        """About an answer without groups, numbers below their margins, and a large epsilon."""
        return (
            *explain_empty_answer(self.plan, self.answer),
            *warn_of_wide_margins(self.plan, self.answer),
            *warn_of_large_epsilon(self.plan),
        )

    def to_dict(self) -> dict[str, Any]:
        """Rows, margins, costs and the certificate, ready for JSON; amounts as exact text."""
        return write_document(self.plan, self.answer, self.certificate)

    def to_json(self) -> str:
        """The release as `deniable verify` and `deniable label` read it: one line of JSON.

        Keys are sorted and other characters than ASCII are escaped, so there is one way to
        write a release. A file that was written in another way is refused.
        """
        return document_text(self.to_dict())

    def save(self, path: str | Path) -> None:
        """Writes `to_json` to a file."""
        Path(path).write_bytes(self.to_json().encode("ascii"))

    def plot(self, column: str | None = None) -> Any:
        """A bar chart of one column over the groups, with its margins."""
        return implementation("Release.plot")(self, column)

    def population(
        self,
        value: str | None = None,
        *,
        rows: str | None = None,
        fraction: Any = None,
        limits: Any = None,
        confidence: Any = 0.95,
    ) -> Any:
        """What the release says about the population that its rows were drawn from.

        For every mean and share, or the column `value`: its error from noise and from sampling,
        apart and together. `rows` names the count that a count is a part of. `fraction` is the
        sampled share of the population, or one for each group; counts need it. `limits`, from
        `session.limits`, widens means and shares to the rows that the limits leave out.

        >>> import deniable as dp
        >>> import pyarrow as pa
        >>> rows = pa.table({"sick": [1, 0, 0, 0] * 500})
        >>> people = dp.protect(rows, bounds={"sick": (0, 1)}, epsilon=1)
        >>> text = "SELECT COUNT(sick) AS n, AVG(sick) AS share FROM data"
        >>> (share,) = people.sql(text, epsilon=1).population()
        >>> share.low < 0.25 < share.high
        True
        """
        infer = implementation("Release.population")
        return infer(
            self,
            value=value,
            rows=rows,
            fraction=fraction,
            limits=limits,
            confidence=confidence,
        )

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int | None = None) -> str:
        """The answer as it prints. A table wider than `width` continues below."""
        shown = self._format_cells()
        table = formatting.text_table(*shown, len(self) - len(shown[1]), width)
        return f"{table}\n\n{self._footer()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = self._format_cells()
        return html_table(*shown, len(self) - len(shown[1]), self._footer())

    def _format_cells(self) -> tuple[list[str], list[list[str]], list[bool]]:
        answer = self.answer
        return formatting.format_cells(
            answer.table, answer.margins, units=self.units, ends=answer.ends
        )

    def _footer(self) -> str:
        cost = Remaining(self.plan.epsilon, self.plan.delta)
        again = " (charged before; this is the same answer)" if self.repeated else ""
        more = f" That is {self.more}." if self.more else ""
        price = (
            f"{describe_margins(self.plan)} Cost: {cost}{again}. Left: {self.remaining}.{more}"
        )
        size = [] if self.kept else [_NOT_KEPT]
        measured = [self.left_out] if self.left_out else []
        missing = note_rows_without_key(self.plan)
        notes = map(printable, (*self.plan.notes, *missing, *measured))
        lines = [*self._rehearsal_notice(), price, *size, *notes, *self.warnings]
        return "\n".join([*lines, *self._population_lines()])

    def _population_lines(self) -> list[str]:
        """What the release says about the population, if that was asked."""
        if not self.for_population:
            return []
        try:
            return ["", str(self.population())]
        except InvalidParameter as problem:  # an answer that was paid for must print
            return ["", str(problem)]

    def _rehearsal_notice(self) -> list[str]:
        return (
            ["REHEARSAL: the rows are made up. These numbers describe no real person."]
            if self.rehearsal
            else []
        )
