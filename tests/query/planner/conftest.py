"""Engines over the tables of the golden cases."""

import contextlib

import pytest

from deniable.engines.duckdb.engine import DuckDB
from tests.query import lists, town
from tests.query.hospital import visits

SOURCES = {
    ("person", "row", "replace"): {"visits": visits()},
    ("town", "town_replace"): town.SOURCES,
    ("lists", "lists_replace"): lists.policy(),
}


@pytest.fixture(scope="module")
def engines():
    """An engine for each policy that a case may name."""
    with contextlib.ExitStack() as stack:
        opened = {
            names: stack.enter_context(DuckDB.open(tables)) for names, tables in SOURCES.items()
        }
        yield {name: engine for names, engine in opened.items() for name in names}
