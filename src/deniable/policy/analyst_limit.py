"""The line of a policy file that limits one analyst: [analysts."ann"] epsilon = 2.5."""

import json
import re
import tomllib
from collections.abc import Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidPolicy
from deniable.policy.names import compared_name
from deniable.policy.toml_lines import line_of

_EPSILON = re.compile(r"^([ \t]*epsilon[ \t]*=[ \t]*)[^\s#]+")
_DIGITS = Context(prec=100)


def with_analyst_limit(text: str, analyst: str, epsilon: Fraction, delta: Fraction) -> str:
    """The text of a policy with this limit of an analyst. Nothing else changes.

    An analyst without a table of their own gets one, with this delta.

    >>> text = "[analysts.Ann]\\nepsilon = 1 # a year\\n"
    >>> print(with_analyst_limit(text, "ann", Fraction(5, 2), Fraction(0)).splitlines()[1])
    epsilon = 2.5 # a year
    """
    before = _limits(text)
    spelt = {compared_name(name): name for name in before}.get(compared_name(analyst))
    wanted: dict[str, Any] = {"epsilon": Decimal(write_amount(epsilon))}
    if spelt is None:
        name, changed = analyst, f"{text.rstrip()}\n\n{limit_lines(analyst, epsilon, delta)}\n"
        wanted |= {"delta": Decimal(write_amount(delta))} if delta else {}
    else:
        name, lines = spelt, text.splitlines(keepends=True)
        place = (line_of(text, ("analysts", spelt, "epsilon")) or 1) - 1
        lines[place] = _EPSILON.sub(rf"\g<1>{wanted['epsilon']}", lines[place])
        changed, wanted = "".join(lines), {**before[spelt], **wanted}
    if not _is_only_change(text, changed, name, wanted):
        raise InvalidPolicy(
            "This limit cannot be written into the policy by itself. Write these lines, and "
            f"consent with `deniable ledger amend`:   {limit_lines(name, epsilon, delta)}",
            where=("analysts", name),
        )
    return changed


def limit_lines(analyst: str, epsilon: Fraction, delta: Fraction) -> str:
    """The lines that give an analyst a limit.

    >>> print(limit_lines("ann", Fraction(5, 2), Fraction(1, 10**7)))
    [analysts."ann"]
    epsilon = 2.5
    delta = 0.0000001
    """
    lines = [
        f"[analysts.{json.dumps(analyst, ensure_ascii=False)}]",
        f"epsilon = {write_amount(epsilon)}",
    ]
    return "\n".join([*lines, *([f"delta = {write_amount(delta)}"] if delta else [])])


def write_amount(amount: Fraction) -> str:
    """A number as a policy writes it: all its digits. 1/3 has no last one, and is refused.

    >>> write_amount(Fraction(5, 2)), write_amount(Fraction(30))
    ('2.5', '30')
    """
    written = _DIGITS.divide(Decimal(amount.numerator), Decimal(amount.denominator))
    if Fraction(written) != amount:
        raise InvalidPolicy(f"A policy cannot state {amount} exactly. Write it as a decimal.")
    shown = f"{written:f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _limits(text: str) -> Mapping[str, dict[str, Any]]:
    limits: Mapping[str, dict[str, Any]] = tomllib.loads(text, parse_float=Decimal).get(
        "analysts", {}
    )
    return limits


def _is_only_change(text: str, changed: str, analyst: str, wanted: Mapping[str, Any]) -> bool:
    expected = tomllib.loads(text, parse_float=Decimal)
    expected["analysts"] = {**expected.get("analysts", {}), analyst: dict(wanted)}
    try:
        return tomllib.loads(changed, parse_float=Decimal) == expected
    except tomllib.TOMLDecodeError:
        return False
