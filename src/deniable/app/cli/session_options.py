"""What `sql` and `explain` share: their options, and the sessions that they open."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from deniable.app.cli.commands.odds import number

if TYPE_CHECKING:
    from deniable.ledger import Ledger
    from deniable.policy import Policy
    from deniable.query.plan.plan import Plan
    from deniable.release import Session

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


def check_price(question: str, wishes: dict[str, Any]) -> None:
    """Says in the words of the command line that a question has a price or an accuracy."""
    from deniable.errors import InvalidParameter
    from deniable.query.language.within_clause import split_within_clause

    given = [one for one in ("epsilon", "margin", "relative") if wishes[one] is not None]
    if len(given) + (split_within_clause(question)[1] is not None) != 1:
        raise InvalidParameter(
            "An answer has a price or an accuracy, and one follows from the other: give one "
            "of --epsilon 0.5, --margin 50 and --relative 0.05 --of 10000, or end the question "
            f"with WITHIN 50. Found {'more than one' if given else 'none of them'}."
        )


@contextmanager
def session(policy: Path, doing: str, analyst: str | None = None) -> Iterator["Session"]:
    """A session over the policy; on a terminal one sees that it works, and how far it is."""
    import deniable as dp
    from deniable.app.cli.progress import working

    with working(doing) as tell, dp.open(str(policy), analyst=analyst, progress=tell) as opened:
        yield opened


class Columns:
    """In place of an engine: the tables' columns alone, so that nothing can be run."""

    def __init__(self, schemas: dict[str, Mapping[str, str]]) -> None:
        self.schemas = schemas

    def schema(self, table: str) -> Mapping[str, str]:
        """The columns of a table, and their types."""
        return self.schemas[table]

    def run(self, plan: "Plan") -> NoReturn:
        """Refuses: there are no rows here."""
        raise TypeError("This session plans, and cannot answer.")

    def close(self) -> None:
        """Lets go of nothing."""


@contextmanager
def planning(policy: Path, doing: str) -> Iterator["Session"]:
    """A session that plans and can answer nothing, so it needs no ledger."""
    from deniable.app.cli.progress import working
    from deniable.engines.opening import open_engine
    from deniable.ledger import MemoryLedger
    from deniable.ledger.terms import Terms
    from deniable.policy import load
    from deniable.policy.file import name_line_in_errors
    from deniable.release import Session

    with working(doing), name_line_in_errors(str(policy)):
        known = load(str(policy))
        with open_engine(known) as engine:
            columns = Columns({name: engine.schema(name) for name in known.tables})
        yield Session(known, columns, MemoryLedger(terms=Terms.from_policy(known)))


def left(policy: Path) -> str:
    """What is left of a policy's budget, in words; the ledger is not begun for it."""
    from deniable.errors import LedgerUnavailable
    from deniable.ledger import MemoryLedger
    from deniable.ledger.terms import Terms
    from deniable.policy import load

    known = load(str(policy))
    if not begun(known):
        return str(MemoryLedger(terms=Terms.from_policy(known)).remaining)
    try:
        with ledger(policy) as opened:
            return str(opened.remaining)
    except LedgerUnavailable as problem:
        return f"what is left is not known. {problem}".rstrip(".")


def writable(path: Path | None) -> None:
    """Refuses, before anything is spent, a file that could not be written afterwards."""
    from deniable.errors import InvalidParameter

    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise InvalidParameter(f"{str(path)!r} cannot be written: there is no such folder.")


def begun(policy: "Policy") -> bool:
    """Whether a policy's ledger is there, or was: to look at it must not begin one."""
    from deniable.ledger.durable_ledger import CreationMark, default_key_path

    where = policy.ledger
    if where is None or "://" in where or Path(where).exists():
        return True
    return CreationMark(Path(policy.ledger_key or default_key_path(where)), where).exists


@contextmanager
def ledger(policy: Path) -> Iterator["Ledger"]:
    """The ledger of a policy, if there is one yet; the data is left alone."""
    from deniable.errors import LedgerUnavailable
    from deniable.ledger.durable_ledger import open_ledger
    from deniable.policy import load

    known = load(str(policy))
    if not begun(known):
        raise LedgerUnavailable(
            f"There is no ledger {known.ledger!r} yet: nothing was asked under this policy."
        )
    opened = open_ledger(known)
    try:
        yield opened
    finally:
        opened.close()
