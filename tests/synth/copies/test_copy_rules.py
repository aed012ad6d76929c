"""Dependencies and impossible combinations: honoured by every row, or refused early."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter

CHANCE = np.random.default_rng(4)
CITY = CHANCE.choice(["A", "B", "C"], 2000)
STATES = {"A": "x", "B": "x", "C": "y"}
FRAME = pa.table(
    {
        "city": pa.array([None if i % 40 == 0 else c for i, c in enumerate(CITY)]),
        "state": [STATES[c] for c in CITY],
        "sex": CHANCE.choice(["f", "m"], 2000),
        "pregnant": CHANCE.random(2000) < 0.2,
    }
)
KEYS = {"city": ["A", "B", "C"], "state": ["x", "y"], "sex": ["f", "m"]}
RULES = {
    "depends": {"state": ("city", STATES)},
    "impossible": [{"sex": "m", "pregnant": True}],
}


@pytest.fixture(scope="module")
def opened():
    with dp.protect(FRAME, name="t", keys=KEYS, epsilon=50, delta=1e-4) as session:
        yield session


@pytest.mark.parametrize("method", ["mst", "aim"])
def test_every_row_keeps_the_rules(opened, method):
    copy = opened.copy(epsilon=4, method=method, **RULES)
    for row in copy.to_arrow().to_pylist():
        assert row["state"] == STATES.get(row["city"])
        assert not (row["sex"] == "m" and row["pregnant"])
    assert all("state" not in table.columns for table in copy.measured)
    assert len(copy.scorecard.errors) == 6  # what depends is scored, too
    # The measured table of an impossible combination is not merged.
    assert copy.plan.rules.joined == {2, 3}


def test_explain_names_what_is_not_measured(opened):
    text = str(opened.copy(epsilon=1, explain=True, **RULES))
    assert "not measured, because declared to depend: state" in text
    assert "measures 3 columns" in text


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"depends": {"state": ("town", STATES)}}, "names 'town'"),
        ({"depends": {"state": "city"}}, "Write dependencies as"),
        ({"depends": {"state": ("city", {"A": "x"})}}, "a value for 'B'"),
        ({"depends": {"state": ("city", {**STATES, "C": "z"})}}, "the value"),
        (
            {"depends": {"state": ("city", STATES), "city": ("state", {"x": "A", "y": "C"})}},
            "may not depend on one that depends",
        ),
        ({"impossible": [{"sex": "m"}]}, "two or three columns"),
        ({"impossible": [{"sex": "m", "pregnant": 7}]}, "has no value 7"),
        (
            {"impossible": [{"sex": ["f", "m", None], "pregnant": [True, False, None]}]},
            "leaves",
        ),
        (
            {
                "depends": {"state": ("city", STATES)},
                "impossible": [{"state": "x", "sex": "m"}],
            },
            "depends on another one",
        ),
    ],
)
def test_faults_are_found_before_the_charge(opened, more, message):
    before = opened.remaining
    with pytest.raises(InvalidParameter, match=message):
        opened.copy(epsilon=1, **more)
    assert opened.remaining == before


def test_a_source_without_a_value_needs_a_cell_for_none(opened):
    """Without a cell for missing values, every row has a city, and so a state."""
    copy = opened.copy(epsilon=4, missing=False, depends=RULES["depends"], method="mst")
    assert None not in copy.to_arrow()["state"].to_pylist()


ANY = [True, False, None]


@pytest.mark.parametrize(
    ("last", "possible"),
    [({"city": None, "y": ANY}, False), ({"city": None, "y": [True, None]}, True)],
)
def test_rules_that_contradict_each_other_are_refused(last, possible):
    """Each of these leaves some rows; together the first ones leave none."""
    frame = pa.table({"city": ["P", "L"] * 200, "x": [True] * 400, "y": [False] * 400})
    rules = [{"city": "P", "x": ANY}, {"city": "L", "y": ANY}, last]
    with dp.protect(frame, keys={"city": ["P", "L"]}, epsilon=9, delta=1e-4) as session:
        if possible:
            assert str(session.copy(epsilon=5, impossible=rules, explain=True))
            return
        with pytest.raises(InvalidParameter, match="contradict each other"):
            session.copy(epsilon=5, impossible=rules)
        assert len(session.ledger.entries) == 0
