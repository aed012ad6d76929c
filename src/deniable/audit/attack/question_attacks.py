"""A list of questions under attack: with exact answers, and with private ones, side by side."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable.audit.attack.differencing import (
    DifferencingFinding,
    describe_isolated,
    describe_skipped,
    difference,
)
from deniable.audit.attack.finding_sections import Section, show_share
from deniable.audit.attack.findings import AttackFinding
from deniable.audit.attack.isolating_combinations import merge_profiles
from deniable.audit.attack.least_errors import fit_values
from deniable.audit.attack.rows.owned_sources import OwnedRows, read_owned
from deniable.audit.attack.rows.published_numbers import PublishedNumber
from deniable.audit.attack.rows.question_lists import QuestionList, read_questions
from deniable.audit.attack.rows.rehearsed_answers import answer_privately, tabulate_privately
from deniable.audit.attack.rows.secret_values import SecretContributions, contribute_by_value
from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, positive, whole


@dataclass(frozen=True, repr=False, eq=False)
class QuestionsFinding(AttackFinding):
    """What a list of questions gives away of a secret: the share of rows whose value is
    right."""

    title: ClassVar[str] = "A list of questions under attack"
    secret: str
    questions: int
    numbers: int
    rows: int
    exact: float  # the share of right values from exact answers
    private: float  # from private ones
    baseline: float  # by saying the most frequent value for everybody
    epsilon: float
    differences: DifferencingFinding
    skipped: tuple[tuple[str, str], ...]
    made_up: bool = False

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        return (
            f"With exact answers {show_share(self.exact)} of the values of {self.secret} are "
            f"recovered; with epsilon {self.epsilon:g}, {show_share(self.private)} "
            f"(guessing the most frequent value: {show_share(self.baseline)})."
        )

    def sections(self) -> Sequence[Section]:
        differences = self.differences
        about = (
            f"{self.questions:,} questions publish {self.numbers:,} counts, sums and averages "
            f"about {self.rows:,} rows. The attacker knows every column but {self.secret}."
        )
        bars = (
            ("exact answers", self.exact),
            (f"epsilon {self.epsilon:g} for all together", self.private),
            ("guessing the most frequent", self.baseline),
        )
        isolated = (
            f"Combinations of exact answers reveal {self.secret} for fewer than "
            f"{differences.fewer_than} people at once; {differences.exposed:,} of "
            f"{differences.people:,} people are in such a set."
        )
        skipped = [describe_skipped(self.skipped)] if self.skipped else []
        return [
            Section(self.sentence, (about,), shares=bars),
            *describe_isolated(differences, isolated, 5, "Differencing"),
            *skipped,
        ]


def questions(
    source: Any,
    question_list: str | Path | Iterable[str | Path],
    *,
    secret: str,
    epsilon: Number = 1,
    fewer_than: int = 5,
    draws: int = 3,
    table: str | None = None,
    **declared: Any,
) -> QuestionsFinding:
    """Attacks a list of questions twice: with exact answers, and with private ones.

    `question_list` is a list, or a file: SQL with semicolons, a notebook, a script. `secret`
    is a column of few values; the attacker knows all others. The private answers cost `epsilon`
    together, on a ledger that is forgotten. They are drawn `draws` times, never returned.

    >>> import pyarrow as pa
    >>> staff = pa.table({"id": range(16), "ill": [i % 3 == 0 for i in range(16)]})
    >>> texts = [f"SELECT COUNT(*) FROM data WHERE ill AND id < {i}" for i in range(17)]
    >>> questions(staff, texts, secret="ill", draws=1).exact
    1.0
    """
    owned, listed = read_owned(source, table=table, **declared), read_questions(question_list)
    price = positive(epsilon, "epsilon")

    def draw(numbers: Sequence[PublishedNumber]) -> NDArray[np.float64]:
        return answer_privately(owned, listed.texts, numbers, epsilon=price)

    attack = _Attacked(owned, listed, secret, price, fewer_than)
    return attack.compare(draw, whole(draws, "draws", least=1))


def cross_tables(
    source: Any,
    tables: Sequence[Sequence[str]],
    *,
    secret: str,
    epsilon: Number = 1,
    fewer_than: int = 5,
    draws: int = 3,
    table: str | None = None,
    **declared: Any,
) -> QuestionsFinding:
    """The same attack on published cross-tables, each a list of columns with the secret.

    If all columns have declared keys (or are true or false), the private ones are those of
    `session.crosstabs`; otherwise each is a question that counts by its columns.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": range(30), "ill": [i % 3 == 0 for i in range(30)]})
    >>> declared = {"keys": {"age": list(range(30))}, "draws": 1}
    >>> cross_tables(people, [["age", "ill"]], secret="ill", **declared).exact
    1.0
    """
    owned = read_owned(source, table=table, **declared)
    texts, price = tabulate(owned, tables), positive(epsilon, "epsilon")
    declares = [owned.table.columns[name] for columns in tables for name in columns]
    keyed = all(column.keys or column.kind == "boolean" for column in declares)

    def draw(numbers: Sequence[PublishedNumber]) -> NDArray[np.float64]:
        if keyed:
            return tabulate_privately(owned, tables, numbers, epsilon=price)
        return answer_privately(owned, texts, numbers, epsilon=price)

    attack = _Attacked(owned, QuestionList(texts), secret, price, fewer_than)
    return attack.compare(draw, whole(draws, "draws", least=1))


class _Attacked:
    """A list of questions, and what each row adds to their answers."""

    def __init__(
        self,
        owned: OwnedRows,
        question_list: QuestionList,
        secret: str,
        epsilon: Fraction,
        fewer_than: int,
    ) -> None:
        self._owned, self._questions, self._secret = owned, question_list, secret
        self._epsilon, self._fewer_than = epsilon, fewer_than
        self._known = _check_numbers(contribute_by_value(owned, question_list.texts, secret))

    def compare(
        self, draw: Callable[[Sequence[PublishedNumber]], NDArray[np.float64]], draws: int
    ) -> QuestionsFinding:
        """The attack on exact answers, beside the attack on private ones that are drawn."""
        known, owned = self._known, self._owned
        averages = known.averages
        attack, numbers = (
            _Attack(known),
            (*known.numbers, *(average.number for average in averages)),
        )
        scales = np.array(
            [float(s) for s in (*known.scales, *(average.scale for average in averages))]
        )
        private = [attack.share_right(draw(numbers) / scales) for _ in range(draws)]
        exact = [
            *known.exact_answers().astype(np.float64),
            *(average.exact for average in averages),
        ]
        differences = difference(
            owned, self._questions, fewer_than=self._fewer_than, known=known
        )
        return QuestionsFinding(
            secret=self._secret,
            questions=len(self._questions.texts),
            numbers=len(numbers),
            rows=owned.rows.num_rows,
            exact=attack.share_right(np.array(exact)),
            private=float(np.mean(private)),
            baseline=float(np.bincount(known.actual).max() / len(known.actual)),
            epsilon=float(self._epsilon),
            differences=differences,
            skipped=differences.skipped,
            made_up=owned.made_up,
        )


def _check_numbers(known: SecretContributions) -> SecretContributions:
    if known.numbers or known.averages:
        return known
    first = f" The first: {known.skipped[0][1]}." if known.skipped else ""
    raise InvalidParameter(
        "No question of the list publishes a count, sum or average of this table's rows."
        + first
    )


class _Attack:
    """The linear programme over profiles: rows to which all numbers react in the same way."""

    def __init__(self, known: SecretContributions) -> None:
        values, numbers, rows = known.parts.shape
        above = [average.above for average in known.averages]
        below = [average.below for average in known.averages]
        none = np.zeros((values, 0, rows), dtype=np.int64)
        both = np.stack(above + below, axis=1) if above else none
        flat = np.concatenate([known.parts, both], axis=1)
        profiles, self._place = merge_profiles(flat.reshape(-1, rows))
        merged = profiles.reshape(values, flat.shape[1], -1).astype(np.float64)
        ends = numbers, numbers + len(above)
        self._sums, self._above, self._below = np.split(merged, ends, axis=1)
        self._sizes = np.bincount(self._place, minlength=profiles.shape[1]).astype(np.float64)
        self._actual = known.actual

    def share_right(self, answers: NDArray[np.float64]) -> float:
        """The share of rows whose value is guessed right from these answers. An average says
        that the values less the average add up to zero."""
        sums, averages = np.split(answers, [self._sums.shape[1]])
        known = np.isfinite(averages)
        less = self._above - np.where(known, averages, 0.0)[None, :, None] * self._below
        parts = np.concatenate([self._sums, less], axis=1)
        counts = fit_values(
            parts, np.concatenate([sums, np.where(known, 0.0, np.nan)]), self._sizes
        )
        guesses = counts.argmax(axis=1)[self._place]
        return float((guesses == self._actual).mean())


def tabulate(owned: OwnedRows, tables: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Cross-tables as questions: one count for each combination of some columns.

    >>> import pyarrow as pa
    >>> tabulate(read_owned(pa.table({"a": [1], "b": [2]}), table="t"), [["a", "b"]])
    ('SELECT "a", "b", COUNT(*) AS n FROM "t" GROUP BY "a", "b"',)
    """
    from deniable.query.plan.quoting import quote_name

    listed = [", ".join(map(quote_name, columns)) for columns in tables]
    name = quote_name(owned.table.name)
    return tuple(
        f"SELECT {column_list}, COUNT(*) AS n FROM {name} GROUP BY {column_list}"
        for column_list in listed
    )
