"""The copy as a table: frames, files, SQL, and its standing words."""

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import deniable as dp
from deniable.errors import InvalidParameter, InvalidQuery


@pytest.fixture(scope="module")
def copy():
    days = pa.array([0, 1, 0, None] * 300, pa.date32())
    frame = pa.table({"ward": ["A", "B"] * 600, "day": days, "score": [0.5, 1.0] * 600})
    keys = {"ward": ["A", "B"], "day": ["1970-01-01", "1970-01-02"]}
    more = {"bounds": {"score": (0, 2)}, "step": {"score": 0.5}}
    with dp.protect(frame, name="t", keys=keys, epsilon=9, delta=1e-6, **more) as session:
        yield session.copy(epsilon=9)


def test_frames_have_the_kinds_of_the_columns(copy):
    rows = copy.to_arrow()
    assert rows.schema.types == [pa.string(), pa.date32(), pa.float64()]
    assert len(copy.to_pandas()) == len(copy.to_polars()) == len(copy) == rows.num_rows
    assert pa.table(copy) == rows


@pytest.mark.parametrize("name", ["copy.parquet", "copy.csv"])
def test_files(copy, tmp_path, name):
    copy.save(tmp_path / name)
    reader = pyarrow.csv.read_csv if name.endswith("csv") else pyarrow.parquet.read_table
    assert reader(tmp_path / name).num_rows == len(copy)


def test_another_format_is_refused(copy, tmp_path):
    with pytest.raises(InvalidParameter, match=r"\.parquet or \.csv"):
        copy.save(tmp_path / "copy.xlsx")


def test_sql(copy):
    answer = copy.sql("SELECT ward, COUNT(*) AS n FROM t GROUP BY ward ORDER BY ward")
    assert answer["ward"].to_pylist()[:2] == ["A", "B"]
    assert sum(answer["n"].to_pylist()) == len(copy)
    with pytest.raises(InvalidQuery):
        copy.sql("SELECT * FROM other")


def test_standing_words(copy):
    text = str(copy)
    assert "standard errors computed from them are not valid" in text
    assert "good for the tables that were scored" in text
    assert "within the limits of the policy" in text
    assert "Tables of several columns that were measured (aim): " in text


def test_a_notebook_shows_the_scorecard_and_the_standing_words(copy):
    shown = copy._repr_html_()
    assert shown.count("<tr>") == 1 + len(copy.scorecard.errors)
    assert "<td>ward, day</td>" in shown
    assert "are not valid" in shown
    assert "A private copy of t" in shown


def test_sql_about_another_table_hears_the_name_of_this_one(copy):
    with pytest.raises(InvalidQuery, match=r"^The copy's rows are in the table t"):
        copy.sql("SELECT * FROM rows_of_it")
