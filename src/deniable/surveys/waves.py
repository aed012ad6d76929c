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

from deniable.errors import InvalidParameter
from deniable.exact.keyed import KeyedBits
from deniable.exact.rationals import whole
from deniable.mechanisms import RandomizedResponse
from deniable.privacy import Loss


@dataclass(frozen=True, slots=True, repr=False)
class Memory:
    """One person's device: the same answer to the same question gives the same report.

    >>> mine = Memory(b"0123456789abcdef", survey="doping")
    >>> coins = RandomizedResponse(odds=3)
    >>> {mine.report("q1", coins, True) for wave in range(100)} in ({True}, {False})
    True
    """

    secret: bytes
    survey: str

    def report(self, question: str, design: RandomizedResponse, answer: Any) -> Any:
        """What is sent: the first report of this answer, and the same ever after."""
        if not isinstance(design, RandomizedResponse):
            raise InvalidParameter(
                f"Only RandomizedResponse can be remembered. Found {type(design).__name__}; "
                "for many answers use Loloha, for text Rappor."
            )
        label = "\x1f".join((self.survey, question, repr(design), str(int(answer))))
        return design.randomize(answer, source=KeyedBits(self.secret, label))


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
    n = whole(waves, "waves")
    if not remembered:
        spent: Loss = design.loss * n
        return spent
    different = design.categories if changes is None else whole(changes, "changes", least=0) + 1
    remembered_loss: Loss = design.loss * min(n, different, design.categories)
    return remembered_loss
