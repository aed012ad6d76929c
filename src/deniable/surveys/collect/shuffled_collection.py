"""The loss of reports after shuffling, and when a smaller loss may be claimed.

A shuffler that strips identity, order and time before the analyst sees a report hides each
report among the others (`privacy/amplify/shuffling.py`). Without a shuffler, or with one that
keeps any of the three or belongs to the analyst, a report costs what its coins cost, and that
loss is stated.

Answers that a person sends on one line stay on one line, so the line is the report: shuffling
amplifies the loss of the whole line. A shuffler that also `separates` answers mixes each
question by itself. Each question is then amplified by itself, and the loss of one person is
their composition; but two questions cannot be tabulated any more. Public answers on the same
line identify lines, and so do missing answers; then nothing is amplified.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from deniable.exact.rationals import rational
from deniable.privacy import ApproximateLoss, Loss, PureLoss, parallel, shuffled
from deniable.surveys.questionnaire.collected_reports import CollectedReports
from deniable.surveys.questionnaire.designs import DesignedQuestion, design_questions
from deniable.surveys.questionnaire.questionnaire import Questionnaire


def collected_loss(survey: Questionnaire, design: Any, *, reports: int) -> Loss:
    """The loss of one report of a question that may be stated to respondents.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> text = 'id="s"\\ntitle="t"\\nepsilon=1.1\\n[[questions]]\\nid="a"\\n'
    >>> text += 'kind="yes-no"\\ntext="?"\\n'
    >>> trusted = '[shuffler]\\nwho="A"\\nindependent=true\\nstrips=["identity","order","time"]'
    >>> coins = RandomizedResponse(odds=3)
    >>> collected_loss(loads(text), coins, reports=1000)
    PureLoss(odds=3)
    >>> mixed = collected_loss(loads(text + trusted), coins, reports=1000)
    >>> f"{mixed.epsilon(1e-6):.4f}"
    '0.1421'
    """
    local: Loss = design.loss
    if not survey.amplifies or reports < 2:
        return local
    if survey.sends_separately:
        return shuffled(design if _is_response(design) else local, reports=reports)
    return shuffled(sent_loss(survey, design_questions(survey)), reports=reports)


def survey_loss(
    survey: Questionnaire,
    questions: Mapping[str, DesignedQuestion],
    collected: CollectedReports,
    *,
    delta: float = 1e-6,
) -> Loss:
    """The loss of all reports of one person, as they were collected.

    Questions that are mixed separately compose: each of d questions is amplified at delta / d.
    If each person gets one question, it is the loss of the worst question.
    """
    local = sent_loss(survey, questions)
    if not lines_look_alike(survey, collected):
        return local
    counts = {
        name: len(collected.reports[name]) for name in questions if name in collected.reports
    }
    if survey.collection == "one-question-each":
        losses = [
            question_loss(survey, questions[name], reports=n) for name, n in counts.items()
        ]
        # A person's question does not depend on the answers, so add-remove is enough.
        return parallel(*losses, neighbors="add-remove")
    if not survey.sends_separately:
        return shuffled(local, reports=collected.respondents)
    each, total = rational(delta) / len(counts), PureLoss(0) + PureLoss(0)
    for name, n in counts.items():
        total = total + _at_delta(question_loss(survey, questions[name], reports=n), each)
    return total


def lines_look_alike(survey: Questionnaire, collected: CollectedReports) -> bool:
    """Whether all lines have the same answers: missing answers would identify a line."""
    if not survey.amplifies or collected.respondents < 2:
        return False
    sizes = [len(reports) for reports in collected.reports.values()]
    whole = all(size == collected.respondents for size in sizes)
    return survey.sends_separately or (
        whole and len(collected.reports) == len(survey.questions)
    )


def question_loss(survey: Questionnaire, question: DesignedQuestion, *, reports: int) -> Loss:
    """`collected_loss` of a question, also if its boxes are randomized separately."""
    single = question.options == 1 or question.joint
    return collected_loss(survey, question.design if single else question, reports=reports)


def _at_delta(loss: Loss, delta: Fraction) -> Loss:
    """A loss at one delta, so that losses can be composed. A pure loss stays as it is."""
    if isinstance(loss, PureLoss):
        return loss
    return ApproximateLoss(loss.epsilon(delta), delta)


def sent_loss(survey: Questionnaire, questions: Mapping[str, DesignedQuestion]) -> Loss:
    """The loss of all answers of one person before shuffling: the sum, or the loss of the worst
    question if each person gets one."""
    losses = [question.loss for question in questions.values()]
    if survey.collection == "one-question-each":
        return max(losses, key=lambda loss: loss.epsilon())
    total: Loss = PureLoss(0)
    for loss in losses:
        total = total + loss
    return total


def _is_response(design: Any) -> bool:
    """Whether the sharper bounds for randomized response apply."""
    return all(hasattr(design, name) for name in ("p", "q", "categories", "matrix"))
