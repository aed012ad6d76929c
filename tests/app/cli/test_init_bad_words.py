"""Bad input in a shell, as data with the message and the status that each gives.

`bad_words.toml` holds them. Each ends with one line, none with a traceback. After a change of
messages, `DENIABLE_GOLDEN=1` writes them again; read the difference.
"""

import json
import os
import shlex
import tomllib
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("bad_words.toml")
INPUTS = tomllib.loads(FILE.read_text(encoding="utf-8"))["input"]


def test_there_are_many_different_ones():
    assert len({case["words"] for case in INPUTS}) == len(INPUTS) >= 60


@pytest.mark.parametrize("place", range(len(INPUTS)), ids=lambda i: INPUTS[i]["words"][:60])
def test_one_line_says_what_is_wrong(run, hospital, place):
    case = INPUTS[place]
    status, out, err = run(*shlex.split(case["words"]))
    told = err.replace(str(hospital), "FOLDER")
    if os.environ.get("DENIABLE_GOLDEN"):
        case.update(status=status, says=told)
        lines = []
        for entry in INPUTS:
            lines += ["[[input]]", *(f"{key} = {json.dumps(entry[key])}" for key in entry), ""]
        FILE.write_text("\n".join(lines), encoding="utf-8")
    assert (status, told, out) == (case["status"], case["says"], "")
    assert status in (2, 3, 4, 5)
    assert told.count("\n") == 1
    assert told.startswith("deniable")
    assert "Traceback" not in told


def test_the_statuses_tell_usage_and_budget_apart():
    assert {case["status"] for case in INPUTS} == {2, 3}
    assert all(("costs" in case["says"]) == (case["status"] == 3) for case in INPUTS)
