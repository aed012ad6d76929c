"""The results of a survey for its pollster, from the manifest and whole batches of reports.

Until the planned look (see `report_batches`) every interval is a confidence sequence. From the
planned look on, the numbers of that look have ordinary intervals, and stay as they are: reports
that come later are in the sequences only.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import Number, confidence_level
from deniable.surveys.estimate.confidence_sequence import PLANNED
from deniable.surveys.estimate.look_rules import LookRule
from deniable.surveys.questionnaire.manifest import Manifest
from deniable.surveys.results.privacy_sentences import epsilon_sentences, survey_loss
from deniable.surveys.results.report_batches import Day, ReportBatches, read_batches
from deniable.surveys.results.result_numbers import GroupTable, QuestionFindings, ResultNumber
from deniable.surveys.results.result_reader import ResultReader

FEWEST = 50  # reports; fewer are one batch, and each person is hidden among few others


@dataclass(frozen=True)
class SurveyResults:
    """All that the reports say. `language` is that of its labels."""

    batches: ReportBatches
    language: str
    confidence: float
    questions: tuple[QuestionFindings, ...]
    tables: tuple[GroupTable, ...]

    @property
    def manifest(self) -> Manifest:
        """What was promised."""
        return self.batches.manifest

    @property
    def respondents(self) -> int:
        """How many reports came in whole batches."""
        return self.batches.respondents

    @property
    def title(self) -> str:
        """The survey's title."""
        return self.manifest.title[self.language]

    @property
    def look(self) -> Literal["planned", "any"]:
        """Whether the numbers that are shown first are those of the planned look."""
        return "any" if self.batches.planned_look is None else "planned"

    @property
    def look_respondents(self) -> int:
        """How many reports the numbers that are shown first come from."""
        look = self.batches.planned_look
        return self.respondents if look is None else sum(self.batches.sizes[:look])

    @property
    def epsilon(self) -> float:
        """What all reports of one person cost, at most."""
        return survey_loss(self.manifest).epsilon()

    @cached_property
    def numbers(self) -> tuple[tuple[Literal["planned", "any"], ResultNumber], ...]:
        """Every number of the results, with the look at which it holds."""
        return tuple(self._numbers())

    def _numbers(self) -> Iterator[tuple[Literal["planned", "any"], ResultNumber]]:
        for findings in self.questions:
            yield from (("planned", number) for number in findings.planned)
            yield from (("any", number) for number in findings.sequence)
        for table in self.tables:
            for row in (*table.within, *table.of_all):
                yield from ((self.look, number) for number in row)

    @property
    def privacy(self) -> tuple[str, ...]:
        """What the reports may prove about one person."""
        return epsilon_sentences(self.manifest)

    @property
    def notices(self) -> tuple[str, ...]:
        """What a reader must know before the numbers."""
        return tuple(self._notices())

    def _notices(self) -> Iterator[str]:
        if self.manifest.rehearsal:
            yield "REHEARSAL: these reports are of made-up people. No number here is a result."
        if self.respondents < FEWEST:
            yield (
                f"Fewer than {FEWEST} reports in all: {self.respondents}. With fewer than "
                f"{FEWEST} reports each person is hidden among few others, and the intervals "
                "are wide."
            )
        level = f"{100 * self.confidence:g} %"
        if self.look == "any":
            yield (
                f"These intervals hold whenever you look: with {level} confidence each number "
                "lies inside its interval at every look, not only at this one. They are wider "
                f"than intervals for one look. {self._why_not_planned()}"
            )
            return
        yield (
            f"This is the look that was fixed before the first answer: {self._planned()}. "
            f"Its {level} intervals hold at this one look, and these numbers do not change "
            "any more."
        )
        later = self.respondents - self.look_respondents
        if later:
            yield (
                f"{later:,} later reports are not in these numbers. They are in the "
                f"intervals for any look, from all {self.respondents:,} reports."
            )

    def _planned(self) -> str:
        people, closes = self.manifest.planned_people, self.manifest.closes
        rules = [f"{people:,} reports"] if people is not None else []
        rules += [f"the end of {closes}"] if closes is not None else []
        return f"the first batch after {' or '.join(rules)}"

    def _why_not_planned(self) -> str:
        if self.manifest.planned_people is None and self.manifest.closes is None:
            return (
                "The manifest fixes no number of people and no closing day, so there is no "
                "look for which narrower intervals would hold."
            )
        if self.batches.closed:
            return (
                "The survey was closed at will before the look that its manifest fixes "
                f"({self._planned()}), so they stay: the batch that closing wrote is no "
                "planned one."
            )
        return f"Narrower ones come with the look that the manifest fixes: {self._planned()}."


def find_results(
    manifest: Manifest,
    batches: Iterable[tuple[Day, Sequence[bytes]]],
    *,
    closed: bool = False,
    last_at_will: bool | None = None,
    confidence: Number = 0.95,
    language: str | None = None,
) -> SurveyResults:
    """All results, from whole batches (see `read_batches`).

    >>> from deniable.surveys.questionnaire.manifest import make_manifest
    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=1.1\\nplanned_people=1000\\n[[questions]]\\nid="a"\\n'
    ...     'kind="yes-no"\\ntext="?"\\ndesign="two-coins"'
    ... )
    >>> manifest = make_manifest(survey)
    >>> yes, no = (manifest.write_report({"a": x}) for x in (1, 0))
    >>> early = find_results(manifest, [("2026-11-17", [yes] * 200 + [no] * 300)])
    >>> early.look, early.questions[0].shown[0].reading.method
    ('any', 'beta-binomial')
    >>> final = find_results(manifest, [("2026-11-17", [yes] * 400 + [no] * 600)])
    >>> print(final.look, final.questions[0].shown[0].reading.estimate)
    planned 0.300 ± 0.062 (95 %: 0.239 to 0.362)
    """
    chosen = language or manifest.languages[0]
    if chosen not in manifest.languages:
        raise InvalidParameter(
            f"`language` must be a language of this survey: {', '.join(manifest.languages)}. "
            f"Found {chosen!r}."
        )
    read = read_batches(manifest, batches, closed=closed, last_at_will=last_at_will)
    if not read.respondents:
        raise InvalidData("No batch of reports is there yet: reports arrive by whole batches.")
    level = confidence_level(confidence)
    rule = LookRule(True, level, manifest.planned_people or PLANNED)
    reader = ResultReader(read, chosen, rule)
    return SurveyResults(
        batches=read,
        language=chosen,
        confidence=float(level),
        questions=tuple(reader.questions()),
        tables=tuple(reader.tables()),
    )
