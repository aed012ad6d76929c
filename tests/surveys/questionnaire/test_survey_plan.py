import math

import pytest

from deniable import price
from deniable.errors import InvalidParameter
from deniable.mechanisms import NumberOrNot, RandomizedResponse
from deniable.surveys import loads, plan

LN3 = math.log(3)


def survey(*kinds, epsilon=2.0, collection="everyone-answers-all"):
    text = f'id="s"\ntitle="t"\nepsilon={epsilon}\ncollection="{collection}"\n'
    for i, kind in enumerate(kinds):
        text += f'[[questions]]\nid="q{i}"\ntext="?"\n{kind}\n'
    return loads(text)


YES = 'kind="yes-no"'


def test_two_coins():
    planned = plan(survey(YES, epsilon=LN3), margin=0.03)
    assert planned.people == 4269
    assert planned.lines[0].direct == 1068
    assert planned.ways is None
    assert "4,269 people (1,068 if asked directly)" in str(planned)


def test_five_questions():
    split = plan(survey(*[YES] * 5))
    each = plan(survey(*[YES] * 5, collection="one-question-each"))
    assert each.people < split.people / 2.9
    assert each.people == 5 * 1840  # 1,840 at epsilon 2
    assert split.ways.best == "one each"


def test_margins_of_a_number_of_people():
    planned = plan(survey(YES, epsilon=LN3), people=4269)
    assert planned.lines[0].margin == pytest.approx(0.03, abs=1e-5)
    halved = plan(survey(YES, epsilon=LN3), response_rate=0.5)
    assert halved.people == 2 * 4269


def test_design_effect_and_power_are_the_price_s():
    line = plan(survey(YES + "\nexpected=[0.8,0.2]", epsilon=LN3), people=500).lines[0]
    coins = RandomizedResponse(epsilon=LN3)
    assert line.design_effect == price.design_effect(coins, 0.2)
    assert line.power == price.power(coins, n=500, prevalence=0.2)
    assert plan(survey(YES)).lines[0].power is None


def test_every_kind_has_a_plan():
    kinds = (
        'kind="scale"\npoints=5',
        'kind="number"\nlow=0\nhigh=10',
        'kind="multiple-choice"\noptions=["a","b"]',
        'kind="single-choice"\noptions=["a","b","c"]',
    )
    planned = plan(survey(*kinds, epsilon=4.0), people=1000)
    assert all(line.people > line.direct and line.margin > 0 for line in planned.lines)


def test_a_number_s_plan_keeps_its_margin():
    """Simulated at the planned size, the mean stays within the margin about 95 times in 100."""
    from deniable.mechanisms import Hybrid

    line = plan(survey('kind="number"\nlow=0\nhigh=10', epsilon=1.0), margin=0.1).lines[0]
    design = Hybrid(epsilon=1, low=0, high=10)
    half = [0, 10] * (line.people // 2)
    close = sum(abs(design.estimate(design.randomize(half)).raw - 5) <= 1 for _ in range(200))
    assert close >= 180


def test_nothing_private_is_nothing_to_plan():
    with pytest.raises(InvalidParameter, match="nothing to plan"):
        plan(survey(YES + "\nprivate=false"))


def test_numbers_that_may_be_declined_are_planned_too():
    text = (
        'id="s"\ntitle="t"\nepsilon=1\n[[questions]]\nid="a"\nkind="number"\ntext="?"\n'
        "low=0\nhigh=10\nprefer_not_to_say=true\n"
    )
    few, many = (plan(loads(f"{text}expected=[{share}]")) for share in (0.0, 0.5))
    assert few.lines[0].design == "NumberOrNot"
    design = NumberOrNot(epsilon=1, low=0, high=10)
    worst = max(design.variance(mean, respondents=1) for mean in (0, 5, 10)) / 100
    assert few.people == math.ceil(worst * (1.959964 / 0.03) ** 2)
    assert many.people > 2 * few.people  # half of them say nothing
