"""Policy files: read whole and exactly, or refused with the line."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from deniable.errors import InvalidPolicy
from deniable.policy import load
from deniable.policy.budget import Budget
from deniable.policy.file import parse

TEXT = """\
[budget]
epsilon = 3
delta = 1e-6

[tables.visits]
source = "visits.parquet"
unit = "patient"
neighbors = "replace"
max_groups_per_unit = 4
max_rows_per_unit_per_group = 10
row_ceiling = 1_000_000
expected_rows = 300_000

[tables.visits.columns]
cost = { bounds = [0, 10000], step = 0.01 }
ward = { keys = ["A", "B"] }
diagnosis = { keys = "private" }
day = { kind = "date", keys = [2020-01-01, 2020-01-02] }
dose = { keys = [0.5, 1] }

[tables.wards]
source = "wards.csv"
public = true
"""


def test_everything_is_read_exactly():
    policy = parse(TEXT)
    visits = policy.tables["visits"]
    assert (policy.epsilon, policy.delta) == (3, Fraction(1, 10**6))
    assert (visits.source, visits.unit, visits.neighbors) == (
        "visits.parquet", "patient", "replace",
    )  # fmt: skip
    assert (visits.max_groups_per_unit, visits.max_rows_per_unit_per_group) == (4, 10)
    assert (visits.row_ceiling, visits.expected_rows) == (10**6, 300_000)
    assert visits.columns["cost"].bounds == (0, 10_000)
    assert visits.columns["cost"].step == Fraction(1, 100)
    assert visits.columns["ward"].keys == ("A", "B")
    assert visits.columns["diagnosis"].keys == "private"
    assert visits.columns["day"].keys == ("2020-01-01", "2020-01-02")
    assert visits.columns["dose"].keys == (0.5, 1)
    assert not any(isinstance(key, Decimal) for key in visits.columns["dose"].keys)
    assert policy.tables["wards"].public


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("max_groups_per_unit", "max_group", 9, "Did you mean `max_groups_per_unit`?"),
        ("step", "stop", 15, "Unknown key `stop` of column 'cost'. Did you mean `step`?"),
        ("epsilon", "epsilom", 2, "Unknown key `epsilom` of [budget]. Did you mean `epsilon`?"),
        ("[tables.wards]", "[table.wards]", 21, "Did you mean `tables`?"),
        ("unit =", "zzz =", 7, "Known keys are `source`, `unit`"),
        ("step = 0.01", "step = 0.03", 15, "multiples of the step, 0.03"),
        ("10000]", "10000.005]", 15, "10000.005 is not"),
        ("10000]", "-1]", 15, "low < high"),
        ("10000]", "1, 2]", 15, "at most 2"),
        ("10000]", "inf]", 15, "finite"),
        ('"private"', '"privat"', 17, "'privat'"),
        ('["A", "B"]', '["A", 1]', 16, "one kind"),
        ('["A", "B"]', "[[1]]", 16, "keys"),
        ('"date"', '"data"', 18, "'data'"),
        (
            "max_rows_per_unit_per_group = 10",
            "max_rows_per_unit_per_group = 0",
            10,
            "1 or more. Found 0",
        ),
        (
            "max_rows_per_unit_per_group = 10",
            "max_rows_per_unit_per_group = 1.5",
            10,
            "Found 1.5",
        ),
        (
            "max_rows_per_unit_per_group = 10",
            "max_rows_per_unit_per_group = true",
            10,
            "max_rows_per_unit_per_group",
        ),
        ('unit = "patient"\n', "", 8, "without a `unit`"),
        ('"replace"', '"swap"', 8, "'add-remove' or 'replace'"),
        ("epsilon = 3", 'epsilon = "3"', 2, "must be a number. Found '3'"),
        ("epsilon = 3", "epsilon = 0", 2, "positive"),
        ("epsilon = 3", "epsilon = nan", 2, "finite"),
        ("delta = 1e-6", "delta = 1", 3, "below 1"),
        ("epsilon = 3\n", "", 1, "[budget] needs the key `epsilon`"),
        ('source = "wards.csv"\n', "", 21, "Table 'wards' needs the key `source`"),
        ("public = true", 'public = "yes"', 23, "public"),
        ("[tables.wards]", "[tables.VISITS]", 21, "are the same"),
    ],
)
def test_a_mistake_is_named_with_its_line(old, new, line, told):
    text = TEXT.replace(old, new, 1)
    assert text != TEXT
    with pytest.raises(InvalidPolicy) as refused:
        parse(text, "mine.toml")
    assert str(refused.value).startswith(f"mine.toml, line {line}: ")
    assert told in str(refused.value)


BUDGETS = """\
[budget]
epsilon = 3
delta = 3e-6
filters = ["pure", "gdp"]
schedule = { start = 2026-01-01, every = 30, epsilon = 0.1, times = 12 }

[units.employee]
epsilon = 2
delta = 1e-6

[analysts.ann]
epsilon = 1
delta = 1e-6

[analysts."*"]
epsilon = 0.5
delta = 1e-6
[analysts."*".schedule]
start = 2026-02-01
every = 7
epsilon = 0.01
times = 3

[ledger]
store = "spent.sqlite"
key = "mine.key"

[tables.visits]
source = "visits.parquet"
version = "march"
epsilon = 0.7
delta = 1e-7

[tables.staff]
source = "staff.parquet"
unit = "employee"
"""


def test_budgets_of_all_kinds_are_read_exactly():
    policy = parse(BUDGETS, policy_file=Path("folder/hospital.toml"))
    assert policy.filters == ("pure", "gdp")
    assert policy.budget.at(None).epsilon == Fraction(42, 10)
    assert policy.units["employee"] == Budget(2, 1e-6)
    assert policy.analysts["ann"] == Budget(1, 1e-6)
    assert policy.analysts["*"].at(None).epsilon == Fraction(53, 100)
    assert policy.tables["visits"].budget == Budget(0.7, 1e-7)
    assert policy.tables["staff"].budget is None
    assert policy.version(["visits", "staff"]) == "staff=;visits=march"
    assert policy.ledger == "folder/spent.sqlite"
    assert policy.ledger_key == "folder/mine.key"
    assert policy.with_schemas({}) == policy
    assert parse(TEXT).ledger is None


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ('"gdp"]', '"gpd"]', 4, "filters"),
        ('["pure", "gdp"]', '["gdp"]', 4, "`filters` must be"),
        (
            "every = 30",
            "evry = 30",
            5,
            "Unknown key `evry` of [budget.schedule]. Did you mean `every`?",
        ),
        ("every = 30", "every = 0", 5, "1 or more"),
        ("start = 2026-01-01", 'start = "soon"', 5, "start"),
        ("[units.employee]", "[units.employe]", 7, "No table has the unit"),
        ("epsilon = 2", "epsilon = -2", 8, "positive"),
        ("epsilon = 2", "epsilom = 2", 8, "Unknown key `epsilom` of unit 'employee'"),
        ("epsilon = 1\n", "", 11, "Analyst 'ann' needs the key `epsilon`"),
        ("delta = 1e-6\n[an", "[an", 15, "need a `delta`"),
        ("times = 3", "times = 0.5", 22, "times"),
        ("store", "sore", 25, "Unknown key `sore` of [ledger]. Did you mean `store`?"),
        ('"spent.sqlite"', '"postgresql://a:b@c/d"', 25, "holds a password"),
        ("epsilon = 0.7\n", "", 31, "Add `epsilon`"),
        ("epsilon = 0.7", "epsilon = 0", 31, "positive"),
        ('version = "march"', "version = 3", 30, "version"),
    ],
)
def test_a_mistake_about_budgets_is_named_with_its_line(old, new, line, told):
    text = BUDGETS.replace(old, new, 1)
    assert text != BUDGETS
    with pytest.raises(InvalidPolicy) as refused:
        parse(text, "mine.toml")
    assert str(refused.value).startswith(f"mine.toml, line {line}: ")
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[budget\n", "line 1"),
        ("", "needs the key `budget`"),
        ("[budget]\nepsilon = 1", "needs the key `tables`"),
        ("[budget]\nepsilon = 1\n[tables]", "at least one table"),
        ("a = 1\na = 2", "not valid TOML"),
    ],
)
def test_what_is_no_policy_is_refused(text, told):
    with pytest.raises(InvalidPolicy) as refused:
        parse(text)
    assert told in str(refused.value)


def test_sources_are_beside_the_file(tmp_path):
    file = tmp_path / "deniable.toml"
    file.write_text(TEXT, encoding="utf-8")
    assert load(file).tables["visits"].source == str(tmp_path / "visits.parquet")


def test_a_file_that_is_absent_or_not_text_is_refused(tmp_path):
    with pytest.raises(InvalidPolicy, match="deniable init"):
        load(tmp_path / "absent.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(InvalidPolicy, match="cannot be read"):
        load(tmp_path / "bytes.toml")


@pytest.mark.parametrize("written", ["1e99999999", "1e-99999999", "1e-400", "1e400"])
def test_an_epsilon_of_no_use_names_its_line_at_once(written):
    with pytest.raises(InvalidPolicy, match=r"toml, line 2: `epsilon` is out of any useful"):
        parse(TEXT.replace("epsilon = 3", f"epsilon = {written}"))


def test_a_number_that_python_does_not_read_is_refused():
    with pytest.raises(InvalidPolicy, match="number with thousands of digits"):
        parse(TEXT.replace("epsilon = 3", f"epsilon = {'1' * 5000}"))


def test_the_mark_that_editors_put_in_front_is_no_part_of_a_policy(tmp_path):
    file = tmp_path / "marked.toml"
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    assert load(str(file)).epsilon == 3


def test_what_names_no_file_is_refused():
    with pytest.raises(InvalidPolicy, match=r"must be the path of a TOML file. Found 5"):
        load(5)


def test_a_ledger_of_no_known_kind_names_its_line():
    with pytest.raises(InvalidPolicy, match=r"line 2: .*begins with postgresql://"):
        parse('[ledger]\nstore = "mysql://x"\n' + TEXT)


BUDGET = "[budget]\nepsilon = 1\n[tables.data]\nsource = 'data.csv'\n"


def test_a_policy_may_name_its_format():
    assert parse(f"format = 1\n{BUDGET}") == parse(BUDGET)


@pytest.mark.parametrize("version", ["2", "0", "1.0", "true", "'1'", "[1]"])
def test_a_policy_of_another_format_is_refused_before_its_keys_are_read(version):
    """A later format may have keys that this version does not know."""
    text = f"format = {version}\nnew_key = 3\n{BUDGET}"
    with pytest.raises(InvalidPolicy, match=r"line 1: .* format 1\. Found .* newer version"):
        parse(text)
