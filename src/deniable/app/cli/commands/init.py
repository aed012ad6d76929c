"""`deniable init`: draft a policy from the names and types of columns. No value is in it."""

import os
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Annotated

import typer

import deniable as dp

Sources = Annotated[
    list[str],
    typer.Argument(
        help="CSV, Parquet or DuckDB files, a folder of them, a pattern in quotes for many "
        "files of one table; or an address: postgresql://, spark://, ibis://, or '$NAME' for "
        "an address in an environment variable.",
        metavar="SOURCE...",
    ),
]


def init(
    sources: Sources,
    out: Annotated[Path, typer.Option(help="The policy to write.", metavar="POLICY")] = Path(
        "deniable.toml"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace an older policy.")] = False,
    add: Annotated[
        bool, typer.Option("--add", help="Add the tables to an older policy.")
    ] = False,
) -> None:
    """Draft a policy for a file or a database, from the names and types of its columns.

    No value is in the draft. Lines marked FILL IN need your decision. Passwords and tokens come
    from the environment, never from an address on the command line.
    """
    if out.exists() and not (force or add):
        raise dp.InvalidParameter(
            f"{str(out)!r} exists already. Add tables to it with --add, write another file "
            "with --out, or replace it with --force."
        )
    from deniable.ledger.beginning import name_draft
    from deniable.policy.folder_neighbors import read_names

    files = list_sources(sources)
    warning = " ".join(filter(None, map(describe_malformed_lines, files)))
    if add and out.exists():
        add_tables(files, out)
        return
    text, older = write_draft(files, out.parent), read_names(out)
    try:
        out.write_text(text, encoding="utf-8")
        key = name_draft(out, older.ledger_id if older else None)
        about_key = f"The key that signs its ledger is {key}: keep it secret."
    except dp.LedgerBroken as problem:
        about_key = str(problem)
    except OSError as problem:
        raise dp.InvalidParameter(
            f"{str(problem.filename or out)!r} cannot be written: {problem.strerror}. Choose "
            "another folder with --out."
        ) from None
    print(f"{out} is drafted. {_what_to_decide(text)}")
    print(about_key)
    print(f"Then list the tables with   deniable tables{_policy_option(out)}")
    if warning:
        print(f"\nThe file cannot be opened as it is: {warning}\n{HOW_TO_CORRECT}")


def _policy_option(out: Path) -> str:
    """How the other commands name this policy: they read deniable.toml by default.

    >>> _policy_option(Path("deniable.toml")), _policy_option(Path("my visits.toml"))
    ('', " --policy 'my visits.toml'")
    """
    return "" if out == Path("deniable.toml") else f" --policy {shlex.quote(str(out))}"


def describe_malformed_lines(source: str) -> str:
    """What is malformed in a CSV file, for the owner to know now; the draft is the same."""
    from deniable.app.cli.progress import show_progress
    from deniable.engines.duckdb.csv_files import find_malformed_lines
    from deniable.engines.duckdb.source_files import find_files
    from deniable.policy.source_addresses import is_address

    if is_address(source) or (files := find_files(source)).format != "csv":
        return ""
    with show_progress("reading the file"):
        malformed_lines = find_malformed_lines(files)
    return str(malformed_lines) if malformed_lines.count else ""


HOW_TO_CORRECT = (
    "Correct it first: each line must be one record, in UTF-8. docs/how-to/scale.md says how "
    "CSV files are read."
)
MARK_LINE = '= "FILL IN"'


def list_sources(sources: list[str]) -> list[str]:
    """The sources, with every known file of a folder in its place."""
    from deniable.engines.duckdb.source_files import is_known_file

    all_sources: list[str] = []
    for source in sources:
        if not Path(source).is_dir():
            all_sources.append(source)
            continue
        files = sorted(str(file) for file in Path(source).iterdir() if is_known_file(file))
        if not files:
            raise dp.InvalidPolicy(
                f"The folder {source!r} has no CSV, Parquet or DuckDB file. Name a file, or a "
                "pattern in quotes, such as 'data/*/*.parquet'."
            )
        all_sources += files
    return all_sources


def add_tables(sources: list[str], out: Path) -> None:
    """Adds drafts of tables to a policy, whose text stays as it is."""
    from deniable.policy.draft import draft_tables

    older = out.read_text(encoding="utf-8")
    schemas, addresses = read_sources(sources, out.parent)
    declared = {name.lower() for name in tomllib.loads(older).get("tables", {})}
    for name in schemas:
        if name.lower() in declared:
            raise dp.InvalidPolicy(
                f"{str(out)!r} has a table {name!r} already. Rename the file, or change the "
                "table in the policy."
            )
    text = draft_tables(schemas, addresses)
    out.write_text(older.rstrip("\n") + "\n" + text, encoding="utf-8")
    names = ", ".join(schemas)
    print(f"{names} added to {out}. {_what_to_decide(text)}")


def _what_to_decide(text: str) -> str:
    """How many decisions a draft leaves to the owner."""
    from deniable.exact.suggestions import pluralize

    return f"Decide the {pluralize(text.count(MARK_LINE), 'line')} marked FILL IN."


def write_draft(sources: list[str], folder: Path) -> str:
    """The text of a draft for files and addresses; paths are relative to the folder."""
    from deniable.policy.draft import draft

    return draft(*read_sources(sources, folder))


def read_sources(
    sources: list[str], folder: Path
) -> tuple[dict[str, Mapping[str, str]], dict[str, str]]:
    """The columns of all tables of some sources, and where each table is."""
    schemas: dict[str, Mapping[str, str]] = {}
    addresses: dict[str, str] = {}
    for source in sources:
        tables, where = read_source(source, folder)
        for name in tables:
            free = free_name(name, schemas)
            schemas[free], addresses[free] = tables[name], where[name]
    return schemas, addresses


def free_name(name: str, used_names: Iterable[str]) -> str:
    """The name, with a number behind it if it is taken.

    >>> free_name("visits", []), free_name("visits", ["Visits", "visits_2"])
    ('visits', 'visits_3')
    """
    compared = {other.lower() for other in used_names}
    names = chain([name], (f"{name}_{i}" for i in count(2)))
    return next(other for other in names if other.lower() not in compared)


def read_source(
    source: str, folder: Path
) -> tuple[Mapping[str, Mapping[str, str]], Mapping[str, str]]:
    """The same for one source."""
    from deniable.engines.opening import list_tables, read_schemas
    from deniable.policy.source_addresses import is_address

    remote, tables = is_address(source), list_tables(source)
    if remote and not tables and not names_one_table(source):
        raise dp.InvalidPolicy(
            "This address has no table that may be read. Check the address, and the rights of "
            "its user."
        )
    names = unique_names(tables) if remote else dict(zip(tables, tables, strict=True))
    sources = {name: f"{source}#{table}" for name, table in names.items()}
    sources = sources or {table_name(source): source}
    schemas = read_schemas(sources)
    if remote:
        return schemas, sources
    relative = os.path.relpath(source, folder)
    return schemas, {
        name: relative + address.removeprefix(source) for name, address in sources.items()
    }


def names_one_table(source: str) -> bool:
    """Whether an address names one table.

    >>> (
    ...     names_one_table("postgresql://reader@db/hospital"),
    ...     names_one_table("spark://local?parquet=/data/visits"),
    ... )
    (False, True)
    """
    from deniable.policy.source_addresses import read_address

    place = read_address(source)
    return place.table is not None or "parquet=" in place.address


def unique_names(tables: list[str]) -> dict[str, str]:
    """The tables by unique names: the part after the last dot, or the whole name if two agree.

    >>> list(unique_names(["public.visits", "old.visits", 'public."The Wards"']))
    ['public.visits', 'old.visits', 'The Wards']
    """
    short_names = [table.rpartition(".")[2].strip('"`') for table in tables]
    return {
        short if short_names.count(short) == 1 else table: table
        for short, table in zip(short_names, tables, strict=True)
    }


def table_name(source: str) -> str:
    """The name of a table: from its file, or the part after #.

    >>> table_name("data/Visits 2024.csv.gz"), table_name("2024.parquet")
    ('Visits_2024', 'data')
    >>> table_name("spark://local?parquet=/data/visits/")
    'visits'
    >>> table_name("ibis://duckdb/a.db#main.visits")
    'visits'
    """
    from deniable.policy.source_addresses import is_address, read_address

    if is_address(source):
        place = read_address(source)
        name = place.table or place.address.rstrip("/").rpartition("/")[2]
        return to_identifier(name.rpartition(".")[2])
    path, _, inner = source.partition("#")
    return to_identifier(inner or Path(path).name.partition(".")[0])


def to_identifier(name: str) -> str:
    """The name with other characters than letters and digits replaced by underscores."""
    identifier = "".join(char if char.isalnum() else "_" for char in name).strip("_")
    return identifier if identifier.isidentifier() else "data"
