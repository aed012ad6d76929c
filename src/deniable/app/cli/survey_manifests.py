"""The manifest that a command works with: a file, or made from the questionnaire."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.surveys.questionnaire.manifest import Manifest

ManifestFile = Annotated[
    Path | None,
    typer.Option(
        help="The manifest that the survey was served with. Without it, it is made from the "
        "questionnaire.",
        metavar="MANIFEST",
    ),
]


def find_manifest(
    questionnaire: Any, path: Path | None, *, rehearsal: bool = False
) -> "Manifest":
    """The manifest in a file, which must be of this survey, or the questionnaire's own."""
    from deniable.surveys.questionnaire.manifest import make_manifest, read_manifest

    if path is None:
        if questionnaire.mode == "pass":
            raise InvalidParameter(
                "A survey with blind passes has its key in the manifest. Give the manifest "
                "that it is served with, as `--manifest manifest.json`."
            )
        return make_manifest(questionnaire, rehearsal=rehearsal)
    try:
        manifest = read_manifest(path.read_bytes())
    except OSError as problem:
        raise InvalidParameter(f"{path.name} cannot be read: {problem.strerror}.") from None
    if manifest.survey != questionnaire.id:
        raise InvalidParameter(
            f"{path.name} is the manifest of {manifest.survey}, not of {questionnaire.id}."
        )
    if rehearsal and not manifest.rehearsal:
        raise InvalidParameter(
            f"{path.name} is no manifest of a rehearsal. Leave out `--rehearsal`."
        )
    return manifest
