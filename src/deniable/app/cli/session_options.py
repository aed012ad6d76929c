"""Options that several commands share, and the sessions and ledgers that they open."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from deniable.app.cli.argument_values import parse_decimal
from deniable.errors import Unsupported

if TYPE_CHECKING:
    from deniable.ledger import Ledger
    from deniable.policy import Policy
    from deniable.query.plan.plan import Plan
    from deniable.release.public_session import Session

_Told = TypeVar("_Told")

Question = Annotated[
    str | None,
    typer.Argument(
        help="The question, or - to read it from standard input.",
        metavar="SQL",
        show_default=False,
    ),
]
WatchedQuestion = Annotated[
    str, typer.Argument(help="The question.", metavar="SQL", show_default=False)
]
QuestionFile = Annotated[
    Path | None, typer.Option("--file", help="Read the question from a file.", metavar="FILE")
]
Epsilon = Annotated[
    str | None,
    typer.Option(help="The price of the answer, for example 0.5.", metavar="EPSILON"),
]
Margin = Annotated[
    str | None,
    typer.Option(help="Instead of epsilon: the margin of the answer.", metavar="MARGIN"),
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
    typer.Option("--find-bounds", help="Spend a fifth of epsilon on finding missing bounds."),
]
Delta = Annotated[
    str | None,
    typer.Option(help="The delta; by default 1 % of the budget's delta.", metavar="DELTA"),
]
PolicyFile = Annotated[
    Path, typer.Option("--policy", help="The policy file of the data owner.", metavar="FILE")
]
Confidence = Annotated[
    str, typer.Option(help="The confidence of each margin.", metavar="LEVEL")
]
Nonnegative = Annotated[bool, typer.Option("--nonnegative", help="Show counts below 0 as 0.")]
Other = Annotated[
    bool, typer.Option("--other", help="Add a group for the rows of no other group.")
]
Nulls = Annotated[bool, typer.Option("--nulls", help="Make NULL a group beside declared keys.")]
Brackets = Annotated[
    bool,
    typer.Option(
        "--brackets/--no-brackets",
        help="Draw intervals of quantiles, or sharper values with margins in ranks.",
    ),
]
Analyst = Annotated[
    str | None,
    typer.Option(help="Who asks, if the policy has budgets for analysts.", metavar="NAME"),
]
Server = Annotated[
    str | None,
    typer.Option(
        help="Ask a server, as https://host/policy; DENIABLE_TOKEN holds your token.",
        metavar="URL",
    ),
]
ServerKey = Annotated[
    str | None, typer.Option(help="The public key of the server's owner.", metavar="KEY")
]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
Csv = Annotated[bool, typer.Option("--csv", help="Answer in CSV.")]
POLICY = Path("deniable.toml")


def ask_options(*, confidence: str, find: bool, **others: str | bool | None) -> dict[str, Any]:
    """The options as a session takes them: switches, and numbers, which stay exact."""
    return {
        **{
            name: parse_decimal(value, name) if isinstance(value, str) else value
            for name, value in others.items()
        },
        "confidence": parse_decimal(confidence, "confidence"),
        "bounds": "find" if find else None,
    }


def read_question(
    question: str | None, file: Path | None, options: dict[str, Any], *, free: bool = False
) -> str:
    """The question: the argument, standard input if it is -, or what a file holds. It must have
    a price or an accuracy, unless it may be `free`: the session decides that."""
    text = _read_text(question, file)
    if not (free and _has_no_aggregate(text)):
        check_price(text, options)
    return text


def ask_priced(
    ask: Callable[..., _Told], question: str, options: dict[str, Any], **more: Any
) -> _Told:
    """What a session's method says to a question. That it wants a price is told in terms of
    CLI options."""
    from deniable.errors import InvalidParameter

    try:
        return ask(question, **more, **options)
    except InvalidParameter:
        check_price(question, options)
        raise


def _has_no_aggregate(text: str) -> bool:
    """Whether a question without a price can be one for declared keys alone."""
    from deniable.errors import InvalidQuery
    from deniable.query.language.expressions import aggregates_in
    from deniable.query.language.parse import parse

    try:
        query = parse(text)
    except (InvalidQuery, RecursionError):
        return False
    return not any(aggregates_in(named.expression) for named in query.outputs)


def _read_text(question: str | None, file: Path | None) -> str:
    from deniable.errors import InvalidParameter

    if (question is None) == (file is None):
        raise InvalidParameter(
            "Give one question: in quotes, with --file question.sql, or - for standard input."
        )
    if file is None:
        assert question is not None
        if question.endswith(".sql") and len(question.split()) == 1:
            raise InvalidParameter(
                f"{question} is the name of a file, not a question. Write --file {question} to "
                "read the question from it."
            )
        return sys.stdin.read() if question == "-" else question
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        raise InvalidParameter(
            f"The file {str(file)!r} cannot be read as text. Name a file that holds a question."
        ) from None


def check_price(question: str, options: dict[str, Any]) -> None:
    """Refuses a question without a price or accuracy, or with two, in terms of CLI options."""
    from deniable.errors import InvalidParameter
    from deniable.query.language.within_clause import split_within_clause

    prices = ("epsilon", "margin", "relative")
    price_options = [option for option in prices if options[option] is not None]
    if len(price_options) + (split_within_clause(question)[1] is not None) != 1:
        raise InvalidParameter(
            "Give either a price or an accuracy: one of --epsilon 0.5, --margin 50 and "
            "--relative 0.05 --of 10000, or WITHIN 50 at the end of the question. Found "
            f"{'more than one' if price_options else 'none of them'}."
        )


def print_rows(rows: list[dict[str, Any]], *, as_json: bool, as_csv: bool) -> None:
    """Prints rows as one JSON list, or as CSV with a line of names."""
    import csv
    import json

    from deniable.errors import InvalidParameter

    if as_json and as_csv:
        raise InvalidParameter("Choose one of --json and --csv.")
    if as_json:
        print(json.dumps(rows))
        return
    writer = csv.DictWriter(sys.stdout, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


@contextmanager
def open_session(
    policy: Path,
    doing: str,
    analyst: str | None = None,
    server: str | None = None,
    server_key: str | None = None,
) -> Iterator["Session"]:
    """A session for a policy, or with a server. A terminal shows the progress."""
    import deniable as dp
    from deniable.app.cli.progress import show_progress
    from deniable.app.cli.quick_start import keep_pandas_out_of_arrow

    if server is not None:
        with show_progress(doing), _connect(server, server_key, analyst) as connected:
            yield connected
        return
    with (
        show_progress(doing) as tell,
        dp.open(str(policy), analyst=analyst, progress=tell) as opened,
    ):
        keep_pandas_out_of_arrow()  # after opening: the engine has loaded what it needs
        yield opened


def _connect(server: str, key: str | None, analyst: str | None) -> "Session":
    """A session with a server. The token comes from the environment: the command line of a
    process can be read by others."""
    import os

    import deniable as dp

    token = os.environ.get("DENIABLE_TOKEN", "")
    if not token:
        raise dp.InvalidParameter(
            "A server needs your token. Set it in the environment:   export DENIABLE_TOKEN=..."
        )
    if analyst is not None:
        raise dp.InvalidParameter(
            "With --server your token says who asks: leave out --analyst."
        )
    return dp.connect(server, token=token, key=key)


@contextmanager
def open_quietly(policy: Path, analyst: str | None = None) -> Iterator["Session"]:
    """A session for a policy, for a command that shows the progress of its own steps."""
    import deniable as dp

    with dp.open(str(policy), analyst=analyst) as opened:
        yield opened


class PlanningEngine:
    """An engine that knows the columns of the tables but no rows, so it can run nothing."""

    name = "none"
    runs_plan_text = True

    def __init__(self, schemas: Mapping[str, Mapping[str, str]]) -> None:
        self.schemas = schemas

    def schema(self, table: str) -> Mapping[str, str]:
        """The columns of a table, and their types."""
        return self.schemas[table]

    def prepare(self, plan: "Plan") -> NoReturn:
        """Refuses: this engine has no rows."""
        raise Unsupported("This session can only make plans. Nothing was spent.")

    def run(self, written: object) -> NoReturn:
        """Refuses, too."""
        raise Unsupported("This session can only make plans.")

    def close(self) -> None:
        """Does nothing: there is nothing to close."""


@contextmanager
def open_planner(policy: Path, doing: str) -> Iterator["Session"]:
    """A session that can only make plans, so it needs no ledger."""
    from deniable.app.cli.progress import show_progress
    from deniable.engines.opening import read_schemas
    from deniable.ledger import MemoryLedger
    from deniable.ledger.terms import Terms
    from deniable.policy import load
    from deniable.policy.file import name_line_in_errors
    from deniable.release.public_session import Session

    with show_progress(doing), name_line_in_errors(str(policy)):
        declared = load(str(policy))
        columns = PlanningEngine(read_schemas(declared))
        yield Session(declared, columns, MemoryLedger(terms=Terms.from_policy(declared)))


def open_to_plan(
    policy: Path, server: str | None, server_key: str | None
) -> AbstractContextManager["Session"]:
    """A session that makes plans: by a policy here, or by one of a server."""
    if server is None:
        return open_planner(policy, "planning")
    return open_session(policy, "planning", None, server, server_key)


def describe_remaining(policy: Path) -> str:
    """What is left of a policy's budget, as text. It does not create the ledger."""
    from deniable.errors import LedgerUnavailable
    from deniable.ledger import MemoryLedger
    from deniable.ledger.terms import Terms
    from deniable.policy import load

    declared = load(str(policy))
    if not ledger_exists(declared):
        return str(MemoryLedger(terms=Terms.from_policy(declared)).remaining)
    try:
        with open_policy_ledger(policy) as ledger:
            return str(ledger.remaining)
    except LedgerUnavailable as problem:
        return f"what is left is not known. {problem}".rstrip(".")


def check_writable(path: Path | None) -> None:
    """Refuses a file that cannot be written, before anything is spent."""
    from deniable.errors import InvalidParameter

    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise InvalidParameter(
            f"{str(path)!r} cannot be written: it is a folder, or its folder does not exist."
        )


def ledger_exists(policy: "Policy") -> bool:
    """Whether a policy's ledger exists, or existed. A command that only reads creates none."""
    from deniable.ledger.durable_ledger import default_key_path
    from deniable.ledger.floor_mark import NOT_BEGUN, FloorMark

    store = policy.ledger
    if store is None or "://" in store or Path(store).exists():
        return True
    floor = FloorMark(policy.ledger_key or default_key_path(store)).read()
    if floor is None:
        return policy.ledger_id is not None  # it was lost, or the policy was renamed
    return floor.number != NOT_BEGUN


@contextmanager
def open_policy_ledger(policy: Path) -> Iterator["Ledger"]:
    """The ledger of a policy, if it exists. The data is not opened."""
    from deniable.errors import LedgerUnavailable
    from deniable.ledger.durable_ledger import open_ledger
    from deniable.policy import load

    declared = load(str(policy))
    if not ledger_exists(declared):
        raise LedgerUnavailable(
            f"There is no ledger {declared.ledger!r} yet: no question was asked under this "
            "policy."
        )
    ledger = open_ledger(declared, read_only=True)
    try:
        yield ledger
    finally:
        ledger.close()
