"""The gallery: every release that is there for a person, to find again for nothing."""

from starlette.requests import Request
from starlette.responses import Response

from deniable.app.server.console.console import Console
from deniable.app.server.console.console_forms import read_form
from deniable.app.server.console.kept_answers import AskedAnswer, list_answers
from deniable.app.server.console.page_routes import PageRoute

GALLERY = "/console/{policy}/releases"


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
        return await self._console.work(request, self._page, request, policy, "")

    async def search(self, request: Request, policy: str) -> Response:
        """Those that name all words."""
        words = (await read_form(request)).get("words", "")
        return await self._console.work(request, self._page, request, policy, words)

    def _page(self, request: Request, policy: str, words: str) -> Response:
        served, person = self._console.enter(request, policy)
        everybody = request.state.reach == "any"
        found = list_answers(self._console, served, person, everybody=everybody)
        shown = [kept for kept in found if fits(kept, words)]
        links = {kept.job.id: self._console.links.of(policy, kept.job.id) for kept in shown}
        return self._console.show(
            request,
            "gallery.html",
            title="Releases",
            policy=policy,
            words=words,
            answers=shown,
            links=links,
            everybody=everybody,
        )


def fits(kept: AskedAnswer, words: str) -> bool:
    """Whether a question, its asker or its day holds all words."""
    text = f"{kept.sql} {kept.job.person} {kept.day} {kept.state}".lower()
    return all(word in text for word in words.lower().split())
