"""The surveys in one folder: drafts that a pollster changes, and surveys that have begun.

The folder is laid out as the commands do it: `doping.toml` is a questionnaire and
`doping.collected` holds what people sent, so a survey can be begun here and read there. The
name of a file is the id of the questionnaire, which has letters, digits, - and _ only.
"""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deniable.app.cli.surveys.invite_people import invitation_link
from deniable.app.cli.surveys.opened_survey import MODES, folder_of, open_survey
from deniable.app.server.rate_limits import AddressLimits, RateLimits
from deniable.app.server.survey_pages import pages_of
from deniable.app.server.survey_routes import SurveyRoutes
from deniable.errors import DeniableError, InvalidParameter
from deniable.surveys.collect.collection import CollectionChoices, SurveyCollection
from deniable.surveys.collect.private_files import replace, write_once
from deniable.surveys.questionnaire.lint import lint
from deniable.surveys.questionnaire.lint_finding import LintFinding
from deniable.surveys.questionnaire.manifest import Manifest, Mode, make_manifest
from deniable.surveys.questionnaire.questionnaire import Questionnaire, loads

SurveyState = Literal["draft", "open", "closed"]
REPORTS_PER_HOUR = 30  # of one address, through an open link
MOST_INVITED = 1000  # at once
MOST_SURVEYS = 200
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class CheckedQuestionnaire:
    """A draft as it was read: what is wrong with it, or what it would promise."""

    problem: str = ""
    findings: tuple[LintFinding, ...] = ()
    manifest: Manifest | None = None  # of a rehearsal with an open link


class SurveyDesk:
    """All surveys of a server. Each process has its own; what they share is in the folder.
    `limits_of`: how often an address may report through the open link of a survey.

    >>> import tempfile
    >>> desk = SurveyDesk(Path(tempfile.mkdtemp()))
    >>> desk.names()
    []
    """

    def __init__(
        self,
        folder: Path,
        *,
        origin: str = "",
        limits_of: Callable[[str], RateLimits] = lambda _: AddressLimits(REPORTS_PER_HOUR),
    ) -> None:
        self._folder, self._origin, self._limits_of = folder, origin or None, limits_of
        self._lock = threading.RLock()
        self._opened: dict[str, tuple[SurveyCollection, SurveyRoutes]] = {}
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def names(self) -> list[str]:
        """The surveys in the folder, by name."""
        stems = (file.stem for file in self._folder.glob("*.toml"))
        return sorted(name for name in stems if _NAME.fullmatch(name))

    def draft(self, text: str) -> str:
        """Keeps a new questionnaire under its id; the id."""
        survey = loads(text)
        file = self._file(survey.id)
        if file.exists():
            raise InvalidParameter(
                f"There is a survey {survey.id!r} already. Choose another id."
            )
        if len(self.names()) >= MOST_SURVEYS:
            raise InvalidParameter(f"There are {MOST_SURVEYS} surveys already. Remove some.")
        write_once(file, text.encode())
        return survey.id

    def text(self, name: str) -> str:
        """The questionnaire of a survey, as it was written."""
        return self._known(name).read_text(encoding="utf-8")

    def change(self, name: str, text: str) -> None:
        """Replaces a draft. What has begun cannot change: people were promised it."""
        if self.state(name) != "draft":
            raise InvalidParameter(
                "This survey has begun. Its questions cannot change any more."
            )
        if loads(text).id != name:
            raise InvalidParameter(f"The id of this survey is {name!r}. It cannot change.")
        replace(self._known(name), text.encode())

    def state(self, name: str) -> SurveyState:
        """Whether a survey is a draft, is being taken, or has ended."""
        if not self._has_begun(name):
            return "draft"
        return "closed" if self.collection(name).store.is_closed else "open"

    @property
    def modes(self) -> tuple[str, ...]:
        """The ways in which people can be let in. Links need the server's own address."""
        return ("open",) if self._origin is None else tuple(MODES)

    def begin(self, name: str, mode: str) -> None:
        """Lets people take the survey. Faults that leak answers are refused."""
        if mode not in MODES:
            raise InvalidParameter(f"A mode is one of {', '.join(MODES)}.")
        if mode not in self.modes:
            raise InvalidParameter(
                "An invitation is a link, so the server must know its own address: start it "
                "with --origin."
            )
        with self._lock:
            choices = CollectionChoices(mode=_as_mode(mode), origin=self._origin)
            open_survey(self._known(name), choices).close()

    def end(self, name: str) -> None:
        """Closes the survey: reports that wait are written, and no more are taken."""
        self.collection(name).store.close_survey()

    def invite(self, name: str, people: int) -> list[str]:
        """Links for people, which are shown this once."""
        if not 1 <= people <= MOST_INVITED:
            raise InvalidParameter(f"Invite between 1 and {MOST_INVITED:,} people at once.")
        collection = self.collection(name)
        manifest = collection.manifest
        return [invitation_link(manifest, token) for token in collection.invite(people)]

    def collection(self, name: str) -> SurveyCollection:
        """A survey that has begun."""
        return self._open(name)[0]

    def routes(self, name: str) -> SurveyRoutes:
        """What people get from a survey that has begun."""
        return self._open(name)[1]

    def close(self) -> None:
        """Closes all stores. The surveys go on."""
        with self._lock:
            for collection, _ in self._opened.values():
                collection.close()
            self._opened.clear()

    def _open(self, name: str) -> tuple[SurveyCollection, SurveyRoutes]:
        with self._lock:
            if name not in self._opened:
                if not self._has_begun(name):
                    raise UnknownSurvey("This survey has not begun.")
                survey = loads(self.text(name))
                folder = folder_of(self._known(name), rehearsal=False)
                collection = SurveyCollection(survey, folder, CollectionChoices())
                collection.store.write_batches()  # one may have been due
                self._opened[name] = (
                    collection,
                    SurveyRoutes(collection, pages_of(collection), self._limits_of(name)),
                )
            return self._opened[name]

    def _has_begun(self, name: str) -> bool:
        folder = folder_of(self._known(name), rehearsal=False)
        return (folder / "manifest.json").exists()

    def _known(self, name: str) -> Path:
        file = self._file(name)
        if not file.is_file():
            raise UnknownSurvey("There is no such survey.")
        return file

    def _file(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise UnknownSurvey("There is no such survey.")
        return self._folder / f"{name}.toml"


class UnknownSurvey(InvalidParameter):
    """A survey that is not there, or has not begun."""


def check_questionnaire(text: str) -> CheckedQuestionnaire:
    """A draft as it would be promised to people, or what is wrong with it.

    >>> check_questionnaire("title = 1").manifest is None
    True
    """
    try:
        survey = loads(text)
        findings = tuple(lint(survey))
        return CheckedQuestionnaire("", findings, preview_manifest(survey))
    except DeniableError as problem:
        return CheckedQuestionnaire(str(problem))


def preview_manifest(survey: Questionnaire) -> Manifest:
    """The manifest of a rehearsal, which is marked as one everywhere."""
    return make_manifest(survey, mode="open", rehearsal=True)


def _as_mode(mode: str) -> Mode:
    return "open" if mode == "open" else "token" if mode == "token" else "pass"
