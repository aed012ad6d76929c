"""A survey that is being taken, as its commands name it: by the file of its questionnaire."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import deniable as dp

if TYPE_CHECKING:
    from deniable.surveys.collect.collection import CollectionChoices, SurveyCollection

Questionnaire = Annotated[
    Path, typer.Argument(help="The questionnaire, .toml or .json.", metavar="FILE")
]
Store = Annotated[
    str | None,
    typer.Option(
        help="Where reports are stored: a file, or postgresql://user@host/database#schema.",
        metavar="URL",
    ),
]
SealingKey = Annotated[
    Path | None,
    typer.Option(
        help="Where the key of waiting reports is kept: outside of what is backed up.",
        metavar="FILE",
    ),
]
Rehearsal = Annotated[
    bool, typer.Option("--rehearsal", help="A rehearsal, marked as such everywhere.")
]
Mode = Annotated[
    str | None,
    typer.Option(help="How people are let in: open, token or pass.", metavar="MODE"),
]
Origin = Annotated[
    str | None,
    typer.Option(
        help="Where people reach the survey, as in https://survey.example.org.",
        metavar="ORIGIN",
    ),
]

MODES = ("open", "token", "pass")


def folder_of(file: Path, *, rehearsal: bool) -> Path:
    """The folder of a survey: next to its questionnaire, another one for its rehearsal."""
    return file.with_name(f"{file.stem}.{'rehearsal' if rehearsal else 'collected'}")


def open_survey(file: Path, choices: "CollectionChoices") -> "SurveyCollection":
    """The survey, which begins if it has not begun. A page that cannot be made begins none."""
    from deniable.app.web.survey.page import page_files
    from deniable.surveys.collect.collection import SurveyCollection

    if choices.mode not in (None, *MODES):
        raise dp.InvalidParameter(
            f"--mode must be one of {', '.join(MODES)}. Found {choices.mode}."
        )
    if choices.origin is not None and choices.origin.endswith("/"):
        raise dp.InvalidParameter(
            f"An origin has no path, so no / at its end. Found {choices.origin}."
        )
    survey = dp.surveys.load(file)
    errors = [finding for finding in dp.surveys.lint(survey) if finding.level == "error"]
    if errors:
        raise dp.InvalidParameter(
            f"The questionnaire has faults that leak answers: {errors[0]} Run `deniable survey "
            f"lint {file}`."
        )
    folder = folder_of(file, rehearsal=choices.rehearsal)
    return SurveyCollection(survey, folder, choices, check=page_files)


def reopen_survey(file: Path, choices: "CollectionChoices") -> "SurveyCollection":
    """A survey that has begun, as its manifest says, whatever became of its questionnaire."""
    from deniable.surveys.collect.collection import SurveyCollection

    folder = folder_of(file, rehearsal=choices.rehearsal)
    if not (folder / "manifest.json").exists():
        raise dp.InvalidParameter(
            f"This survey has not begun: there is no folder {folder.name}. Begin it with   "
            f"deniable survey serve {file}"
        )
    return SurveyCollection(None, folder, choices)
