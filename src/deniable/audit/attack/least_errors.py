"""The linear programme of Dinur & Nissim: secrets that fit the published numbers best.

Unknown is how many people of each profile have each value. The programme finds the numbers, not
negative and adding up to each profile's size, with the least sum of absolute errors.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def fit_values(parts: Floats, answers: Floats, sizes: Floats) -> Floats:
    """How many people of each profile have each value: an array (profiles, values).

    `parts[v, i, p]` is what one person of profile p adds to number i with the value v. Numbers
    whose answer is NaN were not published, and do not count.

    >>> parts = np.array([[[0.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 0.0]]])
    >>> fit_values(parts, np.array([1.0, 0.0]), np.ones(2)).round().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    from scipy.optimize import linprog  # slow to import
    from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

    known = np.isfinite(answers)
    values, _, profiles = parts.shape
    # Each number in units of the most that one person moves it: sums weigh as much as counts.
    reach = np.abs(parts[:, known]).max(axis=(0, 2), initial=0.0)
    used = reach > 0
    wide = np.concatenate(list(parts[:, known][:, used] / reach[used][None, :, None]), axis=1)
    target = answers[known][used] / reach[used]
    matrix: Any = csr_array(wide)
    errors = eye_array(len(target))
    solution = linprog(
        np.concatenate([np.zeros(values * profiles), np.ones(len(target))]),
        A_ub=vstack([hstack([matrix, -errors]), hstack([-matrix, -errors])]).tocsr(),
        b_ub=np.concatenate([target, -target]),
        A_eq=hstack(
            [
                kron(np.ones((1, values)), eye_array(profiles)),
                csr_array((profiles, len(target))),
            ]
        ).tocsr(),
        b_eq=sizes,
        bounds=(0, None),
        method="highs",
    )
    if solution.x is None:  # the solver gave up: nothing is learnt
        return np.repeat(sizes[:, None] / values, values, axis=1)
    counts = np.asarray(solution.x[: values * profiles], dtype=np.float64)
    return counts.reshape(values, profiles).T
