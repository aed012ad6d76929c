"""Eight figures that show whether the package is still easy to find one's way in.

Modules in a folder, module names twice in a room, public class names twice, import cycles
between modules, the longest function, and the methods of a class: its own, and with those that
it inherits. The eighth is the size of the kernel, which is small so that it can be read and
trusted. Each has a limit, and `make test` fails above it. Run alone with
`python tools/house.py`.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath

PACKAGE = "deniable"
HOUSE = Path(__file__).resolve().parents[1] / "src" / PACKAGE
MOST_MODULES = 20
LONGEST_FUNCTION = 45
MOST_METHODS = 25  # of one class
MOST_INHERITED = 40  # of one class and those of the package that it inherits from
KERNEL_LINES = 1_548  # of code; we want 1,200
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
    """All figures of the package."""
    return [
        modules_per_folder(sources),
        repeated_modules(sources),
        repeated_classes(sources),
        import_cycles(sources),
        longest_function(sources),
        most_methods(sources),
        most_inherited_methods(sources),
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
        for node in _statements(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    return _largest("lines of the longest function", lengths, LONGEST_FUNCTION)


def most_methods(sources: Sources) -> Figure:
    """The methods, properties included, of the largest class."""
    counts = {place: len(_methods(node)) for place, node in _classes(sources)}
    return _largest("methods of the largest class", counts, MOST_METHODS)


def most_inherited_methods(sources: Sources) -> Figure:
    """The same with the methods that it inherits from other classes of the package."""
    known = {node.name: node for _, node in _classes(sources)}
    counts = {place: len(_all_methods(node, known)) for place, node in _classes(sources)}
    return _largest("the same, with inherited methods", counts, MOST_INHERITED)


def _classes(sources: Sources) -> list[tuple[str, ast.ClassDef]]:
    return [
        (f"{path}:{node.lineno} {node.name}", node)
        for path, tree in sources.items()
        for node in _statements(tree)
        if isinstance(node, ast.ClassDef)
    ]


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements at any depth. Expressions are fifteen times as many, and hold none."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        inner = getattr(tree, block, ())
        if isinstance(inner, list):  # the body of a lambda is an expression
            for node in inner:
                yield node
                yield from _statements(node)


def _methods(node: ast.ClassDef) -> set[str]:
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    return {inner.name for inner in node.body if isinstance(inner, functions)}


def _all_methods(node: ast.ClassDef, known: Mapping[str, ast.ClassDef]) -> set[str]:
    methods = _methods(node)
    for expression in node.bases:
        inner = expression.value if isinstance(expression, ast.Subscript) else expression
        name = ast.unparse(inner).rpartition(".")[2]
        if name in known and known[name] is not node:
            methods |= _all_methods(known[name], known)
    return methods


def _largest(what: str, counts: Mapping[str, int], limit: int) -> Figure:
    large = [f"{place}: {n}" for place, n in counts.items() if n > limit]
    return Figure(what, max(counts.values(), default=0), limit, tuple(large))


def kernel_lines(house: Path = HOUSE) -> Figure:
    """The lines of code of the kernel."""
    files = sorted((house / "kernel").rglob("*.py"))
    lines = {path.name: code_lines(path.read_text(encoding="utf-8")) for path in files}
    places = tuple(f"{name}: {n}" for name, n in lines.items())
    return Figure("lines of code of the kernel", sum(lines.values()), KERNEL_LINES, places)


def code_lines(source: str) -> int:
    """Lines of a file without blank lines, comments and docstrings.

    >>> code_lines("x = (\\n    1\\n)  # one\\n\\n# two")
    3
    """
    layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT}
    layout |= {tokenize.DEDENT, tokenize.ENDMARKER}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in layout:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first = node.body[0] if node.body else None
            if first is not None and ast.get_docstring(node, clean=False) is not None:
                lines -= set(range(first.lineno, (first.end_lineno or 0) + 1))
    return len(lines)


def import_graph(sources: Sources) -> dict[str, set[str]]:
    """For each module the modules of the package that it imports, by name too."""
    names = {_dotted(path): tree for path, tree in sources.items()}
    return {
        name: {*_imported(tree, names), *imported_by_name(name, tree, names)} - {name}
        for name, tree in names.items()
    }


def imported_by_name(name: str, tree: ast.Module, names: Container[str]) -> set[str]:
    """The modules that a module which calls `import_module` names in a string, in full or
    below its own name."""
    if not any(map(_imports_by_name, ast.walk(tree))):
        return set()
    strings = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return {
        module for text in strings for module in (text, f"{name}.{text}") if module in names
    }


def _imports_by_name(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in ("import_module", "__import__")
    return False


def _imported(tree: ast.Module, names: Mapping[str, ast.Module]) -> Iterator[str]:
    for node in _statements(tree):
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
    figures = [*measure(read()), kernel_lines()]
    print("\n".join(map(str, figures)))
    return sum(figure.value > figure.limit for figure in figures)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
