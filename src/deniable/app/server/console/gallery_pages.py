"""The gallery: every release that is there for a person, to find again for nothing."""

from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import Response

from deniable.app.server.accounts.identity import Person
from deniable.app.server.console.console import Console
from deniable.app.server.console.console_forms import read_form
from deniable.app.server.console.kept_answers import STATES, AskedAnswer, is_theirs, read_kept
from deniable.app.server.console.page_routes import PageRoute
from deniable.app.server.questions.question_queue import Job, QuestionQueue
from deniable.app.server.questions.served_policy import ServedPolicy

GALLERY = "/console/{policy}/releases"
SHOWN, SEARCHED = 100, 2_000  # answers on a page, and questions that a page looks at for them


class GalleryPages:
    """What was asked before. What is searched for travels in a body, like all SQL."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def routes(self) -> list[PageRoute]:
        """The routes of these pages."""
        return [
            PageRoute("GET", GALLERY, self.show_gallery),
            PageRoute("POST", "/console/{policy}/search", self.search),
        ]

    async def show_gallery(self, request: Request, policy: str) -> Response:
        """The last releases."""
        return await self._console.work(request, self._page, request, policy, "", 0)

    async def search(self, request: Request, policy: str) -> Response:
        """Those that name all words, or older ones than were shown."""
        fields = await read_form(request)
        words, skip = fields.get("words", ""), _read_place(fields.get("skip", ""))
        return await self._console.work(request, self._page, request, policy, words, skip)

    def _page(self, request: Request, policy: str, words: str, skip: int) -> Response:
        served, person = self._console.enter(request, policy)
        everybody = request.state.reach == "any"
        queue = self._console.server.admission.queue
        matches, older = search(queue, served, person, words, everybody=everybody, skip=skip)
        links = {
            answer.job.id: self._console.links.of(policy, answer.job.id) for answer in matches
        }
        return self._console.show(
            request,
            "gallery.html",
            title="Releases",
            policy=policy,
            words=words,
            skip=skip,
            older=older,
            answers=matches,
            links=links,
            everybody=everybody,
        )


def search(
    queue: QuestionQueue,
    served: ServedPolicy,
    person: Person,
    words: str,
    *,
    everybody: bool,
    skip: int = 0,
) -> tuple[list[AskedAnswer], int | None]:
    """The last questions with all words that are there for a person, but the newest `skip`; and
    how many to skip to go on from there, None at the end."""
    shown: list[AskedAnswer] = []
    whose = None if everybody else person.name
    for looked, job in enumerate(_theirs(queue, served, person, whose, skip)):
        if len(shown) == SHOWN or looked == SEARCHED:
            return shown, skip + looked
        if may_fit(job, words) and fits(kept := read_kept(job), words):
            shown.append(kept)
    return shown, None


def _theirs(
    queue: QuestionQueue, served: ServedPolicy, person: Person, whose: str | None, skip: int
) -> Iterator[Job]:
    """The questions that are there for a person, last one first, but the newest `skip` of them.
    Hidden ones are not counted: the number of a button would tell that there are some."""
    sees_all = person.tables is None and person.may_use(served.name)
    start, left = (skip, 0) if sees_all else (0, skip)
    while jobs := queue.listed(served.name, whose, SHOWN, skip=start):
        for job in jobs:
            if not sees_all and not is_theirs(served, person, read_kept(job)):
                continue
            if left == 0:
                yield job
            left = max(0, left - 1)
        start += len(jobs)


def _read_place(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0


def may_fit(job: Job, words: str) -> bool:
    """Whether it may hold all words, whatever became of it: without reading its answer."""
    return fits(AskedAnswer(job, " ".join(STATES)), words)


def fits(answer: AskedAnswer, words: str) -> bool:
    """Whether a question, its asker or its day holds all words."""
    text = f"{answer.sql} {answer.job.person} {answer.day} {answer.state}".lower()
    return all(word in text for word in words.lower().split())
