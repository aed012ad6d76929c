"""The gallery: every picture that `make figures` draws, with the code that made it."""

import ast
import inspect
import re
from pathlib import Path

from deniable.figures import gallery

PATH = "gallery.md"
FOLDER = "pictures/gallery"
# What each picture shows; it is also what is read out to people who do not see it.
CAPTIONS = {
    "architecture": "The steps of a query and of a survey, and the folders that do them.",
    "answer": "A private answer: the mean cost in each ward, with its margins.",
    "bins": "A private histogram of costs, with the margin of each bin.",
    "ladder": "Nine quantiles of the cost, each with its interval.",
    "days": "Visits day by day: a line, and a band around it.",
    "matrix": "Visits by ward and sex: two keys make a matrix.",
    "population": "Means for a population: noise is thick, all errors are thin.",
    "copy": "The errors of a private copy, by pairs of columns and by column.",
    "model": "What a private model has learnt: its score over age.",
    "effects": "The coefficients of a private linear regression, with their intervals.",
    "curve": "How well a private model ranks people: true alarms over false ones.",
    "calibration": "Whether a private model's probabilities come true.",
    "survey": "What the phones of 2,000 made-up people reported.",
    "tradeoff": "False alarms against missed detections: nobody can do better than this.",
    "deltas": "Delta over epsilon, for a hundred releases together.",
    "growth": "How epsilon grows with the number of releases, at delta 1e-6.",
    "quantiles": "The errors of private quantiles, by the number of quantiles asked at once.",
    "density": "A private density beside the true one.",
    "intervals": "Shares of five wards in a population: noise is thick, all errors are thin.",
    "differences": "Differences between wards: grey ones may be nothing but noise and chance.",
    "price-count": "The error of a private count over epsilon, and the least possible one.",
    "price-proportion": "The error of a proportion: from sampling, and from privacy.",
    "price-survey": "How many people a survey with coins needs.",
    "survey-margins": "The margin of a survey over the number of people, by design.",
    "clinic-year": "A year of weekly counts, charged once, with bands around them.",
    "bandits": "What a private bandit loses while it learns.",
    "attacks": "Bits recovered as noise grows, and members found by published averages.",
    "survey-designs": "The variance of designs by the number of possible answers.",
}


def write_pages(drawn: Path) -> dict[str, str | bytes]:
    """The page and its pictures, which were drawn into a folder."""
    parts = [
        "# Gallery\n",
        "Every picture is made by `make figures`, from made-up data or from formulas, with the "
        "code beside it. In your own code, `answer.plot()` draws an answer and `deniable plot` "
        "draws losses.\n",
    ]
    pages: dict[str, str | bytes] = {}
    for name, code in sources().items():
        caption = CAPTIONS[name]
        pages[f"{FOLDER}/{name}.svg"] = (drawn / f"{name}.svg").read_bytes()
        parts.append(f"## {name.replace('-', ' ').capitalize()}\n")
        parts.append(f"![{caption}]({FOLDER}/{name}.svg)\n\n{caption}\n")
        parts.append(f"```text\n{code}\n```\n")
    return pages | {PATH: "\n".join(parts)}


def sources() -> dict[str, str]:
    """The code of each picture, with the imports that it needs, as one can run it.

    >>> print(sources()["bandits"])
    from deniable.figures import streams
    <BLANKLINE>
    figure = streams.regret()
    """
    text = Path(inspect.getsourcefile(gallery) or "").read_text(encoding="utf-8")
    tree = ast.parse(text)
    places = {
        alias.name: f"from {node.module} import {alias.name}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    (figures,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "FIGURES"
    )
    assert isinstance(figures, ast.Dict)
    return {
        str(ast.literal_eval(key)): _write_code(value, places)
        for key, value in zip(figures.keys, figures.values, strict=True)
        if key is not None
    }


def _write_code(value: ast.expr, places: dict[str, str]) -> str:
    call = (
        ast.unparse(value.body) if isinstance(value, ast.Lambda) else f"{ast.unparse(value)}()"
    )
    names = sorted(set(re.findall(r"\b[A-Za-z_]+\b", call)) & set(places))
    imports = "\n".join(dict.fromkeys(places[name] for name in names))
    return f"{imports}\n\nfigure = {call}"
