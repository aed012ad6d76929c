"""Reports of a survey, as they are kept: one JSON object a line, question by question.

A line holds what one person's device sent and nothing else: no time, no order that means
anything, no identity. Private answers are reports; others are sent as they are.

    {"doping": 1, "sport": [160, 3]}
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData
from deniable.surveys.questionnaire.questionnaire import Questionnaire


@dataclass(frozen=True, slots=True, eq=False)
class CollectedReports:
    """For each question the reports, and the rows (people) that they belong to."""

    reports: Mapping[str, NDArray[Any]]
    people: Mapping[str, NDArray[np.int64]]
    respondents: int

    def both(self, one: str, other: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """The reports of two questions by those who answered both."""
        _, a, b = np.intersect1d(self.people[one], self.people[other], return_indices=True)
        return self.reports[one][a], self.reports[other][b]

    def lines(self) -> Iterable[str]:
        """One JSON object a person."""
        rows: list[dict[str, Any]] = [{} for _ in range(self.respondents)]
        for name, found in self.reports.items():
            for person, report in zip(self.people[name], found.tolist(), strict=True):
                rows[int(person)][name] = report
        return (json.dumps(row, separators=(",", ":")) for row in rows)


def read_reports(survey: Questionnaire, path: str | Path) -> CollectedReports:
    """Reads a file of reports; refuses lines that cannot belong to the survey."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as problem:
        raise InvalidData(f"The reports cannot be read: {problem.strerror}.") from None
    return parse_reports(survey, lines)


def parse_reports(survey: Questionnaire, lines: Iterable[str]) -> CollectedReports:
    """Reports from their lines.

    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=1\\n[[questions]]\\nid="a"\\nkind="yes-no"\\ntext="?"'
    ... )
    >>> parse_reports(survey, ['{"a": 1}', '{"a": 0}']).reports["a"].tolist()
    [1, 0]
    """
    names = {one.id for one in survey.questions}
    found: dict[str, tuple[list[int], list[Any]]] = {
        one.id: ([], []) for one in survey.questions
    }
    n = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            raise InvalidData(f"Line {number} of the reports is not JSON.") from None
        if not isinstance(row, dict) or not row.keys() <= names:
            raise InvalidData(f"Line {number} of the reports does not belong to this survey.")
        if len(row) > 1 and survey.shuffler is not None and survey.shuffler.separates:
            raise InvalidData(
                f"Line {number} of the reports holds several answers of one person, which the "
                "shuffler of this survey takes apart."
            )
        for name, report in row.items():
            found[name][0].append(n)
            found[name][1].append(report)
        n += 1
    if n == 0:
        raise InvalidData("There are no reports. Give one or more.")
    return CollectedReports(
        reports={name: np.array(reports) for name, (_, reports) in found.items() if reports},
        people={name: np.array(people) for name, (people, _) in found.items() if people},
        respondents=n,
    )
