import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.infer.groups.drawn_samples import Drawn, draw_of, key_columns

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
    assert drawn.sampled(250.0, whole_units=False) == 0.25
    assert drawn.sampled(2500.0, whole_units=False) == 1.0
    assert drawn.sampled(250.0, whole_units=True) == 0.0
    assert Drawn("").sampled(250.0, whole_units=False) == 0.0
    assert (Drawn("").declared, drawn.declared) == (False, True)


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
