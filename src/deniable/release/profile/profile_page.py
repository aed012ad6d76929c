"""A profile as one page of HTML that needs nothing else: no script, no font, no address.

Whatever came out of the table is escaped; pictures are drawn as SVG from noisy numbers only.
"""

from html import escape

from deniable.release.answer.wording import level
from deniable.release.profile.profile import ColumnProfile, Noted, Profile
from deniable.release.profile.profile_text import place, said

_STYLE = """
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
  body.alone { background: #12181f; }
}
"""


def page(profile: Profile) -> str:
    """The whole page."""
    title = escape(f"{profile.table} at first sight")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>body.alone {{ background: #f3f5f8; margin: 0 auto; "
        'padding: 28px; max-width: 1180px; }</style></head><body class="alone">'
        f"{body(profile)}</body></html>\n"
    )


def body(profile: Profile) -> str:
    """What a notebook shows."""
    whose = "" if profile.units is None else f", {said(profile.units)} of {profile.unit}"
    cards = "".join(card(one) for one in profile.columns)
    foot = (
        f"Margins hold at {level(profile.confidence)} each; orange lines show them. "
        f"Cost: {profile.price}. Left: {profile.remaining}."
    )
    return (
        f'<div class="profile"><style>{_STYLE}</style><h1>{escape(profile.table)}</h1>'
        f'<p class="lead">{escape(said(profile.rows) + " rows" + whose)}. {escape(foot)}</p>'
        f'<div class="grid">{cards}</div></div>'
    )


def card(one: ColumnProfile) -> str:
    """One column."""
    parts = [f"<h2>{escape(one.name)}</h2>", f'<p class="about">{escape(one.about)}</p>']
    rows = [] if one.missing is None else [("missing", said(one.missing))]
    rows += [(place(at), said(value)) for at, value in one.quantiles]
    if rows:
        parts.append(f"<table>{''.join(_row(*row) for row in rows)}</table>")
    if one.ordered:
        parts.append(bars(one.counts))
    elif one.counts:
        parts.append(values(one.counts))
    parts += [f'<p class="note">{escape(note)}</p>' for note in one.notes]
    return f"<section>{''.join(parts)}</section>"


def _row(name: str, value: str) -> str:
    return f'<tr><td>{escape(name)}</td><td class="number">{escape(value)}</td></tr>'


def bars(counts: tuple[tuple[str, Noted], ...]) -> str:
    """A histogram with whiskers, over the range that its labels name."""
    width, height = 300.0, 84.0
    top = max([1.0, *((n.value or 0) + (n.margin or 0) for _, n in counts)])
    each = width / max(1, len(counts))
    drawn: list[str] = []
    for i, (label, number) in enumerate(counts):
        value, margin = max(0.0, number.value or 0.0), number.margin or 0.0
        tall = height * value / top
        middle = (i + 0.5) * each
        high, low = (
            height * (1 - min(top, max(0.0, value + sign * margin)) / top) for sign in (1, -1)
        )
        told = escape(f"{label}: {said(number)}")
        drawn.append(
            f'<g><title>{told}</title><rect class="bar" x="{i * each + 1:.1f}" '
            f'y="{height - tall:.1f}" width="{each - 2:.1f}" height="{tall:.1f}"/>'
            f'<line class="whisker" x1="{middle:.1f}" x2="{middle:.1f}" y1="{high:.1f}" '
            f'y2="{low:.1f}" stroke-width="1.6"/></g>'
        )
    first, last = counts[0][0].partition(" to ")[0], counts[-1][0].rpartition(" to ")[2]
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="histogram">'
        f'{"".join(drawn)}</svg><div class="ends"><span>{escape(first)}</span>'
        f"<span>{escape(last)}</span></div>"
    )


def values(counts: tuple[tuple[str, Noted], ...]) -> str:
    """Values and how often they occur, as bars that lie."""
    most = max([1.0, *((n.value or 0) for _, n in counts)])
    rows = "".join(
        f'<tr><td class="name" title="{escape(label)}">{escape(label)}</td>'
        f'<td><div class="track"><span style="width: '
        f'{100 * max(0.0, (number.value or 0) / most):.1f}%"></span></div></td>'
        f'<td class="number">{escape(said(number))}</td></tr>'
        for label, number in counts
    )
    return f"<table>{rows}</table>"
