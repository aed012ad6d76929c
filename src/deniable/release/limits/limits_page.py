"""Measured limits as HTML for a notebook or a page, with both histograms as pictures."""

from collections.abc import Sequence

from deniable.exact.foreign_text import escape_html
from deniable.exact.rationals import decimal_text
from deniable.mechanisms.noise.additive import least_margin
from deniable.release.limits.limits_text import (
    advice,
    describe_subject,
    quantile_line,
    sections,
)
from deniable.release.limits.measured_limits import MeasuredLimits, describe_share
from deniable.release.limits.unit_histograms import Share, UnitHistogram
from deniable.release.profile.profile_page import PROFILE_CSS, draw_histogram
from deniable.release.profile.table_profile import NoisyNumber

_CSS = """
.profile.limits .grid { grid-template-columns: repeat(auto-fill, minmax(min(420px, 100%), 1fr));
  margin-bottom: 14px; }
.profile.limits td { white-space: nowrap; padding-right: 12px; }
.profile.limits tr:first-child td { white-space: normal; }
.profile.limits td.number { padding-right: 0; }
"""


def write_body(limits: MeasuredLimits) -> str:
    """The part that a notebook shows."""
    cards = "".join(_card(limits, *section) for section in sections(limits))
    lines = "<br>".join(map(escape_html, advice(limits)))
    return (
        f'<div class="profile limits"><style>{PROFILE_CSS}{_CSS}</style>'
        f"<h1>{escape_html(describe_subject(limits))}</h1>"
        f'<div class="grid">{cards}</div><p class="lead">{lines}</p></div>'
    )


def _card(
    limits: MeasuredLimits,
    title: str,
    histogram: UnitHistogram,
    rows: Sequence[tuple[int, Share, int]],
) -> str:
    price = decimal_text(limits.answer_epsilon)
    table = "".join(
        f"<tr><td>{limit}</td><td>{escape_html(describe_share(share))}</td>"
        f'<td class="number">± {margin:,}</td></tr>'
        for limit, share, margin in rows
    )
    half = float(least_margin(histogram.noise, limits.histograms.confidence))
    counts = tuple(
        (str(i), NoisyNumber(count, half)) for i, count in enumerate(histogram.counts, 1)
    )
    return (
        f"<section><h2>{escape_html(title)}</h2>{draw_histogram(counts)}"
        f'<p class="about">{escape_html(quantile_line(limits, histogram))}</p>'
        f"<table><tr><td>limit</td><td>left out</td>"
        f'<td class="number">a count at epsilon {price}</td></tr>{table}</table></section>'
    )
