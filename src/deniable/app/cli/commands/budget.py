"""`deniable budget`: what is spent and what is left, account by account, as gauges."""

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from deniable.app.cli import session_options

if TYPE_CHECKING:
    from deniable.ledger import FilterUsage

UNITS = {"pure": "epsilon", "zcdp": "rho", "gdp": "mu²"}
ORDER = ("unit", "table", "analyst")
WIDTH = 16


def budget(policy: session_options.PolicyFile = session_options.POLICY) -> None:
    """Show how much of each budget is spent; the owner's view, no row is read.

    Where a budget has several filters, a question is answered while any of them has room.
    """
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from deniable.ledger import MemoryLedger
    from deniable.ledger.terms import Terms
    from deniable.policy import load

    known = load(str(policy))
    if session_options.begun(known):
        with session_options.ledger(policy) as opened:
            gauges, entries = opened.filter_usages(), opened.entries
    else:
        gauges, entries = MemoryLedger(terms=Terms.from_policy(known)).filter_usages(), ()
    drawn = Table(box=box.SIMPLE_HEAD)
    drawn.add_column("budget")
    for heading in ("filter", "", "spent", "delta"):
        drawn.add_column(heading, no_wrap=True)
    before = ""
    for one in sorted(gauges, key=lambda one: ORDER.index(one.account.partition(":")[0])):
        whose = "" if one.account == before else escape(account(one.account))
        before = one.account
        drawn.add_row(whose, UNITS[one.filter], bar(one), *amounts(one))
    console = Console(highlight=False)
    console.print(drawn)
    console.print(f"{len(entries):,} charges so far. See them with   deniable ledger log")


def account(name: str) -> str:
    """An account in words.

    >>> (
    ...     account("unit:*"),
    ...     account("unit:patient"),
    ...     account("table:visits"),
    ...     account("analyst:a"),
    ... )
    ('everybody', 'each patient', 'table visits', 'analyst a')
    """
    kind, _, rest = name.partition(":")
    if kind == "unit":
        return "everybody" if rest == "*" else f"each {rest}"
    return f"{kind} {rest}"


def bar(gauge: "FilterUsage") -> str:
    """How full it is: never shown emptier than it is, and full only when it is."""
    if gauge.spent is None or gauge.spent > gauge.limit:
        return "[dim]closed[/]"
    share = gauge.spent / gauge.limit if gauge.limit else Fraction(1)
    full = WIDTH if share == 1 else min(ceil(share * WIDTH), WIDTH - 1)
    colour = "green" if 2 * share <= 1 else "yellow" if 10 * share <= 9 else "red"
    return f"[{colour}]{'█' * full}[/]{'░' * (WIDTH - full)}"


def amounts(gauge: "FilterUsage") -> tuple[str, str]:
    """Spent (rounded up) of the limit, with what it will grow to; and the same of delta."""
    from deniable.privacy.arithmetic import floats

    grows = "" if gauge.cap == gauge.limit else f", later {float(gauge.cap):.3g}"
    spent = "?" if gauge.spent is None else f"{floats.up(gauge.spent):.3g}"
    delta = ""
    if gauge.limit_delta or gauge.spent_delta:
        delta = f"{floats.up(gauge.spent_delta):.2g} of {float(gauge.limit_delta):.2g}"
    return f"{spent} of {float(gauge.limit):.3g}{grows}", delta
