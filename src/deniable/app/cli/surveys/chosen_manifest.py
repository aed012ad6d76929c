"""The manifest that a command works with: given, of a survey that has begun, or made now."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import deniable as dp
from deniable.app.cli.surveys.opened_survey import folder_of

if TYPE_CHECKING:
    from deniable.surveys.questionnaire.manifest import Manifest

ManifestFile = Annotated[
    Path | None,
    typer.Option(
        help="The manifest of the survey. Without it: the one that it was begun with, or else "
        "one made from the questionnaire.",
        metavar="MANIFEST",
    ),
]


def find_manifest(
    file: Path, manifest_file: Path | None, *, rehearsal: bool = False
) -> "Manifest":
    """The manifest of a questionnaire's survey. A given one must be of this survey."""
    from deniable.surveys.questionnaire.manifest import make_manifest, read_manifest

    questionnaire = dp.surveys.load(file)
    begun = folder_of(file, rehearsal=rehearsal) / "manifest.json"
    path = manifest_file or (begun if begun.exists() else None)
    if path is None:
        if questionnaire.mode == "pass":
            raise dp.InvalidParameter(
                "A survey with blind passes has its key in the manifest. Begin it with   "
                f"deniable survey serve {file}   or give `--manifest manifest.json`."
            )
        return make_manifest(questionnaire, rehearsal=rehearsal)
    try:
        manifest = read_manifest(path.read_bytes())
    except OSError as problem:
        raise dp.InvalidParameter(f"{path.name} cannot be read: {problem.strerror}.") from None
    if manifest.survey != questionnaire.id:
        raise dp.InvalidParameter(
            f"{path.name} is the manifest of {manifest.survey}, not of {questionnaire.id}."
        )
    if rehearsal and not manifest.rehearsal:
        raise dp.InvalidParameter(
            f"{path.name} is no manifest of a rehearsal. Leave out `--rehearsal`."
        )
    return manifest
