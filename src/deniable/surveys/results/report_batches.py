"""The reports of a survey, which arrive by whole batches, and the one look fixed in advance.

The manifest may fix a number of people, or a closing day. The first batch that reaches it is
the planned look: whether it has come depends on how many answered, and when, but on no answer.
So an ordinary interval holds there. At any other look, and after a survey was closed at will,
also on its closing day, only a confidence sequence holds. Closing writes the reports that wait:
if it is this last batch that reaches the number, then somebody decided that it came, perhaps
after a look at the numbers. So it is not the planned look.
"""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from deniable.errors import InvalidData
from deniable.surveys.questionnaire.collected_reports import CollectedReports
from deniable.surveys.questionnaire.manifest import Manifest

Day = str | datetime.date


@dataclass(frozen=True, slots=True, eq=False)
class ReportBatches:
    """All reports that were handed over, batch by batch. `bodies` are what devices sent."""

    manifest: Manifest
    days: tuple[str, ...]
    bodies: tuple[tuple[bytes, ...], ...]
    rows: tuple[dict[str, Any], ...]
    closed: bool
    last_at_will: bool  # the last batch is the one that closing wrote

    @property
    def sizes(self) -> list[int]:
        """How many reports each batch has."""
        return [len(batch) for batch in self.bodies]

    @property
    def respondents(self) -> int:
        """How many reports there are in all."""
        return len(self.rows)

    @property
    def planned_look(self) -> int | None:
        """How many batches the planned look takes in; None if it has not come."""
        planned, closes = self.manifest.planned_people, self.manifest.closes
        at_will = len(self.days) if self.last_at_will else None
        for number, (day, n) in enumerate(
            zip(self.days, accumulate(self.sizes), strict=True), start=1
        ):
            if planned is not None and n >= planned and number != at_will:
                return number
            if closes is not None and day > closes:
                return number
        return None

    def first(self, batches: int) -> CollectedReports:
        """The reports of this many batches, from the first, by question."""
        rows = self.rows[: sum(self.sizes[:batches])]
        columns: dict[str, tuple[list[int], list[Any]]] = {}
        for person, row in enumerate(rows):
            for name, report in row.items():
                people, reports = columns.setdefault(name, ([], []))
                people.append(person)
                reports.append(report)
        return CollectedReports(
            reports={name: np.array(reports) for name, (_, reports) in columns.items()},
            people={name: np.array(people) for name, (people, _) in columns.items()},
            respondents=len(rows),
        )


def read_batches(
    manifest: Manifest,
    batches: Iterable[tuple[Day, Sequence[bytes]]],
    *,
    closed: bool = False,
    last_at_will: bool | None = None,
) -> ReportBatches:
    """Reads batches, each a day and the bodies of its reports. Refuses a body that no device
    could have sent, and days that go back.

    A closed survey has a last batch that came by closing, unless `last_at_will` is False.

    >>> from deniable.surveys.questionnaire.manifest import make_manifest
    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=1\\nplanned_people=3\\n[[questions]]\\nid="a"\\n'
    ...     'kind="yes-no"\\ntext="?"'
    ... )
    >>> manifest = make_manifest(survey)
    >>> yes, no = (manifest.write_report({"a": x}) for x in (1, 0))
    >>> batches = read_batches(manifest, [("2026-11-17", [yes, no]), ("2026-11-18", [no])])
    >>> batches.planned_look, batches.first(1).reports["a"].tolist()
    (2, [1, 0])
    """
    days: list[str] = []
    bodies: list[tuple[bytes, ...]] = []
    rows: list[dict[str, Any]] = []
    for number, (day, batch) in enumerate(batches, start=1):
        days.append(_read_day(day, number))
        bodies.append((*batch,))
        for place, body in enumerate(batch, start=1):
            try:
                rows.append(manifest.read_report(body))
            except InvalidData as problem:
                raise InvalidData(f"Batch {number}, report {place}: {problem}") from None
    if days != sorted(days):
        raise InvalidData("The days of the batches go back. Give the batches in their order.")
    at_will = closed if last_at_will is None else last_at_will
    return ReportBatches(manifest, (*days,), (*bodies,), (*rows,), closed, at_will)


def _read_day(day: Day, number: int) -> str:
    try:
        return datetime.date.fromisoformat(str(day)).isoformat()
    except ValueError:
        raise InvalidData(f"Batch {number}: a day must be written like 2026-11-17.") from None
