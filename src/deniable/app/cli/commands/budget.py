"""`deniable budget`: what is spent and what is left of each account."""

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from deniable.app.cli import session_options

if TYPE_CHECKING:
    from deniable.ledger import FilterUsage

UNITS = {"pure": "epsilon", "zcdp": "rho", "gdp": "mu²"}
ORDER = ("unit", "table", "analyst")
WIDTH = 16


def budget(
    policy: session_options.PolicyFile = session_options.POLICY,
    as_json: session_options.Json = False,
    as_csv: session_options.Csv = False,
) -> None:
    """Show how much of each budget is spent. This is the owner's view; no row is read.

    If a budget has several filters, a question is answered while one of them has room.
    """
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from deniable.exact.suggestions import pluralize
    from deniable.ledger import MemoryLedger
    from deniable.ledger.terms import Terms
    from deniable.policy import load

    declared = load(str(policy))
    if session_options.ledger_exists(declared):
        with session_options.open_policy_ledger(policy) as ledger:
            usages, entries = ledger.filter_usages(), ledger.entries
    else:
        usages, entries = MemoryLedger(terms=Terms.from_policy(declared)).filter_usages(), ()
    if as_json or as_csv:
        session_options.print_rows(
            list(map(list_usage, usages)), as_json=as_json, as_csv=as_csv
        )
        return
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("budget")
    for heading in ("filter", "", "spent", "delta"):
        table.add_column(heading, no_wrap=True)
    last_account = ""
    for usage in sorted(usages, key=lambda use: ORDER.index(use.account.partition(":")[0])):
        repeated = usage.account == last_account
        account = "" if repeated else escape(describe_account(usage.account))
        last_account = usage.account
        table.add_row(account, UNITS[usage.filter], draw_bar(usage), *format_amounts(usage))
    console = Console(highlight=False)
    console.print(table)
    charges = pluralize(len(entries), "charge")
    console.print(f"{charges} so far. List them with   deniable ledger log")


def list_usage(usage: "FilterUsage") -> dict[str, Any]:
    """What is spent in one filter of an account, as a row."""
    return {
        "budget": usage.account,
        "filter": UNITS[usage.filter],
        "spent": None if usage.spent is None else float(usage.spent),
        "limit": float(usage.limit),
        "spent_delta": float(usage.spent_delta),
        "limit_delta": float(usage.limit_delta),
    }


def describe_account(name: str) -> str:
    """The name of an account, as text.

    >>> (
    ...     describe_account("unit:*"),
    ...     describe_account("unit:patient"),
    ...     describe_account("table:visits"),
    ...     describe_account("analyst:a"),
    ... )
    ('everybody', 'each patient', 'table visits', 'analyst a')
    """
    kind, _, rest = name.partition(":")
    if kind == "unit":
        return "everybody" if rest == "*" else f"each {rest}"
    return f"{kind} {rest}"


def draw_bar(usage: "FilterUsage") -> str:
    """How much is spent, rounded up to a block; full only if all is spent."""
    if usage.spent is None or usage.spent > usage.limit:
        return "[dim]closed[/]"
    share = usage.spent / usage.limit if usage.limit else Fraction(1)
    full = WIDTH if share == 1 else min(ceil(share * WIDTH), WIDTH - 1)
    colour = "green" if 2 * share <= 1 else "yellow" if 10 * share <= 9 else "red"
    return f"[{colour}]{'█' * full}[/]{'░' * (WIDTH - full)}"


def format_amounts(usage: "FilterUsage") -> tuple[str, str]:
    """The amount spent (rounded up) and its limit, now and later; and the same for delta."""
    from deniable.privacy.arithmetic import floats

    later = "" if usage.cap == usage.limit else f", later {float(usage.cap):.3g}"
    spent = "?" if usage.spent is None else f"{floats.up(usage.spent):.3g}"
    delta = ""
    if usage.limit_delta or usage.spent_delta:
        delta = f"{floats.up(usage.spent_delta):.2g} of {float(usage.limit_delta):.2g}"
    return f"{spent} of {float(usage.limit):.3g}{later}", delta
