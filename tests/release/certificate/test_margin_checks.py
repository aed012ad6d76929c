"""Margins of chosen values, computed again from only the certificate and the rows."""

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import deniable as dp
from deniable.errors import InvalidCertificate
from deniable.release.certificate.margin_checks import choice_margin, unchecked_outputs
from deniable.release.certificate.verification import verify
from tests.release.certificate.signing import signed

FIVE = "QUANTILE_CONT(cost, [0.05, 0.25, 0.5, 0.75, 0.95]) AS q"


@pytest.fixture(scope="module")
def session():
    frame = pa.table(
        {
            "ward": ["ABC"[i % 3] for i in range(6000)],
            "cost": [float(i * 7 % 500) for i in range(6000)],
        }
    )
    declared = {"bounds": {"cost": (0, 500)}, "keys": {"ward": ["A", "B", "C"]}}
    with dp.protect(frame, name="visits", epsilon=1000, **declared) as opened:
        yield opened


def narrower(table, column, by=0.9):
    """The rows with margins in one column that are a tenth too small."""
    place = table.column_names.index(column)
    small = pc.multiply(table[column].cast(pa.float64()), by)
    if pa.types.is_integer(table[column].type):
        small = pc.floor(small).cast(pa.int64())
    return table.set_column(place, column, small)


QUESTIONS = {
    "count": ("SELECT COUNT(*) AS n FROM visits", "n_margin", 0.05),
    "median": ("SELECT MEDIAN(cost) AS n FROM visits", "n_margin", 1),
    "interval": ("SELECT MEDIAN(cost) AS n FROM visits", "n_margin", 0.2),
    "five intervals": (f"SELECT ward, {FIVE} FROM visits GROUP BY ward", "q[0.5]_margin", 1),
    "interval of MAX": ("SELECT MIN(cost) AS n, MAX(cost) AS m FROM visits", "m_margin", 1),
    "extremes": ("SELECT MIN(cost) AS n, MAX(cost) AS m FROM visits", "m_margin", 1),
    "by ward": (
        "SELECT ward, MEDIAN(cost) AS n FROM visits GROUP BY ward ORDER BY n",
        "n_margin",
        1,
    ),
    "mode": ("SELECT MODE(ward) AS n FROM visits", "n_margin", 0.1),
    "two": ("SELECT TOP_K(ward, 2) AS n FROM visits", "n[2]_margin", 0.1),
    "at the end": (f"SELECT {FIVE} FROM visits", "q[0.95]_margin", 1),
    "between": (f"SELECT {FIVE} FROM visits", "q[0.5]_margin", 1),
    "of each": (f"SELECT ward, {FIVE} FROM visits GROUP BY ward", "q[0.25]_margin", 1),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_margin_that_is_a_tenth_too_small_is_found(session, question):
    sql, column, epsilon = QUESTIONS[question]
    release = session.sql(sql, epsilon=epsilon, brackets="interval" in question)
    assert verify(release.to_dict()).checks[-2].endswith("their margins follow from the noise")
    table = release.answer.table
    assert verify(signed(session, release, release.plan, table))
    assert min(table[column].to_pylist()) >= 5  # or a tenth of it is nothing
    with pytest.raises(InvalidCertificate, match=r"rows\."):
        verify(signed(session, release, release.plan, narrower(table, column)))


def test_an_interval_between_other_quantiles_is_computed_again(session):
    """Also if its ends were moved along with its margin."""
    release = session.sql(f"SELECT {FIVE} FROM visits", epsilon=0.9, brackets=False)
    table = release.answer.table
    own, low, high = (table[f"q[0.5]{beside}"][0].as_py() for beside in ("", "_low", "_high"))
    near = {"_low": own - 0.9 * (own - low), "_high": own + 0.9 * (high - own)}
    near["_margin"] = max(near["_high"] - own, own - near["_low"])
    for beside, moved in near.items():
        name = f"q[0.5]{beside}"
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array([moved], pa.float64()))
    with pytest.raises(InvalidCertificate, match=r"rows\."):
        verify(signed(session, release, release.plan, table))


@pytest.mark.parametrize("question", [name for name in QUESTIONS if name != "count"])
def test_a_plan_that_understates_its_choices_margin_is_found(session, question):
    sql, _, epsilon = QUESTIONS[question]
    release = session.sql(sql, epsilon=epsilon, brackets="interval" in question)
    (choice,) = release.plan.choices
    for margin in (choice.margin - 1, None):
        plan = replace(release.plan, choices=(replace(choice, margin=margin),))
        with pytest.raises(InvalidCertificate, match="margin of"):
            verify(signed(session, release, plan, release.answer.table))


def test_a_margin_is_nearer_than_any_table_would_allow(session):
    """Of the quantiles beside one the nearest are too near, however many rows there are."""
    release = session.sql(f"SELECT {FIVE} FROM visits", epsilon=0.01, brackets=False)
    (choice,) = release.plan.choices
    few = replace(choice, rows=20_000)
    few = replace(few, margin=choice_margin(few, release.plan.confidence))
    assert Fraction(few.margin, 2 * 20_000) > Fraction(1, 5)
    plan = replace(release.plan, choices=(few,))
    table = release.answer.table.to_pylist()[0]
    near = max(table["q[0.75]"] - table["q[0.5]"], table["q[0.5]"] - table["q[0.25]"])
    place = release.answer.table.column_names.index("q[0.5]_margin")
    rows = release.answer.table.set_column(place, "q[0.5]_margin", pa.array([float(near)]))
    with pytest.raises(InvalidCertificate, match=r"rows\."):
        verify(signed(session, release, plan, rows))


@pytest.mark.parametrize("brackets", [True, False])
def test_a_margin_that_is_missing_is_found(session, brackets):
    release = session.sql(f"SELECT {FIVE} FROM visits", epsilon=1, brackets=brackets)
    place = release.answer.table.column_names.index("q[0.5]_margin")
    rows = release.answer.table.set_column(place, "q[0.5]_margin", pa.nulls(1, pa.float64()))
    with pytest.raises(InvalidCertificate, match=r"rows\."):
        verify(signed(session, release, release.plan, rows))


def test_intervals_that_are_aimed_too_near_are_found(session):
    """The reach of a mechanism must be the one that the confidence needs."""
    release = session.sql("SELECT MEDIAN(cost) AS n FROM visits", epsilon=0.2)
    (choice,) = release.plan.choices
    mechanism = choice.mechanism
    ends = mechanism.grid.value(0), mechanism.grid.value(mechanism.grid.size - 1)
    near = dp.QuantileIntervals(
        mechanism.quantiles,
        epsilon=mechanism.epsilon,
        bounds=ends,
        step=mechanism.grid.step,
        neighbors=mechanism.neighbors,
        reach=mechanism.reach - 1,
    )
    for margin in (near.reach, mechanism.reach):
        plan = replace(release.plan, choices=(replace(choice, mechanism=near, margin=margin),))
        with pytest.raises(InvalidCertificate, match="margin of"):
            verify(signed(session, release, plan, release.answer.table))


def test_what_is_not_found_again_is_named(session):
    sql = "SELECT COUNT(*) AS n, AVG(cost) AS cost, STDDEV(cost) AS spread FROM visits"
    release = session.sql(sql, epsilon=1)
    assert unchecked_outputs(release.plan) == ("cost", "spread")
    told = verify(release.to_dict()).checks[-2]
    assert "integers that are not released: cost, spread" in told
    assert (
        unchecked_outputs(session.plan("SELECT MEDIAN(cost) AS m FROM visits", epsilon=1)) == ()
    )


def test_a_plan_that_does_not_say_for_how_many_rows_is_left_alone(session):
    plan = session.plan("SELECT MEDIAN(cost) AS m FROM visits", epsilon=1, brackets=False)
    (choice,) = plan.choices
    older = replace(choice, rows=None)
    assert choice_margin(older, plan.confidence) is None
    assert choice_margin(choice, plan.confidence) == choice.margin
    assert unchecked_outputs(replace(plan, choices=(older,))) == ("m",)


def test_the_margin_of_the_units_of_a_shown_group_is_checked():
    frame = pa.table({"person": range(600), "doctor": [f"d{i % 4}" for i in range(600)]})
    with dp.protect(
        frame, unit="person", epsilon=1000, delta=0.01, max_groups_per_unit=1
    ) as own:
        release = own.sql(
            "SELECT doctor, COUNT(DISTINCT person) AS n FROM data GROUP BY doctor",
            epsilon=1,
            delta=1e-4,
        )
        assert unchecked_outputs(release.plan) == ()
        verify(release.to_dict())
        short = narrower(release.to_arrow(), "n_margin", 0.5)
        lie = signed(own, release, release.plan, short, "1/100")
        with pytest.raises(InvalidCertificate, match="margin"):
            verify(lie)
