"""Cards and interviewers' sheets as HTML with print styles.

`build_card_pages` gives A6 pages, `build_card_sheets` sheets of A4 with eight small cards, and
`build_interviewer_sheet` the instructions, decks and spinners, with a table to fill in.
"""

import math
from collections.abc import Sequence

from deniable.app.web.page_styles import content_policy
from deniable.exact.foreign_text import escape_html
from deniable.surveys.paper.survey_cards import SurveyCard, field_name
from deniable.surveys.questionnaire.hand_tables import HandDevice
from deniable.surveys.questionnaire.manifest import Manifest

_CARDS_A_SHEET = 8
_LINES = 24
_COLOURS = ("#cfe3f5", "#f9dcc4", "#d5ecd8", "#eadcf2", "#f6efc4", "#d9d9d9")

_STYLE = """
*{box-sizing:border-box}
html{font:10pt/1.35 system-ui,"Segoe UI",Roboto,sans-serif;color:#111;background:#fff}
body{margin:0}
h1{font-size:1.25em;margin:0 0 1mm;line-height:1.2}h2{font-size:1.05em;margin:4mm 0 1mm}
p{margin:1.2mm 0}
.card{position:relative;overflow:hidden;break-inside:avoid;display:flex;flex-direction:column}
.question{font-weight:700}
ol.question{margin:1.2mm 0;padding-inline-start:6mm}
table{border-collapse:collapse;width:100%;margin:1.5mm 0}
th,td{border:.3mm solid #444;padding:1mm 1.6mm;text-align:start;vertical-align:top}
th{background:#eee}
td.say{font-weight:700}
.calm{border-inline-start:1mm solid #0b5fa5;padding-inline-start:2mm;font-weight:600}
.small{font-size:.82em;color:#333}
.foot{margin-top:auto;display:flex;gap:3mm;align-items:flex-end;justify-content:space-between}
.foot svg{width:20mm;height:20mm;flex:none}
code{font-size:.8em;overflow-wrap:anywhere}
.dense{font-size:.89em}.denser{font-size:.78em}.densest{font-size:.68em}
.mark{color:#a8480b;font-weight:700;letter-spacing:.1em}
"""
_A6 = """@page{size:105mm 148mm;margin:0}
.card{width:105mm;height:147.5mm;padding:7mm;break-after:page}"""
_SHEET = """@page{size:210mm 297mm;margin:0}html{font-size:7.6pt}
.sheet{width:210mm;height:296.5mm;display:grid;grid-template-columns:105mm 105mm;
grid-template-rows:repeat(4,74mm);break-after:page}
.card{width:105mm;height:74mm;padding:4mm 5mm;border:.2mm dashed #999}
.foot svg{width:14mm;height:14mm}th,td{padding:.5mm 1.2mm}p{margin:.6mm 0}"""
_INTERVIEWER = """@page{size:210mm 297mm;margin:14mm}body{padding:0}
.deck{display:grid;grid-template-columns:repeat(5,1fr);gap:2mm;break-inside:avoid}
.deck div{border:.3mm dashed #777;height:26mm;display:flex;align-items:center;
justify-content:center;text-align:center;padding:2mm;font-weight:700}
svg.spinner{width:95mm;height:95mm;display:block;margin:2mm auto}
.fill td{height:8mm}.fill td:first-child{width:14mm;color:#666}
@media screen{body{padding:14mm;max-width:210mm}}
.page{break-before:page}ol{padding-inline-start:6mm;margin:1mm 0}"""


def build_card_pages(manifest: Manifest, cards: Sequence[SurveyCard], code: str) -> bytes:
    """One A6 page for each question. `code` is an SVG of the manifest's hash."""
    body = "".join(_card(manifest, card, code, full=True) for card in cards)
    return _page(manifest, cards[0].language, _STYLE + _A6, body)


def build_card_sheets(manifest: Manifest, cards: Sequence[SurveyCard], code: str) -> bytes:
    """For each question one sheet of A4 with eight cards to cut out."""
    body = "".join(
        f'<div class="sheet">{_card(manifest, card, code, full=False) * _CARDS_A_SHEET}</div>'
        for card in cards
    )
    return _page(manifest, cards[0].language, _STYLE + _SHEET, body)


def build_interviewer_sheet(
    manifest: Manifest, cards: Sequence[SurveyCard], code: str
) -> bytes:
    """What the interviewer does, decks and spinners to cut out, and a table to fill in."""
    words, language = cards[0].words, cards[0].language
    columns = [question.id for question in manifest.questions]
    steps = [
        words[f"step_{name}"]
        for name in ("hand_over", "turn_away", "ask", "no_names", "refuse")
    ]
    steps.append(words["step_key"].format(columns=",".join(columns)))
    parts = [
        f"<h1>{escape_html(words['sheet'])}: {escape_html(manifest.title[language])}</h1>",
        _mark(manifest),
        f"<ol>{''.join(f'<li>{escape_html(step)}</li>' for step in steps)}</ol>",
    ]
    for card in cards:
        listed = words["answers"].format(list=", ".join(card.answers))
        parts.append(
            f"{_headings(card)}<p>{escape_html(card.throw)}</p>"
            f"{_table(card)}<p>{escape_html(listed)}</p>{_material(card)}"
        )
    head = "".join(f"<th>{escape_html(name)}</th>" for name in (words["person"], *columns))
    line = "<tr><td></td>" + "<td></td>" * len(columns) + "</tr>"
    parts.append(
        f'<table class="fill page"><thead><tr>{head}</tr></thead>'
        f"<tbody>{line * _LINES}</tbody></table>{_foot(manifest, words, code)}"
    )
    return _page(manifest, language, _STYLE + _INTERVIEWER, "".join(parts))


def _page(manifest: Manifest, language: str, style: str, body: str) -> bytes:
    mark = "REHEARSAL – " if manifest.rehearsal else ""
    return (
        f'<!DOCTYPE html>\n<html lang="{escape_html(language)}">\n<head>\n'
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" '
        f'content="{escape_html(content_policy(style))}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{mark}{escape_html(manifest.title[language])}</title>\n"
        f"<style>{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    ).encode()


def _card(manifest: Manifest, card: SurveyCard, code: str, *, full: bool) -> str:
    words = card.words
    rest = f'<p class="small">{escape_html(card.promise)}</p>' if full else ""
    rule = f"<p>{escape_html(words['rule'])}</p>" if full else ""
    return (
        f'<section class="card{_density(card, full)}">'
        f"<h1>{escape_html(words['title'])}</h1>{_mark(manifest)}"
        f"{_questions(card)}"
        f"<p>{escape_html(card.throw)} {escape_html(card.secret)}</p>{_table(card)}"
        f'<p class="calm">{escape_html(card.reassurance)}</p>{rule}{rest}'
        f"{_foot(manifest, words, code)}</section>\n"
    )


def _questions(card: SurveyCard) -> str:
    """The question; two with their numbers, if a harmless one stands beside it."""
    if not card.harmless:
        return f'<p class="question">{escape_html(card.text)}</p>'
    both = "".join(f"<li>{escape_html(text)}</li>" for text in (card.text, card.harmless))
    return f'<ol class="question">{both}</ol>'


def _headings(card: SurveyCard) -> str:
    if not card.harmless:
        return f"<h2>{escape_html(card.text)}</h2>"
    return f"<h2>1. {escape_html(card.text)}<br>2. {escape_html(card.harmless)}</h2>"


def _density(card: SurveyCard, full: bool) -> str:
    """Long texts are set in smaller type, so that a card never loses its last lines."""
    texts = [card.text, card.harmless, card.throw, card.secret, card.reassurance]
    texts += [text for row in card.rows for text in row]
    texts += [card.words["rule"], card.promise] if full else []
    length = sum(map(len, texts)) + 25 * len(card.rows)
    steps = (540, 720, 950) if full else (330, 420, 560)
    kinds = ("", " dense", " denser", " densest")
    return kinds[sum(length > step for step in steps)]


def _mark(manifest: Manifest) -> str:
    return '<p class="mark">REHEARSAL</p>' if manifest.rehearsal else ""


def _table(card: SurveyCard) -> str:
    words = card.words
    rows = "".join(
        f'<tr><td>{escape_html(see)}</td><td class="say">{escape_html(say)}</td></tr>'
        for see, say in card.rows
    )
    return (
        f"<table><thead><tr><th>{escape_html(words['you_see'])}</th>"
        f"<th>{escape_html(words['you_say'])}</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _foot(manifest: Manifest, words: dict[str, str], code: str) -> str:
    return (
        f'<div class="foot"><p class="small">{escape_html(words["check"])}<br>'
        f"<code>{manifest.hash}</code></p>{code}</div>"
    )


def _material(card: SurveyCard) -> str:
    """A deck to cut out, or a spinner."""
    words, device = card.words, card.device
    if device is None:
        return ""
    if device.name in ("cards", "warner"):
        texts = [words[f"card_{row.say}"] for row in device.rows for _ in range(row.outcomes)]
        return (
            f'<div class="deck">{"".join(f"<div>{escape_html(t)}</div>" for t in texts)}</div>'
        )
    if device.name == "spinner":
        return f"{_spinner(card, device)}<p>{escape_html(words['spinner_note'])}</p>"
    return ""


def _spinner(card: SurveyCard, device: HandDevice) -> str:
    """Equal fields around a middle; those with the same text have the same colour."""
    fields = [place for place, row in enumerate(device.rows) for _ in range(row.outcomes)]
    n = len(fields)
    parts = []
    for i, place in enumerate(fields):
        (x1, y1), (x2, y2) = (_point(100, step / n) for step in (i, i + 1))
        x, y = _point(72, (i + 0.5) / n)
        row = device.rows[place]
        label = escape_html(field_name(row, card.words, card.labels))
        turn = 360 * (i + 0.5) / n - 90
        size = min(11.0, 90 / max(len(label), 6), 500 / n)
        parts.append(
            f'<path d="M0 0L{x1} {y1}A100 100 0 0 1 {x2} {y2}Z" stroke="#333" '
            f'stroke-width="0.6" fill="{_COLOURS[place % len(_COLOURS)]}"/>'
            f'<text x="{x}" y="{y}" font-size="{size:.1f}" text-anchor="middle" '
            f'dominant-baseline="middle" transform="rotate({turn:.1f} {x} {y})">{label}</text>'
        )
    return (
        '<svg class="spinner" viewBox="-102 -102 204 204" role="img" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{escape_html(card.throw)}</title>'
        f'{"".join(parts)}<circle r="3" fill="#333"/></svg>'
    )


def _point(radius: float, part: float) -> tuple[float, float]:
    turn = 2 * math.pi * part
    return round(radius * math.sin(turn), 2), round(-radius * math.cos(turn), 2)
