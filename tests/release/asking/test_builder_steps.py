import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidQuery

FRAME = pa.table({"ward": ["A", "B"] * 300, "age": [30, 60] * 300, "cost": [5.0, 8.0] * 300})


@pytest.fixture
def visits():
    with dp.protect(
        FRAME,
        name="visits",
        bounds={"age": (0, 99), "cost": (0, 10)},
        keys={"ward": ["A", "B"]},
        epsilon=30,
    ) as opened:
        yield opened


def test_both_doors_make_the_equal_plan(visits):
    query = visits.table("visits").where("age >= 18").group_by("ward")
    built = query.agg(n=dp.count(), cost=dp.mean("cost"), having="n > 3", order_by="n", limit=5)
    text = (
        "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits WHERE age >= 18 "
        "GROUP BY ward HAVING n > 3 ORDER BY n LIMIT 5"
    )
    assert built.plan(epsilon=1) == visits.plan(text, epsilon=1)
    assert str(built.explain(epsilon=1)) == str(visits.explain(text, epsilon=1))


def test_it_is_paid_and_released(visits):
    release = visits.table("visits").agg(n=dp.count()).release(epsilon=10)
    assert abs(release.value - 600) < 10
    assert visits.remaining.epsilon == 20


def test_every_step_is_a_new_question(visits):
    whole = visits.table("visits")
    adults = whole.where("age >= 50")
    assert whole != adults
    assert whole.agg(n=dp.count()).plan(epsilon=1) == visits.plan(
        "SELECT COUNT(*) AS n FROM visits", epsilon=1
    )


def test_nothing_is_asked_without_an_aggregate(visits):
    with pytest.raises(InvalidQuery):
        visits.table("visits").group_by("ward").agg()


@pytest.mark.parametrize(
    ("step", "advice"),
    [
        ("count", "agg(n=dp.count())"),
        ("avg", 'agg(mean=dp.mean("cost"))'),
        ("std", 'agg(stddev=dp.stddev("cost"))'),
        ("groupby", 'group_by("ward")'),
        ("filter", 'where("age >= 18")'),
    ],
)
def test_a_step_of_another_library_is_answered_with_ours_which_runs(visits, step, advice):
    question = visits.table("visits")
    with pytest.raises(AttributeError, match=f"no step `{step}`") as refusal:
        getattr(question, step)
    assert f".{advice} " in str(refusal.value)
    eval(f"question.{advice}", {"question": question, "dp": dp}).release(epsilon=1)


def test_a_misspelt_step_names_the_nearest(visits):
    with pytest.raises(AttributeError, match="Did you mean `where`"):
        visits.table("visits").were("age > 3")
