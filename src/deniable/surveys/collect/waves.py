"""The same people asked in several waves, with reports that are remembered.

A fresh report of the same answer costs epsilon in every wave, and noise averages out. A device
that remembers always sends the same report for the same answer: k different answers over all
waves cost at most k times epsilon, for any number of waves. Nothing needs to be stored: the
coins are derived from a secret of the device, the survey, the question and the answer.

That bound protects *what* was answered, between people whose answers changed in the same waves.
It does not protect *when* an answer changed: two different reports prove a change. `Loloha`
adds fresh noise in each wave, which hides a change for some waves; `Loloha.loss_after` states
the loss after a number of waves.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.keyed_bits import KeyedBits
from deniable.exact.rationals import whole
from deniable.mechanisms import Loloha, NumberOrNot, Ordinal, RandomizedResponse
from deniable.mechanisms.local.answers import read_answers
from deniable.mechanisms.local.frequency_oracle import FrequencyOracle
from deniable.mechanisms.local.numbers.numeric_design import NumericDesign
from deniable.privacy import Loss
from deniable.surveys.questionnaire.designs import DesignedQuestion


@dataclass(frozen=True, slots=True, repr=False)
class Memory:
    """One person's device: the same answer to the same question gives the same report.

    It works for any design of one answer, numbers (by their step of the grid) included, and for
    any `DesignedQuestion`, multiple choices included.

    >>> mine = Memory(b"0123456789abcdef", survey="doping")
    >>> coins = RandomizedResponse(odds=3)
    >>> {mine.report("q1", coins, True) for wave in range(100)} in ({True}, {False})
    True
    """

    secret: bytes
    survey: str

    def report(self, question: str, design: Any, answer: Any) -> Any:
        """The report of this answer, the same every time."""
        if isinstance(design, DesignedQuestion):
            return self._report_question(question, design, answer)
        label = "\x1f".join((self.survey, question, repr(design), _answer_name(design, answer)))
        sent = design.randomize(answer, source=KeyedBits(self.secret, label))
        return sent[0] if isinstance(design, FrequencyOracle | NumericDesign) else sent

    def _report_question(self, name: str, question: DesignedQuestion, answer: Any) -> Any:
        """A set of ticks that is randomized at once is remembered as one answer. Boxes that are
        randomized separately are remembered separately, so a changed tick costs only what its
        box costs."""
        if question.options == 1:
            return self.report(name, question.design, answer)
        encoded = question.encode(answer)
        if len(encoded) != 1:
            raise InvalidData("Give one person's answer at a time.")
        if question.joint:
            return self.report(name, question.design, int(encoded[0]))
        return np.array(
            [
                self.report(f"{name}\x1f{box}", question.design, int(tick))
                for box, tick in enumerate(encoded[0])
            ]
        )


def over_waves(
    design: Any, *, waves: int, remembered: bool, changes: int | None = None
) -> Loss:
    """The loss of one person's reports of one question over all waves.

    Fresh coins cost once per wave. Remembered coins cost once per different answer: at most
    `changes` + 1 times, or as often as there are answers if `changes` is not given. The loss is
    about what was answered; the waves in which an answer changed are not protected.

    >>> coins = RandomizedResponse(odds=3)
    >>> over_waves(coins, waves=10, remembered=False).epsilon() > 10
    True
    >>> round(over_waves(coins, waves=10, remembered=True).epsilon(), 6)  # at most 2 answers
    2.197225
    """
    n, all_of_them = whole(waves, "waves"), _count_answers(design)
    different = all_of_them if changes is None else whole(changes, "changes", least=0) + 1
    spent: Loss = design.loss * (min(n, different, all_of_them) if remembered else n)
    return spent


def _answer_name(design: Any, answer: Any) -> str:
    """The number of the answer's category or step, as text."""
    _count_answers(design)  # refuses designs that cannot be remembered
    if isinstance(design, NumericDesign):
        places = design._places(answer)
    else:
        places = read_answers(answer, design.categories).numbers
    if places.size != 1:
        raise InvalidData("Give one person's answer at a time.")
    return str(int(places[0]))


def _count_answers(design: Any) -> int:
    """How many different answers a design takes; each is remembered separately."""
    if isinstance(design, Loloha):
        raise InvalidParameter(
            "Loloha has its own memory. Use `Loloha.panel`, and `loss` or `loss_after`."
        )
    if isinstance(design, DesignedQuestion):
        if design.options == 1 or design.joint:
            return _count_answers(design.design)
        return 2  # ticked or not; the loss of the design counts all boxes
    if isinstance(design, RandomizedResponse | Ordinal | FrequencyOracle):
        return design.categories
    if isinstance(design, NumericDesign):
        return design.steps + 1 + isinstance(design, NumberOrNot)
    raise InvalidParameter(
        f"Memory does not support {type(design).__name__}. For text use `Rappor`, which has "
        "its own memory."
    )
