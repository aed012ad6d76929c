"""The same people asked again: answers remembered, so that waves do not wear the noise down.

A fresh report of the same answer in every wave spends epsilon every time. A device that
remembers sends the same report for the same answer for ever: k different answers over all waves
cost at most k times epsilon, however many waves there are. Remembering needs no store: the
coins are drawn from a secret of the device, the survey, the question and the answer.

That bound is about *what* was answered, between people whose answers changed in the same waves.
*When* an answer changed is not protected by remembering: two reports that differ prove it.
`Loloha` adds fresh noise in each wave, which hides a change for a while; `Loloha.loss_after`
says how much of that is left after so many waves.
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

    Any design of one answer can be remembered, numbers (by their step of the grid) included,
    and any question of a questionnaire as `asked` hands it out, multiple choices included.

    >>> mine = Memory(b"0123456789abcdef", survey="doping")
    >>> coins = RandomizedResponse(odds=3)
    >>> {mine.report("q1", coins, True) for wave in range(100)} in ({True}, {False})
    True
    """

    secret: bytes
    survey: str

    def report(self, question: str, design: Any, answer: Any) -> Any:
        """What is sent: the first report of this answer, and the same ever after."""
        if isinstance(design, DesignedQuestion):
            return self._asked(question, design, answer)
        label = "\x1f".join((self.survey, question, repr(design), _answer_name(design, answer)))
        sent = design.randomize(answer, source=KeyedBits(self.secret, label))
        return sent[0] if isinstance(design, FrequencyOracle | NumericDesign) else sent

    def _asked(self, question: str, asked: DesignedQuestion, answer: Any) -> Any:
        """A set of ticks that goes through the coins at once is remembered as one answer;
        boxes that go one by one are remembered one by one, so that a changed tick costs again
        what that box costs, and the others nothing."""
        if asked.options == 1:
            return self.report(question, asked.design, answer)
        meant = asked.encode(answer)
        if len(meant) != 1:
            raise InvalidData("Remember one person's answer at a time.")
        if asked.joint:
            return self.report(question, asked.design, int(meant[0]))
        return np.array(
            [
                self.report(f"{question}\x1f{box}", asked.design, int(tick))
                for box, tick in enumerate(meant[0])
            ]
        )


def over_waves(
    design: Any, *, waves: int, remembered: bool, changes: int | None = None
) -> Loss:
    """What one person's reports of one question cost over all waves.

    Fresh coins cost once a wave. Remembered ones cost once a different answer: at most
    `changes` + 1 of them, or as many as there are answers if nothing is known about changes.
    The loss is about what was answered; in which waves an answer changed is shown as it is.

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
    """What tells an answer from others: the number of its category, or of its step."""
    _count_answers(design)  # refuses what cannot be remembered
    if isinstance(design, NumericDesign):
        places = design._places(answer)
    else:
        places = read_answers(answer, design.categories).numbers
    if places.size != 1:
        raise InvalidData("Remember one person's answer at a time.")
    return str(int(places[0]))


def _count_answers(design: Any) -> int:
    """How many different answers a design takes, each remembered by itself."""
    if isinstance(design, Loloha):
        raise InvalidParameter(
            "Loloha remembers by itself: make a `panel`; see `Loloha.loss`, `loss_after`."
        )
    if isinstance(design, DesignedQuestion):
        if design.options == 1 or design.joint:
            return _count_answers(design.design)
        return 2  # a box that goes by itself has two, all boxes together twice their number
    if isinstance(design, RandomizedResponse | Ordinal | FrequencyOracle):
        return design.categories
    if isinstance(design, NumericDesign):
        return design.steps + 1 + isinstance(design, NumberOrNot)
    raise InvalidParameter(
        f"{type(design).__name__} cannot be remembered here. For text there is `Rappor`, whose "
        "clients remember by themselves."
    )
