"""Notes and refusals that keep a caller from paying for nothing, judged from public facts."""

import pytest

from deniable.errors import InvalidQuery
from deniable.policy import Policy, Table
from deniable.query.planner.explain import explain
from deniable.query.planner.notes import WARNING, note_rows_without_key
from deniable.query.planner.request import make_plan
from deniable.release.certificate.kernel_check import KernelCheck

SCHEMA = {
    "patient": "INTEGER",
    "ward": "VARCHAR",
    "code": "VARCHAR",
    "a": "DATE",
    "b": "DATE",
    "cost": "DOUBLE",
}
TABLE = Table.declare(
    "visits",
    unit="patient",
    max_groups_per_unit=2,
    max_rows_per_unit_per_group=1,
    keys={"ward": ["A", "B"]},
    bounds={"cost": (0, 9)},
).with_schema(SCHEMA)
POLICY = Policy([TABLE], epsilon=9, delta=1e-6)


def plan(text, **options):
    return make_plan(text, POLICY, epsilon=1, **options)


@pytest.mark.parametrize(
    "keys", ["patient", "Patient", "ward, patient", "CAST(patient AS TEXT)", "v.patient"]
)
def test_groups_of_one_unit_are_refused_with_a_question_that_can_be_asked(keys):
    with pytest.raises(InvalidQuery, match="a group of one person is never shown") as refusal:
        plan(f"SELECT COUNT(*) AS n FROM visits AS v GROUP BY {keys}")
    advice = str(refusal.value).rpartition("for example   ")[2]
    assert plan(advice).outputs[0].name == "mean"


def test_declared_units_and_groups_inside_from_are_answered():
    inside = "SELECT AVG(n) AS m FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY 1)"
    assert plan(inside)
    declared = Table.declare(
        "visits",
        unit="patient",
        max_groups_per_unit=1,
        max_rows_per_unit_per_group=1,
        keys={"patient": [1, 2]},
    ).with_schema(SCHEMA)
    text = "SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient"
    assert make_plan(text, Policy([declared], epsilon=1), epsilon=1).thresholding is None


@pytest.mark.parametrize("aggregate", ["AVG", "SUM", "STDDEV"])
def test_a_span_of_time_without_limits_is_warned_of_with_the_line_that_mends_it(aggregate):
    query_plan = plan(f"SELECT {aggregate}(DATE_DIFF('day', a, b)) AS x FROM visits")
    (warning,) = (note for note in query_plan.notes if note.startswith(WARNING))
    mended = warning.rpartition("such as ")[2].removesuffix(".")
    again = plan(f"SELECT {aggregate}({mended}) AS x FROM visits")
    assert not any(note.startswith(WARNING) for note in again.notes)
    assert (
        again.outputs[0].margin is None
        or query_plan.outputs[0].margin is None
        or (again.outputs[0].margin < query_plan.outputs[0].margin / 1000)
    )


@pytest.mark.parametrize(
    "argument",
    [
        "cost",
        "CLAMP(DATE_DIFF('day', a, b), 0, 365)",
        "CASE WHEN DATE_DIFF('day', a, b) > 3 THEN 1 ELSE 0 END",
    ],
)
def test_nothing_else_is_warned_of(argument):
    query_plan = plan(f"SELECT AVG({argument}) AS x FROM visits")
    assert not any(note.startswith(WARNING) for note in query_plan.notes)


def test_rows_without_a_declared_key_are_said_to_be_left_out_unless_asked_for():
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    assert "Rows without a declared ward (also NULL) are left out" in str(explain(plan(text)))
    assert "Rows without" not in str(explain(plan(text, other=True)))
    private = "SELECT code, COUNT(*) AS n FROM visits GROUP BY code"
    assert "Rows without" not in str(explain(plan(private)))


def test_rows_without_a_key_are_left_out_with_a_note_unless_they_are_asked_for():
    count = "SELECT {} AS k, COUNT(*) AS n FROM visits GROUP BY 1"
    by_ward, by_size = count.format("ward"), count.format("cost > 5")
    assert note_rows_without_key(plan(by_ward)) == (
        "Rows without a declared k (also NULL) are left out; other=True adds a group for them, "
        "nulls=True one for NULL.",
    )
    query_plan = plan(by_ward, nulls=True)
    assert query_plan.keys[0].values == ("A", "B", None)
    assert note_rows_without_key(query_plan) == (
        "Rows with another k than these are left out.",
    )
    assert note_rows_without_key(plan(by_size)) == (
        "Rows without k (NULL) are left out; nulls=True adds a group.",
    )
    assert note_rows_without_key(plan(by_size, nulls=True)) == ()
    assert note_rows_without_key(plan(by_ward, other=True)) == ()


def test_null_counts_in_the_limit_of_groups():
    """Two wards and NULL: a unit may be in two of the three, and the kernel reads the limit."""
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    query_plan = plan(text, nulls=True)
    assert query_plan.max_groups_per_unit == 2
    assert "k0 IS NULL OR k0 IN ('A', 'B')" in query_plan.engine_sql
    assert "place <= 2" in query_plan.engine_sql
    assert "place" not in plan(text).engine_sql  # two wards are within the limit of two groups


def test_with_null_the_limit_of_groups_is_always_written():
    """One ward and NULL are two groups, as many as the limit; the kernel counts one of them."""
    limits = {"unit": "patient", "max_groups_per_unit": 2, "max_rows_per_unit_per_group": 1}
    table = Table.declare("visits", keys={"ward": ["A"]}, **limits).with_schema(SCHEMA)
    policy = Policy([table], epsilon=9)
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    query_plan = make_plan(text, policy, epsilon=1, nulls=True)
    assert query_plan.blocks[0].mechanism.sensitivity == 2
    assert KernelCheck.of(query_plan, policy).plan is query_plan


def test_null_is_asked_for_once():
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    with pytest.raises(InvalidQuery, match="Ask for one of `other` and `nulls`"):
        plan(text, nulls=True, other=True)
    assert plan("SELECT COUNT(*) AS n FROM visits", nulls=True).keys == ()
    private = plan(text.replace("ward", "code"), nulls=True)
    assert private == plan(text.replace("ward", "code"))
