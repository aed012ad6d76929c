"""A page that one test after another uses: a new one takes a process of its own, and longer
than most tests.

Nothing is left in it. Each test has a server of its own, so an origin of its own, and what was
stored for it is removed, too.
"""

from collections.abc import Callable
from typing import Any

VIEWPORT = {"width": 360, "height": 740}
FORGET = "() => { localStorage.clear(); sessionStorage.clear(); }"
Listeners = dict[str, Callable[[Any], object]]


class KeptPage:
    """The page of a worker; `nothing` is the address of an empty page of the same site."""

    def __init__(self, browser: Any, nothing: str) -> None:
        self._browser, self._nothing = browser, nothing
        self._page: Any = None
        self._listeners: Listeners = {}
        self._free = False

    def make_ready(self) -> None:
        """Opens the page, if a test has closed it."""
        if self._page is None or self._page.is_closed():
            self._page = self._browser.new_context(viewport=VIEWPORT).new_page()
            self._page.goto(self._nothing)
        self._free = True

    def take(self, listeners: Listeners) -> Any:
        """The page for the first person of a test, with these listeners; None for others."""
        if not self._free:
            return None
        self._free, self._listeners = False, dict(listeners)
        for event, listener in self._listeners.items():
            self._page.on(event, listener)
        return self._page

    def clear(self) -> None:
        """Removes all that a test has left."""
        page = self._page
        if page.is_closed() or self._free:
            return
        for other in page.context.pages:
            if other is not page:
                other.close()
        for event, listener in self._listeners.items():
            page.remove_listener(event, listener)
        page.context.set_offline(False)
        page.context.clear_cookies()
        if page.url.startswith(("http:", "file:")):
            page.evaluate(FORGET)
        page.set_viewport_size(VIEWPORT)
        page.goto(self._nothing)
