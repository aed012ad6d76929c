"""Texts of every kind: each is answered or refused, alike on neighbouring tables, and no word
of theirs reaches the engine."""

import sys
from fractions import Fraction

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import DeniableError, EngineFailed
from deniable.ledger import MemoryLedger
from deniable.release.public_session import Session
from tests.query.grammar import STATEMENTS, Grammar
from tests.query.town import SOURCES, policy

ODD = {"patient": 99, "ward": "A", "cost": float("nan"), "day": None, "note": "%';--"}


class Recording:
    """DuckDB, and all that it was given to run."""

    name = "DuckDB"

    def __init__(self, sources):
        self.engine, self.plans = DuckDB.open(sources), []

    def schema(self, table):
        return self.engine.schema(table)

    def prepare(self, plan):
        return self.engine.prepare(plan)

    def run(self, written):
        self.plans.append(written.plan)
        return self.engine.run(written)

    def close(self):
        self.engine.close()


def neighbours():
    """A town, and the same with one more patient, whose rows are odd."""
    more = dict(SOURCES)
    odd = [ODD, ODD | {"cost": 1e308, "note": None}, ODD | {"ward": "\x00", "cost": None}]
    odd += [ODD | {"ward": "Z" * 10_000}] * 5
    more["visits"] = pa.concat_tables(
        [SOURCES["visits"], pa.Table.from_pylist(odd, SOURCES["visits"].schema)]
    )
    bills = [{"patient": 99, "amount": amount} for amount in (2**62, -(2**62), None, 0)]
    more["bills"] = pa.concat_tables(
        [SOURCES["bills"], pa.Table.from_pylist(bills, SOURCES["bills"].schema)]
    )
    rows = pa.Table.from_pylist([{"ward": None, "x": -(2**63)}], SOURCES["rows"].schema)
    more["rows"] = pa.concat_tables([SOURCES["rows"], rows])
    return SOURCES, more


@pytest.fixture(scope="module")
def sessions():
    opened = []
    for sources in neighbours():
        engine = Recording(sources)
        ledger = MemoryLedger(epsilon=10**9, delta=Fraction(1, 2))
        opened.append((Session(policy(), engine, ledger), engine))
    yield opened
    for session, _ in opened:
        session.close()


def told(session, engine, text):
    """What an analyst sees of a text: the refusal, or price and shape; and what was run."""
    before = len(engine.plans)
    spent = session.remaining
    try:
        answer = session.sql(text, epsilon=0.01, delta=Fraction(1, 10**9))
    except EngineFailed as failure:
        raise AssertionError(f"the engine failed on {text!r}") from failure
    except DeniableError as refusal:
        assert len(engine.plans) == before, "something ran before the refusal"
        assert session.remaining == spent
        return type(refusal), str(refusal)
    left = session.remaining
    table = answer.to_arrow()
    declared = all(key.values is not None for key in answer.plan.keys)
    rows = table.num_rows if declared and answer.plan.having is None else None
    return left.epsilon - spent.epsilon, left.delta - spent.delta, table.schema, rows


def ours(sql, mark):
    """Whether a statement is one that our own trees write."""
    assert mark not in sql
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)  # what was written from a deep question is deep
    try:
        statements = sqlglot.parse(sql, dialect="duckdb")
    finally:
        sys.setrecursionlimit(usual)
    assert len(statements) == 1
    assert isinstance(statements[0], exp.Select)
    own = {"numbered rows"}
    tables = {node.name for node in statements[0].find_all(exp.Table)}
    assert tables <= set(SOURCES) | own, tables
    assert all(node.name == "salt" for node in statements[0].find_all(exp.Placeholder))
    unknown = {node.name for node in statements[0].find_all(exp.Anonymous)}
    assert unknown <= {"HASH"}, unknown
    assert not list(statements[0].find_all(exp.Command, exp.Into, exp.Copy))


def check(sessions, text, mark):
    seen = []
    for session, engine in sessions:
        before = len(engine.plans)
        seen.append(told(session, engine, text))
        for plan in engine.plans[before:]:
            for statement in plan.statements:
                ours(statement.sql, mark)
    assert seen[0] == seen[1], text
    return len(seen[0]) == 4


def test_texts_of_a_grammar_are_answered_or_refused(sessions, size):
    count = size(small=150, full=10_000, what="texts made by a grammar")
    grammar = Grammar([count, 8])
    answered = 0
    for number in range(count):
        mark = f"MARK{number}Q"
        answered += check(sessions, grammar.text(mark), mark)
    assert answered >= count / 40  # so that it is no test of refusals alone


@pytest.mark.parametrize("text", STATEMENTS)
def test_every_other_statement_is_refused(sessions, text):
    fine = check(sessions, f"{text} /* MARK */", "MARK")
    assert not fine or text.startswith("SELECT COUNT(*) FROM visits OFFSET")
    check(sessions, f"SELECT COUNT(*) FROM visits; {text}", "MARK")


@pytest.mark.parametrize("depth", [61, 200])
def test_deep_texts_are_refused_quickly(sessions, depth, size):
    grammar = Grammar(depth)
    for _ in range(size(small=3, full=30, what="deep texts")):
        check(sessions, grammar.deep(depth), "MARK")
