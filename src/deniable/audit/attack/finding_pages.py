"""A finding as one HTML page that loads nothing: no script, no font, no other file."""

from collections.abc import Iterable

from deniable.audit.attack.finding_sections import Section, show_share
from deniable.exact.foreign_text import escape_html

_STYLE = """
:root{--ink:#1b2733;--quiet:#5b6b7a;--paper:#fff;--ground:#f3f6f8;--line:#dde4ea;
--accent:#0b5fa5;--warn:#a8480b;--warnbg:#fdf1e7;--good:#1a6b45;--goodbg:#e8f5ee}
@media (prefers-color-scheme:dark){:root{--ink:#e8edf2;--quiet:#9fb0bf;--paper:#18222c;
--ground:#10171e;--line:#2b3946;--accent:#5aaef0;--warn:#ffb27a;--warnbg:#33241a;--good:#7fd6a8;
--goodbg:#16301f}}
html{font:16px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--ground)}
body{margin:0}main{max-width:52rem;margin:0 auto;padding:2rem 1rem 4rem}
h1{font-size:1.7rem;line-height:1.2;margin:1rem 0}h2{font-size:1.1rem;margin:0 0 .4rem}
p{margin:.4rem 0}.quiet{color:var(--quiet)}
.banner{border:2px solid var(--warn);background:var(--warnbg);color:var(--warn);
border-radius:10px;padding:.7rem 1rem;font-weight:700}
.banner.shared{border-color:var(--good);background:var(--goodbg);color:var(--good)}
section{background:var(--paper);border:1px solid var(--line);border-radius:12px;
padding:1rem 1.2rem;margin:1rem 0}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.93rem;font-variant-numeric:tabular-nums}
th,td{text-align:start;padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--line);
vertical-align:top}
th{color:var(--quiet);font-weight:600}
.bar{display:grid;grid-template-columns:minmax(9rem,16rem) 1fr 4rem;gap:.8rem;
align-items:center;margin:.35rem 0}
.bar svg{width:100%;height:14px;display:block}
.track{fill:var(--line)}.share{fill:var(--accent)}
@media print{html{background:#fff}section{break-inside:avoid}}
"""


def write_page(
    sections: Iterable[Section], *, title: str, heading: str, note: str, shared: bool
) -> str:
    """The whole page; `shared`: whether it may be shown around."""
    about, kind = escape_html(title), " shared" if shared else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{about}</title><style>{_STYLE}</style></head><body><main>"
        f'<p class="banner{kind}">{escape_html(heading)}</p>'
        f"<h1>{about}</h1>{''.join(map(_write_section, sections))}"
        f'<p class="quiet">{escape_html(note)}</p></main></body></html>\n'
    )


def _write_section(section: Section) -> str:
    title = f"<h2>{escape_html(section.title)}</h2>" if section.title else ""
    text = "".join(f"<p>{escape_html(line)}</p>" for line in section.text)
    bars = "".join(_write_bar(label, share) for label, share in section.shares)
    return f"<section>{title}{text}{bars}{_write_table(section)}</section>"


def _write_bar(label: str, share: float) -> str:
    width = 100 * min(1.0, max(0.0, share))
    return (
        f'<div class="bar"><span>{escape_html(label)}</span>'
        '<svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" width="100" height="14"/>'
        f'<rect class="share" width="{width:.1f}" height="14"/></svg>'
        f"<strong>{show_share(share, 1)}</strong></div>"
    )


def _write_table(section: Section) -> str:
    if not section.rows:
        return ""
    head = "".join(f"<th>{escape_html(name)}</th>" for name in section.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape_html(cell)}</td>" for cell in row) + "</tr>"
        for row in section.rows
    )
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
