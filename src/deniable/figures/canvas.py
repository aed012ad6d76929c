"""One style for all figures, and files that are the same every time.

Figures are made without pyplot, so nothing is global and no display is needed. The same
figure gives the same bytes: no dates, no random identifiers, and a font that comes with
matplotlib.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from textwrap import wrap

from deniable.errors import InvalidParameter, MissingExtra

try:
    import matplotlib
except ImportError as missing:  # pragma: no cover - every development environment has it
    raise MissingExtra(
        "Figures need matplotlib, which is not installed. "
        "Install it with: pip install 'deniable[figures]'"
    ) from missing

from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Okabe & Ito's palette, which colour-blind readers can distinguish. Black last.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
QUIET = "#767676"  # for reference lines and notes: readable on white, weaker than the data

# Characters in a line: of a title, if nothing stands at its left, and of the name of a row.
_TITLE_WIDTH, _LABEL_WIDTH = 62, 28

STYLE: dict[str, object] = {
    "axes.axisbelow": True,
    "axes.edgecolor": QUIET,
    "axes.grid": True,
    "axes.labelsize": 10,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "figure.constrained_layout.use": True,
    "figure.figsize": (6.4, 4.0),
    "font.family": "DejaVu Sans",  # comes with matplotlib, so every machine has it
    "font.size": 9,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "savefig.dpi": 160,
    "svg.fonttype": "none",  # text stays text, for search and screen readers
    "svg.hashsalt": "deniable",  # identifiers do not change from run to run
    "xtick.color": QUIET,
    "ytick.color": QUIET,
}

# Without anything that differs between runs or versions.
_METADATA = {
    "svg": {"Date": None, "Creator": "deniable"},
    "png": {"Software": "deniable"},
}


class ShownFigure(Figure):
    """A figure that a notebook shows by itself, without pyplot."""

    def _repr_png_(self) -> bytes:
        file = BytesIO()
        with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]
            self.savefig(file, format="png", metadata=_METADATA["png"])
        return file.getvalue()


def canvas(
    title: str, *, x: str, y: str, size: tuple[float, float] = (6.4, 4.0)
) -> tuple[Figure, Axes]:
    """An empty figure in our style, with one pair of axes.

    >>> figure, axes = canvas("A line", x="years", y="people")
    >>> line = axes.plot([1, 2, 3], [1, 4, 9], label="growth")
    """
    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]
        figure = ShownFigure(figsize=size)
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.set(title=title, xlabel=x, ylabel=y)
    return figure, axes


def fold(labels: Sequence[str]) -> list[str]:
    """Names for the rows of a figure, in lines that leave room for what is drawn.

    >>> print(*fold(["A coach", "A doctor who works for a club or a national team"]), sep="\\n")
    A coach
    A doctor who works for a
    club or a national team
    """
    return [
        "\n".join(wrap(label, _LABEL_WIDTH, max_lines=3, placeholder=" …")) for label in labels
    ]


def count_lines(text: str) -> int:
    """How many lines a text takes.

    >>> count_lines("A"), count_lines("A\\nB")
    (1, 2)
    """
    return text.count("\n") + 1


def wrap_title(title: str, labels: Sequence[str] = ()) -> str:
    """A title in lines that end within the figure; it begins at the right of the labels."""
    widest = max((len(line) for label in labels for line in label.split("\n")), default=0)
    return "\n".join(wrap(title, _TITLE_WIDTH - widest * 4 // 5))


def save(figure: Figure, path: str | Path) -> Path:
    """Writes a figure as .svg or .png, by the ending of `path`; the same bytes every time.

    A missing folder is created.
    """
    target = Path(path)
    kind = target.suffix.removeprefix(".").lower()
    if kind not in _METADATA:
        raise InvalidParameter(f"`path` must end in .svg or .png. Found {target.name!r}.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]
            figure.savefig(target, format=kind, metadata=_METADATA[kind])
    except OSError as error:
        raise InvalidParameter(
            f"The figure cannot be written to {str(target)!r}: {error.strerror or error}. "
            "Give a path in a folder that you may write to."
        ) from error
    return target
