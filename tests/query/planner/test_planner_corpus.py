"""Analysts' questions beside plain DuckDB's answers: no difference goes unnoticed.

`tests/query/corpus` holds the questions. A line before a question may say more about it:
`-- refused: words` (we refuse it, and say these words), `-- about 3` (how far off it may be),
`-- plain: SELECT ...` (the same question in DuckDB's own words).
"""

import datetime
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.query.oracle import open_oracle

CORPUS = Path(__file__).parents[1] / "corpus"
DOMAINS = sorted(path.stem for path in CORPUS.glob("*.sql"))
ROWS, UNITS = 3000, 900


def read(domain: str) -> list[tuple[str, dict[str, str]]]:
    """The questions of a file, and what is said about each."""
    questions = []
    for text in (CORPUS / f"{domain}.sql").read_text().split(";\n"):
        lines = text.strip().split("\n")
        told = [line.removeprefix("-- ") for line in lines if line.startswith("-- ")]
        options = {(words := re.split(r":? ", line, maxsplit=1))[0]: words[1] for line in told}
        sql = "\n".join(line for line in lines if not line.startswith("-- "))
        if sql:
            questions.append((sql, options))
    return questions


QUESTIONS = {
    f"{domain} {place + 1}": (domain, *question)
    for domain in DOMAINS
    for place, question in enumerate(read(domain))
}


def make_tables(domain: str) -> dict[str, pa.Table]:
    draw = np.random.default_rng(20)
    unit = np.concatenate([np.arange(UNITS), draw.integers(0, UNITS, ROWS - UNITS)])

    def one_of(*values, p=None, rows=ROWS):
        return draw.choice(np.array(values, dtype=object), rows, p=p).tolist()

    def moments(start, minutes, rows=ROWS):
        first = datetime.datetime.fromisoformat(start)
        return [
            first + datetime.timedelta(minutes=int(m)) for m in draw.integers(0, minutes, rows)
        ]

    def decimals(low, high, places=2):
        return np.round(draw.uniform(low, high, ROWS), places)

    if domain == "hospital":
        admitted = moments("2026-01-01", 60 * 24 * 40)
        stays = draw.integers(1, 60 * 24 * 6, ROWS)
        left = [
            a + datetime.timedelta(minutes=int(s)) for a, s in zip(admitted, stays, strict=True)
        ]
        return {
            "visits": pa.table(
                {
                    "patient": unit,
                    "ward": one_of("A", "B", "C"),
                    "admitted": pa.array(admitted, pa.timestamp("us")),
                    "discharged": pa.array(left, pa.timestamp("us")),
                    "cost": decimals(0, 1000),
                    "diagnosis": one_of("asthma", "flu", "burn", "apex", None),
                    "urgent": one_of(True, False),
                }
            ),
            "patients": pa.table(
                {
                    "patient": np.arange(UNITS + 100),
                    "sex": one_of("f", "m", rows=UNITS + 100),
                    "birth_year": draw.integers(1950, 1970, UNITS + 100),
                }
            ),
            "wards": pa.table({"ward": ["A", "B", "C"], "floor": [1, 2, 2], "beds": [9, 8, 7]}),
        }
    if domain == "retail":
        return {
            "orders": pa.table(
                {
                    "customer": unit,
                    "order_id": np.arange(ROWS),
                    "product": one_of("to1", "to2", "fo1", "ga1"),
                    "category": one_of("toys", "food", "garden"),
                    "channel": one_of("web", "shop", "phone", p=[0.6, 0.3, 0.1]),
                    "quantity": draw.integers(1, 6, ROWS),
                    "price": decimals(1, 100),
                    "ordered": pa.array(
                        moments("2026-02-02", 60 * 24 * 50), pa.timestamp("us")
                    ),
                }
            ),
            "products": pa.table(
                {
                    "product": ["to1", "to2", "fo1", "ga1"],
                    "brand": ["acme", "zip", "acme", "bio"],
                }
            ),
        }
    if domain == "web":
        return {
            "hits": pa.table(
                {
                    "visitor": unit,
                    "url": one_of("/", "/shop", "/shop/pay", "/blog/a", "/blog/b", "/about"),
                    "status": one_of(200, 301, 404, 500, p=[0.7, 0.1, 0.1, 0.1]),
                    "ms": draw.integers(10, 200, ROWS),
                    "bytes": draw.integers(0, 100_000, ROWS),
                    "seen": pa.array(moments("2026-03-01", 60 * 5), pa.timestamp("us")),
                    "country": one_of("DE", "FR", "DK"),
                    "browser": one_of("fox", "chrome", "other"),
                }
            )
        }
    if domain == "staff":
        hired = [datetime.date(2015 + i % 10, 1 + i % 12, 1 + i % 28) for i in range(UNITS)]
        return {
            "staff": pa.table(
                {
                    "employee": np.arange(UNITS),
                    "dept": one_of("ops", "hr", "it", "sales", rows=UNITS),
                    "sex": one_of("f", "m", rows=UNITS),
                    "age": draw.integers(20, 65, UNITS),
                    "salary": draw.integers(1500, 9000, UNITS),
                    "rating": pa.array(one_of(1, 2, 3, 4, 5, None, rows=UNITS), pa.int64()),
                    "hired": pa.array(hired),
                    "manager": one_of(True, False, rows=UNITS),
                }
            )
        }
    if domain == "shop":
        return {
            "customers": pa.table(
                {"id": np.arange(UNITS), "sex": one_of("f", "m", rows=UNITS)}
            ),
            "orders": pa.table(
                {
                    "order_id": np.arange(1200),
                    "customer_id": draw.integers(0, UNITS - 50, 1200),
                    "channel": one_of("web", "shop", rows=1200),
                }
            ),
            "items": pa.table(
                {
                    "item_id": np.arange(ROWS),
                    "order_id": draw.integers(0, 1200, ROWS),
                    "kind": one_of("a", "b", "c"),
                    "price": draw.integers(1, 50, ROWS),
                    "quantity": draw.integers(1, 4, ROWS),
                }
            ),
            "notes": pa.table(
                {"item_id": draw.integers(0, ROWS, 700), "stars": draw.integers(1, 6, 700)}
            ),
        }
    return {
        "trips": pa.table(
            {
                "rider": unit,
                "start_zone": one_of("z1", "z2", "z3", "z4"),
                "end_zone": one_of("z1", "z2", "z3", "z4"),
                "mode": one_of("car", "bus", "bike"),
                "started": pa.array(moments("2026-05-01", 60 * 24 * 4), pa.timestamp("us")),
                "minutes": draw.integers(1, 90, ROWS),
                "km": decimals(0, 20, 1),
            }
        ),
        "zones": pa.table(
            {"zone": ["z1", "z2", "z3", "z4"], "borough": ["north", "north", "south", "east"]}
        ),
    }


LIMITS = 'unit = "{}"\nmax_groups_per_unit = 60\nmax_rows_per_unit_per_group = 60'
POLICIES = {
    "visits": (LIMITS.format("patient"), "cost = { bounds = [0, 1000], step = 0.01 }"),
    "patients": (LIMITS.format("patient"), "birth_year = { bounds = [1950, 1970] }"),
    "wards": ("public = true", "floor = { bounds = [0, 9] }"),
    "orders": (
        LIMITS.format("customer"),
        "quantity = { bounds = [0, 9] }\nprice = { bounds = [0, 100], step = 0.01 }\n"
        "order_id = { bounds = [0, 5000] }",
    ),
    "products": ("public = true", ""),
    "hits": (
        LIMITS.format("visitor"),
        "ms = { bounds = [0, 200] }\nbytes = { bounds = [0, 100000] }\n"
        "status = { bounds = [100, 599] }",
    ),
    "staff": (
        LIMITS.format("employee"),
        "age = { bounds = [15, 80] }\nsalary = { bounds = [0, 9000] }\n"
        "rating = { bounds = [1, 5] }",
    ),
    "trips": (
        LIMITS.format("rider"),
        "minutes = { bounds = [0, 100] }\nkm = { bounds = [0, 20], step = 0.1 }",
    ),
    "zones": ("public = true", ""),
    "customers": (LIMITS.format("customer") + '\nunit_column = "id"\nunique = ["id"]', ""),
    "items": (
        LIMITS.format("customer")
        + '\nunit_path = "order_id -> orders.order_id"\nunique = ["item_id"]',
        "price = { bounds = [0, 50] }\nquantity = { bounds = [0, 5] }",
    ),
    "notes": (
        LIMITS.format("customer") + '\nunit_path = "item_id -> items.item_id"',
        "stars = { bounds = [0, 5] }",
    ),
}
SHOP_ORDERS = LIMITS.format("customer") + '\nunit_column = "customer_id"\nunique = ["order_id"]'


@pytest.fixture(scope="module")
def oracles(tmp_path_factory):
    opened = {}
    for domain in DOMAINS:
        tables = make_tables(domain)
        limits = {name: POLICIES[name][0] for name in tables}
        columns = {name: POLICIES[name][1] for name in tables}
        if domain == "shop":
            limits["orders"], columns["orders"] = SHOP_ORDERS, ""
        opened[domain] = open_oracle(tmp_path_factory.mktemp(domain), tables, columns, limits)
        if domain in ("hospital", "staff"):
            opened[domain].database.execute("CREATE SCHEMA public")
            for name in tables:
                opened[domain].database.execute(
                    f"CREATE VIEW public.{name} AS FROM main.{name}"
                )
    return opened


@pytest.mark.filterwarnings("ignore::deniable.AnswerWarning")  # spans of time without limits
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_answer_is_duckdbs(oracles, name):
    domain, sql, told = QUESTIONS[name]
    verdict = oracles[domain].compare(
        sql, about=float(told.get("about", 1e-9)), plain=told.get("plain")
    )
    if "refused" in told:
        assert told["refused"] in verdict.refusal, verdict
    else:
        assert verdict.same, verdict


def test_most_questions_are_answered():
    refused = sum("refused" in told for _, _, told in QUESTIONS.values())
    assert len(QUESTIONS) >= 300
    assert refused <= 0.1 * len(QUESTIONS)
