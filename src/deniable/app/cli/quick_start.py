"""What makes one command start quickly: no pandas behind Arrow, and rare garbage collection."""

import atexit
import gc
import sys
from collections.abc import Sequence

# Objects made between two collections. One question makes fewer, nearly all of which stay:
# looking for garbage among them took a tenth of its time.
_ALLOCATIONS = 300_000
_FRAME_MAKERS = ("pandas", "ibis", "pyspark")


def collect_rarely() -> None:
    """Lets a process that runs one command collect garbage rarely, and not as it ends."""
    gc.set_threshold(_ALLOCATIONS, *gc.get_threshold()[1:])
    atexit.register(gc.disable)


class _WithoutPandas:
    """A finder that finds no pandas."""

    @staticmethod
    def find_spec(
        name: str, _path: Sequence[str] | None = None, _target: object = None
    ) -> None:
        """Refuses pandas, and leaves every other module to the finders behind it."""
        if name == "pandas":
            raise ModuleNotFoundError("A command needs no pandas.", name=name)


def keep_pandas_out_of_arrow() -> None:
    """Lets Arrow look for pandas once and find none, because that import takes 0.2 s.

    Arrow imports pandas at its first list, only to ask whether the list is a pandas series. No
    command makes one. A process that has loaded pandas, ibis or Spark is left as it is, and
    `to_pandas` looks for pandas again.

    >>> keep_pandas_out_of_arrow()
    """
    if any(name in sys.modules for name in _FRAME_MAKERS):
        return
    import pyarrow as pa

    sys.meta_path.insert(0, _WithoutPandas)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(_WithoutPandas)
