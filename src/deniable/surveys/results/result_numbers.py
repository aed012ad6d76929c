"""The numbers of a survey's results, and the tables in which they stand."""

from dataclasses import dataclass
from typing import Literal

from deniable.surveys.estimate.look_rules import FoundNumber
from deniable.surveys.questionnaire.manifest_question import ManifestQuestion


@dataclass(frozen=True, slots=True)
class ResultNumber:
    """One number of the results: where it belongs, its estimate and how it was made.

    `answer` is the place of the answer, or -1 for a mean. `share_of` says whether it is a share
    of all respondents or of a group; `group` is then the place of the group.
    """

    question: str
    answer: int
    label: str
    reading: FoundNumber
    share_of: Literal["all", "group"] = "all"
    by: str = ""
    group: int = -1
    group_label: str = ""

    @property
    def is_mean(self) -> bool:
        """Whether it is a mean and not a share."""
        return self.answer < 0


@dataclass(frozen=True, slots=True)
class QuestionFindings:
    """What was found about one question. `planned` is empty before the planned look."""

    question: ManifestQuestion
    text: str
    respondents: int
    planned: tuple[ResultNumber, ...]
    sequence: tuple[ResultNumber, ...]
    promise: str

    @property
    def shown(self) -> tuple[ResultNumber, ...]:
        """The numbers to show first: those of the planned look once it has come."""
        return self.planned or self.sequence


@dataclass(frozen=True, slots=True)
class GroupTable:
    """The answers to one question within the groups of another, and of all."""

    question: ManifestQuestion
    by: ManifestQuestion
    text: str
    by_text: str
    within: tuple[tuple[ResultNumber, ...], ...]  # one row for each group
    of_all: tuple[tuple[ResultNumber, ...], ...]
