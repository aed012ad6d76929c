"""Whatever an engine returns, an answer follows: no value leads to an error.

Plans of every kind get columns of every Arrow type, with NULL, NaN, infinities, integers beyond
128 bits, negative counts, cells outside the grid, keys that nobody declared and text that is
not UTF-8, in any number of rows and batches and in any order.
"""

import datetime
import json
import math
import random
import re
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest

import deniable as dp
from deniable.engines.handover.plan_runner import PlanRunner
from deniable.engines.handover.written_plan import WrittenPlan, WrittenStatement
from deniable.errors import EngineFailed, InvalidQuery
from deniable.ledger import MemoryLedger
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.plan.plan import Distances
from deniable.query.planner.planner import plan
from deniable.release.answer import choices, formatting, record
from deniable.release.answer.answer_table import Answer, column_names
from deniable.release.public_session import Session
from deniable.release.session import engine_run

SCHEMA = {
    **{"p": "BIGINT", "x": "DOUBLE", "y": "BIGINT", "k": "VARCHAR", "f": "BOOLEAN"},
    **{"g": "INTEGER", "s": "DOUBLE", "w": "VARCHAR", "d": "DATE", "h": "BIGINT"},
}
DECLARED = {
    "bounds": {"x": (0, 100), "y": (-50, 50), "g": (0, 40), "s": (0, 5)},
    "step": {"x": 0.5, "s": 0.1},
    "keys": {"k": ["a", "b", ""], "d": "private", "w": "private"},
}
MANY = ", ".join(f"QUANTILE(x, {i / 100})" for i in range(4, 40))
QUESTIONS = [
    "COUNT(*), SUM(x), AVG(y), VARIANCE(x) FROM t",
    "CORR(x, y), REGR_SLOPE(x, y), COVAR_POP(y, x) FROM t",
    "COUNT(*) / COUNT(x), POWER(SUM(y), 3), SQRT(AVG(x)), 1 / SUM(y) FROM t",
    "HISTOGRAM(x, 4), HISTOGRAM(k) AS b, COUNT(DISTINCT k), COUNT(DISTINCT w) FROM t",
    "MEDIAN(x), MIN(y), MAX(y), QUANTILE(x, 0.25) FROM t",
    "QUANTILE(x, 0.1), QUANTILE(x, 0.2), QUANTILE(x, 0.5), QUANTILE(x, 0.7) FROM t",
    f"{MANY} FROM t",
    "MODE(k), TOP_K(k, 2), MODE(f) AS c FROM t",
    "k, COUNT(*) AS n, AVG(x) FROM t GROUP BY k HAVING COUNT(*) > 3 ORDER BY n DESC LIMIT 2",
    "k, f, SUM(y) AS n, MEDIAN(x) FROM t GROUP BY k, f ORDER BY k DESC, f",
    "g, COUNT(*) AS n, VARIANCE(y) FROM t GROUP BY g HAVING g > 3",
    "s, COUNT(*) AS n, TOP_K(k, 2) FROM t GROUP BY s ORDER BY s",
    "w, COUNT(*) AS n, AVG(x), MEDIAN(y) FROM t GROUP BY w ORDER BY w",
    "h, COUNT(*) AS n, MODE(k) FROM t GROUP BY h HAVING h <> 3 ORDER BY h DESC",
    "d, COUNT(DISTINCT p) AS n FROM t GROUP BY d ORDER BY d",
    "d, w, COUNT(*) AS n, COUNT(DISTINCT k) FROM t GROUP BY d, w HAVING d = d AND w >= w",
    "f, COUNT(*) AS n, QUANTILE(x, 0.1), MODE(k) FROM t GROUP BY f",
]
PEOPLE = {"unit": "p", "max_groups_per_unit": 3, "max_rows_per_unit_per_group": 2}
WHOLE = [0, 1, 2, 3, 5, 40, -1, 201, 10**6, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), None]
WIDE = [*WHOLE, 10**37, -(10**37), 10**75, -(10**75)]
REAL = [0.0, -0.0, 1.5, 3.0, 1e300, -1e300, math.nan, math.inf, -math.inf, 5e-324, None]
TEXT = ["a", "b", "", "A", "\x00", "é", "\U0001f600", "9" * 50, "2020-02-29", "0044-03-15 (BC)"]
TEXT += ["-2000-01-01", "99999-12-31", "x" * 5000, "</td>", "\u202e\x1b[2J", "nan", None]
BYTES = [b"a", b"", b"\xff\xfe", b"\xed\xa0\x80", b"\xc3", None]


def not_utf8(values, offsets, buffer):
    """An array of text whose bytes were never checked."""
    array = pa.array(values, buffer)
    return pa.Array.from_buffers(offsets, len(array), array.buffers())


def fitting(draw, values, rows, least, most):
    kept = [value for value in values if value is None or least <= value <= most]
    return draw.choices(kept, k=rows)


def hostile_column(draw: random.Random, rows: int) -> pa.Array:
    """A column of some type, with values that nobody should meet in it."""
    decimals = [None if n is None else Decimal(n) for n in WIDE]
    narrow = [n for n in decimals if n is None or abs(n) < 10**38]
    days = [datetime.date.min, datetime.date.max, datetime.date(2020, 2, 29), None]
    return draw.choice(
        [
            *[lambda: pa.array(fitting(draw, WHOLE, rows, -(2**63), 2**63 - 1), pa.int64())]
            * 4,
            *[lambda: pa.array(draw.choices(narrow, k=rows), pa.decimal128(38, 0))] * 3,
            lambda: pa.array(fitting(draw, WHOLE, rows, -128, 127), pa.int8()),
            lambda: pa.array(draw.choices([2**64 - 1, 0, 7, None], k=rows), pa.uint64()),
            lambda: pa.array(draw.choices(REAL, k=rows), pa.float64()),
            lambda: pa.array(draw.choices(decimals, k=rows), pa.decimal256(76, 0)),
            lambda: pa.array(
                draw.choices([Decimal("2.50"), None], k=rows), pa.decimal128(9, 2)
            ),
            lambda: pa.array(draw.choices([True, False, None], k=rows), pa.bool_()),
            lambda: pa.nulls(rows),
            *[lambda: pa.array(draw.choices(TEXT, k=rows), pa.string())] * 2,
            lambda: pa.array(draw.choices(TEXT, k=rows), pa.large_string()),
            lambda: pa.array(draw.choices(TEXT, k=rows), pa.string()).dictionary_encode(),
            lambda: pa.array(draw.choices(BYTES, k=rows), pa.binary()),
            lambda: not_utf8(draw.choices(BYTES, k=rows), pa.string(), pa.binary()),
            lambda: not_utf8(draw.choices(BYTES, k=rows), pa.large_string(), pa.large_binary()),
            lambda: pa.array(draw.choices(days, k=rows), pa.date32()),
            lambda: pa.array(draw.choices(WHOLE[:8], k=rows), pa.timestamp("us", "UTC")),
            lambda: pa.array(draw.choices([[1], [], None], k=rows), pa.list_(pa.int8())),
        ]
    )()


class HostileEngine(PlanRunner):
    """Answers each statement with the columns that it should have, and anything in them."""

    name = "hostile"

    def __init__(self, draw: random.Random):
        super().__init__({"t": None})
        self.draw, self.plan = draw, None

    def close(self):
        pass

    def _recover(self):
        pass

    def _columns(self, table):
        return SCHEMA

    def prepare(self, plan):
        self.plan = plan
        return super().prepare(plan)

    def _run_statement(self, statement):
        names = [f"k{i}" for i in range(len(self.plan.keys))]
        if statement.kind == "groups":
            names += (
                self.plan.features
                if self.plan.thresholding is None
                else (
                    "units",
                    *self.plan.features,
                )
            )
        else:
            names += ["cell", "n"]
        rows = self.draw.choice([0, 1, 1, 2, 7, 30])
        table = pa.table({name: hostile_column(self.draw, rows) for name in names})
        yield from table.to_batches(self.draw.choice([1, 4, 100])) or [
            pa.RecordBatch.from_pylist([], schema=table.schema)
        ]


def run(engine, plan):
    return engine_run.run(engine, engine.prepare(plan))


def policy(**limits) -> Policy:
    table = Table.declare("t", **DECLARED, **limits).with_schema(SCHEMA)
    return Policy([table], epsilon=10**9, delta=0.9)


def plans(policies=3) -> list:
    prepared = []
    for limits in ({}, PEOPLE, {**PEOPLE, "neighbors": "replace"})[:policies]:
        for question in QUESTIONS:
            other = (
                len(prepared) % 2 == 0 and "GROUP BY" in question and "DISTINCT" not in question
            )
            asked_plan = plan(
                parse(f"SELECT {question}"),
                policy(**limits),
                epsilon=20,
                delta=1e-3,
                other=other,
            )
            prepared.append(asked_plan)
    return prepared


def check_form(query_plan, answer):
    """The answer has the plan's columns and can be printed, signed, stored and read."""
    assert isinstance(answer, Answer), query_plan.statements
    table = answer.table
    listed = ((name, margin, *(ends or ())) for name, margin, ends in column_names(query_plan))
    expected = [name for names in listed for name in names if name is not None]
    assert table.column_names == expected
    if (
        query_plan.thresholding is None
        and query_plan.having is None
        and query_plan.limit is None
    ):
        groups = math.prod(len(key.values) for key in query_plan.keys)
        assert table.num_rows == groups + query_plan.other
    units = {output.name: output.margin_in for output in query_plan.outputs if output.margin_in}
    formatting.text_table(*formatting.format_cells(table, answer.margins, units=units), 0)
    json.dumps(record.rows(table), allow_nan=False)
    assert record.from_bytes(record.to_bytes(answer)).table.equals(table)
    assert record.fingerprint(table)


def test_whatever_an_engine_returns_an_answer_follows(size, monkeypatch):
    monkeypatch.setattr(choices, "MOST_IN_A_CELL", 1000)  # to be fast
    draw = random.Random(14)
    count = size(small=34, full=10_000, what="hostile aggregates")
    prepared = plans(1 if count < 100 else 3)
    for i in range(count):
        query_plan = prepared[i % len(prepared)]
        check_form(query_plan, run(HostileEngine(draw), query_plan))


def test_the_door_settles_and_signs_whatever_an_engine_returns(size, monkeypatch):
    monkeypatch.setattr(choices, "MOST_IN_A_CELL", 1000)
    draw = random.Random(15)
    ledger = MemoryLedger(epsilon=10**9, delta=0.99)
    for i in range(size(small=3, full=500, what="hostile aggregates through a session")):
        session = Session(policy(), HostileEngine(draw), ledger)
        question = QUESTIONS[i % len(QUESTIONS)]
        answer = session.sql(f"SELECT {question}", epsilon=20, delta=1e-6, fresh=True)
        check_form(answer.plan, answer.answer)
        assert str(answer)
        assert answer._repr_html_()
        assert json.loads(answer.to_json())["certificate"] is not None


def test_a_missing_column_is_the_one_error():
    """The form of a result depends on the statement and not on a row, so it is not mended."""

    class Forgetful(HostileEngine):
        def _run_statement(self, statement):
            yield pa.record_batch({"k0": [1]})

    query_plan = plan(parse("SELECT COUNT(*) FROM t"), policy(), epsilon=1)
    failure = run(Forgetful(random.Random(1)), query_plan)
    assert isinstance(failure, EngineFailed)
    assert str(failure) == str(EngineFailed(failure.reference))


@pytest.mark.parametrize("values", [[2**63 - 1] * 3, [10**37, 10**37], [-(2**63)]])
def test_sums_far_from_zero_are_cut_and_shown(values):
    class Large(HostileEngine):
        def _run_statement(self, statement):
            yield pa.record_batch(
                {
                    name: pa.array([Decimal(value) for value in values], pa.decimal128(38, 0))
                    for name in self.plan.features
                }
            )

    query_plan = plan(parse("SELECT SUM(y) AS s FROM t"), policy(), epsilon=1)
    answer = run(Large(random.Random(1)), query_plan)
    check_form(query_plan, answer)
    assert abs(answer.table["s"][0].as_py()) > 2**60


def ask(rows, sql, **declared):
    session = dp.protect(pa.table(rows), epsilon=10**9, delta=0.5, **declared)
    return session.sql(f"SELECT {sql}", epsilon=10**4, delta=1e-6)


def test_keys_that_no_double_holds_are_sorted_and_compared():
    """One row decides whether there is such a key, and so it must not decide more."""
    rows = {"g": pa.array([2**60 + 1] * 50 + [7] * 50, pa.int64())}
    answer = ask(rows, "g, COUNT(*) AS n FROM data GROUP BY g HAVING g > 1 ORDER BY g DESC")
    assert answer.to_arrow()["g"].to_pylist() == [2**60 + 1, 7]


def test_keys_that_are_missing_are_compared():
    rows = {"k": [None] * 50 + ["a"] * 50, "w": ["b"] * 100}
    answer = ask(rows, "k, w, COUNT(*) AS n FROM data GROUP BY k, w HAVING k < w")
    assert answer.to_arrow()["k"].to_pylist() == ["a"]


def test_days_too_far_away_are_compared_to_no_other():
    near, far = datetime.date(2020, 1, 1), datetime.date(9999, 12, 31)
    rows = {"a": [near] * 50 + [far] * 50, "b": [far] * 50 + [near] * 50}
    answer = ask(rows, "a, b, COUNT(*) AS n FROM data GROUP BY a, b HAVING a < b")
    assert answer.to_arrow()["a"].to_pylist() == [near]


@pytest.mark.parametrize("what", ["k * w", "GREATEST(k, w)", "k + 1", "-k"])
def test_arithmetic_with_text_is_refused_before_the_charge(what):
    with pytest.raises(InvalidQuery):
        ask({"k": ["a"], "w": ["b"]}, f"k, w, {what} AS c, COUNT(*) FROM data GROUP BY k, w")


@pytest.mark.parametrize("what", ["k > 5", "MODE(k) > COUNT(*)", "MODE(k) + 1 > 2"])
def test_text_is_not_compared_to_numbers(what):
    sql = f"k, COUNT(*) FROM data GROUP BY k HAVING {what}"
    with pytest.raises(InvalidQuery, match="kind"):
        ask({"k": ["a"]}, sql, keys={"k": ["a", "b"]})


def test_answers_beyond_the_integers_of_doubles_are_printed():
    rows = {"x": pa.array([10**15] * 2000, pa.int64())}
    answer = ask(rows, "SUM(x) AS s FROM data", bounds={"x": (0, 10**15)})
    assert re.search(r"\b(2,000,0|1,999,9)\d\d,", str(answer))
    far = {"x": pa.array([2**60] * 100, pa.int64())}
    top = ask(far, "MAX(x) AS m FROM data", bounds={"x": (2**60, 2**60 + 10**6)})
    assert pa.types.is_floating(top.to_arrow()["m"].type)


def test_kept_counts_are_found_by_all_that_they_depend_on():
    """On some engines two texts differ in their parameters alone."""
    distances = Distances((), "", (), 1, None, "SELECT 1", (2, 3))
    query_plan = replace(
        plan(parse(f"SELECT {QUESTIONS[0]}"), policy(), epsilon=1), distances=distances
    )

    def key(more=(), sizes=(2, 3), **changes):
        joint = WrittenStatement(**{"kind": "joint", "name": "", "sql": "x", **changes})
        own = replace(query_plan, distances=replace(distances, sizes=sizes))
        return engine_run.joint_key(WrittenPlan(own, (joint, *more)))

    known = {key(), key(parameters={"t0": "a"}), key(parameters={"t0": "b"}), key(sizes=(2, 2))}
    assert len({*known, key(sql="y"), key(before="z")}) == 6
    assert key() == key()
    assert key(more=[WrittenStatement("cells", "n", "x")]) is None
    assert engine_run.joint_key(WrittenPlan(replace(query_plan, distances=None), ())) is None
