"""What the reports of one person may prove, in sentences with figures from the weights.

Every figure is an upper bound, computed from the odds exactly and rounded up. The unit is
always one person with all reports of the survey together.
"""

import math
from fractions import Fraction

from deniable.exact.text_formats import factor_up
from deniable.privacy import Loss, PureLoss
from deniable.privacy.losses.hypothesis_testing import odds_factor
from deniable.privacy.losses.loss_in_words import GUESSES, of_100_up
from deniable.surveys.questionnaire.manifest import Manifest
from deniable.surveys.results.manifest_designs import question_loss

_LINKS = {
    "open": "Anyone with the link could answer, and more than once. The server asks for no "
    "name and keeps no address.",
    "token": "Every invitation was good for one report. The host of the survey could link a "
    "report to an invitation until the batch was opened.",
    "pass": "Every invitation was exchanged for one blind pass, so the server cannot link a "
    "report to an invitation by what it stores. Someone who records times and addresses in "
    "the network might.",
}


def survey_loss(manifest: Manifest) -> Loss:
    """What all reports of one person cost: the sum, or the worst question if each person gets
    one.

    >>> from deniable.surveys.questionnaire.manifest import make_manifest
    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=4\\n[[questions]]\\nid="a"\\nkind="yes-no"\\n'
    ...     'text="?"\\nodds=3\\n[[questions]]\\nid="b"\\nkind="yes-no"\\ntext="?"\\nodds=5'
    ... )
    >>> survey_loss(make_manifest(survey)).epsilon() == PureLoss(odds=15).epsilon()
    True
    """
    odds = [odds_factor(question_loss(question)) for question in manifest.private]
    if manifest.collection == "one-question-each":
        return PureLoss(odds=max(odds))
    return PureLoss(odds=math.prod(odds, start=Fraction(1)))


def epsilon_sentences(manifest: Manifest) -> tuple[str, ...]:
    """The sentences, the most important first."""
    loss = survey_loss(manifest)
    rare, some, even = (of_100_up(loss, prior) for prior in GUESSES)
    each = (
        "the one question that a person got"
        if manifest.collection == "one-question-each"
        else "all questions together"
    )
    return (
        "Nobody but the respondent saw the true answers to the private questions. Chance was "
        "added on the respondent's own device, or with a card in the respondent's own hand, "
        "before anything was sent.",
        f"For one person and {each}: of 100 people who guess between two answers at even odds, "
        f"at most {even} guess right from the reports; without them 50.",
        f"A guess of 10 % becomes at most {some} %, and a guess of 1 % at most {rare} %. The "
        f"reports multiply anyone's odds about one person by at most "
        f"{factor_up(odds_factor(loss))}.",
        "Reading these results costs nothing more. Another survey of the same people adds its "
        "own part.",
        _LINKS[manifest.mode],
    )
