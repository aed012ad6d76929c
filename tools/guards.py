"""The house rules that no linter knows. Each guard returns the faults that it found, as text.

`path` is always relative to src/deniable (or to tests/ for `mirror`), with forward slashes.
"""

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

LONGEST = 400

# A helper lives beside its only caller; with two callers it earns a noun.
UNLABELLED = frozenset({"utils", "util", "common", "helpers", "helper", "core", "base", "misc"})

# Noise drawn here reaches a release, so it comes from `exact` and from nowhere else.
NO_RANDOM = ("exact/", "mechanisms/", "ledger/", "release/", "surveys/", "streams/co")

# A module and the file or folder (or several) that may import it: third-party ones, and bits
# that anybody can compute, which must never be the noise of a release.
DRIVERS: dict[str, str | tuple[str, ...]] = {
    "deniable.exact.derived_bits": "release/asking/released_part.py",
    "authlib": "app/server/accounts/",
    "joserfc": "app/server/accounts/",
    "httpx2": "app/server/accounts/",
    "cryptography": (
        "app/server/accounts/",
        "exact/bits.py",
        "ledger/stores/signing_keys.py",
        "streams/state/sealed_log.py",
        "surveys/collect/passes/",
        "surveys/collect/store/sealing_keys.py",
    ),
    "fastapi": "app/server/",
    "jinja2": "app/web/console/",
    "segno": "app/cli/surveys/",
    "starlette": "app/server/",
    "uvicorn": "app/server/",
    "duckdb": (
        "engines/duckdb/",
        "engines/dialect/duckdb_collations.py",
        "engines/dialect/duckdb_letters.py",
        "engines/dialect/duckdb_views.py",
        "app/publish/duckdb_file.py",
    ),
    "matplotlib": "figures/",
    "narwhals": ("engines/duckdb/frames.py", "engines/duckdb/series.py"),
    "pyspark": "engines/spark/",
    "pydantic": (
        "policy/file.py",
        "surveys/questionnaire/manifest.py",
        "surveys/questionnaire/manifest_question.py",
        "surveys/questionnaire/questionnaire.py",
        "surveys/questionnaire/survey_question.py",
    ),
    "rich": ("app/", "audit/test/progress.py"),
    "psycopg": (
        "engines/postgresql/engine.py",
        "ledger/database_journal.py",
        "app/server/accounts/postgresql_accounts.py",
    ),
    "sqlalchemy": (
        "ledger/database_journal.py",
        "ledger/stores/postgresql_store.py",
        "ledger/stores/sqlite_store.py",
        "ledger/stores/tables.py",
        "surveys/collect/store/",
        "dbapi/dialect.py",
        "app/publish/postgresql_schema.py",
        "app/server/problem_details.py",  # answers errors of the ledger's database
    ),
    "ibis": "engines/ibis/",
    "sqlglot": (
        "dbapi/parameters.py",
        "query/",
        "kernel/",
        "engines/dialect/",
        "engines/duckdb/cell_counting.py",
        "engines/ibis/",
        "engines/postgresql/writer.py",
        "engines/spark/writer.py",
    ),
    "typer": "app/",
}

# Names that could stand for anything, and where `one` is the number 1 (as 2**bits, say).
VAGUE = frozenset({"asked", "found", "made", "one"})
NUMBER_ONE = ("src/deniable/mechanisms/", "src/deniable/audit/prove/replay.py")

# Tests of the whole, which mirror no single file.
UNMIRRORED = frozenset({"test_docs.py", "test_house.py"})


def randomness(path: str, source: str) -> list[str]:
    """`random`, `numpy.random` and scipy's `rvs` in a room whose noise must be exact."""
    if not path.startswith(NO_RANDOM) or not re.search("random|rvs", source):
        return []
    tree = ast.parse(source)
    numpy = {"numpy"} | {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "numpy"
    }
    uses = [
        (line, module)
        for line, module in imports(tree)
        if _within(module, "random", "numpy.random")
    ]
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="random") if name in numpy:
                uses.append((node.lineno, "numpy.random"))
            case ast.Attribute(attr="rvs"):
                uses.append((node.lineno, "rvs, which draws from numpy.random"))
    return [f"{path}:{line} uses {what}; draw from `exact`." for line, what in sorted(uses)]


def drivers(path: str, source: str) -> list[str]:
    """A driver imported outside the file or folder that it is confined to."""
    foreign = {
        driver: home
        for driver, home in DRIVERS.items()
        if not path.startswith(home) and re.search(driver.replace(".", ".*"), source, re.DOTALL)
    }
    return [
        f"{path}:{line} imports {driver}, which belongs in "
        f"{home if isinstance(home, str) else ' or '.join(home)}."
        for line, module in (imports(ast.parse(source)) if foreign else ())
        for driver, home in foreign.items()
        if _within(module, driver)
    ]


def length(path: str, source: str) -> list[str]:
    """A file that has grown into several."""
    lines = len(source.splitlines())
    if lines < LONGEST:
        return []
    return [f"{path} has {lines} lines; under {LONGEST} it can be read in one sitting."]


def naming(path: str) -> list[str]:
    """A module or folder whose name says nothing."""
    parts = Path(path).with_suffix("").parts
    return [
        f"{path}: `{part}` is a drawer without a label; name what it holds."
        for part in parts
        if part.strip("_") in UNLABELLED
    ]


def variables(path: str, source: str) -> list[str]:
    """A variable, parameter or field whose name does not say what it is."""
    vague = VAGUE - {"one"} if path.startswith(NUMBER_ONE) else VAGUE
    if not re.search(rf"\b_*({'|'.join(sorted(vague))})\b", source):
        return []
    return [
        f"{path}:{line} has a variable `{name}`; call it what it is."
        for line, name in _bound_names(ast.parse(source))
        if name in vague
    ]


def _bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that a source gives to something, with its line; `_x` counts as x."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.arg(arg=name)
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.ExceptHandler(name=str(name))
            ):
                yield node.lineno, name.lstrip("_")


def mirror(path: str, sources: Set[str]) -> list[str]:
    """A test file that mirrors no source.

    `exact/test_laplace.py` and `exact/test_laplace_tails.py` stand for `exact/laplace.py`,
    `test_exact.py` and `exact/test_init.py` for the folder.
    `sources` are paths relative to src/deniable, those of tools and benchmarks keeping their
    folder's name.
    """
    test = Path(path)
    if path in UNMIRRORED:
        return []
    stems = _stems(frozenset(sources)).get(test.parent, set())
    subject = test.stem.removeprefix("test_")
    if any(subject == stem or subject.startswith(stem + "_") for stem in stems):
        return []
    return [f"tests/{path} mirrors no source file; name it after what it tests."]


@functools.cache
def _stems(sources: frozenset[str]) -> dict[Path, set[str]]:
    """For each folder the names that a test beside it may have: its files and folders."""
    stems = defaultdict(set)
    for file in map(Path, sources):
        stems[file.parent].add(file.stem.strip("_"))  # `__init__` is tested by test_init
        for folder in file.parents:
            if folder.name:
                stems[folder.parent].add(folder.name)
    return stems


def phrases(path: str, text: str, listed: Mapping[str, str]) -> list[str]:
    """Phrases of tools/phrases.toml in a text that people read."""
    patterns = {phrase.replace(" ", r"[\s#]+"): instead for phrase, instead in listed.items()}
    if not _any_of(tuple(patterns)).search(text):  # one pass over the text, of twenty
        return []
    return [
        f"{path}:{line} says {match[0]!r}; write: {instead}."
        for phrase, instead in patterns.items()
        for match in re.finditer(phrase, text)
        if (line := text.count("\n", 0, match.start()) + 1)
    ]


@functools.cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Matches where one of them does. All begin at the beginning of a word."""
    branches = "|".join(pattern.replace(r"\b", "", 1) for pattern in patterns)
    return re.compile(rf"\b(?:{branches})")


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every module that a source imports, with its line; `from a import b` counts as a.b."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield node.lineno, module


def _within(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)
