import pytest

import deniable as dp
from deniable.policy import Policy, Table
from deniable.query.language.builder import QuestionBuilder
from deniable.query.language.question_text import write_question
from deniable.query.planner.request import make_plan

SCHEMA = {"ward": "VARCHAR", "the age": "BIGINT", "cost": "BIGINT", "day": "DATE"}
BOUNDS = {"the age": (0, 99), "cost": (0, 1000)}
POLICY = Policy(
    [
        Table.declare("visits", bounds=BOUNDS, keys={"ward": ["A", "B"]}).with_schema(SCHEMA),
        Table("map", public=True).with_schema({"ward": "VARCHAR", "floor": "BIGINT"}),
    ],
    epsilon=9,
    delta=1e-6,
)
VISITS = QuestionBuilder("visits")
BUILT = {
    "count": VISITS.agg(n=dp.count()),
    "groups": VISITS.group_by("ward").agg(n=dp.count(), c=dp.sum("cost"), s=dp.stddev("cost")),
    "quotes": VISITS.where('"the age" > 18').agg(**{'a "b"': dp.mean('"the age"')}),
    "named key": VISITS.group_by(decade='FLOOR("the age" / 10) * 10').agg(n=dp.count()),
    "choices": VISITS.agg(m=dp.median("cost"), q=dp.quantiles("cost", [0.1, 0.9])),
    "mode": VISITS.agg(m=dp.mode("ward"), t=dp.top_k("ward", 2)),
    "histogram": VISITS.agg(h=dp.histogram("cost", bins=4), c=dp.clipped("cost")),
    "two columns": VISITS.agg(r=dp.corr("cost", '"the age"')),
    "conditions": VISITS.where("ward IN ('A', 'it''s')")
    .where("cost BETWEEN 1 AND 5 OR NOT cost > 3")
    .agg(n=dp.count()),
    "calls": VISITS.where("ward LIKE 'A%' AND CASE WHEN cost > 1 THEN TRUE ELSE FALSE END").agg(
        n=dp.count()
    ),
    "dates": VISITS.where("day >= DATE '2026-01-01'").agg(n=dp.count()),
    "having": VISITS.group_by("ward").agg(
        n=dp.count(), having="n > 5", order_by="n", descending=True, limit=1
    ),
    "join": QuestionBuilder("visits JOIN map USING (ward)").agg(n=dp.count("floor")),
}


@pytest.mark.parametrize("what", BUILT)
def test_the_text_makes_the_same_plan(what):
    price = {"epsilon": 1, "delta": 1e-7}
    plan = make_plan(BUILT[what], POLICY, **price)
    assert make_plan(write_question(BUILT[what]), POLICY, **price) == plan


@pytest.mark.parametrize(
    "built",
    [
        QuestionBuilder("visits").where("cost IN (SELECT floor FROM map)").agg(n=dp.count()),
        QuestionBuilder("(SELECT cost FROM visits) AS t").agg(n=dp.count()),
    ],
)
def test_sub_queries_are_refused_in_words(built):
    with pytest.raises(dp.Unsupported, match="write it as SQL"):
        write_question(built)
