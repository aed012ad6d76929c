"""A sign of life while a command works: what it does, for how long, and how much is done.

It is drawn on standard error, for somebody who watches a terminal, and wiped at the end. What
goes to a file or a pipe holds none of it, whatever the environment says about colours.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def working(doing: str) -> Iterator[Callable[[float], None] | None]:
    """Hands out a function that takes the share that is done; None where nobody watches.

    >>> import contextlib, io
    >>> with contextlib.redirect_stderr(io.StringIO()), working("asking") as tell:
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
