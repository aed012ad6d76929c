"""A progress bar for long audits, shown only on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(
    total: int, show_bar: bool | None, what: str = "calls"
) -> Iterator[Callable[[int], None]]:
    """Gives a function that takes the number of calls made so far, or of `what` is counted.

    >>> with progress(10, show_bar=False) as show:
    ...     show(5)
    """
    if not (sys.stderr.isatty() if show_bar is None else show_bar):
        yield lambda used: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = "[progress.description]{task.description}", BarColumn(), MofNCompleteColumn()
    with Progress(
        *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task(what, total=total)
        yield lambda used: bar.update(task, completed=used)
