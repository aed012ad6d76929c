import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.surveys import loads, simulate

SURVEY = """
id = "s"
title = "t"
epsilon = 4
collection = "COLLECTION"
[[questions]]
id = "a"
kind = "yes-no"
text = "?"
expected = [0.7, 0.3]
[[questions]]
id = "b"
kind = "multiple-choice"
text = "?"
options = ["x", "y"]
[[questions]]
id = "c"
kind = "number"
text = "?"
low = 10
high = 20
[[questions]]
id = "d"
kind = "single-choice"
text = "?"
options = ["x", "y", "z"]
private = false
[[questions]]
id = "e"
kind = "yes-no"
text = "?"
anchor = true
"""


@pytest.mark.parametrize("collection", ["everyone-answers-all", "one-question-each"])
def test_made_up_people_answer(collection):
    simulation = simulate(loads(SURVEY.replace("COLLECTION", collection)), 4000)
    assert simulation.truth["a"].mean() == pytest.approx(0.3, abs=0.06)
    assert simulation.truth["b"].shape == (4000, 2)
    assert simulation.truth["c"].min() >= 10
    assert simulation.truth["c"].max() <= 20
    assert not simulation.truth["e"].any()
    people = simulation.collected.people
    if collection == "one-question-each":
        private = [people[name] for name in "abce"]
        assert sorted(np.concatenate(private).tolist()) == list(range(4000))
        assert min(map(len, private)) > 800
    else:
        assert all(len(people[name]) == 4000 for name in "abcde")
    assert (simulation.collected.reports["d"] == simulation.truth["d"]).all()
    assert (simulation.collected.reports["a"] != simulation.truth["a"][people["a"]]).any()


def test_free_text_is_never_collected():
    text = 'id="s"\ntitle="t"\nepsilon=1\n[[questions]]\nid="a"\nkind="text"\ntext="?"\n'
    text += "private=false"
    with pytest.raises(InvalidParameter, match="free text"):
        simulate(loads(text), 5)
