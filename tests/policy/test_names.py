import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidPolicy
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget
from deniable.policy.names import LONGEST_NAME, compared_name

ANN = [
    "Ann",
    "ann ",
    " ANN",
    "\uff21\uff4e\uff4e",  # fullwidth
    "an\ufe0fn",  # with a variation selector
    "\u3000ann".replace("\u3000", "  "),
    "\u212bnn".replace("\u212b", "A"),
]
SAME = [
    ANN,
    ["Ann  Lee", "ann lee", "ANN\u3164 LEE"],
    ["stra\u00dfe", "STRASSE", "Stra\u1e9ee"],
    ["\u212b", "\u00e5", "A\u030a"],  # the sign for one angstrom
    ["\u03a3\u03a3", "\u03c3\u03c2"],  # the last sigma of a word
    ["\ufb01sh", "FISH"],
]


@pytest.mark.parametrize("spellings", SAME)
def test_names_that_a_reader_takes_for_one_are_one(spellings):
    assert len({compared_name(name) for name in spellings}) == 1


def test_other_names_are_others():
    names = ["ann", "anna", "an n", "\u00e5nn", "ann1", "*"]
    assert len({compared_name(name) for name in names}) == len(names)


@given(st.text(max_size=30).filter(str.isprintable))
def test_the_compared_form_is_compared_as_itself(name):
    try:
        form = compared_name(name)
    except ValueError:
        return
    assert compared_name(form) == form
    assert compared_name(f" {name.swapcase().swapcase()}  ") == compared_name(name)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "has no letter"),
        (" \ufe0f", "has no letter"),
        ("a\u200bnn", "printable"),
        ("a\nnn", "printable"),
        (3, "printable"),
        ("a" * (LONGEST_NAME + 1), "longer than 200"),
        ("\ufdfa" * 20, "longer than 200"),  # each stands for eighteen letters
    ],
)
def test_what_is_no_name_is_refused(name, told):
    with pytest.raises(ValueError, match=told):
        compared_name(name)
    with pytest.raises(InvalidPolicy, match=told) as error:
        Policy([Table("data")], epsilon=1, analysts={name: Budget(1)})
    assert error.value.where == ("analysts", str(name))
    with pytest.raises(InvalidPolicy, match=told):
        Table(name)


def test_a_policy_has_each_analyst_and_table_once():
    for other in ("ann ", "\uff21nn"):
        with pytest.raises(InvalidPolicy, match=r"'Ann' and .* are the same"):
            Policy([Table("data")], epsilon=1, analysts={"Ann": Budget(1), other: Budget(1)})
    with pytest.raises(InvalidPolicy, match="are the same"):
        Policy([Table("data"), Table("\uff24ata")], epsilon=1)
    policy = Policy([Table("data")], epsilon=1, analysts={"Ann ": Budget(1)})
    assert list(policy.analysts) == ["ann"]
