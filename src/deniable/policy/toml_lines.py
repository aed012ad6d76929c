"""The line of a key in a TOML text, for error messages.

The text is valid TOML. It is cut into statements: at each line end that is in no string and in
no brackets. The parser of the standard library then reads each statement on its own.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence

_PART = re.compile(
    r"""
    (?P<long>\"{3}(?:[^\\]|\\.)*?\"{3,5} | '{3}.*?'{3,5})  # strings of many lines
    | "(?:[^"\\\n]|\\.)*" | '[^'\n]*'  # strings
    | \#[^\n]*  # comments
    | (?P<open>[\[{]) | (?P<close>[\]}]) | (?P<end>\n)
    """,
    re.VERBOSE | re.DOTALL,
)


def line_of(text: str, path: Sequence[str]) -> int | None:
    """The line of the deepest key of `path` that exists, counted from 1.

    >>> line_of("[a]\\nb = 1\\n\\nc = { d = [\\n   2] }", ("a", "c", "d"))
    4
    """
    best: tuple[int, int] | None = None
    for line, key_path in _keys(text):
        depth = _shared_depth(key_path, tuple(path))
        if depth and (best is None or depth > best[0]):
            best = depth, line
    return None if best is None else best[1]


def lines_without(
    text: str, is_hidden: Callable[[tuple[str, ...]], bool]
) -> list[tuple[int, str]]:
    """The lines with their numbers, without statements of which any key is hidden.

    Comments between statements are left out too: they may be about what is hidden.

    >>> lines_without("[a]\\nb = 1\\n# of c\\n[c]\\nb = 2", lambda path: path[0] == "c")
    [(1, '[a]'), (2, 'b = 1')]
    """
    numbered_lines: list[tuple[int, str]] = []
    for line, statement, paths in _named_statements(text):
        if statement.strip() and (not paths or any(map(is_hidden, paths))):
            continue
        lines = statement.removesuffix("\n").split("\n")
        numbered_lines += [
            (line + place, line_text.rstrip("\r")) for place, line_text in enumerate(lines)
        ]
    return numbered_lines


def _keys(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Each key with its whole path, and the line on which its statement starts."""
    return ((line, path) for line, _, paths in _named_statements(text) for path in paths)


def _named_statements(text: str) -> Iterator[tuple[int, str, list[tuple[str, ...]]]]:
    """Each statement, the line on which it starts, and the whole paths of its keys."""
    header: tuple[str, ...] = ()
    for line, statement in _statements(text):
        paths = list(_paths(tomllib.loads(statement)))
        if statement.lstrip().startswith("["):
            header = max(paths, key=len, default=())
            yield line, statement, paths
        else:
            yield line, statement, [header + path for path in paths]


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Each statement, with comments before it, and the line on which it starts."""
    start, line, depth = 0, 1, 0
    for part in _PART.finditer(text + "\n"):
        kind = part.lastgroup
        depth += {"open": 1, "close": -1}.get(kind or "", 0)
        if kind == "end" and depth == 0:
            yield line, text[start : part.end()]
            line += text.count("\n", start, part.end())
            start = part.end()


def _paths(tree: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(tree, dict):
        for key, below in tree.items():
            yield (*path, key)
            yield from _paths(below, (*path, key))


def _shared_depth(path: tuple[str, ...], wanted: tuple[str, ...]) -> int:
    """The length of `path` if `wanted` starts with it, else 0."""
    return len(path) if path == wanted[: len(path)] else 0
