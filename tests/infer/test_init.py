"""This room sees releases only, and no value of a row is in one."""

import gc
import types

import pyarrow as pa
import pytest

import deniable as dp

CANARY, NUMBER = "canary-7f3a", 4711.1174
SKIPPED = (
    types.ModuleType,
    type,
    types.FunctionType,
    types.CodeType,
    types.BuiltinFunctionType,
)


def holds_canary(value):
    """Whether the canary can be reached from a value, by whatever way."""
    seen, waiting = set(), [value]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, SKIPPED):
            continue
        seen.add(id(item))
        text = str(item.to_pydict()) if isinstance(item, pa.Table) else ""
        text = item if isinstance(item, str) else text
        if CANARY in text or str(NUMBER) in text or (type(item) is float and item == NUMBER):
            return True
        waiting += gc.get_referents(item)
    return False


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ward, COUNT(sick) AS n, AVG(sick) AS s FROM v GROUP BY ward",
        "SELECT ward, AVG(cost) AS c FROM v GROUP BY ward FOR POPULATION",
        "SELECT ward, COUNT(*) AS n FROM v WHERE note <> 'x' GROUP BY ward",
    ],
)
def test_a_canary_in_every_row_never_reaches_this_room(text):
    """`dp.infer` takes a release and nothing else, and a release leads to no row."""
    rows = {
        "id": range(400),
        "ward": ["A", "B"] * 200,
        "sick": [1, 0, 0, 0] * 100,
        "cost": [NUMBER] * 400,
        "note": [CANARY] * 400,
    }
    session = dp.protect(
        pa.table(rows),
        name="v",
        unit="id",
        bounds={"sick": (0, 1), "cost": (0, 10_000)},
        step={"cost": 0.0001},
        keys={"ward": ["A", "B"]},
        epsilon=10,
    )
    release = session.sql(text, epsilon=1)
    assert not holds_canary(release)
    assert holds_canary((release, {"deep": [pa.table(rows)]}))
    assert holds_canary([{"deep": (NUMBER,)}])
