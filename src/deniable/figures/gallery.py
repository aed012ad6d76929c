"""Every figure that `make figures` draws, by name: `python -m deniable.figures FOLDER`.

To add a figure, add a line here with a function that takes no arguments and returns a `Figure`.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from matplotlib.figure import Figure

from deniable.figures import (
    architecture,
    attacks,
    density,
    examples,
    inferences,
    losses,
    price,
    quantiles,
    streams,
    surveys,
)
from deniable.figures.canvas import save
from deniable.mechanisms import RandomizedResponse
from deniable.privacy import GaussianLoss, PureLoss

FIGURES: Mapping[str, Callable[[], Figure]] = {
    "architecture": architecture.ways,
    "answer": examples.answer,
    "bins": examples.bins,
    "ladder": examples.ladder,
    "days": examples.days,
    "matrix": examples.matrix,
    "population": examples.population,
    "copy": examples.copy,
    "model": examples.model,
    "effects": examples.effects,
    "curve": examples.curve,
    "calibration": examples.calibration,
    "survey": examples.survey,
    "tradeoff": lambda: losses.tradeoff(
        {f"epsilon {epsilon}": PureLoss(epsilon) for epsilon in (0.5, 1, 3)}
    ),
    "deltas": lambda: losses.deltas(
        {
            "100 at epsilon 0.1": PureLoss(0.1) * 100,
            "100 Gaussians, sigma 10": GaussianLoss(0.1) * 100,
        }
    ),
    "growth": lambda: losses.growth(
        {"epsilon 0.1": PureLoss(0.1), "epsilon 1": PureLoss(1)},
        delta=1e-6,
        counts=(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
    ),
    "quantiles": quantiles.comparison,
    "density": density.example_density,
    "intervals": inferences.example_intervals,
    "differences": inferences.example_differences,
    "price-count": price.count,
    "price-proportion": lambda: price.proportion(margin=0.01, n=400, epsilon=0.1),
    "price-survey": lambda: price.survey(RandomizedResponse(odds=3), margin=0.03),
    "survey-margins": lambda: surveys.margins(
        {
            "epsilon 0.5": RandomizedResponse(epsilon=0.5),
            "two coins": RandomizedResponse.from_coins(),
            "asked directly": None,
        }
    ),
    "clinic-year": lambda: streams.watched(streams.clinic_year(), streams.clinic_truth()),
    "bandits": streams.regret,
    "attacks": attacks.classics,
    "survey-designs": lambda: surveys.designs_by_answers(1),
}


def draw(folder: str | Path) -> list[Path]:
    """Draws every figure into a folder, as SVG, and returns the paths."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    return [save(figure(), target / f"{name}.svg") for name, figure in FIGURES.items()]
