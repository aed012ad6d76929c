from fractions import Fraction

import pytest

from deniable.errors import InvalidPolicy
from deniable.policy import Policy, Table, parse
from deniable.policy.sample import Sample
from deniable.policy.written_policy import read_policy, write_policy

HEAD = """
[budget]
epsilon = 1

[tables.visits]
source = "visits.csv"
unit = "patient"

[tables.visits.columns]
ward = { keys = ["A", "B"] }
floor = { keys = [1, 2] }

[tables.visits.sample]
"""


def declared(text):
    return parse(HEAD + text).tables["visits"].sample


def test_a_sample_in_the_policy_file():
    assert declared("fraction = 0.1").stratum(None) == (Fraction(1, 10), None)
    strata = declared('by = "ward"\nfraction = { A = 0.1, B = 0.25 }\nclustered = true')
    assert strata.stratum("B") == (Fraction(1, 4), None)
    assert strata.clustered
    assert declared('by = "floor"\nframe = { 1 = 500, 2 = 700 }').stratum(2) == (None, 700)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "fraction = 2",
            "`fraction` of a sample must be above 0 and at most 1. Found 2",
        ),
        ("fracton = 0.1", "Unknown key `fracton` of a sample. Did you mean `fraction`"),
        ("fraction = 0.1\nframe = 10", "either its `fraction`"),
        ("clustered = true", "either its `fraction`"),
        ("frame = 0", "`frame`"),
        ("fraction = { A = 0.1, B = 0.1 }", "`by` names the key"),
        ('by = "ward"\nfraction = 0.1', "one number for each stratum"),
        ('by = "ward"\nfraction = { A = 0.1 }', "one number for each of them"),
        ('by = "cost"\nfraction = { A = 0.1 }', "stratified by cost needs declared keys"),
    ],
)
def test_a_wrong_sample_is_refused_with_its_line(text, message):
    with pytest.raises(InvalidPolicy) as refused:
        declared(text)
    assert message in str(refused.value)
    assert str(refused.value).startswith("deniable.toml, line 1")


def test_a_clustered_sample_needs_a_unit():
    with pytest.raises(InvalidPolicy, match="draws whole units"):
        Table("visits", sample={"fraction": 0.1, "clustered": True})
    with pytest.raises(InvalidPolicy, match="is declared as"):
        Table("visits", sample=0.1)


def test_samples_are_told_to_those_who_plan_elsewhere():
    sample = Sample(by="ward", fraction={"A": 0.1, "B": Fraction(1, 3)})
    table = Table.declare("visits", keys={"ward": ["A", "B"]}, sample=sample)
    policy = Policy([table], epsilon=1)
    assert read_policy(write_policy(policy)) == policy
    assert "sample" not in write_policy(Policy([Table("visits")], epsilon=1))["tables"][0]
