"""The results of a survey as one HTML page that stands alone, without any script.

It is for the pollster, and in English, as are the command line, the exports and the methods
paragraph: anyone who publishes numbers needs the same words everywhere. Titles, questions and
answers are in the survey's own language, and marked so for screen readers.
"""

import json
from collections.abc import Iterator, Mapping

from deniable.app.web.interval_charts import ChartRow, draw_hundred, draw_intervals
from deniable.app.web.page_styles import RESULTS_POLICY, RESULTS_STYLE
from deniable.exact.foreign_text import escape_html, read_rational
from deniable.exact.suggestions import pluralize
from deniable.privacy.losses.loss_in_words import GUESSES, of_100_up
from deniable.surveys.questionnaire.manifest_question import ManifestQuestion
from deniable.surveys.results.number_texts import interval_text, shift_text, value_text
from deniable.surveys.results.privacy_sentences import survey_loss
from deniable.surveys.results.result_numbers import (
    GroupTable,
    QuestionFindings,
    ResultNumber,
)
from deniable.surveys.results.survey_results import SurveyResults

FALSE_REPORTS = (1, 10, 100)

_RIGHT_TO_LEFT = ("ar", "fa", "he", "ur")
_MODES = {"open": "open link", "token": "one token each", "pass": "one blind pass each"}


def build_results_page(
    results: SurveyResults, *, downloads: Mapping[str, str] | None = None
) -> bytes:
    """The page. `downloads` are addresses by name, such as {"CSV": "results.csv"}.

    Serve it with the header `Content-Security-Policy: RESULTS_POLICY`, which it also states.
    """
    mark = "REHEARSAL – " if results.manifest.rehearsal else ""
    parts = [
        '<!DOCTYPE html>\n<html lang="en" dir="ltr">\n<head>\n'
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape_html(RESULTS_POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="robots" content="noindex">\n'
        f"<title>{mark}{escape_html(results.title)}: results</title>\n"
        f"<style>{RESULTS_STYLE}</style>\n</head>\n<body>\n<main>\n",
        *_header(results),
        *(part for each in results.questions for part in _question(results, each)),
        *_tables(results),
        *_false_reports(results),
        *_privacy(results),
        *_footer(results, downloads or {}),
        "</main>\n</body>\n</html>\n",
    ]
    return "".join(parts).encode("utf-8")


def _own(results: SurveyResults) -> str:
    """The attributes of an element whose text is in the survey's language."""
    code = results.language.lower().split("-")[0]
    if code == "en":
        return ""
    side = "rtl" if code in _RIGHT_TO_LEFT else "ltr"
    return f' lang="{escape_html(results.language)}" dir="{side}"'


def _span(results: SurveyResults, text: str) -> str:
    own = _own(results)
    return f"<span{own}>{escape_html(text)}</span>" if own else escape_html(text)


def _header(results: SurveyResults) -> Iterator[str]:
    batches, manifest = results.batches, results.manifest
    state = "closed" if batches.closed else "collecting"
    who = manifest.who[results.language]
    yield f'<header>\n<p class="eyebrow">Results · {state}</p>\n'
    yield f"<h1{_own(results)}>{escape_html(results.title)}</h1>\n"
    if who:
        yield f"<p{_own(results)}>{escape_html(who)}</p>\n"
    yield (
        f'<ul class="facts"><li><strong>{results.respondents:,}</strong> reports</li>'
        f"<li><strong>{len(batches.days)}</strong> "
        f"{'batch' if len(batches.days) == 1 else 'batches'}</li>"
        f"<li>{_days(batches.days)}</li><li>{_MODES[manifest.mode]}</li></ul>\n</header>\n"
    )
    for notice in results.notices:
        kind = "rehearsal" if notice.startswith("REHEARSAL") else "note"
        yield f'<p class="{kind}" role="note">{escape_html(notice)}</p>\n'


def _days(days: tuple[str, ...]) -> str:
    return days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"


def _question(results: SurveyResults, findings: QuestionFindings) -> Iterator[str]:
    name = f"q-{findings.question.id}"
    yield f'<section class="card" aria-labelledby="{name}">\n'
    yield f'<h2 id="{name}"{_own(results)}>{escape_html(findings.text)}</h2>\n'
    kind = "randomized" if findings.question.private else "sent as it is"
    yield (
        f'<p class="quietly">{pluralize(findings.respondents, "report")}, {kind}'
        f"{_marked(results)}</p>\n"
    )
    sequence = {number.answer: number for number in findings.sequence}
    shares = [number for number in findings.shown if not number.is_mean]
    means = [number for number in findings.shown if number.is_mean]
    for listed, about in ((shares, "Shares"), (means, "Mean")):
        if listed:
            rows = [
                ChartRow(n.label, n, sequence.get(n.answer) if findings.planned else None)
                for n in listed
            ]
            yield draw_intervals(
                rows,
                name=f"{name}-{about.lower()}",
                title=f"{about}: {findings.text}",
                limits=_limits(findings) if about == "Mean" else (0.0, 1.0),
                attributes=_own(results).partition(" dir")[0],
                rehearsal=results.manifest.rehearsal,
            )
    yield _estimate_table(results, findings, sequence)
    if findings.promise:
        promise = _span(results, findings.promise)
        yield f'<p class="quietly">To respondents: {promise}</p>\n'
    yield "</section>\n"


def _limits(findings: QuestionFindings) -> tuple[float, float]:
    question = findings.question
    if question.low is not None and question.high is not None:
        return float(read_rational(question.low)), float(read_rational(question.high))
    return 1.0, float(question.answers - question.declines)


def _estimate_table(
    results: SurveyResults, findings: QuestionFindings, sequence: dict[int, ResultNumber]
) -> str:
    level = f"{100 * results.confidence:g} % intervals"
    planned = bool(findings.planned)
    headings = ["answer", "estimate", "whenever you look"]
    caption = f'<span class="key"></span>{level} that hold whenever you look'
    if planned:
        headings[2:] = ["planned look", "whenever you look"]
        caption = (
            f'{level}: <span class="key"></span>at the planned look, <span class="key thin">'
            f"</span>whenever you look, from all {results.respondents:,} reports"
        )
    rows = []
    for number in findings.shown:
        cells = [value_text(number), interval_text(number)]
        if planned:
            cells.append(interval_text(sequence[number.answer]))
        rows.append((number.label, cells))
    return _table(headings, rows, caption + _marked(results), own=_own(results))


def _table(
    headings: list[str],
    rows: list[tuple[str, list[str]]],
    caption: str,
    *,
    numeric: bool = True,
    own: str = "",
    own_headings: str = "",
) -> str:
    """A table; `caption` is HTML, all else text. `own` are attributes of the first cells, and
    `own_headings` those of the headings but the first."""
    number = ' class="n"' if numeric else ""
    head = "".join(
        f'<th scope="col"{number + own_headings if place else ""}>{escape_html(text)}</th>'
        for place, text in enumerate(headings)
    )
    body = "".join(
        f'<tr><th scope="row"{own}>{escape_html(label)}</th>'
        + "".join(f"<td{number}>{_unbroken(cell)}</td>" for cell in cells)
        + "</tr>"
        for label, cells in rows
    )
    return (
        f'<div class="scroll" tabindex="0"><table><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>\n"
    )


def _unbroken(text: str) -> str:
    """A cell whose numbers stay beside their per cent, however narrow the page is."""
    return escape_html(text).replace(" %", "&nbsp;%")


def _marked(results: SurveyResults) -> str:
    return " · REHEARSAL" if results.manifest.rehearsal else ""


def _tables(results: SurveyResults) -> Iterator[str]:
    if not results.tables:
        return
    yield '<section class="card" aria-labelledby="groups">\n'
    yield '<h2 id="groups">Within groups</h2>\n'
    yield (
        "<p>A share within a group is a share of the people of that group, not of all. If the "
        "group is a private answer itself, nobody knows who is in it, and intervals are wider."
        "</p>\n"
    )
    ordered = sorted(results.tables, key=lambda table: table.by.private)
    for place, table in enumerate(ordered):
        yield from _group_table(results, table, place)
    yield "</section>\n"


def _group_table(results: SurveyResults, table: GroupTable, place: int) -> Iterator[str]:
    opened = " open" if place == 0 else ""
    secret = " (groups by a private answer)" if table.by.private else ""
    yield (
        f"<details{opened}><summary>{_span(results, table.text)} — by: "
        f"{_span(results, table.by_text)}{secret}</summary>\n"
    )
    groups = [row for row in table.within if row]
    rows: list[ChartRow] = []
    for answer in range(len(groups[0])) if groups else ():
        if groups[0][answer].is_mean:
            continue
        rows.append(ChartRow(groups[0][answer].label))
        rows += [ChartRow(row[answer].group_label, row[answer]) for row in groups]
    if rows:
        yield draw_intervals(
            rows,
            name=f"g-{table.question.id}-{table.by.id}",
            title=f"{table.text} Shares within each group. {table.by_text}",
            attributes=_own(results).partition(" dir")[0],
            rehearsal=results.manifest.rehearsal,
        )
    for numbers, caption in (
        (table.within, "Within each group"),
        (table.of_all, "Of all who answered both questions"),
    ):
        filled = [row for row in numbers if row]
        if not filled:
            continue
        headings = ["group", *(number.label for number in filled[0])]
        lines = [
            (row[0].group_label, [f"{value_text(n)} ({interval_text(n)})" for n in row])
            for row in filled
        ]
        level = f", with {100 * results.confidence:g} % intervals"
        own = {"own": _own(results), "own_headings": _own(results)}
        yield _table(headings, lines, caption + level + _marked(results), numeric=False, **own)
    yield "</details>\n"


def _false_reports(results: SurveyResults) -> Iterator[str]:
    if results.manifest.mode != "open":
        return
    fakes = [m for m in FALSE_REPORTS if m <= results.look_respondents]
    rows = []
    for findings in results.questions:
        for number in findings.shown:
            label = f"{findings.text} {number.label}"
            rows.append((label, [shift_text(number, m) for m in fakes]))
    yield '<section class="card" aria-labelledby="false">\n'
    yield '<h2 id="false">How far false reports could move a number</h2>\n'
    yield (
        "<p>The link is open, so somebody could answer more than once, or send reports that no "
        "coin has drawn. Nobody can tell such reports from honest ones. This is the most that "
        "they could do.</p>\n"
    )
    headings = ["number", *(pluralize(m, "false report") for m in fakes)]
    caption = "At most, on average over the coins." + _marked(results)
    yield _table(headings, rows, caption, own=_own(results))
    yield "</section>\n"


def _privacy(results: SurveyResults) -> Iterator[str]:
    loss = survey_loss(results.manifest)
    even = of_100_up(loss, GUESSES[2])
    first, *others = results.privacy
    yield '<section class="card" aria-labelledby="privacy">\n'
    yield '<h2 id="privacy">What the reports say about one person</h2>\n'
    yield f'<p class="lead">{escape_html(first)}</p>\n<p>{escape_html(others[0])}</p>\n'
    yield draw_hundred(
        even, name="guesses", title=f"At most {even} of 100 guesses are right.", before=50
    )
    yield (
        '<p class="quietly"><span class="key pale"></span>50 of 100 guess right without the '
        f'reports. <span class="key"></span>With them at most {even} of 100.</p>\n'
    )
    for sentence in others[1:]:
        yield f"<p>{escape_html(sentence)}</p>\n"
    yield "<details><summary>For experts</summary>\n"
    rows = []
    for question in results.manifest.private:
        rows.append((question.id, [f"{float(question.cost):.4g}", _channel_text(question)]))
    yield _table(
        ["question", "epsilon at most", "channel"],
        rows,
        f"Local differential privacy, unit: one person, delta 0. All reports of one person "
        f"together cost at most epsilon {results.epsilon:.4g}.",
        numeric=False,
    )
    yield "</details>\n</section>\n"


def _channel_text(question: ManifestQuestion) -> str:
    text = json.dumps(question.channel)
    return text if len(text) <= 160 else f"{text[:159]}…"


def _footer(results: SurveyResults, downloads: Mapping[str, str]) -> Iterator[str]:
    yield "<footer>\n"
    if downloads:
        links = " · ".join(
            f'<a href="{escape_html(address)}">{escape_html(name)}</a>'
            for name, address in downloads.items()
        )
        yield f"<p>{links}</p>\n"
    yield (
        f'<p class="quietly">Manifest <code>{results.manifest.hash}</code>{_marked(results)}. '
        "Numbers change only by whole batches of reports.</p>\n</footer>\n"
    )
