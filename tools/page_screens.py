"""What a notebook shows, and the pages that we write, as people see them."""

import json
from collections.abc import Iterable
from pathlib import Path

import deniable as dp
from tools.browser import OPTIONS
from tools.notebook import NOTEBOOK, notebook, page_of, run_cells
from tools.system import find

_WORLD = """
import numpy as np
import pyarrow as pa
import deniable as dp

draw = np.random.default_rng(7)
days = np.datetime64("2026-01-01") + draw.integers(0, 28, 3000)
visits = pa.table({
    "patient": draw.integers(0, 900, 3000),
    "ward": [None if x == "D" else x for x in draw.choice(list("ABCD"), 3000)],
    "sex": draw.choice(["f", "m"], 3000),
    "code": draw.integers(0, 740, 3000),
    "day": days,
    "cost": draw.gamma(2, 100, 3000),
})
hospital = dp.protect(
    visits, name="visits", unit="patient", max_groups_per_unit=3, max_rows_per_unit_per_group=4,
    bounds={"cost": (0, 1000)}, epsilon=200, delta=1e-4, expected_rows=3000,
    keys={"ward": list("ABC"), "sex": ["f", "m"], "code": list(range(740)),
          "day": [str(np.datetime64("2026-01-01") + i) for i in range(28)]},
)
ask = hospital.sql
survey = dp.surveys.loads('''
id = "sport"
title = "Doping in sport"
epsilon = 2
[[questions]]
id = "doping"
kind = "yes-no"
text = "Have you ever used a substance that was forbidden in your sport, in any season at all?"
[[questions]]
id = "help"
kind = "scale"
points = 5
text = "How easy is it to get help?"
''')
"""

# Names and code: the value of the last line is shown, as in a notebook.
SHOWN = [
    ("world", _WORLD.strip()),
    (
        "explain",
        'hospital.explain("SELECT ward, AVG(cost) AS c FROM visits GROUP BY ward", epsilon=1)',
    ),
    ("plan", 'hospital.plan("SELECT MEDIAN(cost) AS c FROM visits", epsilon=1)'),
    (
        "answer",
        "by_ward = ask(\n"
        '    "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward",\n'
        "    epsilon=4, nulls=True,\n)\nby_ward",
    ),
    ("bars", "by_ward.plot()"),
    ("averages", 'by_ward.plot("cost")'),
    (
        "ladder",
        "ask(\n"
        '    "SELECT QUANTILE_CONT(cost, [0.1, 0.25, 0.5, 0.75, 0.9]) AS cost FROM visits",\n'
        "    epsilon=4,\n).plot()",
    ),
    (
        "histogram",
        'ask("SELECT HISTOGRAM(cost, 10) AS cost FROM visits", epsilon=4).plot()',
    ),
    (
        "line",
        'ask("SELECT day, COUNT(*) AS n FROM visits GROUP BY day", epsilon=9).plot()',
    ),
    (
        "matrix",
        'ask("SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, sex", epsilon=4)'
        ".plot()",
    ),
    (
        "many",
        'ask("SELECT code, COUNT(*) AS n FROM visits GROUP BY code", epsilon=9).plot()',
    ),
    ("extreme", 'ask("SELECT MAX(cost) AS most FROM visits", epsilon=4).plot()'),
    ("limits", 'hospital.limits("visits", by="ward", epsilon=9)'),
    ("profile", 'hospital.profile("visits", epsilon=20)'),
    ("coins", "dp.RandomizedResponse.from_coins().estimate(counts=(300, 700))"),
    (
        "shares",
        "dp.RandomizedResponse(epsilon=2, categories=3).estimate(counts=(500, 300, 200))",
    ),
    (
        "survey",
        "reports = dp.surveys.simulate(survey, 800).collected\n"
        "found = dp.surveys.report(survey, reports)\nfound",
    ),
    (
        "survey picture",
        "from deniable.figures.surveys import estimates\nestimates(found.results[0])",
    ),
    ("scale picture", "estimates(found.results[1])"),
    (
        "trade-off",
        "from deniable.figures.losses import tradeoff\n"
        'tradeoff({f"epsilon {e}": dp.PureLoss(e) for e in (0.5, 1, 3)})',
    ),
]


def write(folder: Path) -> None:
    """Writes the notebooks and pages, as HTML and as pictures, and every picture by itself."""
    outputs = run_cells([code for _, code in SHOWN])
    stored_notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    shown_notebook = notebook([("code", code) for _, code in SHOWN], outputs)
    pages = {
        "shown": page_of(shown_notebook),
        "ten-questions": page_of(stored_notebook),
        **_own_pages(),
    }
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    take_pictures(folder, pages)


def _own_pages() -> dict[str, str]:
    """Pages that `save` and the command line write."""
    namespace: dict[str, object] = {}
    exec(_WORLD, namespace)
    session = namespace["hospital"]
    assert isinstance(session, dp.Session)
    return {
        "limits": session.limits("visits", by="ward", epsilon=9).page(),
        "profile": session.profile("visits", epsilon=20).page(),
    }


def take_pictures(
    folder: Path, names: Iterable[str], widths: Iterable[int] = (480, 1000)
) -> None:
    """Writes what a browser shows of HTML files in a folder."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find("chromium"), args=OPTIONS)
        for width in widths:
            page = browser.new_page(viewport={"width": width, "height": 900})
            for name in names:
                page.goto((folder / f"{name}.html").resolve().as_uri())
                page.screenshot(path=folder / f"{name}-{width}.png", full_page=True)
        browser.close()
