"""The engine that a policy needs."""

import pyarrow as pa
import pytest

from deniable.engines.opening import engine_of, open_engine
from deniable.errors import InvalidPolicy


@pytest.mark.parametrize("engine", ["spark", "postgresql", "ibis"])
def test_an_address_names_its_engine(engine):
    assert engine_of(f"{engine}://somewhere#table") == engine


def test_tables_must_be_in_one_engine():
    with pytest.raises(InvalidPolicy, match="in one engine"):
        open_engine({"a": pa.table({"x": [1]}), "b": "spark://local#b"})


def test_a_table_of_ibis_is_not_fetched():
    import ibis

    table = ibis.memtable(pa.table({"x": [1]}))
    assert engine_of(table) == "ibis"
