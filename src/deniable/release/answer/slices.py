"""Work on many groups in slices that fit a core's cache, on several threads.

Numpy's arithmetic releases Python's global lock, so threads run in parallel. Each thread draws
its noise with its own key, so slices are independent, whichever thread runs them.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

SLICE_LENGTH = 1 << 15  # groups
_MOST_THREADS = 4
_FEWEST_SLICES = 8  # with fewer slices, starting threads is not worth it


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
        for part in slices:
            work(part)
        return
    with ThreadPoolExecutor(threads, "deniable") as pool:
        for future in [pool.submit(work, part) for part in slices]:
            future.result()
