"""The same model on every engine, to the last integer, if the noise is the same."""

from functools import cache

import numpy as np
import polars
import psycopg
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import deniable as dp
from deniable import learn
from deniable.exact import bits
from tests.engines.sparks import local
from tools.postgresql import server

KINDS = {
    "naive Bayes": (learn.NaiveBayes, {}, "label"),
    "logistic": (learn.LogisticRegression, {}, "label"),
    "additive": (learn.AdditiveModel, {}, "label"),
    "regression": (learn.AdditiveRegressor, {}, "pay"),
    "ridge": (learn.Ridge, {}, "pay"),
    "robust slope": (learn.RobustSlope, {"features": ["age"]}, "pay"),
    "components": (learn.PCA, {"features": ["age", "pay"]}, None),
    "clusters": (learn.KMeans, {"n_clusters": 3, "features": ["age", "pay"]}, None),
}
DECLARED = {
    "unit": "person",
    "max_rows_per_unit_per_group": 2,
    "bounds": {"age": (0, 90), "pay": (0, 50)},
    "keys": {"ward": ["A", "B", "C"], "label": ["no", "yes"]},
}


def made_up(rows=120, nan=float("nan")):
    """People with two rows each; NULLs, NaN, undeclared keys, numbers beyond their bounds."""
    chance = np.random.default_rng(4)
    age = chance.uniform(-5, 100, rows).round(2)
    listed = {
        "person": np.arange(rows) // 2,
        "age": age,
        "ward": chance.choice(["A", "B", "C", "D", "é"], rows),
        "label": np.where(age + chance.normal(0, 20, rows) > 50, "yes", "no"),
        "pay": (age / 2 + chance.normal(0, 5, rows)).round(3),
    }
    columns = {name: pa.array(values.tolist()) for name, values in listed.items()}
    for name in ("age", "ward", "label", "pay"):
        gone = pa.array((chance.random(rows) < 0.1).tolist())
        columns[name] = pa.compute.if_else(gone, None, columns[name])
    for name in ("age", "pay"):
        gone = pa.array((chance.random(rows) < 0.1).tolist())
        columns[name] = pa.compute.if_else(gone, pa.scalar(nan, pa.float64()), columns[name])
    return pa.table(columns)


class SameBits:
    """The same secret bits for every fit, so that the noise is the same."""

    def __init__(self, patch):
        patch.setattr(bits, "_fresh_cipher", self._cipher)
        bits.SYSTEM._forget()

    def _cipher(self):
        return Cipher(algorithms.AES(b"the same 16 byte"), modes.CTR(bytes(16))).encryptor()


def fit(source, case):
    """The noisy integers of all steps of a training, and what the model says of some rows."""
    kind, options, target = KINDS[case]
    with pytest.MonkeyPatch.context() as patch:
        SameBits(patch)
        data = dp.protect(source, name="people", epsilon=8, delta=1e-4, **DECLARED)
        price = {} if kind is learn.RobustSlope else {"delta": 1e-6}
        model = kind(epsilon=2, **price, **options).fit(data.table("people"), target=target)
        data.close()
    bits.SYSTEM._forget()
    rows = made_up().slice(0, 9)
    told = model.transform(rows) if case == "components" else model.predict(rows)
    return [step.to_arrow().to_pydict() for step in model.releases_], told.tolist()


@cache
def on_duckdb(case):
    return fit(made_up(), case)


def test_the_bits_are_the_same_and_matter():
    once, again = fit(made_up(), "ridge"), fit(made_up(), "ridge")
    assert once == again
    assert fit(made_up().slice(2), "ridge") != once


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", KINDS)
def test_nan_is_missing_as_null_is(case):
    assert made_up()["age"].null_count < made_up(nan=None)["age"].null_count
    assert fit(made_up(nan=None), case) == on_duckdb(case)


@pytest.mark.parametrize("make", [pa.table, polars.DataFrame, None])
def test_nan_is_in_the_cell_of_missing_values_in_training_and_prediction(make):
    """All rows without a number are of the class yes, and all others of the class no."""
    numbers = [float("nan")] * 200 + [10.0] * 200
    columns = {"x": numbers, "label": ["yes"] * 200 + ["no"] * 200}
    if make is None:  # arrays
        model = learn.NaiveBayes(epsilon=50, bounds=(0, 10), classes=["no", "yes"])
        model.fit({"x": np.array(numbers)}, columns["label"])
    else:
        declared = {"bounds": {"x": (0, 10)}, "keys": {"label": ["no", "yes"]}}
        with dp.protect(make(columns), name="t", epsilon=50, **declared) as data:
            model = learn.NaiveBayes(epsilon=50).fit(data.table("t"), target="label")
    rows = {"x": [float("nan"), None, 10.0]}
    assert model.predict(pa.table(rows)).tolist() == ["yes", "yes", "no"]
    assert model.predict({"x": np.array([np.nan, 10.0])}).tolist() == ["yes", "no"]


@pytest.mark.parametrize("bounds", [(0, 10), (-10, -1), None])
def test_infinity_is_not_missing(bounds):
    numbers = pa.array([float("inf")] * 200 + [-float("inf")] * 200)
    columns = pa.table({"x": numbers, "label": ["yes"] * 200 + ["no"] * 200})
    declared = {"keys": {"label": ["no", "yes"]}, "bounds": {"x": bounds} if bounds else {}}
    cuts = {"x": [-5, 5]} if bounds is None else None
    with dp.protect(columns, name="t", epsilon=50, **declared) as data:
        model = learn.NaiveBayes(epsilon=50, cuts=cuts)
        model.fit(data.table("t"), target="label")
    rows = {"x": [float("inf"), -float("inf")]}
    assert model.predict(pa.table(rows)).tolist() == ["yes", "no"]
    assert (model.model_.tables[0][-1] == model.model_.tables[0][-1, 0]).all()  # nothing known


@pytest.fixture(scope="module")
def spark():
    with local() as session:
        yield session


@pytest.mark.one_in(4)
@pytest.mark.needs("java")
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("case", KINDS)
def test_spark_trains_the_same_model(case, spark, tmp_path):
    pyarrow.parquet.write_table(made_up(), tmp_path / "people.parquet")
    frame = spark.read.parquet(str(tmp_path / "people.parquet"))
    assert fit(frame, case) == on_duckdb(case)


@pytest.fixture(scope="module")
def people():
    """The address of the table on a PostgreSQL server."""
    table = made_up()
    with server() as folder:
        address = f"postgresql://deniable@/postgres?host={folder}"
        with psycopg.connect(address, autocommit=True) as connection:
            columns = "person int8, age float8, ward text, label text, pay float8"
            connection.execute(f"CREATE TABLE people ({columns})")
            with connection.cursor().copy("COPY people FROM STDIN") as copy:
                for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                    copy.write_row(row)
        yield f"{address}#people"


@pytest.mark.one_in(4)
@pytest.mark.needs("postgresql")
@pytest.mark.xdist_group("postgresql")
@pytest.mark.parametrize("case", KINDS)
def test_postgresql_trains_the_same_model(case, people):
    assert fit(people, case) == on_duckdb(case)
