"""Statements are trees from the planner to the engine: no text of ours is parsed again."""

import copy
import pickle

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.parser import Parser

from deniable.engines.dialect.statement_writer import write_statement
from deniable.engines.dialect.typed_sql import WrittenRelation
from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.ibis.sqlite_writer import SQLITE
from deniable.engines.postgresql.writer import POSTGRESQL
from deniable.engines.spark.writer import SPARK
from deniable.query.language.parse import parse
from deniable.query.plan import canonical
from deniable.query.plan.statement_text import StatementText, tree_of
from deniable.query.planner.planner import plan
from deniable.query.statements.partition import reads_only_part, restrict_to_part
from tests.engines.contract import CASES, HOSTILE_SCHEMA, POLICIES, many_keys
from tests.query import hospital, town

PARSED = parse("SELECT COUNT(*) AS n FROM visits WHERE cost > 3")
KINDS = {"BIGINT": "bigint", "INTEGER": "int", "DOUBLE": "double", "VARCHAR": "text"}
KINDS |= {"BOOLEAN": "boolean", "DATE": "date", "TIMESTAMP": "timestamp"}


def relations(schemas):
    return {
        name: WrittenRelation(f'"{name}"', {column: KINDS[of] for column, of in schema.items()})
        for name, schema in schemas.items()
    }


def golden():
    """Each golden plan, and the schemas of its tables."""
    for path in CASES:
        first, _, *sql = path.read_text().splitlines()
        which = first.removeprefix("-- policy: ")
        schemas = town.SCHEMAS if which.startswith("town") else {"visits": hospital.SCHEMA}
        yield plan(parse("\n".join(sql)), POLICIES[which], epsilon=0.5), schemas


@pytest.fixture
def no_parser(monkeypatch):
    """Nothing can parse a statement; the name of a type may be read."""
    parsed = Parser.parse

    def refuse(self, tokens, sql=None):
        assert "SELECT" not in (sql or "").upper(), f"a statement is parsed: {sql[:80]}"
        return parsed(self, tokens, sql)

    monkeypatch.setattr(Parser, "parse", refuse)


def test_the_guard_sees_a_parser(no_parser):
    with pytest.raises(AssertionError, match="a statement is parsed"):
        sqlglot.parse_one("SELECT 1")


def test_no_engine_parses_a_statement_of_a_plan(request):
    plans = list(golden())
    request.getfixturevalue("no_parser")
    with (
        DuckDB.open({"visits": hospital.visits()}) as single,
        DuckDB.open(town.SOURCES) as several,
    ):
        for query_plan, schemas in plans:
            (several if "bills" in schemas else single).run(query_plan)
            refused = any(name in query_plan.engine_sql for name in ("ORDER BY d", "MEDIAN("))
            beside = () if refused else (SQLITE,)  # which refuses windows and MEDIAN
            for dialect in (SPARK, POSTGRESQL, *beside):
                for statement in query_plan.statements:
                    write_statement(dialect, relations(schemas), query_plan, statement, 7)


def test_parts_and_keys_beside_a_statement_need_no_parser(request):
    original = plan(PARSED, hospital.policy(), epsilon=1)
    table, part = hospital.policy().tables["visits"], (("ward", "A"),)
    beside, odd = dict(many_keys()), relations({"odd": HOSTILE_SCHEMA})
    request.getfixturevalue("no_parser")
    restricted = restrict_to_part(original, table, part)
    assert isinstance(restricted.engine_sql, StatementText)
    assert reads_only_part(restricted, table, part)
    assert not reads_only_part(original, table, part)
    for query_plan in beside.values():
        (statement, *_) = query_plan.statements
        for dialect in (SPARK, POSTGRESQL, SQLITE):
            written = write_statement(dialect, odd, query_plan, statement, 7)
            assert "list_00" not in written.sql


def test_a_plan_that_was_read_from_a_file_is_judged_by_its_text():
    original = plan(PARSED, hospital.policy(), epsilon=1)
    table, part = hospital.policy().tables["visits"], (("ward", "A"),)
    restricted = restrict_to_part(original, table, part)
    read = canonical.from_json(canonical.to_json(restricted))
    assert read == restricted
    assert type(read.engine_sql) is type(canonical.to_json(restricted)["engine_sql"]) is str
    assert reads_only_part(read, table, part)
    assert not reads_only_part(canonical.from_json(canonical.to_json(original)), table, part)


def test_a_statement_can_be_copied_and_pickled():
    original = plan(PARSED, hospital.policy(), epsilon=1)
    for copied in (copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
        assert copied == original
        assert tree_of(copied.engine_sql) == tree_of(original.engine_sql)


def test_a_file_of_another_version_keeps_its_text(monkeypatch):
    """Its hash stays, and the text is what is judged."""
    original = plan(PARSED, hospital.policy(), epsilon=1)
    written, rendered = pickle.dumps(original), exp.Select.sql
    with monkeypatch.context() as other:
        other.setattr(exp.Select, "sql", lambda self, **how: rendered(self, **how) + " ")
        read = pickle.loads(written)
    assert type(read.engine_sql) is str
    assert canonical.digest(read) == canonical.digest(original)
    assert type(pickle.loads(written).engine_sql) is StatementText
