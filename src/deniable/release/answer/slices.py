"""Many groups, a slice at a time: small enough for a core's cache, and on several cores.

Arithmetic on arrays lets other threads run meanwhile, and each thread draws its noise from a
key of its own. So slices are independent, whichever thread takes which.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

LENGTH = 1 << 15  # groups
_MOST_THREADS = 4
_FEWEST = 8  # slices that are worth starting threads for


def in_slices(count: int, work: Callable[[slice], None]) -> None:
    """Calls `work` with slices that make up range(count), in no particular order.

    >>> seen = []
    >>> in_slices(3, seen.append)
    >>> seen
    [slice(0, 3, None)]
    """
    slices = [slice(at, min(at + LENGTH, count)) for at in range(0, count, LENGTH)]
    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    if threads < 2 or len(slices) < _FEWEST:
        for one in slices:
            work(one)
        return
    with ThreadPoolExecutor(threads, "deniable") as pool:
        for done in [pool.submit(work, one) for one in slices]:
            done.result()
