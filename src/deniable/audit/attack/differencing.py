"""Differencing: answers that are harmless one by one, and single somebody out together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
from deniable.audit.attack.rows.question_lists import list_questions
from deniable.audit.attack.rows.row_contributions import (
    Contributions,
    PublishedNumber,
    contribute,
)
from deniable.audit.attack.rows.secret_values import SecretContributions, contribute_by_value
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
    complete: int | None = None  # profiles of a set up to which all were searched; None: all
    made_up: bool = False

    def sections(self) -> Sequence[Section]:
        about = (
            f"{len(self.questions):,} questions publish {len(self.numbers):,} counts and sums. "
            f"Combinations of their exact answers isolate fewer than {self.fewer_than} people "
            f"in {len(self.isolated):,} ways; {self.exposed:,} of {self.people:,} people are "
            "in such a set."
        )
        rows = tuple(
            (str(found.people), self.describe(found)) for found in self.isolated[:_SHOWN]
        )
        fix = "To protect them: answer with noise. Refusing questions reveals something, too."
        text = (about, self.thoroughness)
        sections = [Section("", text, ("people", "combination"), rows), Section("", (fix,))]
        if self.skipped:
            sections.append(describe_skipped(self.skipped))
        return sections

    @property
    def thoroughness(self) -> str:
        """Whether every combination was looked at, in one sentence."""
        if self.complete is None:
            return f"Every set of fewer than {self.fewer_than} people was looked at."
        return (
            f"Every set of up to {self.complete} profiles (people whom all answers treat "
            "alike) was looked at. There are too many larger sets: some may be missing."
        )

    def describe(self, found: IsolatedPeople) -> str:
        """A combination in words."""
        if not found.recipe:
            return "a longer combination of the answers"
        parts = []
        for place, factor in found.recipe:
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
    >>> asked = [
    ...     "SELECT COUNT(*) FROM staff WHERE ill",
    ...     "SELECT COUNT(*) FROM staff WHERE ill AND name <> 'Bob'",
    ... ]
    >>> found = differencing(staff, asked, secret="ill", table="staff", fewer_than=2)
    >>> print(found.describe(found.isolated[0]))
    (question 1, count) - (question 2, count)
    """
    owned = read_owned(source, table=table, **declared)
    texts = list_questions(questions)
    known = (
        contribute(owned, texts)
        if secret is None
        else contribute_by_value(owned, texts, secret)
    )
    return difference(owned, texts, fewer_than=fewer_than, known=known)


def difference(
    owned: OwnedRows,
    texts: Sequence[str],
    *,
    fewer_than: int,
    known: Contributions | SecretContributions,
) -> DifferencingFinding:
    """The same, for contributions that are known."""
    whole(fewer_than, "fewer_than", least=2)
    numbers, vectors = _vectors(known)
    profiles, place = merge_profiles(vectors)
    own = owned.table.unit
    units = np.arange(owned.rows.num_rows) if own is None else encode(owned.rows[own])
    people = count_people(place, units, profiles.shape[1])
    none = Isolation((), None)
    searched = isolate(profiles, people.tolist(), fewer_than) if len(numbers) else none
    hit = np.isin(place, [profile for one in searched.found for profile in one.profiles])
    return DifferencingFinding(
        questions=tuple(texts),
        numbers=numbers,
        isolated=searched.found,
        people=len(np.unique(units)),
        exposed=len(np.unique(units[hit])),
        fewer_than=fewer_than,
        skipped=known.skipped,
        complete=searched.complete,
        made_up=owned.made_up,
    )


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
    """The questions that were not attacked, and why."""
    rows = tuple(skipped[:_SHOWN])
    return Section(
        f"{len(skipped):,} questions were not attacked", (), ("question", "why"), rows
    )


def _vectors(
    known: Contributions | SecretContributions,
) -> tuple[tuple[PublishedNumber, ...], NDArray[np.int64]]:
    """What each row adds; or, of a secret, how much its values change what the row adds."""
    if isinstance(known, Contributions):
        return known.numbers, known.vectors
    changes = known.parts[1:] - known.parts[:1]
    numbers = tuple(number for number in known.numbers for _ in range(len(changes)))
    return numbers, changes.swapaxes(0, 1).reshape(-1, changes.shape[2])
