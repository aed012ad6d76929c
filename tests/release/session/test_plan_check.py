"""A plan is judged by what will run, whatever it says about itself; refusals cost nothing."""

import copy
import pickle
from dataclasses import replace

import pyarrow as pa
import pytest
from sqlglot import exp

from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.handover.written_plan import WrittenPlan, WrittenStatement
from deniable.errors import InvalidParameter, InvalidQuery, PlanRefused
from deniable.ledger import MemoryLedger
from deniable.policy import Policy, Table
from deniable.privacy import PureLoss
from deniable.query.plan import canonical
from deniable.query.plan.plan import STORED, Plan
from deniable.query.plan.statement_text import StatementText
from deniable.release.public_session import Session
from deniable.release.session.plan_check import check_same_text

COUNT = "SELECT COUNT(*) AS n FROM visits"
SOURCES = {
    "visits": pa.table({"ward": ["A", "B"] * 100, "x": range(200), "y": range(200)}),
    "bills": pa.table({"ward": ["A", "B"] * 500}),
    "names": pa.table({"ward": ["A", "B"], "name": ["left", "right"]}),
}


@pytest.fixture(scope="module")
def engine():
    with DuckDB.open(SOURCES) as opened:
        yield opened


@pytest.fixture
def session(engine):
    visits = {"ward": ["A", "B"], "y": range(0, 400, 2)}
    policy = Policy(
        [
            Table.declare("visits", keys=visits, bounds={"x": (0, 200)}),
            Table.declare("bills"),
            Table.declare("names", public=True, keys={"name": ["left", "right"]}),
        ],
        epsilon=10,
    )
    return Session(policy, engine, MemoryLedger(epsilon=10))


@pytest.fixture
def part(session):
    return session.partition("ward", ["A", "B"], table="visits")["A"]


def refuse(session, plan, reason, error=InvalidParameter):
    for ask in (session.release, session.recall, lambda plan: session.release_all([plan])):
        with pytest.raises(error, match=reason):
            ask(plan)
    with (
        pytest.raises(error, match=reason),
        session.run_like([plan]) as run,
    ):
        run.release(plan)
    assert session.ledger.entries == ()


def changed(plan, tree):
    """The plan with another tree beside its text, which no caller can do by an assignment."""
    text = copy.deepcopy(plan.engine_sql)
    object.__setattr__(text, "_tree", tree)
    return replace(plan, engine_sql=text)


def test_a_statement_has_one_tree(session):
    text = session.plan(COUNT, epsilon=6).engine_sql
    for name in ("tree", "_tree", "other"):
        with pytest.raises(AttributeError):
            setattr(text, name, exp.Select())


def test_a_part_is_not_judged_by_another_tree_than_the_text_that_runs(session, part):
    whole, own = session.plan(COUNT, epsilon=6), part.plan(COUNT, epsilon=6)
    text = changed(whole, own.engine_sql.tree).engine_sql
    refuse(part, replace(own, engine_sql=text), "was changed")
    refuse(session, changed(whole, own.engine_sql.tree), "was changed")


def test_a_tree_that_was_changed_in_place_is_refused(session):
    plan = session.plan(f"{COUNT} WHERE x > 3", epsilon=6)
    for literal in plan.engine_sql.tree.find_all(exp.Literal):
        literal.set("this", "7")
    refuse(session, plan, "was changed")


class Alternating(StatementText):
    """A statement that could show another tree each time."""


class Loud(str):
    """A text that could show other letters each time."""


def test_only_statements_and_text_are_judged(session):
    plan = session.plan(COUNT, epsilon=6)
    for sql in (Alternating(plan.engine_sql.tree), Loud(plan.engine_sql)):
        assert sql == plan.engine_sql
        refuse(session, replace(plan, engine_sql=sql), "was changed")

    class Other(Plan):
        __slots__ = ()

    fields = {name: getattr(plan, name) for name in Plan.__dataclass_fields__}
    refuse(session, Other(**fields), "takes a Plan; got Other")


@pytest.mark.parametrize(
    "hidden",
    [
        exp.Var(this='(SELECT * FROM "bills")'),
        exp.Table(this=exp.Identifier(this='visits", "bills', quoted=False)),
        exp.Table(this=exp.Identifier(this="visits--", quoted=False)),
        exp.Literal(this='(SELECT 1 FROM "bills")', is_string=False),
    ],
    ids=str,
)
def test_a_name_or_number_holds_no_query(session, hidden):
    plan = session.plan(COUNT, epsilon=6)
    sql = StatementText(exp.Select(expressions=[exp.Star()]).from_(hidden))
    refuse(session, replace(plan, engine_sql=sql), "was changed")


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ('SELECT 1 AS n FROM "visits"; SELECT 2 AS n FROM "bills"', "not one query"),
        ("SELECT 1 AS n FROM FROM", "not one query"),
        ("SELECT 'a", "not one query"),
        ('DROP TABLE "visits"', "not one query"),
        ("SELECT VAR_MAP(x) AS n", "not one query"),  # sqlglot raises an IndexError
        ("SELECT DATETIME(x) AS n", "was changed"),  # and here an AttributeError
        ('SELECT 1 AS n FROM "visits" /* "bills" */', "was changed"),
        ('SELECT 1 AS n FROM "visits" -- "bills"', "was changed"),
        ("SELECT $$'a$$ AS n", "was changed"),
        (f"SELECT {'(' * 3000}1{')' * 3000} AS n", "nests too deeply"),
    ],
    ids=lambda value: value[:40],
)
def test_text_that_could_be_read_in_two_ways_is_refused(session, part, sql, reason):
    error = InvalidQuery if "nests" in reason else InvalidParameter
    for asker in (session, part):
        plan = asker.plan(COUNT, epsilon=6)
        refuse(asker, replace(plan, engine_sql=sql), reason, error)


def test_a_plan_about_another_table_is_none_about_a_part(session, part):
    """In each part it would cost nothing that other parts do not cost as well."""
    bills = session.plan("SELECT COUNT(*) AS n FROM bills", epsilon=6)
    refuse(part, replace(bills, part=part.rows.part), "another policy")
    refuse(part, replace(bills, part=part.rows.part, table="visits"), "reads more")
    own = part.plan(COUNT, epsilon=6)
    refuse(part, replace(own, beside=("bills",)), "another policy")
    refuse(part, replace(own, engine_sql="SELECT 1 AS n"), "another policy")
    both = 'SELECT 1 AS n FROM {}, (SELECT * FROM "visits") AS b'
    inner = own.engine_sql.tree.find(exp.Table).parent_select.sql(dialect="duckdb")
    refuse(part, replace(own, engine_sql=both.format(f"({inner}) AS a")), "another policy")


def test_a_part_is_judged_by_all_that_an_engine_may_read(engine):
    """DuckDB's text leaves out the list of an IN that has a query; other engines need not."""
    table = Table.declare("visits", unit="x", keys={"ward": ["A", "B"]})
    session = Session(Policy([table], epsilon=10), engine, MemoryLedger(epsilon=10))
    part = session.partition("ward", ["A", "B"])["A"]
    plan = part.plan(COUNT, epsilon=6)
    part.release(part.plan(COUNT, epsilon=1))
    tree = plan.engine_sql.tree.copy()
    chosen = next(node for node in tree.find_all(exp.In) if node.args.get("query"))
    chosen.set("expressions", [exp.column("x", quoted=True)])
    forged = StatementText(tree)
    assert forged == plan.engine_sql
    with pytest.raises(InvalidParameter, match="another policy"):
        part.release(replace(plan, engine_sql=forged))
    assert session.remaining.epsilon == 9


def test_nodes_that_remember_what_they_were_are_judged_by_their_text(part):
    """sqlglot compares nodes by hashes that it keeps, also after a node was changed."""
    plan = part.plan(COUNT, epsilon=6)
    tree = plan.engine_sql.tree.copy()
    rows = next(node for node in tree.find_all(exp.Select) if node.args.get("where"))
    before = rows.copy()
    assert hash(rows) == hash(before)
    rows.args["where"] = None
    assert rows == before  # if not, this test has nothing to find
    refuse(part, replace(plan, engine_sql=StatementText(tree)), "another policy")


@pytest.mark.parametrize(
    "source",
    [
        '"bills"',
        '"visits", "bills"',
        '(SELECT * FROM "bills") AS a',
        '(WITH "a" AS (SELECT 1) SELECT * FROM "a") AS b, "a"',
        '(WITH "bills" AS (SELECT * FROM "bills") SELECT * FROM "bills") AS b',
        '(WITH "a" AS (SELECT * FROM "b"), "b" AS (SELECT 1) SELECT * FROM "a") AS b',
        '"(source 0)"',
        '"main"."visits"',
        "visits",
        '"VISITS"',
        "QUERY('SELECT 1')",
        "READ_TEXT('/etc/hostname')",
        '"/etc/hostname"',
        "\"visits\", LATERAL QUERY('SELECT 1')",
        "UNNEST([1])",
        "RANGE(0, 3)",
        '(SUMMARIZE "bills") AS a',
        '"visits" AT (VERSION => 1)',
        '"names"',
        '"(keys 0)"',
    ],
)
def test_what_a_plan_reads_it_must_name(session, source):
    plan = replace(session.plan(COUNT, epsilon=6), engine_sql=f"SELECT 1 AS n FROM {source}")
    refuse(session, plan, "reads more than the tables that the plan names, visits")


def test_plans_are_released_as_they_were_made_or_read_from_a_file(session, part):
    joined = "SELECT name, COUNT(*) AS n FROM visits JOIN names ON visits.ward = names.ward"
    for asker, question in (
        (session, COUNT),
        (part, COUNT),
        (session, f"{joined} GROUP BY name"),
        (session, "SELECT y, COUNT(*) AS n FROM visits GROUP BY y"),
    ):
        plan = asker.plan(question, epsilon=0.125)
        first = asker.release(plan)
        for read in (
            pickle.loads(pickle.dumps(plan)),
            canonical.from_json(canonical.to_json(plan)),
        ):
            assert asker.release(read).certificate == first.certificate


def test_a_step_of_a_run_is_judged_as_well(session):
    plan = replace(session.plan(COUNT, epsilon=1), engine_sql='SELECT 1 AS n FROM "bills"')
    with (
        session.reserve_run(PureLoss(1)) as run,
        pytest.raises(InvalidParameter, match="reads more"),
    ):
        run.release(plan)


def counting_stored(session, stored):
    """A plan that counts stored rows."""
    plan = session.plan(COUNT, epsilon=1)
    sql = f'SELECT COUNT(*) AS {plan.features[0]} FROM "(stored rows)"'
    return replace(plan, engine_sql=sql, stored=stored)


def test_stored_rows_need_a_definition_that_does_not_read_them(session):
    own = 'SELECT 1 AS a FROM "(stored rows)"'
    for stored in ("", own, 'SELECT 1 AS a FROM "bills"'):
        refuse(session, counting_stored(session, stored), "reads more than the tables")
    release = session.release(counting_stored(session, 'SELECT 1 AS a FROM "visits"'))
    assert release.value == pytest.approx(200, abs=50)


def test_what_stands_before_a_step_defines_its_stored_rows(session):
    stored = 'SELECT 1 AS a FROM "visits"'
    plan = counting_stored(session, stored)
    for defined in (stored, 'SELECT 1 AS a FROM "bills"'):
        before = f'WITH "(stored rows)" AS MATERIALIZED ({defined})'
        own = WrittenStatement("groups", "", f"{before} {plan.engine_sql}", before=before)
        written = WrittenPlan(plan, (own, WrittenStatement("stored", STORED, stored)))
        if defined == stored:
            check_same_text(written)
            continue
        with pytest.raises(PlanRefused, match="store other rows"):
            check_same_text(written)
