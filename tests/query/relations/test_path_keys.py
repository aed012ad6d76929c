"""A join by a unique key skips its row limit only if keys are compared as they are stored."""

import pytest

from deniable.policy import Column, Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan

QUESTION = "SELECT COUNT(*) FROM items JOIN orders ON items.order_id = orders.id"


def write_join(**key):
    """The statement of a join of items and orders whose keys are declared like this."""
    unit = {"customer": Column("customer").with_type("customer", "BIGINT")}
    tables = [
        Table(
            "orders",
            unit="customer",
            unique=["id"],
            columns={"id": Column("id", **key).with_type("id", "BIGINT"), **unit},
        ),
        Table(
            "items",
            unit="customer",
            unit_path="order_id -> orders.id",
            columns={
                "order_id": Column("order_id", **key).with_type("order_id", "BIGINT"),
                **unit,
            },
        ),
    ]
    return plan(parse(QUESTION), Policy(tables, epsilon=1), epsilon=1).engine_sql


def test_keys_that_are_compared_as_stored_meet_one_row():
    assert write_join().count("ROW_NUMBER") < write_join(bounds=(0, 9)).count("ROW_NUMBER")


@pytest.mark.parametrize("bounds", [(0, 9), (-5, 10**6)])
def test_clipped_keys_keep_the_limit(bounds):
    assert "ROW_NUMBER" in write_join(bounds=bounds)
