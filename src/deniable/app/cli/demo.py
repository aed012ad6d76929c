"""`deniable demo`: a survey and two counts on made-up people."""

from typing import TYPE_CHECKING

import deniable as dp
from deniable.app.cli.wording import factor_up, percent

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from deniable.privacy import Loss

TRIATHLETES = 10_000
DOPING = 1_200  # made up
INJURED = 3_416  # made up, too


def demo() -> None:
    """Ask made-up triathletes a shameful question, and count with noise."""
    from rich.console import Console

    from deniable.privacy.reading import odds_factor

    console = Console(highlight=False)
    asked = survey(console)
    counted = counts(console)
    console.print("[bold]What was protected[/bold]")
    console.print(
        "Each answer: seeing it multiplies anyone's odds about that athlete by at most "
        f"{factor_up(odds_factor(asked))}."
    )
    console.print(
        "Each injury: the two counts multiply anyone's odds about it by at most "
        f"{factor_up(odds_factor(counted))}."
    )
    console.print(f"\nWhat such odds mean: [bold]deniable odds {counted.epsilon():g}[/bold]\n")


def survey(console: "Console") -> "Loss":
    """Ask everybody, with two coins each; what the coins cost."""
    coins = dp.RandomizedResponse.from_coins()
    truths = [athlete < DOPING for athlete in range(TRIATHLETES)]
    reports = coins.randomize(truths)
    estimate = coins.estimate(reports, confidence=0.95)
    assert isinstance(estimate, dp.Estimate)  # one share, since there are two answers
    low, high = estimate.interval

    console.print('\n[bold]1. A shameful question: "Do you dope?"[/bold]')
    console.print(
        f"{TRIATHLETES:,} triathletes each flip a coin in secret. Heads: tell the truth. "
        'Tails: flip again and say "yes" on heads, "no" on tails. Nobody\'s "yes" is proof, '
        "yet the coins' share is known and can be taken out again.\n"
    )
    table = figures("", "share of all")
    table.add_row('said "yes"', percent(sum(map(bool, reports)) / TRIATHLETES))
    table.add_row(
        "[bold]dope, by estimate[/bold]",
        f"[bold]{percent(estimate.value)} ± {percent(estimate.margin)}[/bold] (95 %: "
        f"{percent(low)} to {percent(high)})",
    )
    table.add_row("dope, in truth (made up)", percent(DOPING / TRIATHLETES))
    console.print(table)
    return coins.loss


def counts(console: "Console") -> "Loss":
    """Count the injured twice, once cautiously and once precisely; what both cost."""
    console.print('[bold]2. A count with noise: "How many were injured this year?"[/bold]')
    console.print(
        "A trusted doctor knows the number and publishes it with noise: the smaller epsilon, "
        "the better each athlete is hidden, and the wider the margin.\n"
    )
    table = figures("epsilon", "published, 95 % margin")
    mechanisms = [dp.Laplace(epsilon=0.1), dp.Laplace(epsilon=1)]
    for noise in mechanisms:
        published = noise.release(INJURED)
        table.add_row(f"{noise.loss.epsilon():g}", f"{published:,} ± {noise.margin(0.95)}")
    table.add_row("the truth (made up)", f"{INJURED:,}")
    console.print(table)
    cautious, precise = mechanisms
    return cautious.loss + precise.loss


def figures(*headings: str) -> "Table":
    """A table with those columns and few lines."""
    from rich import box
    from rich.table import Table

    return Table(*headings, box=box.SIMPLE_HEAD, pad_edge=False)
