"""A progress line while a command works: what it does, the time, and the share that is done.

It is drawn on standard error and removed at the end. It is drawn only on a terminal, never into
a file or a pipe, even if the environment asks for colours.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def show_progress(doing: str) -> Iterator[Callable[[float], None] | None]:
    """Yields a function that takes the share that is done; None if there is no terminal.

    >>> import contextlib, io
    >>> with contextlib.redirect_stderr(io.StringIO()), show_progress("asking") as tell:
    ...     tell is None
    True
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20)
    with Progress(
        *columns,
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,  # or answers would go where the bar is drawn
        redirect_stderr=False,
    ) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda share: bar.update(task, total=1, completed=share)
