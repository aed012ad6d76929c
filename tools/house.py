"""Five figures that show whether the package is still easy to find one's way in.

Modules in a folder, module names twice in a room, public class names twice, import cycles
between modules, and the longest function. Each has a limit, and `make test` fails above it.
Run alone with `python tools/house.py`.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath

PACKAGE = "deniable"
HOUSE = Path(__file__).resolve().parents[1] / "src" / PACKAGE
MOST_MODULES = 20
LONGEST_FUNCTION = 45
PARALLEL = "engines"  # its sub-rooms do the same for different engines, so names recur there

Sources = Mapping[str, ast.Module]  # by path relative to the package, with forward slashes


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure, what it may be at most, and where it is."""

    what: str
    value: int
    limit: int
    places: tuple[str, ...] = ()

    def __str__(self) -> str:
        kept = self.value <= self.limit
        line = f"{self.what:<42}{self.value:>4}  (limit {self.limit})"
        return (
            line if kept else "\n".join([f"{line}  FAILED", *(f"  {p}" for p in self.places)])
        )


def read(house: Path = HOUSE) -> dict[str, ast.Module]:
    """Every source file of the package, parsed."""
    return {
        path.relative_to(house).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(house.rglob("*.py"))
    }


def measure(sources: Sources) -> list[Figure]:
    """All five figures."""
    return [
        modules_per_folder(sources),
        repeated_modules(sources),
        repeated_classes(sources),
        import_cycles(sources),
        longest_function(sources),
    ]


def modules_per_folder(sources: Sources) -> Figure:
    """The fullest folder."""
    folders = Counter(str(PurePosixPath(path).parent) for path in _modules(sources))
    full = [f"{folder}: {n}" for folder, n in folders.items() if n > MOST_MODULES]
    most = max(folders.values(), default=0)
    return Figure("modules in the fullest folder", most, MOST_MODULES, tuple(full))


def repeated_modules(sources: Sources) -> Figure:
    """Module names that occur twice within a room; parallel files of engines may share one."""
    places = defaultdict(list)
    for path in _modules(sources):
        room, *inner = PurePosixPath(path).parts
        if inner and not (room == PARALLEL and len(inner) > 1):
            places[room, inner[-1]].append(path)
    return _twice("module names twice in a room", places.values())


def repeated_classes(sources: Sources) -> Figure:
    """Public class names that occur twice in the package."""
    places = defaultdict(list)
    for path, tree in sources.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path}:{node.lineno} {node.name}")
    return _twice("public class names twice", places.values())


def import_cycles(sources: Sources) -> Figure:
    """Modules that import one another, wherever in the file the import stands."""
    graph = import_graph(sources)
    cycles = []
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            cycle = error.args[1]
            cycles.append(" -> ".join(reversed(cycle)))
            graph[cycle[1]].discard(cycle[0])  # look for the next one
        else:
            return Figure("import cycles between modules", len(cycles), 0, tuple(cycles))


def longest_function(sources: Sources) -> Figure:
    """The longest function, in lines."""
    lengths = {
        f"{path}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path, tree in sources.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    long = [f"{place}: {n}" for place, n in lengths.items() if n > LONGEST_FUNCTION]
    most = max(lengths.values(), default=0)
    return Figure("lines of the longest function", most, LONGEST_FUNCTION, tuple(long))


def import_graph(sources: Sources) -> dict[str, set[str]]:
    """For each module the modules of the package that it imports."""
    names = {_dotted(path): tree for path, tree in sources.items()}
    return {
        name: {imported for imported in _imported(tree, names) if imported != name}
        for name, tree in names.items()
    }


def _imported(tree: ast.Module, names: Mapping[str, ast.Module]) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                yield from (alias.name for alias in aliases if alias.name in names)
            case ast.ImportFrom(module=str(module), names=aliases) if module in names:
                for alias in aliases:
                    inner = f"{module}.{alias.name}"
                    yield (
                        inner
                        if inner in names and not _binds(names[module], alias.name)
                        else module
                    )


def _binds(tree: ast.Module, name: str) -> bool:
    """Whether a package gives the name of a module of its own to something else."""
    return any(
        alias.asname == name or alias.name == name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    )


def _modules(sources: Sources) -> list[str]:
    return [path for path in sources if not path.endswith("__init__.py")]


def _dotted(path: str) -> str:
    parts = [PACKAGE, *PurePosixPath(path).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _twice(what: str, places: Iterable[list[str]]) -> Figure:
    repeated = [" and ".join(group) for group in places if len(group) > 1]
    return Figure(what, len(repeated), 0, tuple(repeated))


def main() -> int:
    figures = measure(read())
    print("\n".join(map(str, figures)))
    return sum(figure.value > figure.limit for figure in figures)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
