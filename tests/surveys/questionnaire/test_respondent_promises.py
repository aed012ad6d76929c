from deniable.mechanisms import OUE, RandomizedResponse
from deniable.surveys import what_an_answer_proves


def test_numbers_are_the_design_s_own():
    said = what_an_answer_proves(RandomizedResponse(odds=3))
    assert "75 send yes" in said
    assert "25 send yes" in said
    assert "at most 3." in said
    rounded = what_an_answer_proves(RandomizedResponse(epsilon=1))
    assert "about 73 send yes" in rounded
    assert "at most 2.72." in rounded  # rounded up


def test_more_answers():
    said = what_an_answer_proves(RandomizedResponse(odds=6, categories=5))
    assert "60 send their true answer, and 10 send each of the 4 other" in said


def test_designs_that_rest_on_a_trait_say_so():
    assert "innocuous" in what_an_answer_proves(RandomizedResponse.crosswise(0.25))


def test_other_designs_state_their_odds():
    said = what_an_answer_proves(OUE(odds=3, categories=30))
    assert "at most 3." in said
    assert "anonymous" not in said
