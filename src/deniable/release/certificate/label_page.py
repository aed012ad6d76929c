"""The privacy label as one HTML page, without scripts or other files."""

from fractions import Fraction

from deniable.exact.foreign_text import escape_html
from deniable.exact.text_formats import percent_up
from deniable.release.certificate.label import Label

_STYLE = """
body { margin: 0; background: #f4f2ee; color: #1c1b19;
  font: 16px/1.45 "Source Sans 3", "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 34rem; margin: 2rem auto; background: #fff; border: 3px solid #1c1b19;
  padding: 1.25rem 1.5rem 1rem; }
h1 { font-size: 2.1rem; line-height: 1.1; margin: 0 0 .4rem; letter-spacing: -.02em; }
header { border-bottom: 12px solid #1c1b19; padding-bottom: .6rem; }
header p { margin: 0; color: #55524c; overflow-wrap: anywhere; }
section { border-bottom: 1px solid #1c1b19; padding: .7rem 0; }
section:last-of-type { border-bottom: 0; }
h2 { font-size: 1rem; margin: 0 0 .25rem; }
p { margin: .15rem 0; overflow-wrap: anywhere; }
.figure { display: flex; align-items: center; gap: .75rem; margin: .3rem 0; }
.figure span { flex: 0 0 12.5rem; white-space: nowrap; font-size: .9rem;
  font-variant-numeric: tabular-nums; }
svg { flex: 1; height: 1rem; }
"""


def label_page(label: Label, *, title: str) -> str:
    """The label's text, and bars that show how much more certain a guess can become.

    >>> html = label_page(Label((), (), Fraction(1, 2)), title="visits")
    >>> html.startswith("<!doctype html>"), "<script" in html
    (True, False)
    """
    sections = "\n".join(
        _section(heading, lines, _pictures(label) if i == 1 else "")
        for i, (heading, lines) in enumerate(label.sections)
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Privacy label: {escape_html(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<header><h1>Privacy label</h1><p>{escape_html(title)}</p></header>
{sections}
</main>
</body>
</html>
"""


def _section(heading: str, lines: tuple[str, ...], pictures: str) -> str:
    paragraphs = "".join(f"<p>{escape_html(line)}</p>" for line in lines)
    return f"<section><h2>{escape_html(heading)}</h2>{paragraphs}{pictures}</section>"


def _pictures(label: Label) -> str:
    guesses = "".join(
        f'<div class="figure"><span>guess {percent_up(before)} → {percent_up(after)}</span>'
        f"{_bar(before, after)}</div>"
        for before, after in label.guesses
    )
    share = min(label.share, Fraction(1))
    spent = (
        f'<div class="figure"><span>share of the budget {percent_up(share)}</span>'
        f"{_bar(Fraction(0), share)}</div>"
    )
    return guesses + spent


def _bar(before: Fraction, after: Fraction) -> str:
    """A bar: the probability before in dark, what the release can add in colour."""
    old, new = float(before) * 100, float(after - before) * 100
    return (
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img">'
        '<rect width="100" height="10" fill="#e5e1d8"/>'
        f'<rect width="{old:.2f}" height="10" fill="#1c1b19"/>'
        f'<rect x="{old:.2f}" width="{new:.2f}" height="10" fill="#c8553d"/></svg>'
    )
