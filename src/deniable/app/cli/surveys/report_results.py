"""`deniable survey report`: results on the terminal, as a page, and as files to hand on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import deniable as dp
from deniable.app.cli.argument_values import parse_decimal
from deniable.app.cli.commands.survey import Confidence, File, empty_table
from deniable.app.cli.surveys.chosen_manifest import ManifestFile, find_manifest
from deniable.app.cli.surveys.opened_survey import Rehearsal, Store, reopen_survey

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from deniable.surveys import SurveyReport
    from deniable.surveys.estimate.question_pairs import QuestionPair
    from deniable.surveys.results.survey_results import SurveyResults
    from deniable.surveys.survey_report import QuestionResult

DELTA = 1e-6  # of the epsilons after shuffling


Reports = Annotated[
    Path | None,
    typer.Argument(
        help="Reports, one JSON line each. Without them: those that were collected.",
        metavar="[REPORTS]",
    ),
]
Pictures = Annotated[Path | None, typer.Option(help="A folder for pictures.", metavar="FOLDER")]
Language = Annotated[
    str | None, typer.Option(help="A language of the questionnaire.", metavar="LANGUAGE")
]
Page = Annotated[Path | None, typer.Option(help="A page to write.", metavar="PAGE")]
Csv = Annotated[Path | None, typer.Option(help="A table to write.", metavar="TABLE")]
Json = Annotated[Path | None, typer.Option(help="The results as JSON.", metavar="JSON")]
Export = Annotated[
    Path | None,
    typer.Option(
        help="A folder for reports, manifest, codebook, methods and scripts.",
        metavar="FOLDER",
    ),
]


def report(
    file: File,
    reports: Reports = None,
    confidence: Confidence = "0.95",
    pictures: Pictures = None,
    language: Language = None,
    html: Page = None,
    csv: Csv = None,
    json: Json = None,
    export: Export = None,
    manifest: ManifestFile = None,
    store: Store = None,
    rehearsal: Rehearsal = False,
) -> None:
    """Show estimates with intervals, cross-tabs, and what one answer proves."""
    level = parse_decimal(confidence, "confidence")
    targets = {"html": html, "csv": csv, "json": json, "export": export}
    written = {kind: path for kind, path in targets.items() if path is not None}
    how: dict[str, Any] = {"confidence": level, "language": language}
    if reports is None:
        results = read_collection(file, store, rehearsal, how)
    elif written:
        results = read_results(file, reports, manifest, rehearsal, how)
    else:
        questionnaire = dp.surveys.load(file)
        collected = read_collected(questionnaire, file, reports, manifest, rehearsal)
        survey_report = dp.surveys.report(questionnaire, collected, **how)
        print_report(survey_report)
        if pictures is not None:
            draw_pictures(survey_report, pictures)
        return
    if pictures is not None:
        raise dp.InvalidParameter(
            "`--pictures` needs a file of reports and no other output. The page of `--html` "
            "has its pictures."
        )
    print_results(results, tables=not written)
    write_results(results, written)


def read_collection(
    file: Path, store: str | None, rehearsal: bool, how: dict[str, Any]
) -> "SurveyResults":
    """The results of a survey that was served, from its whole batches so far."""
    from deniable.surveys.collect.collection import CollectionChoices
    from deniable.surveys.results.survey_results import find_results

    collection = reopen_survey(file, CollectionChoices(rehearsal=rehearsal, store=store))
    try:
        batches = [(batch.day, batch.bodies) for batch in collection.store.batches()]
        closed = collection.store.is_closed
    finally:
        collection.close()
    return find_results(collection.manifest, batches, closed=closed, **how)


def read_results(
    file: Path, reports: Path, manifest: Path | None, rehearsal: bool, how: dict[str, Any]
) -> "SurveyResults":
    """The results of a file of reports, which is taken for complete.

    An export says whether its last batch came by closing at will.
    """
    from deniable.surveys.results.report_files import read_report_file, was_closed_at_will
    from deniable.surveys.results.survey_results import find_results

    promised = find_manifest(file, manifest, rehearsal=rehearsal)
    batches = read_report_file(promised, reports)
    at_will = was_closed_at_will(reports)
    return find_results(promised, batches, closed=True, last_at_will=at_will, **how)


def read_collected(
    questionnaire: Any, file: Path, reports: Path, manifest: Path | None, rehearsal: bool
) -> Any:
    """Reports by question, or as devices sent them."""
    from deniable.surveys.results.report_batches import read_batches
    from deniable.surveys.results.report_files import is_sent_form, read_report_file

    if not is_sent_form(reports):
        return dp.surveys.read_reports(questionnaire, reports)
    promised = find_manifest(file, manifest, rehearsal=rehearsal)
    batches = read_batches(promised, read_report_file(promised, reports))
    return batches.first(len(batches.days))


def print_results(results: "SurveyResults", *, tables: bool) -> None:
    """Prints how many reports there are and what to know first; then all numbers."""
    from rich.console import Console

    from deniable.surveys.results.number_texts import interval_text, value_text

    console = Console(highlight=False)
    console.print(f"\n{results.title}: {results.respondents:,} reports\n", markup=False)
    for notice in results.notices:
        console.print(notice, markup=False)
    if not tables:
        return
    for findings in results.questions:
        table = empty_table(findings.text, "estimate", f"{results.confidence:.0%} interval")
        for number in findings.shown:
            table.add_row(number.label, value_text(number), interval_text(number))
        console.print(table)
    for group_table in results.tables:
        question, by = group_table.question.id, group_table.by.id
        rows = [row for row in group_table.within if row]
        labels = [number.label for number in rows[0]] if rows else []
        table = empty_table(f"{question} within {by}", *labels)
        for row in rows:
            cells = [f"{value_text(number)} ({interval_text(number)})" for number in row]
            table.add_row(row[0].group_label, *cells)
        console.print(table)
    for sentence in results.privacy:
        console.print(sentence, markup=False)


def write_results(results: "SurveyResults", targets: dict[str, Path]) -> None:
    """Writes every file that was asked for, and prints its name."""
    from deniable.app.web.results_page import build_results_page
    from deniable.surveys.results.result_files import export_files, results_csv, results_json

    builders = {
        "html": lambda: build_results_page(results),
        "csv": lambda: results_csv(results).encode("utf-8"),
        "json": lambda: results_json(results).encode("utf-8"),
    }
    for kind, target in targets.items():
        files = (
            {target: builders[kind]()}
            if kind in builders
            else {target / name: content for name, content in export_files(results).items()}
        )
        for path, content in files.items():
            write_file(path, content)


def write_file(path: Path, content: bytes) -> None:
    """Writes one file, in a folder that is made if it is missing, and prints its name."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as problem:
        raise dp.InvalidParameter(
            f"{path.name} cannot be written: {problem.strerror}. Give a path in a folder that "
            "you may write to."
        ) from None
    print(path)


def print_report(results: "SurveyReport") -> None:
    """Prints all results as tables."""
    from rich.console import Console

    console = Console(highlight=False)
    console.print(f"\n[bold]{results.title}[/bold]: {results.respondents:,} respondents\n")
    for result in results.results:
        print_result(console, result)
    for pair in results.pairs:
        console.print(cross_table(pair))
    if results.anchor:
        console.print(results.anchor, markup=False)
    console.print(
        f"The report of one person costs at most epsilon {results.loss.epsilon():.4g}. "
        "Reading it costs nothing more."
    )
    if results.collected != results.loss:
        console.print(
            f"Shuffled, it costs at most epsilon {results.collected.epsilon(DELTA):.3g} at "
            f"delta {DELTA:g}."
        )


def print_result(console: "Console", result: "QuestionResult") -> None:
    """Prints the estimates of one question, and what one answer to it proves."""
    console.print(estimate_table(result))
    for line in result.lines():
        console.print(line, markup=False)
    console.print(result.sentence, markup=False)
    if result.amplified:
        console.print(
            f"Shuffled with the others: epsilon {result.loss.epsilon(DELTA):.3g} at delta "
            f"{DELTA:g}, against anyone who sees only the output of the shuffler."
        )
    console.print()


def estimate_table(result: "QuestionResult") -> "Table":
    """A row for each answer."""
    from deniable.exact.text_formats import percent_tenths

    table = empty_table(
        result.text, "estimate", f"{result.estimates[0].confidence:.0%} interval", ""
    )
    for i, (label, estimate) in enumerate(zip(result.labels, result.estimates, strict=True)):
        show = (lambda x: f"{x:.3g}") if i == result.mean else percent_tenths
        interval, note = " to ".join(show(end) for end in estimate.interval), ""
        if not estimate.consistent:
            interval, note = "-", f"inconsistent with the design (p {estimate.p_value:.2g})"
        elif estimate.raw != estimate.value:
            note = f"cut from {show(estimate.raw)}"
        table.add_row(label, show(estimate.value), interval, note)
    return table


def cross_table(pair: "QuestionPair") -> "Table":
    """Two questions, with a test of their independence."""
    from deniable.errors import InvalidData
    from deniable.exact.text_formats import percent_tenths

    try:
        ending = f"chi-square p-value {pair.table.independence().p_value:.2g}"
    except InvalidData:
        ending = "too few reports for a test"
    table = empty_table(f"{pair.rows} by {pair.columns}", *pair.column_labels)
    margins = pair.table.half_widths()
    for label, row, halves in zip(pair.row_labels, pair.table.raw, margins, strict=True):
        cells = [
            f"{percent_tenths(x)} ± {percent_tenths(half)}"
            for x, half in zip(row, halves, strict=True)
        ]
        table.add_row(label, *cells)
    means = [
        f"{label}: {estimate.value:.4g} ± {estimate.margin:.2g}"
        for label, estimate in pair.means()
    ]
    table.caption = "\n".join(
        [ending, *([f"mean by answer: {', '.join(means)}"] if means else [])]
    )
    return table


def draw_pictures(results: "SurveyReport", folder: Path) -> None:
    """Draws a picture for each question."""
    from deniable.figures import canvas, surveys

    folder.mkdir(parents=True, exist_ok=True)
    for result in results.results:
        print(canvas.save(surveys.estimates(result), folder / f"{result.question}.svg"))
