"""The declared keys of a plan: as an engine returns them, and beside its statements."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from deniable.query.plan.key_list import is_beside, key_list_of, key_relation
from deniable.query.plan.plan import GroupKey

KeyType: TypeAlias = Literal["bigint", "boolean", "text"]


@lru_cache(maxsize=8)
def engine_values(key: GroupKey) -> "pa.Array[Any]":
    """Declared values as the engine returns them: numbers in whole steps, others unchanged.

    >>> engine_values(GroupKey("ward", "text", ("A", None))).to_pylist()
    ['A', None]
    """
    if key.kind == "number":
        known = pa.array(key_list_of(key.known).steps(key.step or Fraction(1)), pa.int64())
    elif key.kind == "boolean":
        known = pa.array([bool(value) for value in key.known])
    else:
        known = pa.array(list(map(str, key.known)), type=pa.string())
    return pa.concat_arrays([known, pa.nulls(1, known.type)]) if key.nulls else known


def keys_beside(keys: Sequence[GroupKey]) -> dict[str, "pa.Array[Any]"]:
    """The keys that are relations beside the statements, by the name of the relation."""
    return {
        key_relation(place): engine_values(key)
        for place, key in enumerate(keys)
        if is_beside(key)
    }


def type_of_keys(values: "pa.Array[Any]") -> KeyType:
    """The type of declared values as an engine returns them, in words that DuckDB and
    PostgreSQL know.

    >>> type_of_keys(engine_values(GroupKey("n", "number", (1, 3), Fraction(1))))
    'bigint'
    """
    types: dict[Any, KeyType] = {pa.int64(): "bigint", pa.bool_(): "boolean"}
    return types.get(values.type, "text")


def bare_name(relation: str) -> str:
    """The name of a relation of keys in letters that every engine allows.

    >>> bare_name(key_relation(0))
    'keys_0'
    """
    return relation.strip("()").replace(" ", "_")
