"""What reports cost once they are mixed with others, and when that may be said.

A shuffler that strips identity, order and time before the analyst sees a report hides each
report among the others (`privacy/amplify/shuffling.py`). Without one, or with one that keeps
any of the three or belongs to the analyst, a report costs what its coins cost, and that is
what is shown.

What is mixed is what travels together. Answers that a person sends on one line stay on one
line, and each of them tells which line it is: then the line is the report, and its whole loss
is what mixing amplifies. A shuffler that also `separates` the answers mixes each question by
itself; each is then amplified by itself, and what one person sent costs their composition, at
the price that nobody can tabulate two questions any more. Answers that are sent as they are on
the same line tell lines apart, as do missing ones, and nothing is amplified.
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
    """The loss of one report of a question, as it may be stated to respondents.

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
    made: Mapping[str, DesignedQuestion],
    collected: CollectedReports,
    *,
    delta: float = 1e-6,
) -> Loss:
    """What all reports of one person cost together, as they were collected.

    Questions that are mixed each by itself compose: every one of d is amplified at delta / d.
    Where each person gets one question it is the worst of them.
    """
    local = sent_loss(survey, made)
    if not lines_look_alike(survey, collected):
        return local
    reports = {name: len(collected.reports[name]) for name in made if name in collected.reports}
    if survey.collection == "one-question-each":
        losses = [question_loss(survey, made[name], reports=n) for name, n in reports.items()]
        return parallel(*losses, neighbors="add-remove")  # an answer stays in its question
    if not survey.sends_separately:
        return shuffled(local, reports=collected.respondents)
    each, total = rational(delta) / len(reports), PureLoss(0) + PureLoss(0)
    for name, n in reports.items():
        total = total + _at_delta(question_loss(survey, made[name], reports=n), each)
    return total


def lines_look_alike(survey: Questionnaire, collected: CollectedReports) -> bool:
    """Whether lines hide each other: which answers are missing would tell them apart."""
    if not survey.amplifies or collected.respondents < 2:
        return False
    whole = all(len(found) == collected.respondents for found in collected.reports.values())
    return survey.sends_separately or (
        whole and len(collected.reports) == len(survey.questions)
    )


def question_loss(survey: Questionnaire, one: DesignedQuestion, *, reports: int) -> Loss:
    """`collected_loss` of a question with its design, boxes that go one by one included."""
    single = one.options == 1 or one.joint
    return collected_loss(survey, one.design if single else one, reports=reports)


def _at_delta(loss: Loss, delta: Fraction) -> Loss:
    """A loss as it is at one delta, which composes; pure ones stay as they are."""
    if isinstance(loss, PureLoss):
        return loss
    return ApproximateLoss(loss.epsilon(delta), delta)


def sent_loss(survey: Questionnaire, made: Mapping[str, DesignedQuestion]) -> Loss:
    """What all answers of one person cost, as the coins have it: their sum, or that of the
    worst question where each person gets one."""
    losses = [one.loss for one in made.values()]
    if survey.collection == "one-question-each":
        return max(losses, key=lambda loss: loss.epsilon())
    total: Loss = PureLoss(0)
    for loss in losses:
        total = total + loss
    return total


def _is_response(design: Any) -> bool:
    """Whether the sharper bounds for randomized response apply."""
    return all(hasattr(design, name) for name in ("p", "q", "categories", "matrix"))
