"""Every guarantee broken on purpose, one at a time: a test must notice.

`mutants.toml` lists changes, each of which breaks a promise: noise left out, a limit dropped, a
charge forgotten, a signature not checked. An entry names a function and a change of its code:

    function = "query/relations/scope.py::Scope.clip"
    change = "clip($value, $*ends) => $value"

The code before the arrow is looked up in the function's syntax tree, so line breaks, comments
and brackets do not matter. `$name` stands for any expression, `$*name` for any number of
arguments, and may be used after the arrow. It must be found exactly once. Each change is made
in a copy of the project, and the test that is named beside it is run there. It must pass
without the change and fail with it. Run all with `make mutants`, or some groups with
`python tools/mutants.py charge chain`.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
LONGEST = 1200  # seconds that a test may take; one that a mutant hangs has not noticed
FAILED = 1  # what pytest returns if tests ran and some failed; not if it could not even start
ARROW = " => "
_LEFT_OUT = ("*.pyc", "__pycache__", ".*", "build")
_ANY, _MANY = "any_expression_", "any_arguments_"

Bindings = dict[str, ast.AST | list[ast.AST]]


class Gone(Exception):
    """The code that a mutant changes is not there, or is there more than once."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one function (`file::name`) or file, and the test that must fail."""

    group: str
    what: str
    function: str
    change: str
    test: str

    @property
    def name(self) -> str:
        """What it breaks."""
        return f"{self.group}: {self.what}"

    @property
    def file(self) -> str:
        """The source file, relative to the package."""
        return self.function.partition("::")[0]

    def apply(self, source: str) -> str:
        """The source with the change made.

        >>> broken = Mutant("noise", "none", "a.py::f", "$m.release($x) => $x", "tests/a.py")
        >>> print(broken.apply("def f(m, n):\\n    return m.release(n + 1)"))
        def f(m, n):
            return (n + 1)
        """
        before, _, after = self.change.partition(ARROW)
        scope = _find_function(_read_source(source), self.function.partition("::")[2])
        pattern = _parse(before)
        matches = [
            (nodes, bindings)
            for nodes in _candidates(scope, pattern)
            if (bindings := _match_all(pattern, nodes)) is not None
        ]
        if len(matches) != 1:
            raise Gone(
                f"{self.name}: `{before}` occurs {len(matches)} times in {self.function}."
            )
        return _replace(source, *matches[0], after)


def read(path: Path) -> list[Mutant]:
    """The mutants of a table."""
    groups = tomllib.loads(path.read_text(encoding="utf-8"))
    return [Mutant(group, **entry) for group, entries in groups.items() for entry in entries]


@lru_cache(maxsize=8)
def _read_source(source: str) -> ast.Module:
    return ast.parse(source)


def _find_function(tree: ast.Module, name: str) -> ast.AST:
    scope: ast.AST = tree
    for part in filter(None, name.split(".")):
        body = getattr(scope, "body", [])
        named = [node for node in body if getattr(node, "name", None) == part]
        if not named:
            raise Gone(f"There is no function {name}.")
        scope = named[-1]  # the last of several is the one after its overloads
    return scope


def _parse(code: str) -> list[ast.AST]:
    """A pattern: one expression, or statements."""
    code = re.sub(r"\$\*(\w+)", rf"*{_MANY}\1", code)
    code = re.sub(r"\$(\w+)", rf"{_ANY}\1", code)
    body: list[ast.stmt] = ast.parse(textwrap.dedent(code)).body
    if len(body) == 1 and isinstance(body[0], ast.Expr):
        return [body[0].value]
    return list(body)


def _candidates(scope: ast.AST, pattern: Sequence[ast.AST]) -> Iterator[Sequence[ast.AST]]:
    if len(pattern) == 1 and isinstance(pattern[0], ast.expr):
        yield from ([node] for node in ast.walk(scope) if isinstance(node, ast.expr))
        return
    for node in ast.walk(scope):
        for block in ("body", "orelse", "finalbody"):
            statements = getattr(node, block, None)
            if isinstance(statements, list):
                for i in range(len(statements) - len(pattern) + 1):
                    yield statements[i : i + len(pattern)]


def _match_all(pattern: Sequence[ast.AST], nodes: Sequence[ast.AST]) -> Bindings | None:
    bindings: Bindings = {}
    if len(pattern) != len(nodes):
        return None
    matched = all(_match(p, n, bindings) for p, n in zip(pattern, nodes, strict=True))
    return bindings if matched else None


def _match(pattern: object, node: object, bindings: Bindings) -> bool:
    if isinstance(pattern, ast.Name) and pattern.id.startswith(_ANY):
        return isinstance(node, ast.expr) and _bind(pattern.id, node, bindings)
    if isinstance(pattern, list) and isinstance(node, list):
        return _match_lists(pattern, node, bindings)
    if not isinstance(pattern, ast.AST):
        return bool(pattern == node)
    return type(pattern) is type(node) and all(
        _match(value, getattr(node, field, None), bindings)
        for field, value in ast.iter_fields(pattern)
        if field not in ("ctx", "type_comment", "kind")
    )


def _match_lists(pattern: list[object], nodes: list[object], bindings: Bindings) -> bool:
    if pattern and (name := _many(pattern[-1])):
        head, rest = pattern[:-1], nodes[len(pattern) - 1 :]
        if not all(isinstance(node, ast.AST) for node in rest) or len(nodes) < len(head):
            return False
        bindings[name] = [node for node in rest if isinstance(node, ast.AST)]
        pattern, nodes = head, nodes[: len(head)]
    return len(pattern) == len(nodes) and all(
        _match(p, n, bindings) for p, n in zip(pattern, nodes, strict=True)
    )


def _many(pattern: object) -> str:
    match pattern:
        case ast.Starred(value=ast.Name(id=name)) if name.startswith(_MANY):
            return name
    return ""


def _bind(name: str, node: ast.AST, bindings: Bindings) -> bool:
    """Whether the name is free, or stands for the same code already."""
    held = bindings.setdefault(name, node)
    return isinstance(held, ast.AST) and ast.dump(held) == ast.dump(node)


def _replace(source: str, nodes: Sequence[ast.AST], bindings: Bindings, after: str) -> str:
    """The source with the lines of `nodes` replaced by `after`, its `$names` filled in."""

    def fill(found: re.Match[str]) -> str:
        held = bindings[(_MANY if found[1] else _ANY) + found[2]]
        if isinstance(held, list):
            return ", ".join(map(ast.unparse, held))
        return f"({ast.unparse(held)})"

    code = re.sub(r"\$(\*?)(\w+)", fill, after)
    first, last = nodes[0], nodes[-1]
    assert isinstance(first, ast.expr | ast.stmt)
    assert isinstance(last, ast.expr | ast.stmt)
    lines = source.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: first.lineno - 1])) + first.col_offset
    end = sum(map(len, lines[: (last.end_lineno or 0) - 1])) + (last.end_col_offset or 0)
    if isinstance(first, ast.stmt):
        code = textwrap.indent(textwrap.dedent(code), " " * first.col_offset).lstrip()
    return (source.encode()[:start] + code.encode() + source.encode()[end:]).decode()


def verdict(mutant: Mutant, copy: Path) -> str:
    """What became of one mutant in a copy of the project; the copy is as before."""
    file = copy / "src" / "deniable" / mutant.file
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    try:
        changed = mutant.apply(text)
    except Gone:
        return "GONE"  # what it changes is written otherwise now: bring the table up to date
    _write(file, changed)
    try:
        return "caught" if run_tests(copy, [mutant.test]) == FAILED else "SURVIVED"
    finally:
        _write(file, text)


def _write(file: Path, text: str) -> None:
    """Writes a source file with a time that no compiled code of it was made at."""
    after = file.stat().st_mtime + 2  # compiled code remembers whole seconds
    file.write_text(text, encoding="utf-8")
    os.utime(file, (after, after))


def run_tests(copy: Path, tests: Sequence[str], longest: int | None = LONGEST) -> int:
    """What pytest returns for some tests of a copy, which it runs with that copy's code."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "OPENBLAS_NUM_THREADS": "1"}
    # Compiled code is kept, whatever the machine says: each mutant changes one file.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        done = subprocess.run(
            command,
            cwd=copy,
            env=environment,
            capture_output=True,
            timeout=longest,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1
    return done.returncode


def judge_all(mutants: Iterable[Mutant], root: Path, workers: int) -> list[tuple[Mutant, str]]:
    """All mutants with what became of them, each printed as soon as it is known."""
    with tempfile.TemporaryDirectory() as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for i in range(workers):
            copy = Path(folder) / str(i)
            shutil.copytree(root, copy, ignore=shutil.ignore_patterns(*_LEFT_OUT))
            copies.put(copy)

        def judge(mutant: Mutant) -> tuple[Mutant, str]:
            copy = copies.get()
            try:
                outcome = verdict(mutant, copy)
            finally:
                copies.put(copy)
            print(f"{outcome:<9}{mutant.name}", flush=True)
            return mutant, outcome

        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(judge, mutants))


def main(groups: Sequence[str], root: Path = ROOT) -> int:
    """How many mutants no test noticed."""
    table = read(root / "tools" / "mutants.toml")
    mutants = [mutant for mutant in table if not groups or mutant.group in groups]
    if run_tests(root, sorted({mutant.test for mutant in mutants}), longest=None):
        print("Some of these tests fail without any change: mend that first.")
        return 1
    judged = judge_all(mutants, root, os.cpu_count() or 1)
    left = [mutant for mutant, outcome in judged if outcome != "caught"]
    print(f"{len(mutants) - len(left)} of {len(mutants)} mutants were caught.")
    for mutant in left:
        print(f"  not caught: {mutant.name} ({mutant.function}; {mutant.test})")
    return len(left)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
