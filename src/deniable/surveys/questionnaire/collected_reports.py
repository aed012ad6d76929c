"""The reports of a survey: one JSON object per line.

A line holds only what one person's device sent: no time, no meaningful order, no identity.
Private answers are randomized reports; other answers are sent as they are.

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
from deniable.exact.foreign_text import read_json
from deniable.surveys.questionnaire.questionnaire import Questionnaire


@dataclass(frozen=True, slots=True, eq=False)
class CollectedReports:
    """For each question the reports, and the lines (people) that they come from."""

    reports: Mapping[str, NDArray[Any]]
    people: Mapping[str, NDArray[np.int64]]
    respondents: int

    def both(self, first: str, second: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """The reports of two questions by those who answered both."""
        _, a, b = np.intersect1d(self.people[first], self.people[second], return_indices=True)
        return self.reports[first][a], self.reports[second][b]

    def lines(self) -> Iterable[str]:
        """One JSON object per person."""
        rows: list[dict[str, Any]] = [{} for _ in range(self.respondents)]
        for name, reports in self.reports.items():
            for person, report in zip(self.people[name], reports.tolist(), strict=True):
                rows[int(person)][name] = report
        return (json.dumps(row, separators=(",", ":")) for row in rows)


def read_reports(survey: Questionnaire, path: str | Path) -> CollectedReports:
    """Reads a file of reports. Refuses lines that do not fit the survey."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as problem:
        raise InvalidData(f"The file of reports cannot be read: {problem.strerror}.") from None
    except UnicodeDecodeError:
        raise InvalidData("The file of reports is not text, written as UTF-8.") from None
    return parse_reports(survey, lines)


def parse_reports(survey: Questionnaire, lines: Iterable[str]) -> CollectedReports:
    """Reads reports from lines of JSON.

    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=1\\n[[questions]]\\nid="a"\\nkind="yes-no"\\ntext="?"'
    ... )
    >>> parse_reports(survey, ['{"a": 1}', '{"a": 0}']).reports["a"].tolist()
    [1, 0]
    """
    names = {question.id for question in survey.questions}
    columns: dict[str, tuple[list[int], list[Any]]] = {
        question.id: ([], []) for question in survey.questions
    }
    n = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = read_json(line)
        except ValueError:
            raise InvalidData(
                f"Line {number} of the reports is not JSON, or holds a question twice. Each "
                "line must be one report, as `deniable survey simulate` writes them."
            ) from None
        if not isinstance(row, dict) or not row.keys() <= names:
            raise InvalidData(
                f"Line {number} of the reports is not an object with questions of this survey."
            )
        if len(row) > 1 and survey.shuffler is not None and survey.shuffler.separates:
            raise InvalidData(
                f"Line {number} of the reports holds several answers. The shuffler of this "
                "survey separates answers, so each line must hold one."
            )
        for name, report in row.items():
            columns[name][0].append(n)
            columns[name][1].append(report)
        n += 1
    if n == 0:
        raise InvalidData("There are no reports. Give one or more.")
    return CollectedReports(
        reports={name: np.array(reports) for name, (_, reports) in columns.items() if reports},
        people={name: np.array(people) for name, (people, _) in columns.items() if people},
        respondents=n,
    )
