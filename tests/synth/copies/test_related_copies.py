"""Two tables of one unit: children belong to parents, and everything is charged and checked."""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dp
from deniable.errors import BudgetExhausted, InvalidCertificate, InvalidParameter
from deniable.synth.copies.copy_certificate import verify_copy

CHANCE = np.random.default_rng(3)
PEOPLE = 900
SEX = CHANCE.choice(["f", "m"], PEOPLE)
VISITS = np.where(SEX == "f", 2, CHANCE.integers(0, 2, PEOPLE))
OWNERS = np.repeat(np.arange(PEOPLE), VISITS)
POLICY = """
[budget]
epsilon = 20
delta = 1e-4

[tables.patients]
source = "{folder}/patients.parquet"
unit = "id"
max_rows_per_unit_per_group = 1
max_groups_per_unit = 1

[tables.patients.columns]
sex = {{ keys = ["f", "m"] }}
age = {{ bounds = [0, 100] }}

[tables.visits]
source = "{folder}/visits.parquet"
unit = "id"
max_rows_per_unit_per_group = 3
max_groups_per_unit = 3

[tables.visits.columns]
ward = {{ keys = ["A", "B"] }}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("related")
    patients = {"id": np.arange(PEOPLE), "sex": SEX, "age": CHANCE.integers(0, 100, PEOPLE)}
    ward = np.where(SEX[OWNERS] == "f", "A", "B")
    pa.parquet.write_table(pa.table(patients), place / "patients.parquet")
    pa.parquet.write_table(pa.table({"id": OWNERS, "ward": ward}), place / "visits.parquet")
    (place / "policy.toml").write_text(POLICY.format(folder=place))
    return place


@pytest.fixture(scope="module")
def related(folder):
    with dp.open(folder / "policy.toml") as session:
        both = session.copy_related("patients", "visits", epsilon=16, cuts={"age": [30, 60]})
        yield both, session.remaining, len(session.ledger.entries)


def test_two_charges_at_the_price(related):
    _, left, entries = related
    assert entries == 2
    assert 3.9 < left.epsilon <= 4.01


def test_children_belong_to_parents(related):
    both = related[0]
    assert both.parents.column_names == ["id", "sex", "age"]
    assert both.children.column_names == ["id", "ward"]
    known = set(both.parents["id"].to_pylist())
    assert set(both.children["id"].to_pylist()) <= known
    assert len(known) == len(both.parents)
    assert abs(len(both.parents) - PEOPLE) < 60
    assert abs(len(both.children) - len(OWNERS)) < 250


def test_children_follow_their_parents(related):
    joined = related[0].sql(
        "SELECT AVG(CAST((sex = 'f') = (ward = 'A') AS INT)) AS same, AVG(CAST(sex = 'f' AS "
        "INT)) AS women FROM patients JOIN visits ON patients.id = visits.id"
    )
    row = joined.to_pylist()[0]
    assert row["same"] > 0.85
    assert row["women"] > 0.7


def test_what_is_lost_is_said(related, tmp_path):
    text = str(related[0])
    assert "drawn independently of each other" in text
    assert "children with their parent's columns" in text
    related[0].save(tmp_path / "out")
    assert pa.parquet.read_table(tmp_path / "out" / "visits.parquet").num_rows > 0


def test_children_are_certified_as_they_are_delivered(related, tmp_path):
    both = related[0]
    both.save(tmp_path)
    for name, copy in (("patients", both.of_parents), ("visits", both.of_children)):
        document = json.loads((tmp_path / f"{name}.json").read_text())
        assert "rows are those" in verify_copy(document, rows=copy.rows)[-1]
        with pytest.raises(InvalidCertificate, match="other rows"):
            verify_copy(document, rows=copy.rows.slice(1))
    for delivered, certified in (
        (both.parents, both.of_parents.rows),
        (both.children, both.of_children.rows),
    ):
        assert delivered == certified.select(delivered.column_names)
    own = {row["id"]: row["sex"] for row in both.parents.to_pylist()}
    joined = both.of_children.rows
    assert joined["sex"].to_pylist() == [own[i] for i in joined["id"].to_pylist()]


def test_the_scorecard_is_of_the_delivered_children(related):
    """The error of sex and ward, computed again from the rows of the table and of the copy."""
    copy = related[0].of_children
    (error,) = (e for e in copy.scorecard.errors if set(e.columns) == {"sex", "ward"})
    wards = np.where(SEX[OWNERS] == "f", "A", "B")
    table = Counter(zip(SEX[OWNERS], wards, strict=True))
    rows = zip(copy.rows["sex"].to_pylist(), copy.rows["ward"].to_pylist(), strict=True)
    scale = copy.total / len(copy)
    delivered = {cell: n * scale for cell, n in Counter(rows).items()}
    distance = sum(abs(table[c] - delivered.get(c, 0)) for c in {*table, *delivered})
    assert error.low <= distance / copy.total <= error.high


def test_noise_of_the_parents_is_for_their_own_rows(related):
    plan = related[0].of_parents.releases[0].plan
    assert plan.max_rows_per_unit == 1
    assert set(plan.tables) == {"patients", "visits"}


def test_faults_are_found_before_the_charge(folder):
    with dp.open(folder / "policy.toml") as session:
        for tables, message in (
            (("patients", "patients"), "two tables of one privacy unit"),
            (("patients", "people"), "no private table"),
        ):
            with pytest.raises(InvalidParameter, match=message):
                session.copy_related(*tables, epsilon=1)
        with pytest.raises(InvalidParameter, match="without rows"):
            session.copy_related("patients", "visits", epsilon=1, rows=5)
        with pytest.raises(InvalidParameter, match="without children"):
            session.copy_related("patients", "visits", epsilon=1, missing=False)
        with pytest.raises(InvalidParameter, match="3 rows of visits, and a child has one"):
            session.copy_related("visits", "patients", epsilon=1)
        before = len(session.ledger.entries)
        with pytest.raises(BudgetExhausted, match="together"):
            session.copy_related("patients", "visits", epsilon=40)
        assert len(session.ledger.entries) == before
        branches = session.copy_related("patients", "visits", epsilon=1, explain=True)
        assert "visits count" not in str(branches[1])
        assert len(branches) == 2
