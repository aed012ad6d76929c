"""Units of other names, and units at the end of paths: on DuckDB, with real sources."""

import contextlib

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.handover.unit_columns import add_unit_columns
from deniable.engines.ibis.engine import Ibis
from deniable.engines.opening import read_schemas
from deniable.engines.rehearsal import open_rehearsal
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from deniable.release.certificate.kernel_check import KernelCheck
from tests.engines.neighbors import SALT, excess, run

LIMITS = {"max_groups_per_unit": 2, "max_rows_per_unit_per_group": 3}
QUESTIONS = [
    "SELECT COUNT(*), SUM(price) FROM items",
    "SELECT kind, COUNT(DISTINCT customer) FROM items GROUP BY kind",
    "SELECT channel, SUM(price) FROM items JOIN orders ON order_id = id GROUP BY channel",
    "SELECT COUNT(*) FROM orders o LEFT JOIN items i ON o.id = i.order_id",
    "SELECT AVG(t) FROM (SELECT order_id, SUM(price) AS t FROM items GROUP BY order_id)",
    "SELECT AVG(t) FROM (SELECT buyer, COUNT(*) AS t FROM orders GROUP BY buyer)",
    "SELECT SUM(stars) FROM notes n JOIN items i ON n.item_id = i.item_id WHERE price > 1",
    "SELECT sex, COUNT(*) FROM people p JOIN orders o ON p.id = o.buyer GROUP BY sex",
    "SELECT COUNT(*) FROM orders o WHERE EXISTS "
    "(SELECT 1 FROM items i WHERE i.order_id = o.id AND price > 2)",
    "SELECT COUNT(*) FROM people WHERE id IN (SELECT buyer FROM orders WHERE channel = 'web')",
]


def shop(rows, neighbors="add-remove"):
    """A policy over rows of the four tables."""
    alike = {"unit": "customer", "neighbors": neighbors}
    integers = {"id", "buyer", "order_id", "item_id", "price", "stars"}

    def table(name):
        columns = COLUMNS[name]
        values = list(zip(*rows[name], strict=True)) or [()] * len(columns)
        return pa.table(
            {
                column: pa.array(cells, pa.int64() if column in integers else pa.string())
                for column, cells in zip(columns, values, strict=True)
            }
        )

    return Policy(
        [
            Table.declare(
                "people", table("people"), unit_column="id", unique=["id"], **alike,
                keys={"sex": ["f", "m"]},
            ),
            Table.declare(
                "orders", table("orders"), unit_column="buyer", unique=["id"], **alike,
                **LIMITS, keys={"channel": ["web", "shop"]},
            ),
            Table.declare(
                "items", table("items"), unit_path="order_id -> orders.id", **alike, **LIMITS,
                unique=["item_id"], bounds={"price": (0, 9)}, keys={"kind": ["a", "b"]},
            ),
            Table.declare(
                "notes", table("notes"), unit_path="item_id -> items.item_id", **alike,
                **LIMITS, bounds={"stars": (0, 5)},
            ),
        ],
        epsilon=10**6,
        delta=0.1,
    )  # fmt: skip


COLUMNS = {
    "people": ["id", "sex"],
    "orders": ["id", "buyer", "channel"],
    "items": ["item_id", "order_id", "price", "kind"],
    "notes": ["item_id", "stars"],
}
ROWS = {
    "people": [(1, "f"), (2, "m"), (3, "f")],
    "orders": [
        (10, 1, "web"),
        (11, 1, "shop"),
        (12, 2, "web"),
        (13, None, "web"),
        (None, 2, ""),
    ],
    "items": [
        (1, 10, 1, "a"),
        (2, 10, 2, "b"),
        (3, 12, 3, "a"),
        (4, 99, 9, "a"),
        (5, 13, 9, "a"),
    ],
    "notes": [(1, 5), (3, 1), (4, 2), (5, 3), (77, 4), (None, 5)],
}


def opened(policy):
    engine = DuckDB.open(policy)
    engine._salt = SALT
    return engine


def known(policy, engine):
    return policy.with_schemas({name: engine.schema(name) for name in policy.tables})


def test_each_row_has_the_unit_that_its_path_leads_to():
    with opened(shop(ROWS)) as engine:
        rows = engine._connect().execute
        assert rows("SELECT id, customer FROM people").fetchall() == [(1, 1), (2, 2), (3, 3)]
        pairs = rows("SELECT item_id, customer FROM items ORDER BY 1").fetchall()
        assert pairs == [(1, 1), (2, 1), (3, 2), (5, None)]  # the path of 4 ends nowhere
        pairs = rows("SELECT stars, customer FROM notes ORDER BY 1").fetchall()
        assert pairs == [(1, 2), (3, None), (5, 1)]


@pytest.mark.parametrize("table", ["people", "orders", "items"])
def test_a_doubled_key_is_refused_when_the_data_is_opened(table):
    doubled = {**ROWS, table: [*ROWS[table], ROWS[table][0]]}
    with pytest.raises(dp.InvalidPolicy, match="do not pass it on") as refusal:
        opened(shop(doubled))
    assert refusal.value.where == ("tables", table, "unique")


def test_two_missing_keys_are_no_doubled_key():
    missing = {**ROWS, "orders": [*ROWS["orders"], (None, 1, "web")]}
    with opened(shop(missing)) as engine:
        assert len(engine.schema("orders")) == 4


def test_schemas_show_the_unit_without_reading_rows():
    policy = shop(ROWS)
    with opened(policy) as engine:
        assert read_schemas(policy)["notes"] == engine.schema("notes")
    with open_rehearsal(policy) as engine:
        assert engine.schema("items")["customer"] == "BIGINT"


@pytest.mark.parametrize(
    ("schemas", "words"),
    [
        ({"orders": {"id": "BIGINT", "buyer": "BIGINT", "customer": "BIGINT"}}, "elsewhere"),
        ({"orders": {"id": "VARCHAR", "buyer": "BIGINT"}}, "Both must be integers"),
        ({"orders": {"id": "HUGEINT", "buyer": "BIGINT"}}, "at most 64 bits"),
        ({"orders": {"id": "UHUGEINT", "buyer": "BIGINT"}}, "at most 64 bits"),
        ({"orders": {"id": "DECIMAL(38,0)", "buyer": "BIGINT"}}, "at most 64 bits"),
        ({"orders": {"id": "BIGINT"}}, "has no column 'buyer'"),
    ],
)
def test_columns_that_do_not_fit_are_refused(schemas, words):
    orders = Table("orders", unit="customer", unit_column="buyer", unique=["id"])
    items = Table("items", unit="customer", unit_path="order_id -> orders.id")
    policy = Policy([orders, items], epsilon=1)
    with pytest.raises(dp.InvalidPolicy, match=words):
        add_unit_columns(policy, {"items": {"order_id": "BIGINT"}, **schemas})


def test_other_engines_say_that_they_need_a_view():
    table = Table("orders", unit="customer", unit_column="buyer")
    with pytest.raises(dp.InvalidPolicy, match="Make a view in the database"):
        Ibis.open(Policy([table], epsilon=1))


def draw_rows(draw, people, others):
    """Rows of some people, with keys from `others` on; some lead nowhere."""
    orders = [
        (others + i, int(draw.choice(people)), str(draw.choice(["web", "shop"])))
        for i in range(int(draw.integers(0, 8)))
    ]
    keys = [order[0] for order in orders] + [10**6]
    items = [
        (
            others + i,
            int(draw.choice(keys)),
            int(draw.integers(-3, 20)),
            str(draw.choice(["a", "b"])),
        )
        for i in range(int(draw.integers(0, 12)))
    ]
    keys = [item[0] for item in items] + [10**6]
    notes = [
        (int(draw.choice(keys)), int(draw.integers(0, 9)))
        for _ in range(int(draw.integers(0, 8)))
    ]
    known_people = [(person, str(draw.choice(["f", "m"]))) for person in people]
    return {"people": known_people, "orders": orders, "items": items, "notes": notes}


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_one_customer_moves_no_integer_further_than_declared(neighbors, size):
    count = size(small=12, full=10_000, what="neighbouring shops")
    draw = np.random.default_rng(20)
    policy = shop(ROWS, neighbors)
    with opened(policy) as engine:
        completed = known(policy, engine)
    plans = [plan(parse(sql), completed, epsilon=1000) for sql in QUESTIONS]
    for query_plan in plans:
        KernelCheck.of(query_plan, completed)
    for _ in range(count):
        others = draw_rows(draw, [2, 3, 4], 1000)
        sides = [draw_rows(draw, [1], 2000) if neighbors == "replace" else {}]
        sides.append(draw_rows(draw, [1], 3000))
        pair = [
            {name: [*others[name], *side.get(name, [])] for name in COLUMNS} for side in sides
        ]
        with contextlib.ExitStack() as stack:
            engines = [stack.enter_context(opened(shop(rows, neighbors))) for rows in pair]
            for sql, query_plan in zip(QUESTIONS, plans, strict=True):
                left, right = (run(engine, query_plan) for engine in engines)
                assert not isinstance(left, str), sql
                assert not excess(query_plan, left, right), (sql, pair)
