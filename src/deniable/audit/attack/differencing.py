"""Differencing: answers that are harmless one by one, and single somebody out together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable.audit.attack.finding_sections import Section
from deniable.audit.attack.findings import AttackFinding
from deniable.audit.attack.isolating_combinations import (
    IsolatedPeople,
    Isolation,
    isolate,
    merge_profiles,
)
from deniable.audit.attack.linkage import encode
from deniable.audit.attack.rows.owned_sources import OwnedRows, read_owned
from deniable.audit.attack.rows.published_numbers import (
    ITS_COUNT,
    Contributions,
    PublishedNumber,
)
from deniable.audit.attack.rows.question_lists import QuestionList, read_questions
from deniable.audit.attack.rows.row_contributions import contribute
from deniable.audit.attack.rows.secret_values import (
    SecretAverage,
    SecretContributions,
    contribute_by_value,
)
from deniable.exact.rationals import whole

_SHOWN = 10


@dataclass(frozen=True, repr=False, eq=False)
class DifferencingFinding(AttackFinding):
    """Combinations of exact answers that depend on fewer than `fewer_than` people."""

    title: ClassVar[str] = "Differencing: who is singled out by several answers together"
    questions: tuple[str, ...]
    numbers: tuple[PublishedNumber, ...]
    isolated: tuple[IsolatedPeople, ...]
    people: int  # in the table
    exposed: int  # people in some set
    fewer_than: int
    skipped: tuple[tuple[str, str], ...]
    # Numbers that are looked at alone, with how many people: fewer than `fewer_than`.
    small: tuple[tuple[PublishedNumber, int], ...] = ()
    complete: int | None = None  # profiles of a set up to which all were searched; None: all
    apart: bool = False  # rows of one person whose secrets differ were looked at one by one
    made_up: bool = False

    def sections(self) -> Sequence[Section]:
        about = (
            f"{len(self.questions):,} questions publish "
            f"{len({number.place for number in self.numbers}):,} counts, sums and averages. "
            f"Combinations of their exact answers isolate fewer than {self.fewer_than} people "
            f"in {len(self.isolated):,} ways; {self.exposed:,} of {self.people:,} people are "
            "in such a set."
        )
        fix = "To protect them: answer with noise. Refusing questions reveals something, too."
        sections = describe_isolated(self, about, _SHOWN)
        skipped = [describe_skipped(self.skipped)] if self.skipped else []
        return [*sections, Section("", (fix,)), *skipped]

    @property
    def thoroughness(self) -> str:
        """Whether every combination was looked at, in one sentence."""
        apart = (
            " The secret differs between rows of one person: rows that answers treat "
            "differently count as several people."
        )
        note = apart if self.apart else ""
        if self.complete is None:
            return f"Every set of fewer than {self.fewer_than} people was looked at.{note}"
        return (
            f"Every set of up to {self.complete} profiles (people whom all answers treat "
            f"alike) was looked at. There are too many larger sets: some may be missing.{note}"
        )

    def describe(self, group: IsolatedPeople) -> str:
        """A combination in words."""
        if not group.recipe:
            return "a longer combination of the answers"
        parts = []
        for place, factor in group.recipe:
            sign = "-" if factor < 0 else "+"
            times = "" if abs(factor) == 1 else f"{abs(factor)} × "
            parts.append(f"{sign} {times}({self.numbers[place]})")
        return " ".join(parts).removeprefix("+ ")


def differencing(
    source: Any,
    questions: str | Path | Iterable[str | Path],
    *,
    fewer_than: int = 5,
    secret: str | None = None,
    table: str | None = None,
    **declared: Any,
) -> DifferencingFinding:
    """Combinations of the exact answers to a list of questions that isolate few people.

    With `secret`, a column that nobody knows, the combinations are those that would reveal this
    column for few people, whatever its values are. Without it, the combinations depend on few
    people in any way.

    >>> import pyarrow as pa
    >>> staff = pa.table({"name": ["Bob", "Eve", "Joe"], "ill": [True, False, True]})
    >>> questions = [
    ...     "SELECT COUNT(*) FROM staff WHERE ill",
    ...     "SELECT COUNT(*) FROM staff WHERE ill AND name <> 'Bob'",
    ... ]
    >>> attack = differencing(staff, questions, secret="ill", table="staff", fewer_than=2)
    >>> print(attack.describe(attack.isolated[0]))
    (question 1, count) - (question 2, count)
    """
    owned = read_owned(source, table=table, **declared)
    question_list = read_questions(questions)
    known = (
        contribute(owned, question_list.texts)
        if secret is None
        else contribute_by_value(owned, question_list.texts, secret)
    )
    return difference(owned, question_list, fewer_than=fewer_than, known=known)


def difference(
    owned: OwnedRows,
    questions: QuestionList,
    *,
    fewer_than: int,
    known: Contributions | SecretContributions,
) -> DifferencingFinding:
    """The same, for contributions that are known."""
    whole(fewer_than, "fewer_than", least=2)
    numbers, vectors, large = _vectors(known)
    own = owned.table.unit
    units = np.arange(owned.rows.num_rows) if own is None else encode(owned.rows[own])
    apart = isinstance(known, SecretContributions) and _differs(known.actual, units)
    if apart or len(np.unique(units)) == len(units):
        profiles, place = merge_profiles(vectors)
    else:
        numbers, vectors, more = _add_by_person(numbers, vectors, units)
        profiles, place = merge_profiles(vectors)
        large, place = [*large, *more], place[units]
    people = count_people(place, units, profiles.shape[1])
    none = Isolation((), None)
    searched = isolate(profiles, people.tolist(), fewer_than) if len(numbers) else none
    hit = np.isin(place, [profile for group in searched.sets for profile in group.profiles])
    small = list[tuple[PublishedNumber, int]]()
    shown = [numbers[group.recipe[0][0]] for group in searched.sets if len(group.recipe) == 1]
    for number, reads in _look_alone(known):
        people_read = len(np.unique(units[reads]))
        if 0 < people_read < fewer_than and number.place not in {lone.place for lone in shown}:
            small.append((number, people_read))
            hit |= reads
    return DifferencingFinding(
        questions=questions.texts,
        numbers=numbers,
        isolated=searched.sets,
        people=len(np.unique(units)),
        exposed=len(np.unique(units[hit])),
        fewer_than=fewer_than,
        skipped=(*known.skipped, *_name_large(questions.texts, large), *questions.left_out),
        small=tuple(sorted(small, key=lambda pair: pair[1])),
        complete=searched.complete,
        apart=apart,
        made_up=owned.made_up,
    )


def _differs(secrets: NDArray[np.int64], units: NDArray[np.int64]) -> bool:
    """Whether somebody has rows with different secrets."""
    some = np.zeros(units.max(initial=-1) + 1, dtype=np.int64)
    some[units] = secrets
    return bool((some[units] != secrets).any())


def _add_by_person(
    numbers: Sequence[PublishedNumber], vectors: NDArray[np.int64], units: NDArray[np.int64]
) -> tuple[tuple[PublishedNumber, ...], NDArray[np.int64], list[PublishedNumber]]:
    """What each person adds in all rows together; last, the numbers too large for that. Rows
    one by one would hide somebody whose rows differ: they would count as several people."""
    order = np.argsort(units, kind="stable")
    starts, rows = np.unique(units[order], return_index=True, return_counts=True)[1:]
    small_numbers, totals, large = [], [np.zeros((0, len(starts)), dtype=np.int64)], []
    for number, vector in zip(numbers, vectors, strict=True):
        if int(np.abs(vector).max()) * int(rows.max()) < 2**60:
            small_numbers.append(number)
            totals.append(np.add.reduceat(vector[order], starts)[None])
        else:
            large.append(number)
    return tuple(small_numbers), np.concatenate(totals), large


def count_people(
    place: NDArray[np.int64], units: NDArray[np.int64], profiles: int
) -> NDArray[np.int64]:
    """The number of different people in each profile.

    >>> count_people(np.array([0, 0, 1]), np.array([7, 7, 8]), 2).tolist()
    [1, 1]
    """
    pairs = np.unique(np.stack([place, units]), axis=1)
    return np.bincount(pairs[0], minlength=profiles).astype(np.int64)


def describe_skipped(skipped: Sequence[tuple[str, str]]) -> Section:
    """What was not attacked, and why: questions, numbers of questions, files."""
    rows = tuple((" ".join(what.split()), why) for what, why in skipped[:_SHOWN])
    more = _count_rest(skipped, rows, "skipped")
    return Section(f"Not attacked: {len(skipped):,}", more, ("what", "why"), rows)


def describe_isolated(
    finding: DifferencingFinding, about: str, most: int, title: str = ""
) -> list[Section]:
    """The smallest sets, numbers about few people, and the questions that both name."""
    sets, alone = finding.isolated[:most], finding.small[:most]
    combined = tuple((str(group.people), finding.describe(group)) for group in sets)
    text = (about, finding.thoroughness, *_count_rest(finding.isolated, sets, "isolated"))
    sections = [Section(title, text, ("people", "combination"), combined)]
    if alone:
        small = f"Averages, quantiles and the like about fewer than {finding.fewer_than} people"
        rows = tuple((str(people), str(number)) for number, people in alone)
        more = _count_rest(finding.small, alone, "small")
        sections.append(Section(small, more, ("people", "number"), rows))
    places = [finding.numbers[place] for group in sets for place, _ in group.recipe]
    named = sorted({number.question for number in (*places, *(number for number, _ in alone))})
    if named:
        texts = tuple(
            (str(place + 1), " ".join(finding.questions[place].split())) for place in named
        )
        sections.append(Section("These questions", (), ("question", "text"), texts))
    return sections


def _count_rest(every: Sequence[Any], head: Sequence[Any], where: str) -> tuple[str, ...]:
    more = len(every) - len(head)
    return (f"{more:,} more are not listed here; `{where}` has them.",) if more else ()


def _name_large(
    texts: Sequence[str], large: Iterable[PublishedNumber]
) -> tuple[tuple[str, str], ...]:
    listed = dict.fromkeys((number.output, texts[number.question]) for number in large)
    why = "what people add to it is too large for 64 bits"
    return tuple((f"{output} in {text}", why) for output, text in listed)


def _look_alone(
    known: Contributions | SecretContributions,
) -> Iterator[tuple[PublishedNumber, NDArray[np.bool_]]]:
    """Averages and numbers that are not linear, and which rows they depend on."""
    if isinstance(known, SecretContributions):
        yield from known.lone
        yield from (
            (secret_average.number, secret_average.moved) for secret_average in known.averages
        )
        return
    for lone in known.lone:
        reads = np.zeros(known.vectors.shape[1], dtype=np.bool_)
        reads[lone.rows] = True
        yield lone.number, reads
    for average in known.averages:
        yield average.number, (average.above != 0) | (average.below != 0)


def _vectors(
    known: Contributions | SecretContributions,
) -> tuple[tuple[PublishedNumber, ...], NDArray[np.int64], list[PublishedNumber]]:
    """What each row adds; or, of a secret, how much its values change what the row adds. Last
    come averages whose fractions are too large."""
    if isinstance(known, Contributions):
        return _add_sums_of_averages(known)
    changes = known.parts[1:] - known.parts[:1]
    numbers = [number for number in known.numbers for _ in range(len(changes))]
    vectors = [changes.swapaxes(0, 1).reshape(-1, changes.shape[2])]
    large = []
    for average in known.averages:
        try:
            number, parts = _clear(average)
        except OverflowError:
            large.append(average.number)
            continue
        vectors.append(parts[1:] - parts[:1])
        numbers += [number] * len(changes)
    return tuple(numbers), np.concatenate(vectors), large


def _add_sums_of_averages(
    known: Contributions,
) -> tuple[tuple[PublishedNumber, ...], NDArray[np.int64], list[PublishedNumber]]:
    """An average is a sum for anybody who knows who is in its group, and so how many."""
    beside = {number.place for number in known.numbers if number.times is not None}
    alone = [average for average in known.averages if average.number.place not in beside]
    numbers = [replace(average.number, times=ITS_COUNT) for average in alone]
    vectors = np.concatenate([known.vectors, *(average.above[None] for average in alone)])
    return (*known.numbers, *numbers), vectors, []


def _clear(average: SecretAverage) -> tuple[PublishedNumber, NDArray[np.int64]]:
    """An average as whole numbers that are linear in the secrets. If its count depends on no
    secret, it is a sum. Otherwise the average p / q says that q times the values, less p times
    their count, is zero; and no average says that the count is."""
    if (average.below == average.below[:1]).all():
        return replace(average.number, times=ITS_COUNT), average.above
    above, below = average.exact_above, average.exact_below
    if below == 0:
        return replace(average.number, less=True), average.below
    ratio = Fraction(above, below)
    reach = ratio.denominator * int(np.abs(average.above).max())
    if reach + abs(ratio.numerator) * int(np.abs(average.below).max()) >= 2**60:
        raise OverflowError
    parts = ratio.denominator * average.above - ratio.numerator * average.below
    return replace(average.number, less=True), parts
