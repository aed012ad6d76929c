"""Many private keys from end to end: several batches, of which only what is shown stays."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp

ALONE = 150_000  # keys of one person each: more than a batch
SHARED = [f"often {i}" for i in (7, 3, 5)]
PEOPLE = 2_000
KEYS = [f"rare {i}" for i in range(ALONE)] + SHARED * PEOPLE


@pytest.mark.parametrize("unit", [None, "person"])
@pytest.mark.parametrize("other", [False, True])
def test_only_shared_keys_are_shown_and_sorted(unit, other):
    people = np.concatenate([np.arange(ALONE) + PEOPLE, np.repeat(np.arange(PEOPLE), 3)])
    frame = pa.table({"key": KEYS, "person": people, "x": np.ones(len(KEYS))})
    session = dp.protect(
        frame,
        keys={"key": "private"},
        bounds={"x": (0, 1)},
        epsilon=10,
        delta=1e-3,
        **({} if unit is None else {"unit": unit, "max_groups_per_unit": 3}),
    )
    sql = "SELECT key, COUNT(*) AS n, SUM(x) AS s FROM data GROUP BY key"
    # That any of the rare keys is shown has probability 1.5e-7 at most.
    answer = session.sql(sql, epsilon=10, delta=1e-12, other=other).to_arrow()
    assert answer["key"].to_pylist() == sorted(SHARED) + [None] * other
    for name in ("n", "s"):
        numbers = answer[name].to_numpy()[:3]
        assert np.abs(numbers - PEOPLE).max() < 200
    if other:
        assert abs(answer["s"].to_pylist()[-1] - ALONE) < 200
