"""Every function with too few, too many and odd arguments: only our own errors come out."""

import contextlib
import re
from pathlib import Path

import pytest
from sqlglot.dialects import DuckDB

from deniable.errors import DeniableError, InvalidQuery
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse, parse_expression
from deniable.query.planner.planner import plan

DOCUMENTED = re.findall(r"\b[A-Z][A-Z_0-9]+\b", Path("docs/reference/sql.md").read_text())
OURS = ["CLAMP", "CLIPPED", "COUNT", "COUNT_IF", "HISTOGRAM", "IFNULL", "TOP_K", "VAR_MAP"]
NAMES = sorted({*DOCUMENTED, *OURS})
OTHERS = sorted({*DuckDB.Parser.FUNCTIONS, *DuckDB.Parser.FUNCTION_PARSERS} - {*NAMES})
# What stands in the brackets, and what follows them.
GIVEN = [
    "",
    "*",
    "x",
    "w",
    "DISTINCT x",
    "x ORDER BY y",
    "x, y",
    "'day', d, d",
    "x, x, x, x, x",
]
RARER = [
    "DISTINCT",
    "DISTINCT x, y",
    "* EXCLUDE (x)",
    "NULL, NULL",
    "[0.5], x",
    "x AS y",
    "w, w",
]
AFTER = ["", " FILTER (WHERE f)", " FILTER (WHERE COUNT() > 1)", " OVER ()", "[1]", "::INT"]
AFTER += [" WITHIN GROUP (ORDER BY x)", " IS NULL", " IGNORE NULLS", ".a", " FILTER ()"]


def known():
    table = Table.declare(
        "t", unit="id", bounds={"x": (0, 10), "y": (0, 5)}, keys={"w": ["a", "b"]}
    )
    schema = {"id": "BIGINT", "x": "DOUBLE", "y": "BIGINT", "w": "VARCHAR", "f": "BOOLEAN"}
    return Policy([table.with_schema(schema | {"d": "DATE"})], epsilon=100, delta=1e-3)


def test_only_our_own_errors_come_out(size):
    """In SELECT, WHERE and a sub-query; also of functions that sqlglot knows and we do not."""
    most = size(small=len(NAMES), full=len(NAMES) + len(OTHERS), what="names of functions")
    policy, answered = known(), 0
    for name in [*NAMES, *OTHERS][:most]:
        calls = [f"{name}({given})" for given in (*GIVEN, *RARER)]
        calls += [f"{name}({given}){after}" for given in ("", "x", "0.5") for after in AFTER]
        texts = [f"SELECT {call} AS a FROM t" for call in calls]
        texts += [f"SELECT COUNT(*) FROM t WHERE {name}({given})" for given in ("", "f")]
        texts += [f"SELECT COUNT(v) FROM (SELECT id, {name}() AS v FROM t GROUP BY id)"]
        for sql in texts:
            with contextlib.suppress(DeniableError):
                plan(parse(sql), policy, epsilon=1, delta=1e-4)
                answered += 1
    assert answered > 50  # well-meant calls are among them


@pytest.mark.parametrize(
    ("call", "because"),
    [
        ("CEIL()", "has no argument"),
        ("FLOOR()[1]", "not valid SQL"),
        ("VAR_MAP(x)", "not valid SQL"),
        ("DATE()", "has no argument"),
        ("DATETIME(x)", "no function DATETIME"),
        # These were answered, as if the rest were not there.
        ("COUNT(x, y)", "Remove it"),
        ("COUNT(*, x)", "Remove it"),
        ("COUNT(* EXCLUDE (x))", "Remove it"),
        ("COUNT_IF(f, x)", "Remove it"),
        ("MODE(w, x)", "Remove it"),
        ("CORR(x, y, f)", "Remove it"),
        ("MAX(x, 2)", "Remove it"),
    ],
)
def test_a_call_that_lacks_arguments_or_has_too_many_is_refused(call, because):
    with pytest.raises(InvalidQuery, match=because):
        parse(f"SELECT {call} AS a FROM t")
    with pytest.raises(InvalidQuery, match=because):
        parse_expression(call)
