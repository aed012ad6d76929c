"""The declared keys of a plan: as an engine returns them, and as tables beside statements."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import pyarrow as pa

from deniable.query.plan.key_list import is_beside, key_list_of, key_relation
from deniable.query.plan.plan import GroupKey


@lru_cache(maxsize=8)
def engine_values(key: GroupKey) -> "pa.Array[Any]":
    """Declared values as the engine returns them: numbers in whole steps, others unchanged."""
    assert key.values is not None
    if key.kind == "number":
        return pa.array(key_list_of(key.values).steps(key.step or Fraction(1)), type=pa.int64())
    if key.kind == "boolean":
        return pa.array([bool(value) for value in key.values])
    return pa.array(list(map(str, key.values)), type=pa.string())


def key_tables(keys: Sequence[GroupKey]) -> dict[str, "pa.Table"]:
    """The relations with the keys that are beside the statements, by name."""
    return {
        key_relation(place): pa.table({"key": engine_values(key)})
        for place, key in enumerate(keys)
        if is_beside(key)
    }
