"""Every figure of the gallery, as PNG."""

from pathlib import Path

from deniable.figures.canvas import save
from deniable.figures.gallery import FIGURES


def write(folder: Path) -> None:
    """Writes every figure that `make figures` draws."""
    for name, figure in FIGURES.items():
        save(figure(), folder / f"{name}.png")
