"""The matrix of a copy shows the errors of its scorecard."""

import numpy as np
import pyarrow as pa

import deniable as dp


def test_cells_are_the_errors_of_pairs():
    chance = np.random.default_rng(1)
    names = ("a", "b", "c")
    frame = pa.table({name: chance.integers(0, 2, 400) for name in names})
    with dp.protect(frame, keys=dict.fromkeys(names, (0, 1)), epsilon=2, delta=1e-6) as session:
        copy = session.copy(epsilon=2, workload=[["a", "b"], ["c"]])
    axes = copy.plot().axes[0]
    drawn = np.ma.filled(axes.images[0].get_array(), np.nan)
    pair, single = copy.scorecard.errors
    assert drawn[0, 1] == drawn[1, 0] == pair.error
    assert drawn[2, 2] == single.error
    assert np.isnan(drawn[0, 2])
    assert [label.get_text() for label in axes.get_yticklabels()] == list(names)
    assert f"{pair.error:.2f}" in [text.get_text() for text in axes.texts]
