"""Bad inputs in Python, as data with the message that each gives (`bad_inputs/python.toml`).

None ends in an error from inside. If a message says what to write instead, that runs: an entry
names it under `paste`, the text that is part of the message, and under `into` where it goes.
After a change of messages, `DENIABLE_GOLDEN=1` writes them again; read the difference.
"""

import json
import os
import tomllib
from pathlib import Path

import pytest

import deniable as dp
from tests.bad_inputs import world

FILE = Path(__file__).parent / "bad_inputs" / "python.toml"
INPUTS = tomllib.loads(FILE.read_text(encoding="utf-8"))["input"]
OURS = (dp.DeniableError, TypeError, AttributeError)


@pytest.fixture(scope="module")
def names():
    namespace = world.names()
    with namespace["visits"]:
        if os.environ.get("DENIABLE_GOLDEN"):
            write_again(namespace)
        yield namespace


def told(text, names):
    """The message of an input, with the kind of its error."""
    with pytest.raises(OURS) as refusal:
        eval(text, dict(names))
    return f"{type(refusal.value).__name__}: {refusal.value}"


def test_there_are_many_different_ones():
    assert len({case["try"] for case in INPUTS}) == len(INPUTS) >= 120
    assert sum("paste" in case for case in INPUTS) >= 12


def write_again(names):
    """Writes the messages as they are now; the next run compares them."""
    lines = []
    for case in INPUTS:
        entry = {**case, "says": told(case["try"], names)}
        lines.append("[[input]]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
        lines.append("")
    FILE.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize("case", INPUTS, ids=lambda case: case["try"][:60])
def test_the_message_says_what_is_wrong(names, case):
    before = names["visits"].remaining
    assert told(case["try"], names) == case["says"]
    assert names["visits"].remaining == before  # nothing was spent


@pytest.mark.parametrize(
    "case", [case for case in INPUTS if "paste" in case], ids=lambda case: case["paste"][:60]
)
def test_advice_runs_when_it_is_pasted(names, case):
    assert case["paste"] in case["says"]
    text = case["into"].replace("PASTE", case["paste"])
    assert eval(text, dict(names)) is not None
