"""`deniable crosstabs` and `deniable copy`: many tables, or rows, of one table at one price."""

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from deniable.app.cli import session_options
from deniable.app.cli.argument_values import parse_decimal, parse_value, parse_values
from deniable.app.cli.progress import show_progress
from deniable.errors import InvalidParameter

Tables = Annotated[
    list[str],
    typer.Argument(
        help="The columns of each cross-table, such as age,sex.",
        metavar="COLUMNS...",
        show_default=False,
    ),
]
Table = Annotated[
    str | None, typer.Argument(help="The table; not needed if the policy has only one.")
]
TableOption = Annotated[
    str | None, typer.Option("--table", help="The table; not needed if there is only one.")
]
Columns = Annotated[
    str | None, typer.Option(help="Only these columns: age,sex,income.", metavar="COLUMNS")
]
Cuts = Annotated[
    list[str] | None,
    typer.Option("--cuts", help="Where intervals begin: age=18,65.", metavar="COLUMN=VALUES"),
]
OnlyDeclared = Annotated[
    bool,
    typer.Option("--only-declared", help="Leave out rows with NULL or undeclared values."),
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Only show what would be measured. Spends nothing.")
]
Save = Annotated[Path | None, typer.Option("--save", help="Also write JSON.", metavar="FILE")]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="Where to write the rows: .parquet or .csv.", metavar="FILE"),
]
Rows = Annotated[
    int | None, typer.Option(help="How many rows; by default about as many as there are.")
]


Dates = Annotated[
    list[str] | None,
    typer.Option(
        "--dates",
        help="The range of a column of days: day=2020-01-01,2020-12-31.",
        metavar="COLUMN=DAYS",
    ),
]
Method = Annotated[str, typer.Option(help="auto, mst or aim.")]
Workload = Annotated[
    list[str] | None,
    typer.Option(
        "--workload",
        help="A table that matters, maybe with its weight: age,sex=2.",
        metavar="COLUMNS[=WEIGHT]",
    ),
]
KeysEpsilon = Annotated[
    str | None,
    typer.Option(help="In addition, to find keys of texts.", metavar="NUMBER"),
]
Depends = Annotated[
    list[str] | None,
    typer.Option(
        "--depends",
        help="A column whose value follows from another's: state=city:Paris=IDF,Lyon=ARA, or "
        "state=city:FILE.csv with the two columns city,state.",
        metavar="COLUMN=OTHER:VALUES",
    ),
]
Impossible = Annotated[
    list[str] | None,
    typer.Option(
        "--impossible",
        help="Values that no row has together: sex=m,pregnant=True.",
        metavar="COLUMN=VALUE,...",
    ),
]
CertificateFile = Annotated[
    Path | None,
    typer.Option("--certificate", help="Also write its certificate.", metavar="FILE.json"),
]


def crosstabs(
    tables: Tables,
    epsilon: session_options.Epsilon = None,
    table: TableOption = None,
    delta: session_options.Delta = None,
    cuts: Cuts = None,
    only_declared: OnlyDeclared = False,
    policy: session_options.PolicyFile = session_options.POLICY,
    confidence: session_options.Confidence = "0.95",
    analyst: session_options.Analyst = None,
    explain: Explain = False,
    save: Save = None,
) -> None:
    """Release several cross-tables that add up to each other, for one price.

    Each cell has its margin. Values that are not declared, and NULL, are a cell of their own.
    """
    column_groups = [[name.strip() for name in columns.split(",")] for columns in tables]
    options = read_options(epsilon, delta, cuts, only_declared, confidence)
    session_options.check_writable(save)
    if explain:
        with session_options.open_planner(policy, "planning") as planner:
            print(planner.crosstabs(column_groups, table=table, **options, explain=True))
        return
    with session_options.open_session(policy, "counting", analyst) as session:
        result = session.crosstabs(column_groups, table=table, **options)
    print(result)
    if save is not None:
        result.save(save)


def copy(
    table: Table = None,
    epsilon: session_options.Epsilon = None,
    out: Out = None,
    delta: session_options.Delta = None,
    columns: Columns = None,
    cuts: Cuts = None,
    dates: Dates = None,
    rows: Rows = None,
    method: Method = "auto",
    workload: Workload = None,
    keys_epsilon: KeysEpsilon = None,
    depends: Depends = None,
    impossible: Impossible = None,
    only_declared: OnlyDeclared = False,
    policy: session_options.PolicyFile = session_options.POLICY,
    confidence: session_options.Confidence = "0.95",
    analyst: session_options.Analyst = None,
    certificate: CertificateFile = None,
    explain: Explain = False,
) -> None:
    """Make a private copy of a table: rows that look like its rows, and a scorecard.

    Anyone may have the copy, and questions about it cost nothing.
    """
    options = read_options(epsilon, delta, cuts, only_declared, confidence) | {
        "columns": None if columns is None else [name.strip() for name in columns.split(",")],
        "rows": rows,
        "method": method,
        "keys_epsilon": keys_epsilon and parse_decimal(keys_epsilon, "keys-epsilon"),
    }
    options |= read_rules(dates, workload, depends, impossible)
    if explain:
        with session_options.open_planner(policy, "planning") as planner:
            print(planner.copy(table, **options, explain=True))
        return
    file = check_file(out)
    session_options.check_writable(certificate)
    opened = session_options.open_quietly(policy, analyst)
    with show_progress("copying") as tell, opened as session:
        result = session.copy(table, **options, progress=tell)
    result.save(file)
    print(result)
    if certificate is not None:
        certificate.write_text(result.certificate_text(), encoding="ascii")


def read_options(
    epsilon: str | None,
    delta: str | None,
    cuts: list[str] | None,
    only_declared: bool,
    confidence: str,
) -> dict[str, Any]:
    """The options that both commands share, as a session takes them."""
    if epsilon is None:
        raise InvalidParameter("Give the price of the whole release, such as --epsilon 1.")
    return {
        "epsilon": parse_decimal(epsilon, "epsilon"),
        "delta": None if delta is None else parse_decimal(delta, "delta"),
        "cuts": read_cuts(cuts or []),
        "missing": not only_declared,
        "confidence": parse_decimal(confidence, "confidence"),
    }


def read_rules(
    dates: list[str] | None,
    workload: list[str] | None,
    depends: list[str] | None,
    impossible: list[str] | None,
) -> dict[str, Any]:
    """What is known about the columns of a copy beforehand."""
    return {
        "dates": read_cuts(dates or []) or None,
        "workload": read_workload(workload or []),
        "depends": dict(map(read_dependence, depends or [])) or None,
        "impossible": [read_combination(words) for words in impossible or []] or None,
    }


def read_cuts(words: list[str]) -> dict[str, list[Any]]:
    """Words such as age=18,65 as a mapping.

    >>> read_cuts(["age=18,65"])
    {'age': [18, 65]}
    """
    cuts = {}
    for word in words:
        name, equals, values = word.partition("=")
        if not equals:
            raise InvalidParameter(f"Write cuts as COLUMN=VALUES: age=18,65. Found {word!r}.")
        cuts[name.strip()] = parse_values(values)
    return cuts


def read_workload(words: list[str]) -> dict[tuple[str, ...], Any] | None:
    """Words such as age,sex=2 as tables with weights.

    >>> read_workload(["age,sex=2", "sex"])
    {('age', 'sex'): Decimal('2'), ('sex',): 1}
    """
    weights: dict[tuple[str, ...], Any] = {}
    for word in words:
        names, equals, weight = word.partition("=")
        columns = tuple(name.strip() for name in names.split(","))
        weights[columns] = parse_decimal(weight, "workload") if equals else 1
    return weights or None


def read_dependence(words: str) -> tuple[str, tuple[str, dict[Any, Any]]]:
    """Words such as state=city:Paris=IDF,Lyon=ARA, or state=city:FILE.csv.

    >>> read_dependence("state=city:Paris=IDF,Lyon=ARA")
    ('state', ('city', {'Paris': 'IDF', 'Lyon': 'ARA'}))
    """
    name, equals, rest = words.partition("=")
    other, colon, values = rest.partition(":")
    if not (equals and colon and values):
        raise InvalidParameter(
            "Write dependencies as COLUMN=OTHER:VALUES, such as state=city:Paris=IDF,Lyon=ARA, "
            f"or as state=city:FILE.csv. Found {words!r}."
        )
    column, source = name.strip(), other.strip()
    if "=" in values:
        pairs = [pair.partition("=")[::2] for pair in values.split(",")]
    else:
        pairs = _read_pairs(Path(values.strip()), source, column)
    return column, (source, {parse_value(a): parse_value(b) for a, b in pairs})


def _read_pairs(file: Path, source: str, column: str) -> list[tuple[str, str]]:
    """The two columns of a CSV file, which its first line names in any order."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            rows = csv.DictReader(opened)
            if not {source, column} <= {*(rows.fieldnames or ())}:
                raise InvalidParameter(
                    f"The first line of {str(file)!r} must name {source} and {column}."
                )
            return [(row[source] or "", row[column] or "") for row in rows]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise InvalidParameter(f"{str(file)!r} cannot be read as a CSV file.") from None


def read_combination(words: str) -> dict[str, list[Any]]:
    """Words such as sex=m,pregnant=True; a column may have several values.

    >>> read_combination("sex=m,pregnant=True,pregnant=None")
    {'sex': ['m'], 'pregnant': [True, None]}
    """
    combination: dict[str, list[Any]] = {}
    for word in words.split(","):
        name, equals, value = word.partition("=")
        if not equals:
            raise InvalidParameter(
                "Write a combination as COLUMN=VALUE,COLUMN=VALUE: sex=m,pregnant=True. Found "
                f"{words!r}."
            )
        combination.setdefault(name.strip(), []).append(parse_value(value))
    return combination


def check_file(out: Path | None) -> Path:
    """The file for the rows, if it can be written. Nothing is spent before."""
    from deniable.synth.copies.table_copy import check_format

    if out is None:
        raise InvalidParameter("Say where to write the copy, such as --out copy.parquet.")
    check_format(out)
    session_options.check_writable(out)
    return out
