"""What a report costs once it is mixed with others, and when that may be said.

A shuffler that strips identity, order and time before the analyst sees a report hides each
report among the others (see `deniable.privacy.shuffling`). Without one, or with one that keeps
any of the three or belongs to the analyst, a report costs what its coins cost, and that is
what is shown.
"""

from typing import Any

from deniable.privacy import Loss, shuffled
from deniable.surveys.questionnaire import Questionnaire


def collected_loss(survey: Questionnaire, design: Any, *, reports: int) -> Loss:
    """The loss of one report of a question, as it may be stated to respondents.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> from deniable.surveys.questionnaire import loads
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
    if survey.shuffler is None or not survey.shuffler.hides or reports < 2:
        return local
    return shuffled(design if _is_response(design) else local, reports=reports)


def _is_response(design: Any) -> bool:
    """Whether the sharper bounds for randomized response apply."""
    return all(hasattr(design, name) for name in ("p", "q", "categories", "matrix"))
