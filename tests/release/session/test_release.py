import pickle
from dataclasses import replace
from fractions import Fraction

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.ledger import Remaining
from deniable.release.answer.answer_table import Answer
from deniable.release.session.release import Release
from tests.ledger.contract import plan

FRAME = pa.table({"ward": ["A", "B", "B", "C"] * 250, "cost": [10.0, 20.0, 30.0, 40.0] * 250})


@pytest.fixture
def session():
    with dp.protect(
        FRAME,
        name="visits",
        bounds={"cost": (0, 100)},
        keys={"ward": ["A", "B", "C", "D"]},
        epsilon=100,
        delta=1e-6,
    ) as opened:
        yield opened


BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward"


def test_every_number_has_its_margin_whatever_frame_is_wanted(session):
    release = session.sql(BY_WARD, epsilon=20)
    beside = ("", "_margin", "_low", "_high")
    names = ["ward", *("n" + end for end in beside), *("cost" + end for end in beside)]
    assert release.to_arrow().column_names == names
    assert release.columns == ("ward", "n", "cost")
    pandas, polars = release.to_pandas(), release.to_polars()
    assert isinstance(pandas, pd.DataFrame)
    assert isinstance(polars, pl.DataFrame)
    assert list(pandas.columns) == polars.columns == names
    assert pa.table(release).equals(release.to_arrow())
    assert pl.DataFrame(release).equals(polars)
    assert len(release) == 4
    assert pandas["n"].tolist()[1] == pytest.approx(500, abs=30)


def test_a_single_number_has_both_ends(session):
    release = session.sql("SELECT AVG(cost) AS cost FROM visits", epsilon=0.001)
    assert release.low <= release.value <= release.high
    reach = max(release.value - release.low, release.high - release.value)
    assert release.margin == pytest.approx(reach)
    before = replace(release, answer=replace(release.answer, ends={}))  # by an older version
    assert before.high - before.value == before.value - before.low == release.margin


def test_an_interval_that_is_not_symmetric_is_printed_by_its_ends(session):
    release = session.sql(BY_WARD, epsilon=20)
    columns = {name: release.to_arrow()[name] for name in release.to_arrow().column_names}
    columns["n"], columns["n_low"] = pa.array([100] * 4), pa.array([99, 90, None, 91])
    columns["n_high"], columns["n_margin"] = pa.array([110] * 4), pa.array([10] * 4)
    shown = replace(release, answer=replace(release.answer, table=pa.table(columns)))
    counts = [line[3:].rsplit("  ", 1)[0].strip() for line in str(shown).splitlines()[2:6]]
    assert counts == ["100 (99 to 110)", "100 ± 10", "100 ± 10", "100 ± 10"]


def test_it_serves_the_idioms_of_frames(session):
    release = session.sql(BY_WARD, epsilon=20)
    assert release["ward"] == ["A", "B", "C", "D"]
    assert release["n"] == release.to_arrow()["n"].to_pylist()
    assert [row["n_margin"] for row in release] == release["n_margin"]
    assert pd.DataFrame(release).equals(release.to_pandas())
    with pytest.raises(InvalidParameter, match="Did you mean `cost`"):
        release["cots"]
    single = session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    assert (float(single), int(single)) == (single.value, single.value)
    assert f"{single:,.1f}" == f"{single.value:,.1f}"
    assert f"{release}" == str(release)
    label = session.sql("SELECT MODE(ward) AS most FROM visits", epsilon=1)
    with pytest.raises(InvalidParameter, match="need a number"):
        float(label)
    with pytest.raises(InvalidParameter, match="4 rows and 2 numbers in each"):
        float(release)


def test_it_prints_value_margin_cost_and_what_is_left(session):
    release = session.sql(BY_WARD, epsilon=20)
    text = str(release)
    assert text.splitlines()[0].split() == ["ward", "n", "cost"]
    assert " ± " in text
    assert "Margins hold at 95 % each. Cost: epsilon 20, delta 0." in text
    assert "Left: epsilon 80, delta 1e-06." in text
    assert "cost is cut to 0 to 100" in text
    assert repr(release) == text
    assert "<table>" in release._repr_html_()
    assert "Left: epsilon 80" in release._repr_html_()


def make_release(n, margins):
    """A release of these numbers."""
    table = pa.table({"n": n, "n_margin": margins})
    return Release(
        plan(1), Answer(table, {"n": "n_margin"}), Remaining(Fraction(1), Fraction(0))
    )


def test_it_warns_when_a_margin_is_larger_than_its_value():
    assert "the margin of the number is larger than the value" in str(make_release([-2], [3]))
    assert "the margin of 2 of 3 numbers" in str(
        make_release([1, -4, 3, None], [3, 3, None, None])
    )
    assert make_release([3, -4], [3, 3]).warnings == ()


def test_a_single_number_has_a_value_and_a_margin(session):
    release = session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    assert release.value == pytest.approx(1000, abs=60)
    assert release.margin == 3
    with pytest.raises(InvalidParameter, match="to_pandas"):
        session.sql(BY_WARD, epsilon=1).value  # noqa: B018


def test_it_knows_its_loss_and_plan(session):
    release = session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
    assert release.loss.epsilon() == 0.5
    assert release.remaining.epsilon == Fraction(199, 2)
    assert release.plan.engine_sql.startswith("SELECT")


def test_said_when_negative_counts_are_cut(session):
    release = session.sql(BY_WARD, epsilon=1, nonnegative=True)
    assert "Negative counts are shown as 0." in str(release)


def test_a_release_is_public_so_it_may_travel(session):
    release = session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
    again = pickle.loads(pickle.dumps(release.to_arrow()))
    assert again.equals(release.to_arrow())
