"""`deniable attack`: what exact answers about your own table would give away, and what is left
with noise. It is for the owner: it reads the rows themselves."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.app.cli import session_options
from deniable.app.cli.argument_values import parse_decimal
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.audit.attack import AttackFinding

Source = Annotated[
    Path,
    typer.Argument(help="A data file, or a policy whose private key file is at hand."),
]
Log = Annotated[
    list[Path] | None,
    typer.Option(
        "--log",
        help="Questions that were asked or are planned: SQL with semicolons, a notebook, a "
        "script, a log with a column sql (.csv, .jsonl), the database of a server (.sqlite), "
        "or a folder of these. May be repeated.",
        metavar="FILE",
    ),
]
Secret = Annotated[
    str | None, typer.Option(help="The column that nobody should learn.", metavar="COLUMN")
]
Known = Annotated[
    str | None,
    typer.Option(help="Columns that the attacker knows: age,sex.", metavar="COLUMNS"),
]
Members = Annotated[
    str | None,
    typer.Option(
        help="Tell who is in the data: by averages of columns of 0 and 1, or by a copy.",
        metavar="averages|copy",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(help="Only attack by these columns: age,sex,zip.", metavar="COLUMNS"),
]
Unit = Annotated[
    str | None,
    typer.Option(help="The column that identifies a person, in a data file.", metavar="COLUMN"),
]
Table = Annotated[
    str | None,
    typer.Option(help="The table of the policy, or how questions call the file."),
]
Epsilon = Annotated[
    str, typer.Option(help="The price of the private answers together.", metavar="EPSILON")
]
Most = Annotated[int, typer.Option("--most-columns", help="The most columns of a set.")]
Fewer = Annotated[
    int, typer.Option("--fewer-than", help="Report combinations about fewer people.")
]
MadeUp = Annotated[
    bool,
    typer.Option(
        "--made-up",
        help="Attack made-up rows that fit the policy: the result may be shown around.",
    ),
]
Page = Annotated[
    Path | None,
    typer.Option("--page", help="Also write a page that only you can read.", metavar="FILE"),
]


def attack(
    source: Source = session_options.POLICY,
    log: Log = None,
    secret: Secret = None,
    known: Known = None,
    members: Members = None,
    columns: Columns = None,
    unit: Unit = None,
    table: Table = None,
    epsilon: Epsilon = "1",
    most_columns: Most = 4,
    fewer_than: Fewer = 5,
    made_up: MadeUp = False,
    page: Page = None,
) -> None:
    """Attack your own table, and see what its answers would give away.

    Alone: which columns single people out. With --secret: how much of that column sums over
    random groups reveal, as noise grows; with --known, too: what a table of counts adds about
    the people in it. With --log: which combinations of these questions single people out; and
    with --secret, how much of that column is recovered from exact answers and from private
    ones. With --members: whether averages, or a private copy, tell who is in the data.

    The results are exact facts about real people, unless the rows are made up. Nothing is
    charged, and the private answers are not shown.
    """
    session_options.check_writable(page)
    own: Any = _make_up(source, table) if made_up else source
    declared: dict[str, Any] = {"table": table} | ({} if unit is None else {"unit": unit})
    given: dict[str, Any] = {"secret": secret, "epsilon": parse_decimal(epsilon, "epsilon")}
    listed = None if columns is None else _split(columns)
    if members is not None:
        _refuse_beside(members, log, secret, known)
        finding: AttackFinding = _tell_members(own, members, listed, given["epsilon"], declared)
    elif log:
        _refuse_known(known)
        finding = _attack_log(own, log, {"fewer_than": fewer_than, **declared}, given)
    elif known is not None or secret is not None:
        finding = _attack_secret(own, known, given, declared)
    else:
        finding = _link(own, columns=listed, most_columns=most_columns, **declared)
    print(finding)
    if page is not None:
        finding.save(page)
        print(f"The page is in {page}.")


def _make_up(source: Path, table: str | None) -> Any:
    from deniable.audit import attack as attacks

    return attacks.made_up(source, table=table)


def _link(own: Any, **options: Any) -> "AttackFinding":
    from deniable.audit import attack as attacks

    return attacks.linkage(own, **options)


def _tell_members(
    own: Any, members: str, columns: list[str] | None, epsilon: Any, declared: dict[str, Any]
) -> "AttackFinding":
    from deniable.audit import attack as attacks

    if members == "copy":
        return attacks.copy_membership(own, epsilon=epsilon, **declared)
    table = _one_row_each(declared)
    return attacks.membership(own, columns=columns, epsilon=epsilon, table=table)


def _attack_secret(
    own: Any, known: str | None, settings: dict[str, Any], declared: dict[str, Any]
) -> "AttackFinding":
    from deniable.audit import attack as attacks

    if settings["secret"] is None:
        raise InvalidParameter("Name the column that should be guessed, too: --secret.")
    if known is None:
        table = _one_row_each(declared)
        return attacks.reconstruction(own, secret=settings["secret"], table=table)
    return attacks.attribute_inference(own, known=_split(known), **settings, **declared)


def _refuse_beside(members: str, *others: Any) -> None:
    if members not in ("averages", "copy") or any(option is not None for option in others):
        raise InvalidParameter(
            "--members takes averages or copy, and no --log, --secret or --known beside it."
        )


def _refuse_known(known: str | None) -> None:
    if known is not None:
        raise InvalidParameter(
            "--known goes with --secret alone: who attacks a --log knows every other column."
        )


def _one_row_each(declared: dict[str, Any]) -> str | None:
    """The name of the table; a unit is refused, because rows are taken for people."""
    if "unit" in declared:
        raise InvalidParameter(
            "This attack takes tables with one row for each person: leave out --unit."
        )
    table: str | None = declared["table"]
    return table


def _attack_log(
    own: Any, log: list[Path], options: dict[str, Any], settings: dict[str, Any]
) -> "AttackFinding":
    from deniable.audit import attack as attacks

    if settings["secret"] is None:
        return attacks.differencing(own, log, **options)
    return attacks.questions(own, log, **settings, **options)


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",")]
