"""The privacy label: what a certificate says, in words for those who are in the data.

Every number is an upper bound and rounded up. The label reads the certificate alone; whether
that holds is for `verification` to say first.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.policy.plurals import pluralize
from deniable.privacy import ApproximateLoss
from deniable.privacy.losses.hypothesis_testing import odds_factor, posterior
from deniable.release.answer.formatting import format_confidence, format_margin

GUESSES = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))


@dataclass(frozen=True, slots=True)
class Label:
    """A privacy label: headings, and what stands under each.

    >>> print(Label((("Who", ("Each row of data.",)),), (), Fraction(1, 2)))
    PRIVACY LABEL
    <BLANKLINE>
    Who
      Each row of data.
    """

    sections: tuple[tuple[str, tuple[str, ...]], ...]
    guesses: tuple[tuple[Fraction, Fraction], ...]  # before, and at most after
    share: Fraction  # of the whole cap that this one release cost

    def __str__(self) -> str:
        parts = ["PRIVACY LABEL"]
        for title, lines in self.sections:
            parts += ["", title, *(f"  {line}" for line in lines)]
        return "\n".join(parts)


def make_label(statement: Mapping[str, Any]) -> Label:
    """The label of a certificate's statement."""
    epsilon, delta = (Fraction(statement["loss"][name]) for name in ("epsilon", "delta"))
    cap = statement["cap"]
    whole = Fraction(cap["epsilon"]), Fraction(cap["delta"])
    guesses = tuple((one, _posterior(epsilon, delta, one)) for one in GUESSES)
    sections = (
        ("Whose privacy", _describe_units(statement)),
        (
            "How much anyone can learn about one of them",
            _describe_strength(epsilon, delta, guesses),
        ),
        ("From everything that is ever told", _describe_cap(cap, *whole)),
        ("How exact the numbers are", _describe_margins(statement)),
        ("What was done to the data", _describe_noise(statement)),
        ("Who says so", _describe_signature(statement)),
    )
    return Label(sections, guesses, epsilon / whole[0] if whole[0] else Fraction(1))


def _describe_units(statement: Mapping[str, Any]) -> tuple[str, ...]:
    unit = statement["unit"]
    table = " and ".join([statement["table"], *statement["beside"]])
    if unit["column"] is None:
        first = f"Each row of {table} stands for somebody, and each is protected."
    else:
        first = (
            f"Each {unit['column']} in {table} is protected, with all rows together. In one "
            f"answer a {unit['column']} counts in at most "
            f"{pluralize(unit['max_groups_per_unit'], 'group')}, with at most "
            f"{pluralize(unit['max_rows_per_unit_per_group'], 'row')} in each."
        )
    hidden = {
        "add-remove": "Hidden is whether they are in the data at all.",
        "replace": "Hidden is what their rows say. How many there are is not hidden.",
    }
    return first, hidden[statement["neighbors"]]


def _describe_strength(
    epsilon: Fraction, delta: Fraction, guesses: tuple[tuple[Fraction, Fraction], ...]
) -> tuple[str, ...]:
    lines = [
        f"This release can multiply anyone's odds about them by {_factor(epsilon, delta)} at "
        f"most (epsilon {_number(epsilon)}{_delta(delta)})."
    ]
    moves = ", ".join(f"{_percent(one)} to {_percent(most)}" for one, most in guesses)
    lines.append(f"Whoever guesses something about them can come from {moves} at most.")
    if delta:
        lines.append(f"This may fail with a chance of {_chance(delta)} at most.")
    return tuple(lines)


def _describe_cap(
    cap: Mapping[str, Any], epsilon: Fraction, delta: Fraction
) -> tuple[str, ...]:
    by = f", which the budget reaches on {cap['by']}" if cap.get("by") else ""
    return (
        f"All releases about them together: odds times {_factor(epsilon, delta)} at most "
        f"(epsilon {_number(epsilon)}{_delta(delta)}{by}). The budget was fixed before the "
        "first question, and the last answer will not pass it.",
    )


def _describe_margins(statement: Mapping[str, Any]) -> tuple[str, ...]:
    sure = format_confidence(Fraction(statement["margins"]["confidence"]))
    known = [one for one in statement["margins"]["outputs"] if one["margin"] is not None]
    lines = [f"{one['output']}: ± {format_margin(one['margin'])}" for one in known[:12]]
    if len(known) > 12:
        lines.append(f"and {len(known) - 12:,} more")
    if len(known) < len(statement["margins"]["outputs"]):
        lines.append("Other numbers have their margins beside them.")
    return (f"Noise was added. In {sure} of all answers the truth lies within", *lines)


def _describe_noise(statement: Mapping[str, Any]) -> tuple[str, ...]:
    noises = dict.fromkeys(_describe_mechanism(one) for one in statement["mechanisms"])
    return (*noises, *statement["notes"])


def _describe_mechanism(one: Mapping[str, Any]) -> str:
    about = one["about"]
    if "scale" in one:
        scale = _number(Fraction(one["scale"]))
        return f"Laplace noise of scale {scale} was added to whole numbers: {about}."
    if "variance" in one:
        deviation = _number(Fraction(math.sqrt(Fraction(one["variance"]))))
        return f"Gaussian noise with deviation {deviation} was added to whole numbers: {about}."
    if "threshold" in one:
        return (
            f"Groups are shown only above a noisy number of {one['threshold']:,} units, so "
            "that no name of a group gives anyone away."
        )
    return f"Chosen at random, the better the likelier: {about}."


def _describe_signature(statement: Mapping[str, Any]) -> tuple[str, ...]:
    place = statement["ledger"]
    labels = [one for one in statement["data_version"].split(";") if not one.endswith("=")]
    version = f", data {', '.join(labels).replace('=', ' ')}" if labels else ""
    return (
        f"Entry {place['position']:,} of the owner's ledger{version}; made by "
        f"{statement['software']}.",
        "Check it with   deniable verify release.json",
    )


def _posterior(epsilon: Fraction, delta: Fraction, before: Fraction) -> Fraction:
    return posterior(ApproximateLoss(epsilon, delta), before, delta=delta)


def _factor(epsilon: Fraction, delta: Fraction) -> str:
    factor = odds_factor(ApproximateLoss(epsilon, delta), delta=delta)
    if factor >= 10_000:
        return f"{float(factor):,.0f}" if factor < 10**9 else f"{float(factor):.1e}"
    return f"{math.ceil(factor * 100) / 100:,.2f}"


def _number(x: Fraction) -> str:
    return f"{float(x):,.6g}"


def _delta(delta: Fraction) -> str:
    return f", delta {_number(delta)}" if delta else ""


def _percent(share: Fraction) -> str:
    """Rounded up, to a tenth of a per cent."""
    return f"{math.ceil(share * 1000) / 10:g} %"


def _chance(delta: Fraction) -> str:
    return f"1 in {math.floor(1 / delta):,}"
