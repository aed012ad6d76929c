"""The kernel agrees with every query of the documentation.

The snippets in Python run in `tests/test_docs.py`, in sessions that ask the kernel about each
plan. Here are all other texts: those of commands, of requests and of other products.
"""

import re
from pathlib import Path

import pytest

from deniable.kernel.verdict import check_plan
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.kernel.declared import facts_of

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
FENCE = re.compile(r"^ *```(\w+)[^\n]*\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
QUERY = re.compile(r"[\"'](SELECT [^\"]+?)\"")
VISITS = Table.declare(
    "visits",
    unit="patient",
    max_groups_per_unit=2,
    max_rows_per_unit_per_group=3,
    bounds={"age": (0, 120), "cost": (0, 10_000)},
    keys={"ward": ["A", "B"], "day": ["2026-01-01", "2026-01-02"]},
).with_schema(
    {"patient": "BIGINT", "ward": "VARCHAR", "age": "INTEGER", "cost": "DOUBLE", "day": "DATE"}
)


def queries(text):
    """Every SELECT in a fence that is not Python."""
    for fence in FENCE.finditer(text):
        if fence[1] != "python":
            yield from QUERY.findall(fence[2])


TEXTS = sorted({query for page in PAGES for query in queries(page.read_text("utf-8"))})


def test_all_commands_are_found():
    """As many as there are SELECTs in such fences, so that none is overlooked."""
    fences = [fence for page in PAGES for fence in FENCE.finditer(page.read_text("utf-8"))]
    written = sum(fence[2].count("SELECT ") for fence in fences if fence[1] != "python")
    count = sum(len(list(queries(page.read_text("utf-8")))) for page in PAGES)
    assert count == written >= 10


@pytest.mark.parametrize("text", TEXTS)
def test_the_kernel_agrees_with_the_commands_of_the_docs(text):
    policy = Policy([VISITS], epsilon=3)
    planned = plan(parse(text.replace("clinic.visits", "visits")), policy, epsilon=0.5)
    verdict = check_plan(planned, facts_of(policy))
    assert [part.l1 for part in verdict.parts] == [part.declared for part in verdict.parts]
