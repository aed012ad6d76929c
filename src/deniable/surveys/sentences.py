"""What may honestly be promised to a respondent, generated from the design's own numbers.

Never "anonymous", never "proves nothing": an answer moves the odds, by a stated factor.
"""

import math
from fractions import Fraction
from typing import Any

from deniable.mechanisms import RandomizedResponse
from deniable.privacy import Loss
from deniable.privacy.reading import odds_factor


def what_an_answer_proves(design: Any, labels: tuple[str, str] = ("no", "yes")) -> str:
    """The promise for a yes/no question, or for any other design the odds alone.

    >>> print(what_an_answer_proves(RandomizedResponse(odds=3)))
    Of 100 people whose true answer is yes, 75 send yes; of 100 whose true answer is no, 25 send
    yes. A yes from you is not proof: it moves anybody's odds about you by at most 3 to 1.
    """
    if isinstance(design, RandomizedResponse) and design.categories == 2:
        no, yes = labels
        said = (
            f"Of 100 people whose true answer is {yes}, {_of_100(design.p)} send {yes}; of 100 "
            f"whose true answer is {no}, {_of_100(design.q)} send {yes}. A {yes} from you is "
            "not proof: it moves anybody's odds about you by at most "
            f"{factor(design.loss)} to 1."
        )
        return said + (f" It is {design.caveat}." if design.caveat else "")
    if isinstance(design, RandomizedResponse):
        return (
            f"Of 100 people, {_of_100(design.p)} send their true answer, and "
            f"{_of_100(design.q)} each of the {design.categories - 1} others. What you send is "
            "not proof: it moves anybody's odds about you by at most "
            f"{factor(design.loss)} to 1."
        )
    return (
        "What you send is drawn by chance around your answer. It is not proof: it moves "
        f"anybody's odds about you by at most {factor(design.loss)} to 1."
    )


def factor(loss: Loss) -> str:
    """The most by which odds are multiplied, rounded up.

    >>> from deniable.privacy import PureLoss
    >>> factor(PureLoss(odds=3)), factor(PureLoss(1))
    ('3', '2.72')
    """
    exact = odds_factor(loss)
    if exact.denominator == 1:
        return f"{exact.numerator:,}"
    return f"{math.ceil(exact * 100) / 100:,.2f}"


def _of_100(chance: Fraction) -> str:
    found = 100 * chance
    return f"{found.numerator}" if found.denominator == 1 else f"about {float(found):.0f}"
