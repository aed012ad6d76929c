"""Figures of attacks: secret bits recovered as noise grows, members found as columns grow."""

from collections.abc import Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from deniable.audit.attack import (
    MembershipFinding,
    ReconstructionFinding,
    reconstruction,
    simulate_membership,
)
from deniable.errors import InvalidParameter
from deniable.figures.canvas import COLOURS, QUIET, STYLE

REPEATS = 20  # of each classic experiment


def classics() -> Figure:
    """Two classic attacks on made-up people: reconstruction beside membership."""
    noises = (0, 1, 2, 3, 4, 6, 8, 12, 16)
    recovery = reconstruction(64, sums=256, noises=noises, repeats=REPEATS)
    columns = (30, 100, 300, 1000, 3000)
    return compare(recovery, [simulate_membership(100, d, repeats=REPEATS) for d in columns])


def compare(
    recovery: ReconstructionFinding, memberships: Sequence[MembershipFinding]
) -> Figure:
    """Shares of right bits by noise, and the AUC of the trace attack by published numbers.

    Only findings about made-up rows are drawn: a figure is made to be shown.
    """
    if not all(finding.made_up for finding in (recovery, *memberships)):
        raise InvalidParameter(
            "A figure of an attack is made to be shown, so it takes findings about made-up "
            "rows only. These are exact facts about real people: print them instead."
        )
    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(9.2, 3.8))
        FigureCanvasAgg(figure)
        left, right = figure.subplots(1, 2)
        _draw_bits(left, recovery)
        _draw_members(right, memberships)
    return figure


def _draw_bits(axes: Axes, finding: ReconstructionFinding) -> None:
    noises, shares = zip(*finding.shares, strict=True)
    axes.axvline(finding.people**0.5, color=QUIET, linewidth=0.8, linestyle="--")
    axes.annotate(
        "root of the\nnumber of people", (finding.people**0.5 + 0.3, 0.93), fontsize=8
    )
    axes.axhline(0.5, color=QUIET, linewidth=0.8)
    axes.annotate("a coin", (0, 0.51), color=QUIET, fontsize=8)
    axes.plot(noises, shares, "o-", color=COLOURS[0])
    axes.set(
        title=f"{finding.people} secret bits from {finding.sums} sums",
        xlabel="standard deviation of the noise",
        ylabel="share of bits that are right",
        ylim=(0.45, 1.02),
    )


def _draw_members(axes: Axes, memberships: Sequence[MembershipFinding]) -> None:
    facts = [finding.facts for finding in memberships]
    axes.axhline(0.5, color=QUIET, linewidth=0.8)
    axes.plot(
        facts,
        [finding.exact.auc for finding in memberships],
        "o-",
        label="exact",
        color=COLOURS[0],
    )
    private = [finding.private.auc for finding in memberships]
    axes.plot(facts, private, "s-", label=memberships[0].private.about, color=COLOURS[1])
    axes.set_xscale("log")
    axes.set(
        title=f"Who is among {memberships[0].people} people?",
        xlabel="published averages",
        ylabel="AUC of the trace attack",
        ylim=(0.45, 1.02),
    )
    axes.legend(loc="upper left")
