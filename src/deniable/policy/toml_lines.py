"""On which line of a TOML text a key is: for errors that name the line.

The text is cut into statements, the shortest runs of lines that parse by themselves, so the
parser of the standard library does the reading and nothing is guessed from the look of it.
"""

import tomllib
from collections.abc import Iterator, Sequence


def line_of(text: str, path: Sequence[str]) -> int | None:
    """The line of the deepest key of `path` that is there, counted from 1.

    >>> line_of("[a]\\nb = 1\\n\\nc = { d = [\\n   2] }", ("a", "c", "d"))
    4
    """
    best: tuple[int, int] | None = None
    wanted = tuple(path)
    for line, found in _keys(text):
        depth = _shared(found, wanted)
        if depth and (best is None or depth > best[0]):
            best = depth, line
    return None if best is None else best[1]


def _keys(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Each key with its whole path, and the line on which its statement starts."""
    header: tuple[str, ...] = ()
    for line, statement in _statements(text):
        found = list(_paths(tomllib.loads(statement)))
        if statement.lstrip().startswith("["):
            header = max(found, key=len, default=())
            yield from ((line, path) for path in found)
        else:
            yield from ((line, header + path) for path in found)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    start, gathered = 1, ""
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if not gathered:
            start = number
        gathered += line
        try:
            tomllib.loads(gathered)
        except tomllib.TOMLDecodeError:
            continue  # it goes on, on the next line
        yield start, gathered
        gathered = ""


def _paths(tree: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(tree, dict):
        for key, below in tree.items():
            yield (*path, key)
            yield from _paths(below, (*path, key))


def _shared(found: tuple[str, ...], wanted: tuple[str, ...]) -> int:
    """How many keys of `wanted` are reached by `found`, which must not stray from it."""
    return len(found) if found == wanted[: len(found)] else 0
