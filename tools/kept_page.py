"""A page that one test after another uses: a new one takes a process of its own, and longer
than most tests.

After each test these are as in a new page: what the test's site stored in it (localStorage,
sessionStorage, cookies), window.name, the size, the connection and the listeners of `take`. A
page is closed, and the next test gets a new one, if a test called what lasts (`LASTING`: the
clock, scripts for every page, routes, listeners, colours and media, permissions), if its site
has a database, a cache or a service worker, or if it was at several sites. What a script
changed in a page, as timers, ends with that page. These stay: the history of the tab, the place
of the mouse and keys that are held down.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

VIEWPORT = {"width": 360, "height": 740}
FORGET = """async () => {  // whether something is left
    localStorage.clear();
    sessionStorage.clear();
    window.name = "";
    const none = () => [];
    const left = [
        await indexedDB.databases().catch(none),
        self.caches ? await caches.keys().catch(none) : [],
        navigator.serviceWorker
            ? await navigator.serviceWorker.getRegistrations().catch(none) : [],
    ];
    return left.some((list) => list.length > 0);
}"""
LASTING = {
    "page": (
        *("add_init_script", "add_locator_handler", "emulate_media", "expose_binding"),
        *("expose_function", "on", "once", "route", "route_from_har", "route_web_socket"),
        *("set_default_navigation_timeout", "set_default_timeout", "set_extra_http_headers"),
    ),
    "context": (
        *("add_init_script", "expose_binding", "expose_function", "grant_permissions"),
        *("new_cdp_session", "on", "once", "route", "route_from_har", "route_web_socket"),
        *("set_default_navigation_timeout", "set_default_timeout", "set_extra_http_headers"),
        "set_geolocation",
    ),
    "clock": (
        *("fast_forward", "install", "pause_at", "resume", "run_for", "set_fixed_time"),
        "set_system_time",
    ),
}
Listeners = dict[str, Callable[[Any], object]]


class KeptPage:
    """The page of a worker; `nothing` is the address of an empty page of the same site."""

    def __init__(self, browser: Any, nothing: str) -> None:
        self._browser, self._nothing = browser, nothing
        self._page: Any = None
        self._listeners: Listeners = {}
        self._sites: set[str] = set()  # where a test was
        self._listen: Callable[[str, Callable[[Any], object]], object] = _nowhere
        self._free = self._lasts = False

    def make_ready(self) -> None:
        """Opens the page, if a test has closed it."""
        if self._page is None or self._page.is_closed():
            self._open()
        self._free = True

    def _open(self) -> None:
        page = self._browser.new_context(viewport=VIEWPORT).new_page()
        page.goto(self._nothing)
        page.on("framenavigated", lambda frame: self._sites.add(_site(frame.url)))
        self._page, self._listen, self._lasts = page, page.on, False
        owners = {"page": page, "context": page.context, "clock": page.clock}
        for owner, names in LASTING.items():
            for name in names:
                setattr(owners[owner], name, self._noted(getattr(owners[owner], name)))
        self._sites.clear()

    def _noted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """A call that lasts longer than a test: the page is closed after it."""

        def noted(*values: Any, **options: Any) -> Any:
            self._lasts = True
            return call(*values, **options)

        return noted

    def take(self, listeners: Listeners) -> Any:
        """The page for the first person of a test, with these listeners; None for others."""
        if not self._free:
            return None
        self._free, self._listeners = False, dict(listeners)
        for event, listener in self._listeners.items():
            self._listen(event, listener)
        return self._page

    def clear(self) -> None:
        """Removes what a test has left, or closes the page."""
        page = self._page
        if page.is_closed() or self._free:
            return
        for other in page.context.pages:
            if other is not page:
                other.close()
        for event, listener in self._listeners.items():
            page.remove_listener(event, listener)
        elsewhere = self._sites - {_site(page.url)}
        at_site = page.url.startswith(("http:", "file:"))  # and not at an error of the browser
        if self._lasts or elsewhere or not at_site or page.evaluate(FORGET):
            page.context.close()
            return
        page.context.set_offline(False)
        page.context.clear_cookies()
        page.set_viewport_size(VIEWPORT)
        page.goto(self._nothing)
        self._sites.clear()


def _site(address: str) -> str:
    """What shares storage: the scheme, the name and the port.

    >>> _site("http://127.0.0.1:80/page?x#y"), _site("file:///page.html")
    ('http://127.0.0.1:80', 'file://')
    """
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _nowhere(event: str, listener: Callable[[Any], object]) -> None:
    raise AssertionError("The page is not open.")
