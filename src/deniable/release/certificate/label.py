"""The privacy label: what a certificate states, in words for the people in the data.

Every number is an upper bound and rounded up. A label reads only a verified certificate. What
comes from the file and is not a plain name or number stands in quotation marks, so that it
cannot be taken for our own words.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidCertificate
from deniable.exact.foreign_text import quoted
from deniable.exact.suggestions import pluralize
from deniable.exact.text_formats import factor_up, percent, percent_up
from deniable.privacy import ApproximateLoss
from deniable.privacy.losses.hypothesis_testing import exact_posterior, odds_factor
from deniable.privacy.losses.loss_in_words import GUESSES, chance_up
from deniable.release.answer.formatting import format_margin
from deniable.release.certificate.verification import VerifiedCertificate

_LARGEST_EPSILON = 10**6


@dataclass(frozen=True, slots=True)
class Label:
    """A privacy label: headings, and the lines under each.

    >>> print(Label((("Who", ("Each row of data.",)),), (), Fraction(1, 2)))
    PRIVACY LABEL
    <BLANKLINE>
    Who
      Each row of data.
    """

    sections: tuple[tuple[str, tuple[str, ...]], ...]
    guesses: tuple[tuple[Fraction, Fraction], ...]  # a probability before, the most after
    share: Fraction  # of the cap on all releases, spent by this one

    def __str__(self) -> str:
        parts = ["PRIVACY LABEL"]
        for title, lines in self.sections:
            parts += ["", title, *(f"  {line}" for line in lines)]
        return "\n".join(parts)


def make_label(verified: VerifiedCertificate) -> Label:
    """The label of a certificate."""
    statement = verified.certificate.statement
    epsilon, delta = (Fraction(statement["loss"][name]) for name in ("epsilon", "delta"))
    cap = statement["cap"]
    whole = Fraction(cap["epsilon"]), Fraction(cap["delta"])
    if max(epsilon, whole[0]) > _LARGEST_EPSILON:
        raise InvalidCertificate(
            f"A label cannot express an epsilon above {_LARGEST_EPSILON:,}: it promises "
            "nothing."
        )
    guesses = tuple((before, _posterior(epsilon, delta, before)) for before in GUESSES)
    sections = (
        ("Whose privacy", _describe_units(statement)),
        (
            "How much anyone can learn about one of them",
            _describe_strength(epsilon, delta, guesses),
        ),
        ("How much all releases together can reveal", _describe_cap(cap, *whole)),
        ("How exact the numbers are", _describe_margins(statement)),
        ("What was done to the data", _describe_noise(statement)),
        ("Where this label comes from", _describe_origin(statement, verified.signer_known)),
    )
    return Label(sections, guesses, epsilon / whole[0] if whole[0] else Fraction(1))


def label_title(verified: VerifiedCertificate) -> str:
    """What was asked, in one line."""
    outputs = verified.certificate.statement["margins"]["outputs"]
    keys = [f" by {quoted(column.name)}" for column in verified.plan.keys]
    about = ", ".join(quoted(output["about"]) for output in outputs)
    return f"{about}{''.join(keys)}, from {', '.join(map(quoted, verified.plan.tables))}"


def _describe_units(statement: Mapping[str, Any]) -> tuple[str, ...]:
    unit = statement["unit"]
    table = " and ".join(map(quoted, [statement["table"], *statement["beside"]]))
    if unit["column"] is None:
        first = f"Each row of {table} is protected."
    else:
        name = quoted(unit["column"])
        first = (
            f"Each {name} in {table} is protected, with all of its rows. In one "
            f"answer a {name} counts in at most "
            f"{pluralize(unit['max_groups_per_unit'], 'group')}, with at most "
            f"{pluralize(unit['max_rows_per_unit_per_group'], 'row')} in each."
        )
    hidden = {
        "add-remove": "The release hides whether they are in the data at all.",
        "replace": "The release hides what their rows contain, but not how many there are.",
    }
    return first, hidden[statement["neighbors"]]


def _describe_strength(
    epsilon: Fraction, delta: Fraction, guesses: tuple[tuple[Fraction, Fraction], ...]
) -> tuple[str, ...]:
    lines = [
        "This release can multiply anyone's odds about them by at most "
        f"{_factor(epsilon, delta)} (epsilon {_number(epsilon)}{_delta(delta)})."
    ]
    moves = ", ".join(
        f"from {percent_up(before)} to at most {percent_up(after)}" for before, after in guesses
    )
    lines.append(f"A guess about them can become more certain: {moves}.")
    if delta:
        lines.append(f"This can fail with a probability of at most {chance_up(delta)}.")
    return tuple(lines)


def describe_strength(
    epsilon: Fraction, delta: Fraction
) -> tuple[tuple[str, ...], tuple[tuple[Fraction, Fraction], ...]]:
    """What a price means for one unit, in words; and what guesses can become."""
    guesses = tuple((before, _posterior(epsilon, delta, before)) for before in GUESSES)
    return _describe_strength(epsilon, delta, guesses), guesses


def _describe_cap(
    cap: Mapping[str, Any], epsilon: Fraction, delta: Fraction
) -> tuple[str, ...]:
    by = f", which the budget reaches on {cap['by']}" if cap.get("by") else ""
    return (
        "All releases about them together can multiply the odds by at most "
        f"{_factor(epsilon, delta)} (epsilon {_number(epsilon)}{_delta(delta)}{by}). The "
        "budget was fixed before the first question, and all answers together stay within it.",
    )


def _describe_margins(statement: Mapping[str, Any]) -> tuple[str, ...]:
    confidence = percent(Fraction(statement["margins"]["confidence"]))
    outputs = statement["margins"]["outputs"]
    known = [output for output in outputs if output["margin"] is not None]
    lines = [
        f"{quoted(output['output'])}: ± {format_margin(output['margin'])}"
        for output in known[:12]
    ]
    if len(known) > 12:
        lines.append(f"and {len(known) - 12:,} more")
    if len(known) < len(outputs):
        lines.append("The margins of the other numbers are in the answer.")
    return (f"Noise was added. In {confidence} of all answers the true value is within", *lines)


def _describe_noise(statement: Mapping[str, Any]) -> tuple[str, ...]:
    noises = dict.fromkeys(map(_describe_mechanism, statement["mechanisms"]))
    notes = (quoted(note, most=1000) for note in statement["notes"])
    return (*noises, *(f"The release notes: {note}" for note in notes))


def _describe_mechanism(mechanism: Mapping[str, Any]) -> str:
    about = quoted(mechanism["about"])
    if "scale" in mechanism:
        scale = _number(Fraction(mechanism["scale"]))
        return f"Laplace noise of scale {scale} was added to whole numbers: {about}."
    if "variance" in mechanism:
        deviation = _number(Fraction(math.sqrt(Fraction(mechanism["variance"]))))
        return f"Gaussian noise with deviation {deviation} was added to whole numbers: {about}."
    if "threshold" in mechanism:
        return (
            f"Groups are shown only above a noisy number of {mechanism['threshold']:,} units, "
            "so that the name of a group does not identify anyone."
        )
    return f"Chosen at random, and better values are more probable: {about}."


def _describe_origin(statement: Mapping[str, Any], signer_known: bool) -> tuple[str, ...]:
    versions = statement["data_version"].split(";")
    labels = [version for version in versions if not version.endswith("=")]
    shown = quoted(", ".join(labels).replace("=", " ")) if labels else ""
    because = statement["ledger"]["because"]
    again = f" (begun because {quoted(because)})" if because else ""
    return (
        f"Entry {statement['ledger']['position']:,} of the owner's ledger{again}"
        f"{shown and f', data {shown}'}; made by {quoted(statement['software'])} with "
        f"{quoted(statement['engine'])}.",
        f"Signed with the key {statement['key']}, which was given as the owner's."
        if signer_known
        else f"Signed, but by whom is unknown: with the key {statement['key']}. Compare it "
        "with the owner's.",
        "Check it with   deniable verify release.json --key KEY",
    )


def _posterior(epsilon: Fraction, delta: Fraction, before: Fraction) -> Fraction:
    return exact_posterior(ApproximateLoss(epsilon, delta), before, delta=delta)


def _factor(epsilon: Fraction, delta: Fraction) -> str:
    return factor_up(odds_factor(ApproximateLoss(epsilon, delta), delta=delta))


def _number(x: Fraction) -> str:
    return f"{float(x):,.6g}"


def _delta(delta: Fraction) -> str:
    return f", delta {_number(delta)}" if delta else ""
