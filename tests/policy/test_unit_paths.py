import pytest

import deniable as dp
from deniable.policy import Policy, Table
from deniable.policy.file import parse
from deniable.policy.unit_paths import UnitPath, path_tables

ORDERS = Table("orders", unit="customer", unit_column="buyer", unique=["id"])
ITEMS = Table("items", unit="customer", unit_path="order_id -> orders.id", unique=["item_id"])
NOTES = Table("notes", unit="customer", unit_path="item_id -> items.item_id")
TOML = """
[budget]
epsilon = 1
[tables.orders]
source = "orders.csv"
unit = "customer"
unit_column = "buyer"
unique = ["id"]
[tables.items]
source = "items.csv"
unit = "customer"
unit_path = "order_id -> orders.id"
"""


def test_a_path_is_followed_to_its_end():
    policy = Policy([NOTES, ITEMS, ORDERS], epsilon=1)
    along = path_tables(policy.tables["notes"], policy.tables)
    assert [table.name for table in along] == ["notes", "items", "orders"]
    assert [table.id_column for table in along] == [None, None, "buyer"]
    assert ORDERS.path is None


def test_a_policy_file_says_the_same():
    tables = parse(TOML).tables
    assert tables["orders"].unit_column == "buyer"
    assert tables["orders"].unique == ("id",)
    assert tables["items"].path == UnitPath("order_id", "orders", "id")


def test_a_column_that_is_called_as_the_unit_needs_no_second_name():
    assert Table("a", unit="x", unit_column="x") == Table("a", unit="x")


@pytest.mark.parametrize("text", ["", "order_id", "order_id -> orders", "-> orders.id", 3])
def test_a_malformed_path_is_refused_with_an_example(text):
    with pytest.raises(dp.InvalidPolicy, match=r"order_id -> orders\.order_id"):
        Table("items", unit="customer", unit_path=text)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unit_column": "buyer"}, "no `unit`"),
        ({"unit_path": "a -> b.c"}, "no `unit`"),
        ({"unit": "x", "unit_column": "b", "unit_path": "a -> b.c"}, "Keep the column"),
        ({"unit": "x", "unit_column": ""}, "name of a column"),
        ({"unit": "x", "unique": [3]}, "list of columns"),
    ],
)
def test_contradictions_in_one_table_are_refused(options, words):
    with pytest.raises(dp.InvalidPolicy, match=words):
        Table("items", **options)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (Table("elsewhere"), "leads to a table 'orders'"),
        (Table("orders", unit="nurse", unique=["id"]), "whose unit is not customer"),
        (Table("orders", public=True, unique=["id"]), "whose unit is not customer"),
        (Table("orders", unit="customer"), r'unique = \["id"\]'),
        (Table("orders", unit="customer", unique=["id"], neighbors="replace"), "`neighbors`"),
        (Table("orders", unit="customer", unit_path="x -> items.item_id"), "no end within"),
    ],
)
def test_a_path_that_leads_to_no_unit_is_refused_where_it_stands(target, words):
    with pytest.raises(dp.InvalidPolicy, match=words) as refusal:
        Policy([ITEMS, target], epsilon=1)
    assert refusal.value.where == ("tables", "items", "unit_path")
