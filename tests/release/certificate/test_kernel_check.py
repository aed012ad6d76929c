"""A stranger asks the kernel again, with the facts that a certificate states."""

import copy
import json
from dataclasses import replace

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidCertificate, PlanRefused
from deniable.query.plan import canonical
from deniable.release.certificate.certificate import signed_message
from deniable.release.certificate.kernel_check import (
    KernelCheck,
    facts_about,
    read_facts,
    read_plan_check,
    write_plan_check,
)

QUESTION = "SELECT ward, SUM(cost) AS total FROM visits GROUP BY ward"


@pytest.fixture(scope="module")
def visits():
    rows = {"patient": ["a", "b"] * 50, "ward": ["A", "B"] * 50, "cost": [3.0] * 100}
    with dp.protect(
        pa.table(rows | {"secret": [1] * 100}),
        name="visits",
        unit="patient",
        max_groups_per_unit=1,
        max_rows_per_unit_per_group=2,
        bounds={"cost": (0, 10)},
        step={"cost": 1},
        keys={"ward": ["A", "B"]},
        epsilon=100,
    ) as session:
        yield session


@pytest.fixture
def document(visits):
    return visits.sql(QUESTION, epsilon=1).to_dict()


def signed(visits, document):
    """Signed again, with the right key, as a dishonest owner could."""
    certificate = document["certificate"]
    certificate["statement"]["plan_hash"] = canonical.digest_json(certificate["plan"])
    text = signed_message(certificate["statement"])
    certificate["signature"]["value"] = visits.ledger.sign(text)
    return json.loads(json.dumps(document))


def test_a_certificate_states_what_the_kernel_was_told_and_derived(document, visits):
    stated = document["certificate"]["statement"]["kernel"]
    assert stated["moves"] == [{"about": "sum of cost", "l1": 20, "l2_squared": 400}]
    (table,) = stated["tables"]
    assert table["columns"] == {"patient": "text", "ward": "text", "cost": "number"}
    assert (table["unit"], table["neighbors"]) == ("patient", "add-remove")
    told = dp.verify(document, key=visits.ledger.public_key).checks
    assert any(
        "one privacy unit moves these numbers by at most 20 grid steps" in line for line in told
    )


def test_columns_that_no_statement_names_are_not_told(visits):
    facts = facts_about(
        visits.plan("SELECT COUNT(*) AS n FROM visits", epsilon=1), visits.policy
    )
    assert list(facts.tables[0].columns) == ["patient"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("THEN 10 WHEN x0", "THEN 90 WHEN x0"),
        ("place <= 1", "place <= 5"),
        ("GROUP BY u, k0", "GROUP BY k0"),
    ],
)
def test_sql_that_moves_more_than_is_stated_is_refused_however_well_signed(
    document, visits, old, new
):
    bad = copy.deepcopy(document)
    plan = bad["certificate"]["plan"]
    assert old in plan["engine_sql"]
    plan["engine_sql"] = plan["engine_sql"].replace(old, new)
    with pytest.raises(InvalidCertificate, match="kernel"):
        dp.verify(signed(visits, bad))


@pytest.mark.parametrize(
    "change",
    [
        {"columns": {"patient": "number"}},
        {"unit": None},
        {"unit": "ward"},
        {"public": True},
        {"neighbors": "replace"},
        {"neighbors": "all"},
        {"row_ceiling": 0},
        {"row_ceiling": True},
        {"name": "bills"},
        {"rows": 3},
    ],
    ids=str,
)
def test_facts_that_do_not_fit_the_plan_are_refused(document, visits, change):
    bad = copy.deepcopy(document)
    bad["certificate"]["statement"]["kernel"]["tables"][0] |= change
    with pytest.raises(InvalidCertificate):
        dp.verify(signed(visits, bad))


@pytest.mark.parametrize(
    "stated", [None, {}, [], {"tables": 3}, {"tables": [{}]}, "x"], ids=str
)
def test_what_are_no_facts_is_refused(stated):
    with pytest.raises(InvalidCertificate):
        read_facts(stated)


def test_other_movements_than_the_derived_ones_are_refused(visits):
    check = KernelCheck.of(visits.plan(QUESTION, epsilon=1), visits.policy)
    stated = check.to_json()
    assert KernelCheck.from_json(check.plan, stated).verdict == check.verdict
    stated["moves"][0]["l1"] = 10
    with pytest.raises(InvalidCertificate, match="other movements"):
        KernelCheck.from_json(check.plan, stated)


def test_a_part_is_read_as_the_name_of_its_partition_says(visits):
    """Another reading of the column could put one patient into two parts."""
    plan = visits.partition("ward", ["A", "B"])["A"].plan(QUESTION, epsilon=1)
    assert KernelCheck.of(plan, visits.policy).verdict.readings
    read = 'TRY_CAST("ward" AS TEXT)'
    other = plan.engine_sql.replace(f"{read} = 'A'", f"LOWER({read}) = 'A'")
    other = other.replace(f"MIN({read})", f"MIN(LOWER({read}))")
    with pytest.raises(PlanRefused, match="in another way"):
        KernelCheck.of(replace(plan, engine_sql=other), visits.policy)


def test_a_plan_can_be_written_and_checked_elsewhere(visits, document):
    plan = visits.plan(QUESTION, epsilon=1)
    written = write_plan_check(plan, visits.policy).encode()
    assert read_plan_check(written).plan == plan
    assert read_plan_check(json.dumps(document).encode()).verdict.parts[0].l1 == 20
    with pytest.raises(PlanRefused):
        read_plan_check(written.replace(b"THEN 10 WHEN x0", b"THEN 90 WHEN x0"))
    for other in (b"{}", b"[]", b'{"plan": {}, "kernel": {}}', b'{"certificate": null}'):
        with pytest.raises(InvalidCertificate):
            read_plan_check(other)


def test_another_engine_runs_its_own_text_and_that_is_said(visits):
    check = KernelCheck.of(visits.plan(QUESTION, epsilon=1), visits.policy)
    assert check.describe("Spark").endswith("Spark runs its own text of the same plan)")
    assert "own text" not in check.describe()
