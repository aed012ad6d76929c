"""Every golden plan is written and read again, equal; what no plan is written as is refused."""

import dataclasses
import json
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest

from deniable.errors import InvalidCertificate, Unsupported
from deniable.mechanisms import Gaussian, Laplace, PermuteAndFlip, Quantiles, Thresholding
from deniable.policy import Column, Policy, Table
from deniable.policy.file import parse as parse_policy
from deniable.query.language.parse import parse
from deniable.query.plan import canonical
from deniable.query.plan.plan import Choice, GroupKey
from deniable.query.planner.planner import plan as planned
from tests.ledger.contract import plan
from tests.query.hospital import policy

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*.sql"))
POLICIES = {
    "person": policy(),
    "row": policy(person=False),
    "replace": policy(neighbors="replace"),
}


def golden(path):
    first, _, *sql = path.read_text().splitlines()
    which = POLICIES[first.removeprefix("-- policy: ")]
    return planned(parse("\n".join(sql)), which, epsilon=0.5)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_golden_plan_is_read_as_it_was_written(path):
    query_plan = golden(path)
    read = canonical.from_json(
        canonical.parse_json(canonical.canonical_text(canonical.to_json(query_plan)))
    )
    assert read == query_plan
    assert type(read.epsilon) is Fraction
    assert canonical.digest(read) == canonical.digest(query_plan)


def test_different_plans_have_different_hashes():
    plans = [golden(path) for path in CASES]
    assert len({canonical.digest(query_plan) for query_plan in plans}) == len(set(plans)) > 10


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": Fraction(1, 3)},
        {"engine_sql": "SELECT 2"},
        {"max_rows_per_unit_per_group": 2},
        {"unit": "patient"},
        {"confidence": Fraction(9, 10)},
        {"notes": ("x",)},
        {"keys": (GroupKey("ward", "text", ("A",)),)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_change_changes_the_hash(change):
    assert canonical.digest(plan(1)) != canonical.digest(replace(plan(1), **change))


@pytest.mark.parametrize(
    "part",
    [
        Laplace(epsilon=Fraction(1, 3), sensitivity=7),
        Laplace(odds=3),
        Gaussian(variance=Fraction(10, 3), sensitivity=2, step=5),
        Thresholding(epsilon=1, delta=1e-9, groups=3, neighbors="replace"),
        PermuteAndFlip(epsilon=Fraction(1, 3), sensitivity=2, monotone=True),
        Quantiles(
            [0.25, 0.5], epsilon=1, bounds=(0, 9), step=0.5, method="joint", neighbors="replace"
        ),
        Choice(
            ("q",),
            "median",
            Quantiles(0.5, odds=3, bounds=(0, 9), neighbors="add-remove", method="independent"),
            4,
            "SELECT 1",
            ("A", 1, 2.5, True),
        ),
        GroupKey("age", "number", (0, 10.5, 20), Fraction(1, 2)),
        GroupKey("well", "boolean", (True, False)),
        GroupKey("ward", "text", ("3/4", "ü", '"')),
        GroupKey("code", "text", None),
        replace(plan(1), outputs=(replace(plan(1).outputs[0], margin=float("inf")),)),
    ],
    ids=str,
)
def test_parts_are_read_as_they_were_written(part):
    read = canonical.from_json(
        canonical.parse_json(canonical.canonical_text(canonical.to_json(part)))
    )
    assert read == part
    assert repr(read) == repr(part)


def test_a_method_that_was_picked_is_written_by_its_name():
    picked = Quantiles([0.25, 0.5], epsilon=1, bounds=(0, 9), neighbors="replace")
    again = canonical.from_json(canonical.to_json(picked))
    assert canonical.to_json(picked)["method"] == again.method == "joint"
    assert canonical.digest(again) == canonical.digest(picked)
    assert again.loss == picked.loss


def test_a_field_at_its_default_is_left_out_so_that_new_fields_keep_old_hashes():
    assert "step" not in canonical.to_json(GroupKey("ward", "text", ("A",)))
    assert canonical.to_json(GroupKey("age", "number", (1,), Fraction(1)))["step"] == "1"


def test_no_field_may_hold_both_text_and_rationals():
    """Otherwise a rational would be read as text. Such a field needs a class of its own."""
    for kind in canonical.KINDS:
        for name, hint in canonical._hints(kind).items():
            assert not {str, Fraction} <= set(canonical._alternatives(hint)), (kind, name)
        assert dataclasses.is_dataclass(kind)
        assert kind.__dataclass_params__.frozen


def test_a_kind_that_is_not_listed_cannot_be_written():
    @dataclass(frozen=True)
    class Stranger:
        x: int

    with pytest.raises(Unsupported, match="KINDS"):
        canonical.to_json(plan(1, thresholding=Stranger(1)))


def test_a_million_numbers_in_a_row_are_written_short():
    long = GroupKey("k", "number", tuple(range(-5, 10**6)), Fraction(1))
    text = canonical.canonical_text(canonical.to_json(long))
    assert len(text) < 200
    again = canonical.from_json(canonical.parse_json(text))
    assert again.values == range(-5, 10**6)
    assert canonical.to_json(again) == canonical.to_json(long)
    for other in (
        tuple(range(0, 4000, 2)),
        (*range(2000), 1999),
        (*range(2000), 2000.0),
        (*range(2000), True),
        tuple(range(1000)),
        (*range(1999), 10**30),
        tuple(f"{i}" for i in range(2000)),
    ):
        key = GroupKey("k", "number", other, Fraction(1))
        read = canonical.from_json(
            canonical.parse_json(canonical.canonical_text(canonical.to_json(key)))
        )
        assert repr(read) == repr(key)


@pytest.mark.parametrize(
    "bad",
    [
        {"first": 0, "count": 10**12},
        {"first": 0, "count": 10},
        {"first": 0.5, "count": 2000},
        {"first": "0", "count": 2000},
        {"first": 0},
        {"first": 0, "count": 2000, "step": 2},
    ],
    ids=str,
)
def test_ranges_that_nobody_writes(bad):
    key = canonical.to_json(GroupKey("k", "number", (1,), Fraction(1)))
    with pytest.raises(InvalidCertificate):
        canonical.from_json(key | {"values": {"class": "range", **bad}})
    with pytest.raises(InvalidCertificate):
        canonical.from_json(key | {"name": {"class": "range", "first": 0, "count": 2000}})


GOOD = canonical.to_json(plan(1))


def _with(**changes):
    return GOOD | changes


@pytest.mark.parametrize(
    "bad",
    [
        1,
        "plan",
        [],
        {},
        {"class": "Policy"},
        {"class": "os.system"},
        _with(**{"class": "Block"}),
        _with(extra=1),
        {name: field for name, field in GOOD.items() if name != "epsilon"},
        _with(epsilon=1),
        _with(epsilon=0.5),
        _with(epsilon="1e999999999"),
        _with(epsilon="1/0"),
        _with(epsilon="x"),
        _with(epsilon="9" * 5000),
        _with(max_rows_per_unit_per_group="1"),
        _with(max_rows_per_unit_per_group=True),
        _with(neighbors="friends"),
        _with(table=None),
        _with(blocks=[{"class": "Feature", "name": "n", "block": 0}]),
        _with(blocks=GOOD["blocks"][0]),
        _with(order=[[GOOD["outputs"][0]["node"]]]),
        _with(
            blocks=[
                GOOD["blocks"][0]
                | {"mechanism": {"class": "Laplace", "epsilon": "-1", "odds": None}}
            ]
        ),
    ],
    ids=lambda bad: json.dumps(bad)[:40],
)
def test_what_no_plan_is_written_as_is_refused(bad):
    with pytest.raises(InvalidCertificate):
        canonical.from_json(bad)


@pytest.mark.parametrize(
    "text", ["", "{", '{"a": 1, "a": 2}', '{"a": NaN}', "[" * 100_000, "\ud800"], ids=repr
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(InvalidCertificate):
        canonical.parse_json(text[:100_000])


def test_a_policys_hash_names_what_it_declares_and_not_where_the_data_lies():
    def hash_policy(source="a.csv", **changes):
        column = Column("cost", bounds=(0, changes.pop("high", 9)))
        table = Table("visits", source, columns={"cost": column}, **changes)
        return canonical.digest(Policy([table], epsilon=1))

    assert hash_policy() == hash_policy(source="elsewhere.csv") == hash_policy(source=object())
    assert (
        len(
            {
                hash_policy(),
                hash_policy(high=10),
                hash_policy(neighbors="replace"),
                hash_policy(unit="cost"),
            }
        )
        == 4
    )


def test_the_hash_of_a_policy_holds_no_address_and_no_secret(monkeypatch):
    """With a hash of a password, anyone could test guesses of it."""
    hashes = []
    for secret, ledger_id in (("sesame", "0" * 32), ("other", "f" * 32)):
        for name in ("LEDGER", "DATA"):
            monkeypatch.setenv(name, f"postgresql://me:{secret}@{secret}/{secret}#{secret}")
        text = f"""[budget]
epsilon = 1
[tables.visits]
source = "$DATA"
[ledger]
store = "$LEDGER"
key = "{secret}.key"
id = "{ledger_id}"
"""
        declared = parse_policy(text, policy_file=Path("hospital.toml"))
        assert secret not in canonical.canonical_text(canonical.to_json(declared))
        hashes.append(canonical.digest(declared))
    assert hashes[0] == hashes[1]
