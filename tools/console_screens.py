"""Every page of the console, at three widths, light and dark."""

import tempfile
from pathlib import Path
from typing import Any

from tools.browser import OPTIONS
from tools.console_server import PASSWORD, ConsoleServer, serve_console, write_small_hospital
from tools.system import find

WIDTHS = (320, 768, 1280)
SCHEMES = ("light", "dark")

# A page's name, who looks at it, and its address below /console.
PAGES: list[tuple[str, str, str]] = [
    ("login", "", "/login"),
    ("home", "ann", ""),
]


def write(folder: Path) -> None:
    """Writes the screens of all pages."""
    from playwright.sync_api import sync_playwright

    with (
        tempfile.TemporaryDirectory() as place,
        serve_console(write_small_hospital(Path(place))) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find("chromium"), args=OPTIONS)
        for scheme in SCHEMES:
            for person in dict.fromkeys(person for _, person, _ in PAGES):
                _visit(browser, server, folder, person, scheme)
        browser.close()


def _visit(browser: Any, server: ConsoleServer, folder: Path, person: str, scheme: str) -> None:
    page = browser.new_context(color_scheme=scheme).new_page()
    if person:
        log_in(page, server.url, person)
    for name, who, address in PAGES:
        if who != person:
            continue
        page.goto(f"{server.url}/console{address}")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
    page.context.close()


def log_in(page: Any, url: str, person: str) -> None:
    """Logs a person in, as a person does."""
    page.goto(f"{url}/console/login")
    page.get_by_label("Name").fill(person)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{url}/console")
