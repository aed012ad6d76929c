"""Crosswise and unrelated questions: what is thrown, and how often the harmless answer is yes.

A second, harmless question takes the place of a coin. Crosswise: both are answered silently,
and the person says only whether the two answers are the same. Unrelated: a throw decides which
of the two is answered aloud. The rates are read from the manifest's channel, so a card cannot
ask for others. Anyone who knows the harmless answer of a person can work out the other one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from deniable.errors import InvalidParameter
from deniable.surveys.questionnaire.channels import TableChannel
from deniable.surveys.questionnaire.declared_designs import MOST_FIELDS
from deniable.surveys.questionnaire.hand_tables import DeviceName, HandDevice, HandRow
from deniable.surveys.questionnaire.manifest_question import ManifestQuestion

MONTHS = 12
_FIELDS: dict[str, int] = {"die": 6, "cards": 10}


@dataclass(frozen=True, slots=True)
class BirthdayDesign:
    """A harmless question to which `rate` of all people say yes, and what is thrown, if
    anything: its rows say "first" (the question itself) or "second" (the harmless one)."""

    rate: Fraction
    device: HandDevice | None = None

    def probability(self, answer: int) -> Fraction:
        """P(report 1 | answer): of saying "same" without a device, of saying yes with one.

        >>> [BirthdayDesign(Fraction(1, 4)).probability(answer) for answer in (1, 0)]
        [Fraction(1, 4), Fraction(3, 4)]
        """
        if self.device is None:
            return self.rate if answer else 1 - self.rate
        first_outcomes = sum(row.outcomes for row in self.device.rows if row.say == "first")
        truth = Fraction(first_outcomes, self.device.outcomes)
        return truth * answer + (1 - truth) * self.rate

    @property
    def months(self) -> int | None:
        """The number of months of birth that have this rate; None if no number has it."""
        return int(self.rate * MONTHS) if not self.rate * MONTHS % 1 else None


def find_birthday(question: ManifestQuestion, device: str | None = None) -> BirthdayDesign:
    """How a crosswise or unrelated question is asked on paper.

    >>> from deniable.surveys.questionnaire.manifest import make_manifest
    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=4\\n[[questions]]\\nid="a"\\nkind="yes-no"\\n'
    ...     'text="?"\\ndesign={unrelated=["2/3", "1/12"]}'
    ... )
    >>> design = find_birthday(make_manifest(survey).questions[0])
    >>> design.rate, [(row.see, row.say) for row in design.device.rows]
    (Fraction(1, 12), [((1, 2, 3, 4), 'first'), ((5, 6), 'second')])
    """
    channel = question.drawn_by
    assert isinstance(channel, TableChannel)
    p, q = channel.probability(1, 1), channel.probability(1, 0)
    if question.design == "crosswise":
        if device is not None:
            raise InvalidParameter(
                f"{question.id} is crosswise: nothing is thrown. Leave `device` out."
            )
        return BirthdayDesign(p)
    truth = p - q
    for name in ("die", "cards", "spinner") if device is None else (device,):
        for hand_device in _throws(name, truth):
            return BirthdayDesign(q / (1 - truth), hand_device)
    raise InvalidParameter(
        f"{question.id} is answered in {truth} of all throws: "
        f"{'no die, cards or spinner' if device is None else repr(device)} can draw that. Use "
        f"die, cards or spinner, and a share with a denominator of at most {MOST_FIELDS}."
    )


def _throws(name: str, truth: Fraction) -> Iterator[HandDevice]:
    """The device of this name that asks the question itself with this probability, if any."""
    fields = _FIELDS.get(name, truth.denominator)
    first = truth * fields
    known: dict[str, DeviceName] = {"die": "die", "cards": "cards", "spinner": "spinner"}
    if name not in known or fields > MOST_FIELDS or first.denominator != 1:
        return
    n = int(first)
    seen = (tuple(range(1, n + 1)), tuple(range(n + 1, fields + 1)))
    see = seen if name == "die" else ((n,), (fields - n,))
    rows = HandRow(see[0], n, "first"), HandRow(see[1], fields - n, "second")
    yield HandDevice(known[name], 2, rows)
