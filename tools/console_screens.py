"""Every page of the console, at three widths, light and dark."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from deniable.surveys.questionnaire.manifest import read_manifest
from tools.browser import OPTIONS
from tools.console_server import PASSWORD, ConsoleServer, serve_console, write_small_hospital
from tools.system import find

WIDTHS = (320, 768, 1280)
SCHEMES = ("light", "dark")
BY_WARD = "SELECT ward, COUNT(*) AS visits, AVG(cost) AS cost FROM visits GROUP BY ward"
MEANS = "SELECT ward, COUNT(cost) AS n, AVG(cost) AS mean FROM visits GROUP BY ward"
SMALL = "SELECT ward, COUNT(*) AS n FROM visits WHERE age = 89 AND cost < 3 GROUP BY ward"

# Resolves when what was laid out last has been painted.
_PAINTED = """() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(done)))"""

Address = str | Callable[[Any, ConsoleServer], None]


def write(folder: Path) -> None:
    """Writes the screens of all pages."""
    from playwright.sync_api import sync_playwright

    with (
        tempfile.TemporaryDirectory() as place,
        serve_console(write_small_hospital(Path(place))) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find("chromium"), args=OPTIONS)
        for name, page in visit_pages(browser, server):
            _take(page, folder, name)
        browser.close()


def visit_pages(
    browser: Any, server: ConsoleServer, *, states: bool = True
) -> Iterator[tuple[str, Any]]:
    """Every page by its name, while a browser shows it to a person who is logged in; without
    `states` each page once or twice."""
    pages = [page for page in PAGES if states or page[0] not in STATES]
    page = browser.new_context().new_page()
    for person in dict.fromkeys(person for _, person, _ in pages):
        if person:
            enter(page, server.url, person)
        for name, who, address in pages:
            if who == person:
                _show(page, server, address)
                yield name, page
    page.context.close()


def _show(page: Any, server: ConsoleServer, address: Address) -> None:
    if callable(address):
        address(page, server)
    else:
        page.goto(f"{server.url}/console{address}")


def _take(page: Any, folder: Path, name: str) -> None:
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate(_PAINTED)
            page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)


def log_in(page: Any, url: str, person: str) -> None:
    """Logs a person in, as a person does."""
    page.goto(f"{url}/console/login")
    page.get_by_label("Name").fill(person)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{url}/console")


def enter(page: Any, url: str, person: str) -> None:
    """Logs a person in with one request, where the page to log in on is not looked at."""
    page.context.clear_cookies()
    told = {"name": person, "password": PASSWORD}
    headers = {"Sec-Fetch-Site": "same-origin"}
    answer = page.request.post(
        f"{url}/console/login", form=told, headers=headers, max_redirects=0
    )
    assert answer.status == 303, answer.text()


def _type(page: Any, server: ConsoleServer, sql: str, epsilon: str = "") -> None:
    """Types a question, and waits for its price."""
    page.goto(f"{server.home}/ask")
    with page.expect_response("**/preview"):
        page.fill("#sql", sql)
    if epsilon:
        with page.expect_response("**/preview"):
            page.fill("#epsilon", epsilon)
    page.wait_for_selector("#spend:enabled, #preview .bad")


def ask(page: Any, server: ConsoleServer, sql: str, epsilon: str) -> None:
    """Asks a question, and waits until its certificate was checked."""
    _type(page, server, sql, epsilon)
    page.click("#spend")
    page.wait_for_selector("[data-checked]")


def _unfold(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.home}/ask")
    for details in page.locator("main > details").all():
        details.evaluate("(x) => { x.open = true; }")
    page.locator("#sql").press("Control+End")
    page.locator("#sql").press_sequentially(" WHERE wa")
    page.wait_for_selector("#words li")


def _refuse_choices(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.home}/ask")
    page.get_by_text("Write the question with a form").click()
    page.get_by_label("Measure").select_option("avg")
    page.get_by_label("For each").select_option(label="ward")
    page.get_by_role("button", name="Write the SQL").click()
    page.wait_for_selector("main > .bad")


def _explain(page: Any, server: ConsoleServer) -> None:
    _type(page, server, BY_WARD)
    for details in page.locator("#preview details").all():
        details.evaluate("(x) => { x.open = true; }")


def _label(page: Any, server: ConsoleServer) -> None:
    _compute(page, server)
    page.get_by_text("Privacy label").click()


def _compute(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.home}/releases")
    page.get_by_role("link", name="SELECT ward, COUNT(*) AS visits").first.click()
    page.fill("[name=over]", "SELECT SUM(visits) AS all_visits FROM answer")
    page.get_by_role("button", name="Compute: free").click()
    page.wait_for_selector("#over table")


def _request(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.home}/budget")
    page.fill("[name=epsilon]", "2")
    page.fill("[name=reason]", "a second study of waiting times")
    with page.expect_navigation():
        page.get_by_role("button", name="Request").click()


def _publish(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.home}/releases")
    page.get_by_role("link", name="SELECT ward, COUNT(*) AS visits").first.click()
    page.get_by_role("button", name="Open a public link").click()
    page.wait_for_selector("[data-checked]")


def _follow_link(page: Any, server: ConsoleServer) -> None:
    with page.expect_navigation():
        page.click("a[href^='/public/']")
    page.wait_for_selector("[data-checked]")


def _calculate(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.home}/calculator")
    release = page.locator("option", has_text="AS visits").first.get_attribute("value")
    page.goto(f"{server.home}/calculator?release={release}")
    page.get_by_label("Compute").select_option("share")
    for ward in ("cardiology", "surgery"):
        page.get_by_label(f"{ward} in the first").check()
    page.get_by_role("button", name="Compute: free").click()
    page.wait_for_selector(".result")


def _calculate_both(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.home}/calculator")
    page.get_by_label("Second release").select_option(index=2)
    page.get_by_role("button", name="Use these").click()
    page.get_by_label("surgery in the first").check()
    page.get_by_label("surgery in the second").check()
    page.get_by_role("button", name="Compute: free").click()
    page.wait_for_selector(".result")


def _grant(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.home}/budget")
    with page.expect_navigation():
        page.get_by_role("button", name="Grant 2").first.click()


def _rehearse(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.home}/rehearse")
    page.get_by_role("button", name="Rehearse: free").click()
    page.wait_for_selector(".made-up")


def _change_policy(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.home}/policy")
    text = page.input_value("#draft")
    page.fill("#draft", text.replace("epsilon = 1", "epsilon = 2"))
    page.get_by_role("button", name="Check the draft").click()
    page.wait_for_selector("#result")


def _replay(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.home}/ledger")
    page.get_by_role("button", name="Replay the ledger").click()
    page.wait_for_selector(".good")


def _draft(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.url}/console/surveys")
    page.get_by_role("button", name="Keep the draft").click()
    page.wait_for_selector(".phone")
    page.wait_for_load_state("networkidle")  # of the frame


def _open(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.url}/console/surveys/my-survey")  # without what was typed
    page.get_by_role("button", name="Open the survey").click()
    page.wait_for_selector("#taken")
    page.wait_for_load_state("networkidle")  # of the frame


def _misspell(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.url}/console/surveys/my-survey")
    page.fill("[name=text]", page.input_value("[name=text]").replace("yes-no", "yesno"))
    page.get_by_role("button", name="Save and check").click()
    page.wait_for_selector("#checked ~ .bad")


def _answer(page: Any, server: ConsoleServer) -> None:
    """Sends reports of people who are drawn, as their devices do."""
    manifest = read_manifest(page.request.get(f"{server.url}/s/my-survey/manifest.json").body())
    for person in range(20):
        drawn = ("doping", "supplier", "pressure")[person % 3]
        answers = {drawn: person // 3 % 3, "age": person % 3}
        sent = {"report": manifest.write_report(answers).decode(), "number": f"{person:032x}"}
        headers = {"Sec-Fetch-Site": "same-origin"}
        taken = page.request.post(
            f"{server.url}/s/my-survey/report", data=sent, headers=headers
        )
        assert taken.ok, taken.text()


def _end(page: Any, server: ConsoleServer) -> None:
    _answer(page, server)
    page.goto(f"{server.url}/console/surveys/my-survey")
    page.get_by_label("Yes, end it").check()
    page.get_by_role("button", name="Close the survey").click()
    page.wait_for_selector("h1 .tag:text('closed')")
    page.wait_for_load_state("networkidle")  # of the frame


def _fail_to_log_in(page: Any, server: ConsoleServer) -> None:
    page.goto(f"{server.url}/console/login")
    page.get_by_label("Name").fill("nobody")
    page.get_by_label("Password").fill("a guess")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_selector(".bad")


# A page's name, who looks at it, and its address below /console, or how to get to it.
PAGES: list[tuple[str, str, Address]] = [
    ("login", "", "/login"),
    ("login-refused", "", _fail_to_log_in),
    ("home", "ann", ""),
    ("ask", "ann", "/hospital/ask"),
    ("ask-refused", "ann", lambda page, server: _type(page, server, "SELECT * FROM visits")),
    ("ask-named", "ann", _unfold),
    ("ask-choices", "ann", _refuse_choices),
    ("ask-explained", "ann", _explain),
    ("answer", "ann", lambda page, server: ask(page, server, BY_WARD, "0.2")),
    ("answer-negative", "ann", lambda page, server: ask(page, server, SMALL, "0.05")),
    ("answer-computed", "ann", _compute),
    ("answer-label", "ann", _label),
    ("answer-sampled", "ann", lambda page, server: ask(page, server, MEANS, "0.1")),
    ("releases", "ann", "/hospital/releases"),
    ("ledger-own", "ann", "/hospital/ledger"),
    ("budget", "ann", _request),
    ("exhausted", "ann", lambda page, server: _type(page, server, BY_WARD, "2")),
    ("releases-owner", "olga", "/hospital/releases"),
    ("answer-owner", "olga", _publish),
    ("public", "olga", _follow_link),
    ("budget-owner", "olga", "/hospital/budget"),
    ("budget-granted", "olga", _grant),
    ("nothing", "olga", "/hospital/releases/none"),
    ("calculator", "ann", _calculate),
    ("calculator-both", "ann", _calculate_both),
    ("rehearse", "ann", _rehearse),
    ("policy", "olga", "/hospital/policy"),
    ("policy-draft", "olga", _change_policy),
    ("policy-audited", "audrey", "/hospital/policy"),
    ("ledger", "audrey", _replay),
    ("budget-audited", "audrey", "/hospital/budget"),
    ("surveys-owner", "olga", "/surveys"),
    ("surveys", "paul", "/surveys"),
    ("survey-draft", "paul", _draft),
    ("survey-preview", "paul", "/preview/my-survey"),
    ("survey-misspelt", "paul", _misspell),
    ("survey-open", "paul", _open),
    ("survey-results-none", "paul", "/surveys/my-survey/results"),
    ("survey-closed", "paul", _end),
    ("survey-results", "paul", "/surveys/my-survey/results"),
    ("home-pollster", "paul", ""),
]

# More states of pages: to be looked at, and checked in a long run.
STATES = (
    *("login-refused", "ask-choices", "ask-explained", "answer-label", "ledger-own"),
    *("budget-audited", "surveys-owner", "survey-preview", "survey-misspelt"),
    *("survey-results-none", "survey-closed", "survey-results"),
)
