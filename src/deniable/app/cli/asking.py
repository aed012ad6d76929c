"""What `sql` and `explain` share: their options, and the session that they open."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.app.cli.odds import number

if TYPE_CHECKING:
    from deniable.policy import Policy
    from deniable.release import Ledger, Session

Question = Annotated[
    str, typer.Argument(help="The question.", metavar="SQL", show_default=False)
]
Epsilon = Annotated[
    str | None,
    typer.Option(help="What the answer may cost, for example 0.5.", metavar="EPSILON"),
]
Margin = Annotated[
    str | None,
    typer.Option(help="In place of epsilon: how far off the answer may be.", metavar="MARGIN"),
]
Relative = Annotated[
    str | None,
    typer.Option(help="A margin as a share of the size given by --of.", metavar="SHARE"),
]
Of = Annotated[
    str | None, typer.Option(help="The size that --relative is relative to.", metavar="SIZE")
]
FindBounds = Annotated[
    bool,
    typer.Option("--find-bounds", help="Spend a fifth of epsilon on bounds not declared."),
]
Delta = Annotated[
    str | None,
    typer.Option(help="Its delta; a hundredth of the budget's if not given.", metavar="DELTA"),
]
PolicyFile = Annotated[
    Path, typer.Option("--policy", help="The owner's policy.", metavar="FILE")
]
Confidence = Annotated[str, typer.Option(help="Of each margin.", metavar="LEVEL")]
Nonnegative = Annotated[bool, typer.Option("--nonnegative", help="Show counts below 0 as 0.")]
Other = Annotated[
    bool, typer.Option("--other", help="Add a group for all that is in no other.")
]
Analyst = Annotated[
    str | None, typer.Option(help="Who asks, where the policy cares.", metavar="NAME")
]
POLICY = Path("deniable.toml")


def wishes(
    *, confidence: str, nonnegative: bool, other: bool, find: bool, **numbers: str | None
) -> dict[str, Any]:
    """The options as a session takes them; numbers stay exact."""
    return {
        **{name: None if one is None else number(one, name) for name, one in numbers.items()},
        "confidence": number(confidence, "confidence"),
        "nonnegative": nonnegative,
        "other": other,
        "bounds": "find" if find else None,
    }


@contextmanager
def session(policy: Path, doing: str, analyst: str | None = None) -> Iterator["Session"]:
    """A session over the policy; on a terminal one sees that it works, and how far it is."""
    import deniable as dp
    from deniable.app.cli.working import working

    with working(doing) as tell, dp.open(str(policy), analyst=analyst, progress=tell) as opened:
        yield opened


def writable(path: Path | None) -> None:
    """Refuses, before anything is spent, a file that could not be written afterwards."""
    from deniable.errors import InvalidParameter

    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise InvalidParameter(f"{str(path)!r} cannot be written: there is no such folder.")


def begun(policy: "Policy") -> bool:
    """Whether a policy's ledger is there, or was: to look at it must not begin one."""
    from deniable.release.durable import Mark, key_beside

    where = policy.ledger
    if where is None or "://" in where or Path(where).exists():
        return True
    return Mark(Path(policy.ledger_key or key_beside(where)), where).there


@contextmanager
def ledger(policy: Path) -> Iterator["Ledger"]:
    """The ledger of a policy, if there is one yet; the data is left alone."""
    from deniable.errors import LedgerUnavailable
    from deniable.policy import load
    from deniable.release.durable import ledger_of

    known = load(str(policy))
    if not begun(known):
        raise LedgerUnavailable(
            f"There is no ledger {known.ledger!r} yet: nothing was asked under this policy."
        )
    opened = ledger_of(known)
    try:
        yield opened
    finally:
        opened.close()
