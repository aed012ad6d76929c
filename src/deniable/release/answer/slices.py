"""Many groups, a slice at a time: small enough for a core's cache, and on several cores.

Arithmetic on arrays lets other threads run meanwhile, and each thread draws its noise from a
key of its own. So slices are independent, whichever thread takes which.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

SLICE_LENGTH = 1 << 15  # groups
_MOST_THREADS = 4
_FEWEST_SLICES = 8  # slices that are worth starting threads for


def run_in_slices(count: int, work: Callable[[slice], None]) -> None:
    """Calls `work` with slices that make up range(count), in no particular order.

    >>> seen = []
    >>> run_in_slices(3, seen.append)
    >>> seen
    [slice(0, 3, None)]
    """
    slices = [slice(at, min(at + SLICE_LENGTH, count)) for at in range(0, count, SLICE_LENGTH)]
    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    if threads < 2 or len(slices) < _FEWEST_SLICES:
        for one in slices:
            work(one)
        return
    with ThreadPoolExecutor(threads, "deniable") as pool:
        for done in [pool.submit(work, one) for one in slices]:
            done.result()
