import pytest

from deniable.errors import InvalidParameter, InvalidQuery
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from deniable.query.planner.request import make_plan
from tests.query.hospital import policy

ASK = "SELECT COUNT(*) AS n FROM visits"


def test_a_price_is_the_plan_itself():
    assert make_plan(ASK, policy(), epsilon=0.5) == plan(parse(ASK), policy(), epsilon=0.5)


def test_the_words_and_the_arguments_say_the_same():
    within = make_plan(f"{ASK} WITHIN 50 CONFIDENCE 0.9", policy())
    assert within == make_plan(parse(ASK), policy(), margin=50, confidence=0.9)
    share = make_plan(f"{ASK} WITHIN 5 PERCENT OF 1000", policy())
    assert share == make_plan(ASK, policy(), relative=0.05, of=1000)
    assert share == make_plan(ASK, policy(), margin=50)


@pytest.mark.parametrize(
    "wishes",
    [{}, {"epsilon": 1, "margin": 5}, {"margin": 5, "relative": 1, "of": 3}, {"epsilon": None}],
)
def test_one_of_price_and_accuracy(wishes):
    with pytest.raises(InvalidParameter, match="one of `epsilon"):
        make_plan(ASK, policy(), **wishes)


def test_a_size_without_a_share():
    with pytest.raises(InvalidParameter, match="`of`"):
        make_plan(ASK, policy(), margin=5, of=10)


def test_a_share_without_a_size():
    with pytest.raises(InvalidParameter, match="data's own size is private"):
        make_plan(ASK, policy(), relative=0.05)


def test_it_is_said_once():
    with pytest.raises(InvalidParameter, match="ends with WITHIN"):
        make_plan(f"{ASK} WITHIN 50", policy(), margin=50)
    with pytest.raises(InvalidParameter, match="more than one"):
        make_plan(f"{ASK} WITHIN 50", policy(), epsilon=1)


def test_bounds_take_a_plan_of_their_own():
    with pytest.raises(InvalidParameter, match="`explain` shows both"):
        make_plan(ASK, policy(), epsilon=1, bounds="find")


def test_a_question_that_is_none():
    with pytest.raises(InvalidQuery):
        make_plan("WITHIN 50", policy())


@pytest.mark.parametrize("question", [None, b"SELECT 1", 5])
def test_what_is_no_question_is_refused(question):
    with pytest.raises(InvalidQuery, match=f"Found {type(question).__name__}"):
        make_plan(question, policy(), epsilon=1)


def test_a_misspelt_wish_names_the_nearest():
    with pytest.raises(InvalidParameter, match=r"Unknown option `epsilom`.*mean `epsilon`"):
        make_plan(ASK, policy(), epsilom=1)
    with pytest.raises(InvalidParameter, match="Options are `epsilon`, `margin`"):
        make_plan(ASK, policy(), epsilon=1, xyzzy=2)


def test_weights_are_said_by_name():
    with pytest.raises(InvalidParameter, match=r"`weights` say which outputs.*Found 5"):
        make_plan(ASK, policy(), epsilon=1, weights=5)
