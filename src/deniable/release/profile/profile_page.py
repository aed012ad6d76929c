"""A profile as one HTML page that loads nothing: no script, no font, no other file.

All text from the table is escaped. Pictures are SVG, drawn from noisy numbers only.
"""

from deniable.exact.foreign_text import escape_html
from deniable.exact.text_formats import percent
from deniable.release.profile.profile_text import format_number, name_quantile
from deniable.release.profile.table_profile import ColumnProfile, NoisyNumber, TableProfile

PAGE_CSS = """
body.page { background: #f3f5f8; margin: 0 auto; padding: 28px; max-width: 1180px; }
@media (max-width: 30em) { body.page { padding: 14px; } }
"""
PROFILE_CSS = """
.profile { --ink: #1d2733; --soft: #667382; --line: #d9dfe6; --card: #fff; --bar: #3d6fb4;
  --whisker: #d9822b; font: 15px/1.45 system-ui, sans-serif; color: var(--ink); }
.profile h1 { font-size: 1.5em; margin: 0 0 .2em; }
.profile .lead { color: var(--soft); margin: 0 0 1.2em; }
.profile .grid { display: grid; gap: 14px;
  grid-template-columns: repeat(auto-fill, minmax(330px, 1fr)); }
.profile section { background: var(--card); border: 1px solid var(--line);
  border-radius: 10px; padding: 14px 16px; min-width: 0; }
.profile h2 { font-size: 1.05em; margin: 0; overflow-wrap: anywhere; }
.profile .about, .profile .note { color: var(--soft); font-size: .86em; margin: .1em 0 .6em; }
.profile .note { margin: .6em 0 0; }
.profile table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
.profile td { padding: 2px 0; vertical-align: middle; }
.profile td.number { text-align: right; white-space: nowrap; padding-left: 10px; }
.profile td.name { max-width: 130px; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; padding-right: 8px; }
.profile svg { display: block; width: 100%; height: auto; margin: 8px 0 2px; }
.profile .ends { display: flex; justify-content: space-between; color: var(--soft);
  font-size: .8em; }
.profile .bar { fill: var(--bar); } .profile .whisker { stroke: var(--whisker); }
.profile .track { background: var(--line); border-radius: 3px; height: 9px; min-width: 60px; }
.profile .track span { display: block; height: 9px; border-radius: 3px;
  background: var(--bar); }
@media (prefers-color-scheme: dark) {
  .profile { --ink: #e6ebf1; --soft: #9aa7b5; --line: #36424f; --card: #1c242d;
    --bar: #6d9fe0; }
  body.page { background: #12181f; }
}
"""


def write_page(profile: TableProfile) -> str:
    """The whole page."""
    title = escape_html(f"A first look at {profile.table}")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}</title><style>{PAGE_CSS}</style></head><body class="page">'
        f"{write_body(profile)}</body></html>\n"
    )


def write_body(profile: TableProfile) -> str:
    """The part of the page that a notebook shows."""
    units = (
        "" if profile.units is None else f", {format_number(profile.units)} of {profile.unit}"
    )
    size = f"{format_number(profile.rows)} rows{units}"
    cards = "".join(column_card(column) for column in profile.columns)
    foot = (
        f"Margins hold at {percent(profile.confidence)} each; orange lines show "
        f"them. Cost: {profile.price}. Left: {profile.remaining}."
    )
    return (
        f'<div class="profile"><style>{PROFILE_CSS}</style>'
        f"<h1>{escape_html(profile.table)}</h1>"
        f'<p class="lead">{escape_html(size)}. {escape_html(foot)}</p>'
        f'<div class="grid">{cards}</div></div>'
    )


def column_card(column: ColumnProfile) -> str:
    """The card of one column."""
    parts = [
        f"<h2>{escape_html(column.name)}</h2>",
        f'<p class="about">{escape_html(column.about)}</p>',
    ]
    rows = [] if column.missing is None else [("missing", format_number(column.missing))]
    rows += [(name_quantile(level), format_number(value)) for level, value in column.quantiles]
    if rows:
        parts.append(f"<table>{''.join(_table_row(*row) for row in rows)}</table>")
    if column.ordered:
        parts.append(draw_histogram(column.counts))
    elif column.counts:
        parts.append(draw_frequencies(column.counts))
    parts += [f'<p class="note">{escape_html(note)}</p>' for note in column.notes]
    return f"<section>{''.join(parts)}</section>"


def _table_row(name: str, value: str) -> str:
    return f'<tr><td>{escape_html(name)}</td><td class="number">{escape_html(value)}</td></tr>'


def draw_histogram(counts: tuple[tuple[str, NoisyNumber], ...]) -> str:
    """A histogram with a whisker on each bar for its margin."""
    width, height = 300.0, 84.0
    top = max([1.0, *((count.value or 0) + (count.margin or 0) for _, count in counts)])
    bar_width = width / max(1, len(counts))
    bars: list[str] = []
    for i, (label, count) in enumerate(counts):
        value, margin = max(0.0, count.value or 0.0), count.margin or 0.0
        bar_height = height * value / top
        middle = (i + 0.5) * bar_width
        high, low = (
            height * (1 - min(top, max(0.0, value + sign * margin)) / top) for sign in (1, -1)
        )
        tooltip = escape_html(f"{label}: {format_number(count)}")
        bars.append(
            f'<g><title>{tooltip}</title><rect class="bar" x="{i * bar_width + 1:.1f}" '
            f'y="{height - bar_height:.1f}" width="{bar_width - 2:.1f}" '
            f'height="{bar_height:.1f}"/>'
            f'<line class="whisker" x1="{middle:.1f}" x2="{middle:.1f}" y1="{high:.1f}" '
            f'y2="{low:.1f}" stroke-width="1.6"/></g>'
        )
    first, last = counts[0][0].partition(" to ")[0], counts[-1][0].rpartition(" to ")[2]
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="histogram">'
        f'{"".join(bars)}</svg><div class="ends"><span>{escape_html(first)}</span>'
        f"<span>{escape_html(last)}</span></div>"
    )


def draw_frequencies(counts: tuple[tuple[str, NoisyNumber], ...]) -> str:
    """Values and their counts, as horizontal bars."""
    largest = max([1.0, *((count.value or 0) for _, count in counts)])
    rows = "".join(
        f'<tr><td class="name" title="{escape_html(label)}">{escape_html(label)}</td>'
        f'<td><div class="track"><span style="width: '
        f'{100 * max(0.0, (count.value or 0) / largest):.1f}%"></span></div></td>'
        f'<td class="number">{escape_html(format_number(count))}</td></tr>'
        for label, count in counts
    )
    return f"<table>{rows}</table>"
