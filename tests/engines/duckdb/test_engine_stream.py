"""Groups in batches: the same integers, one error, and the engine is free afterwards."""

import numpy as np
import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.handover.exact_groups import ExactGroups
from deniable.errors import EngineFailed
from tests.engines.plans import plan, shown

GROUPS = 300_000
MANY = plan("SELECT a AS k0, SUM(a) AS n FROM visits GROUP BY a", keys=["a"])
FEW = plan("SELECT COUNT(*) AS n FROM visits")


@pytest.fixture(scope="module")
def engine():
    with DuckDB.open({"visits": pa.table({"a": np.arange(GROUPS)})}) as opened:
        yield opened


def test_batches_make_up_the_whole(engine):
    batches = engine.stream(MANY).reveal_to(list)
    assert len(batches) > 1
    assert max(batch.groups for batch in batches) < GROUPS
    joined = ExactGroups.join(batches)
    assert np.array_equal(np.sort(joined.features["n"]), np.arange(GROUPS))
    assert np.array_equal(np.asarray(joined.keys[0]), joined.features["n"])
    whole = engine.run(MANY).reveal_to(lambda exact: exact)
    assert np.array_equal(np.sort(whole.features["n"]), np.arange(GROUPS))


def test_nothing_starts_before_it_is_asked_for(engine):
    engine.stream(MANY)
    assert shown(engine.run(FEW)) == [(GROUPS,)]


def test_the_engine_is_free_when_the_rest_is_not_wanted(engine):
    assert engine.stream(MANY).reveal_to(next).groups > 0
    assert shown(engine.run(FEW)) == [(GROUPS,)]


def test_a_failure_in_the_middle_is_the_one_error(engine):
    # The last group fails alone, after many have been handed over.
    late = f"SELECT a AS k0, CASE WHEN a = {GROUPS - 1} THEN error('secret') ELSE 1 END AS n"
    with pytest.raises(EngineFailed) as failed:
        engine.stream(plan(f"{late} FROM visits", keys=["a"])).reveal_to(list)
    assert str(failed.value) == str(EngineFailed(failed.value.reference))
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None
    assert shown(engine.run(FEW)) == [(GROUPS,)]


def test_no_groups_are_one_empty_batch(engine):
    none = plan("SELECT a AS k0, SUM(a) AS n FROM visits WHERE a < 0 GROUP BY a", keys=["a"])
    (only,) = engine.stream(none).reveal_to(list)
    assert only.groups == 0
    assert shown(engine.run(none)) == []


def test_keys_may_be_longer_than_32_bits_can_tell():
    engine = DuckDB.open({"visits": pa.table({"a": ["x"]})})
    withheld = engine.run(
        plan("SELECT a AS k0, COUNT(*) AS n FROM visits GROUP BY a", keys=["a"])
    )
    assert withheld.reveal_to(lambda exact: exact.keys[0].type) == pa.large_string()
