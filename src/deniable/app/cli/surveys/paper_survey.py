"""`deniable survey cards` and `deniable survey collect`: surveys on paper."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import deniable as dp
from deniable.app.cli.argument_values import parse_decimal
from deniable.app.cli.commands.survey import Confidence, File, empty_table
from deniable.app.cli.surveys.chosen_manifest import ManifestFile, find_manifest
from deniable.app.cli.surveys.report_results import write_file

if TYPE_CHECKING:
    from rich.table import Table

    from deniable.surveys.paper.mode_pooling import PooledAnswer
    from deniable.surveys.questionnaire.manifest import Manifest


def cards(
    file: File,
    out: Annotated[Path, typer.Option(help="The folder to write to.", metavar="FOLDER")],
    device: Annotated[
        str | None,
        typer.Option(
            help="two-coins, die, cards, warner, two-dice or spinner.", metavar="NAME"
        ),
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="A language of the questionnaire.", metavar="LANGUAGE")
    ] = None,
    harmless: Annotated[
        str | None,
        typer.Option(
            help="The harmless question of crosswise and unrelated questions.", metavar="TEXT"
        ),
    ] = None,
    pdf: Annotated[
        bool, typer.Option(help="Print PDF files too, if Chromium is installed.")
    ] = True,
    manifest: ManifestFile = None,
) -> None:
    """Print cards and an interviewer's sheet: A6, and A4 with eight cards to cut out."""
    from deniable.app.web.card_pages import (
        build_card_pages,
        build_card_sheets,
        build_interviewer_sheet,
    )
    from deniable.surveys.paper.survey_cards import write_cards

    promised = find_manifest(file, manifest)
    _check_language(promised, language)
    written = write_cards(promised, device=device, language=language, harmless=harmless)
    code = draw_code(promised.hash)
    pages = {
        "cards-a6": build_card_pages(promised, written, code),
        "cards-a4": build_card_sheets(promised, written, code),
        "interviewer": build_interviewer_sheet(promised, written, code),
    }
    _write_pages(out, pages, pdf)


def _check_language(manifest: "Manifest", language: str | None) -> None:
    if language is not None and language not in manifest.languages:
        listed = ", ".join(manifest.languages)
        raise dp.InvalidParameter(f"`--language` must be one of {listed}. Found {language!r}.")


def _write_pages(out: Path, pages: dict[str, bytes], pdf: bool) -> None:
    from deniable.app.web.pdf_printing import find_browser, print_pdf

    for name, content in pages.items():
        page = out / f"{name}.html"
        write_file(page, content)
        if pdf and print_pdf(page, page.with_suffix(".pdf")):
            print(page.with_suffix(".pdf"))
    if pdf and find_browser() is None:
        print("No PDF files: Chromium is not installed. Open the pages in a browser and print.")


def draw_code(text: str) -> str:
    """A QR code as SVG."""
    try:
        import segno
    except ModuleNotFoundError:
        raise dp.MissingExtra(
            "Codes on cards need the package segno. Install it with   "
            "pip install 'deniable[server]'"
        ) from None
    picture: str = segno.make(text, error="m", micro=False).svg_inline(
        svgclass=None, lineclass=None, omitsize=True, border=2
    )
    return picture


def collect(
    file: File,
    answers: Annotated[
        Path, typer.Argument(help="Keyed answers, .csv or .jsonl.", metavar="ANSWERS")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Write them as reports, one JSON line each.", metavar="REPORTS"),
    ] = None,
    pool_with: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            help="Another mode: its questionnaire and its reports. Each mode is read by its "
            "own channel.",
            metavar="FILE REPORTS",
        ),
    ] = None,
    confidence: Confidence = "0.95",
    manifest: ManifestFile = None,
) -> None:
    """Read answers from paper, check them against the manifest, and estimate the shares."""
    from rich.console import Console

    from deniable.surveys.paper.keyed_answers import read_keyed_answers
    from deniable.surveys.paper.mode_pooling import pool_modes
    from deniable.surveys.results.report_files import read_report_file

    promised = find_manifest(file, manifest)
    reports = read_keyed_answers(promised, answers)
    modes = [(promised, reports)]
    names = ["paper"]
    if pool_with is not None:
        other = find_manifest(pool_with[0], None)
        modes.append(
            (
                other,
                [body for _, batch in read_report_file(other, pool_with[1]) for body in batch],
            )
        )
        names.append(pool_with[1].stem)
    if out is not None:
        write_file(out, b"".join(report + b"\n" for report in reports))
    print(f"{len(reports):,} answers from paper")
    pooled_answers = pool_modes(modes, confidence=parse_decimal(confidence, "confidence"))
    Console(highlight=False).print(pooled_table(pooled_answers, names))


def pooled_table(answers: "tuple[PooledAnswer, ...]", names: list[str]) -> "Table":
    """A row for each answer: every mode by its own channel, and all together."""
    pooled = ["pooled", "same in all modes (p)"] if len(names) > 1 else []
    table = empty_table("question", "answer", *names, *pooled)
    for answer in answers:
        cells = [str(mode) for mode in answer.modes]
        if pooled:
            cells += [str(answer.pooled), f"{answer.pooled.homogeneity:.2g}"]
        table.add_row(answer.question, answer.label, *cells)
    return table
