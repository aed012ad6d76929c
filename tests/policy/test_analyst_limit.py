"""The line that limits an analyst: written alone, exactly, or not at all."""

import tomllib
from decimal import Decimal
from fractions import Fraction

import pytest

from deniable.errors import InvalidPolicy
from deniable.policy.analyst_limit import limit_lines, with_analyst_limit, write_amount

TEXT = """# ours
[analysts."*"]
epsilon = 1
[analysts.'Ann B']  # a name
delta = 1e-7
  epsilon = 1.50 # "epsilon = 3"
[tables.a]
epsilon = 1
"""


def limits(text):
    return tomllib.loads(text, parse_float=Decimal)["analysts"]


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n")])
def test_the_line_of_a_known_analyst_is_changed_alone(text):
    changed = with_analyst_limit(text, "ann b", Fraction(5, 2), Fraction(0))
    assert changed == text.replace("1.50", "2.5")


def test_a_new_analyst_gets_lines_at_the_end():
    changed = with_analyst_limit(TEXT, 'o"Neill\\', Fraction(2), Fraction(1, 10**7))
    assert changed.startswith(TEXT.rstrip())
    assert limits(changed)['o"Neill\\'] == {"epsilon": 2, "delta": Decimal("1e-7")}


@pytest.mark.parametrize(
    "text",
    [
        "analysts = { ann = { epsilon = 1 } }",
        "[analysts]\nann = { epsilon = 1 }",
        "analysts.ann.epsilon = 1",
        "[analysts.ann]\n'epsilon' = 1",
        "analysts = { ben = { epsilon = 1 } }",
    ],
)
def test_what_cannot_be_written_alone_is_refused(text):
    with pytest.raises(InvalidPolicy, match="ledger amend"):
        with_analyst_limit(text, "ann", Fraction(2), Fraction(0))


def test_a_limit_is_exact_or_refused():
    assert limit_lines("a", Fraction(1, 8), Fraction(0)) == '[analysts."a"]\nepsilon = 0.125'
    assert write_amount(Fraction(10**19)) == "1" + "0" * 19
    with pytest.raises(InvalidPolicy, match="exactly"):
        write_amount(Fraction(1, 3))
