"""The device that a card tells people to throw, for one question of a manifest."""

from deniable.errors import InvalidParameter
from deniable.surveys.questionnaire.hand_tables import DEVICES, HandDevice, find_device
from deniable.surveys.questionnaire.manifest_question import ManifestQuestion


def make_device(question: ManifestQuestion, name: str | None = None) -> HandDevice:
    """The device that draws the question's channel; without a name, the simplest that does.

    >>> from deniable.surveys.questionnaire.manifest import make_manifest
    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=2\\n[[questions]]\\nid="a"\\nkind="yes-no"\\n'
    ...     'text="?"\\ndesign="die"'
    ... )
    >>> question = make_manifest(survey).questions[0]
    >>> [(row.see, row.say) for row in make_device(question, "die").rows]
    [((1,), 0), ((2, 3, 4, 5), 'truth'), ((6,), 1)]
    """
    if name is not None and name not in DEVICES:
        raise InvalidParameter(f"A device is one of {', '.join(DEVICES)}. Found {name!r}.")
    if not question.private or not question.has_one_answer:
        raise InvalidParameter(
            f"{question.id} cannot be asked on paper: cards are for private questions with one "
            "answer of a few."
        )
    if not question.device:
        raise InvalidParameter(
            f"{question.id} has no such device: crosswise and unrelated questions use a "
            "birthday in place of a throw. See `find_birthday`."
        )
    device = find_device(question.drawn_by, name)
    if device is not None:
        return device
    wanted = "No coins, dice, cards or spinner" if name is None else f"No card for {name}"
    raise InvalidParameter(
        f"{wanted} can draw the channel of {question.id}: a card must give exactly the odds "
        "that the manifest promises, with at most 36 fields. Declare a design that a hand can "
        'throw, such as   design = "two-coins"   or   odds = 5   (a die).'
    )
