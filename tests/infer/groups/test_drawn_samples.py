from fractions import Fraction

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.infer.groups.drawn_samples import Drawn, draw_of, key_columns, sampled_part
from deniable.infer.groups.readings import read

ROWS = pa.table({"id": range(400), "ward": ["A", "B"] * 200, "sick": [1, 0] * 200})


def ask(sample, text="SELECT ward AS w, COUNT(sick) AS n, AVG(sick) AS s FROM v GROUP BY w"):
    visits = dp.protect(
        ROWS,
        name="v",
        unit="id",
        bounds={"sick": (0, 1)},
        keys={"ward": ["A", "B"]},
        epsilon=10,
        sample=sample,
    )
    return visits.sql(text, epsilon=5)


def test_a_stratum_is_found_by_its_column_whatever_its_name_in_the_answer():
    release = ask({"by": "ward", "frame": {"A": 300, "B": 5000}})
    assert key_columns(release.plan) == ["ward"]
    assert draw_of(release, "B", None).frame == 5000
    assert draw_of(release, "B", 0.25).fraction == 0.25


def test_a_frame_gives_a_fraction_that_is_not_too_large():
    drawn = Drawn("", frame=1000)
    assert drawn.sampled(250.0) == 0.25
    assert drawn.sampled(1000.0) == 1.0
    assert Drawn("").sampled(250.0) == 0.0
    assert (Drawn("").declared, drawn.declared) == (False, True)


def test_a_frame_smaller_than_the_sample_is_no_census():
    """It would have no sampling error, by mistake."""
    data = dp.protect(
        ROWS, name="v", unit="id", bounds={"sick": (0, 1)}, epsilon=99, sample={"frame": 300}
    )
    for text in ("AVG(sick)", "SUM(sick + 1)"):
        release = data.sql(f"SELECT {text} AS s FROM v FOR POPULATION", epsilon=20)
        with pytest.raises(InvalidParameter, match=r"is 300, and at least (39|40)"):
            release.population()


def test_all_strata_together_are_refused():
    release = ask(
        {"by": "ward", "fraction": {"A": 0.5, "B": 0.5}},
        "SELECT COUNT(sick) AS n, AVG(sick) AS s FROM v",
    )
    with pytest.raises(InvalidParameter, match=r"dp\.infer\.weighted"):
        draw_of(release, (), None)


def test_targets_are_named():
    assert (
        "are a random sample of whole units"
        in draw_of(ask({"fraction": 0.1, "clustered": True}), "A", None).target
    )
    assert "are independent draws" in draw_of(ask(None), "A", None).target


def sampled_by(question, *, sample, most=3, **bounds):
    """The share of the first group that is said to have been sampled. 400 persons, three rows
    each, of whom 800 are in the frame."""
    rows = pa.table({"id": [n // 3 for n in range(1200)], "sick": [1, 0, 1] * 400})
    visits = dp.protect(
        rows,
        name="v",
        unit="id",
        bounds={"sick": (0, 1), **bounds},
        epsilon=3000,
        max_rows_per_unit_per_group=most,
        sample=sample,
    )
    release = visits.sql(question, epsilon=1000)
    means = read(release, None, None)
    return sampled_part(release, means, 0, None, Fraction(19, 20)).sampled


def test_units_of_a_clustered_sample_are_counted_against_its_frame():
    clustered = {"frame": 800, "clustered": True}
    rows = {"frame": 2400}
    plain = "SELECT COUNT(sick) AS n, AVG(sick) AS s FROM v"
    averages = "SELECT AVG(sick) AS s FROM v FOR POPULATION"
    for sample, question in ((clustered, plain), (clustered, averages), (rows, plain)):
        share = sampled_by(question, sample=sample)
        assert 0.48 < share <= 0.5
    # If five rows a unit count, 1,200 rows are those of 240 units at least.
    assert 0.28 < sampled_by(plain, sample=clustered, most=5) <= 0.3
    assert 0.48 < sampled_by(averages, sample=clustered, most=5) <= 0.5


def test_a_sum_of_weights_is_no_number_of_rows():
    """400 rows with weights up to 5 were drawn of 1,000: they weigh 2,000."""
    rows = pa.table({"id": range(400), "w": [5.0] * 400, "x": [1.0, 0.0] * 200})
    visits = dp.protect(
        rows,
        name="v",
        unit="id",
        bounds={"w": (0, 5), "x": (0, 1)},
        epsilon=3000,
        sample={"frame": 1000},
    )
    release = visits.sql("SELECT SUM(w * x) / SUM(w) AS m FROM v FOR POPULATION", epsilon=1000)
    part = sampled_part(release, read(release, "m", None), 0, None, Fraction(19, 20))
    assert 0.38 < part.sampled <= 0.4
