"""The way of a query and the way of a survey, each as a row of boxes: for the documentation."""

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from deniable.figures.canvas import COLOURS, QUIET, canvas

WIDTH, HEIGHT, GAP = 1.62, 0.92, 0.34
PUBLIC, PRIVATE, PAID = COLOURS[0], COLOURS[1], COLOURS[2]


@dataclass(frozen=True, slots=True)
class Box:
    """One step: what it makes, and the room where its code is."""

    title: str
    room: str
    colour: str = PUBLIC


QUERY = (
    Box("SQL or builder\n→ Question", "query/language"),
    Box("names, joins,\nvalue ranges", "query/relations"),
    Box("Plan: statements,\nnoise, loss, margin", "query/planner"),
    Box("reserve:\ncharge first", "ledger", PAID),
    Box("exact integers\n(withheld)", "engines", PRIVATE),
    Box("+ exact noise", "release/answer", PRIVATE),
    Box("settle:\nkeep the answer", "ledger", PAID),
    Box("Release, margin,\ncertificate", "release"),
)
SURVEY = (
    Box("questionnaire,\ndesign, sample size", "surveys/questionnaire"),
    Box("true answer on\nthe own device", "the respondent", PRIVATE),
    Box("randomized\nreport", "mechanisms/local"),
    Box("shuffle,\nwaves", "surveys/collect"),
    Box("shares, cross-tabs,\nregression", "surveys/estimate"),
    Box("what if people\ndo not comply?", "surveys/honesty"),
    Box("report with\nintervals", "surveys"),
)


def ways() -> Figure:
    """Both ways, one above the other. Colours show private data and charges to the budget."""
    width = len(QUERY) * (WIDTH + GAP) + GAP
    figure, axes = canvas("", x="", y="", size=(width, 4.4))
    axes.set(xlim=(0, width), ylim=(0, 4.4))
    axes.axis("off")
    _draw_row(axes, "The way of a query: pay, read, add noise, hand over", QUERY, bottom=2.75)
    _draw_row(axes, "The way of a survey: noise first, at the respondent", SURVEY, bottom=0.75)
    legend = {"public": PUBLIC, "private": PRIVATE, "budget": PAID}
    for i, (meaning, colour) in enumerate(legend.items()):
        axes.text(GAP + 1.1 * i, 0.2, f"■ {meaning}", color=colour, fontsize=10)
    return figure


def _draw_row(axes: Axes, title: str, boxes: tuple[Box, ...], *, bottom: float) -> None:
    axes.text(GAP, bottom + HEIGHT + 0.22, title, fontsize=12, fontweight="bold")
    for i, box in enumerate(boxes):
        left = GAP + i * (WIDTH + GAP)
        outline: dict[str, Any] = {
            "edgecolor": box.colour,
            "facecolor": "white",
            "linewidth": 1.8,
        }
        shape = "round,pad=0,rounding_size=0.08"
        axes.add_patch(FancyBboxPatch((left, bottom), WIDTH, HEIGHT, boxstyle=shape, **outline))
        middle = left + WIDTH / 2
        axes.text(middle, bottom + HEIGHT / 2, box.title, ha="center", va="center", fontsize=10)
        axes.text(middle, bottom - 0.22, box.room, ha="center", color=QUIET, fontsize=9)
        if i:
            end, start = (left, bottom + HEIGHT / 2), (left - GAP, bottom + HEIGHT / 2)
            axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": QUIET})
