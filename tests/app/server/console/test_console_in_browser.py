"""The console in a real browser: a newcomer, the keyboard alone, axe, hostile texts."""

import csv
import io
import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

import deniable as dp
from deniable.app.server.accounts.role_matrix import MATRIX
from tests.app.web.axe import violations
from tools.console_screens import STATES, enter, log_in, visit_pages
from tools.console_server import PASSWORD, serve_console, write_small_hospital

pytestmark = pytest.mark.needs("chromium")
LARGEST_PAGE = 150_000
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(event.violatedDirective + " " + event.blockedURI));
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serve_console(write_small_hospital(tmp_path_factory.mktemp("browser"))) as server:
        yield server


def watched(chromium, server):
    """A page, and what must stay empty: dialogs, errors, requests to elsewhere."""
    page, alarms = chromium.new_context(accept_downloads=True).new_page(), []
    page.add_init_script(WATCH)
    page.on("dialog", lambda dialog: (alarms.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: alarms.append(str(error)))
    page.on(
        "request",
        lambda request: request.url.startswith(server.url) or alarms.append(request.url),
    )
    return page, alarms


def number(text):
    return float(text.replace(",", ""))


def test_a_newcomer_finds_the_way_until_the_budget_is_spent(chromium, server):
    page, alarms = watched(chromium, server)
    page.goto(server.url)
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="Ask").first.click()
    assert page.locator("[name=by]:checked").get_attribute("value") == "margin"
    with page.expect_response("**/preview"):
        page.fill("#sql", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward")
    with page.expect_response("**/preview"):
        page.fill("#margin", "30")
    page.wait_for_selector("#spend:enabled")
    price = page.input_value("#epsilon")
    page.locator("#spend", has_text=f"Ask: spend {price}").wait_for()
    page.locator("#preview", has_text="± 30 rows (95 %)").wait_for()
    page.locator("#preview", has_text=f"Costs {price} of your 1").wait_for()
    assert page.input_value("#stop") == "3"  # the stop that the sentences name
    page.locator("#preview", has_text="in between").wait_for()
    with page.expect_response("**/preview"):
        page.locator("#stop").press("ArrowRight")  # the scale is linked with both fields
    page.wait_for_selector("#preview .bad")  # it costs more than there is
    assert page.input_value("#stop") == "4"
    assert page.input_value("#epsilon") == "2.3025"
    assert number(page.input_value("#margin")) < 30
    with page.expect_response("**/preview"):
        page.fill("#epsilon", "0.6")
    page.wait_for_selector("#spend:enabled")
    page.click("#spend")
    page.wait_for_selector("[data-checked=yes]")  # the certificate, by WebCrypto
    page.locator("[data-release]", has_text="comes from the same server").wait_for()
    rows = page.locator("main table").first.locator("tbody tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows] == [
        *("cardiology", "maternity", "oncology", "surgery")
    ]
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON", exact=True).click()
    release = download.value.path().read_bytes()
    dp.verify(release)
    for row, told in zip(rows, json.loads(release)["rows"], strict=True):
        assert list(map(number, row.split("\t")[1:])) == [
            *(told["n"], told["n_low"], told["n_high"])
        ]
    page.get_by_role("link", name="Ask", exact=True).click()
    with page.expect_response("**/preview"):
        page.fill("#sql", "SELECT COUNT(*) AS n FROM visits WHERE age > 40")
    with page.expect_response("**/preview"):
        page.fill("#epsilon", "0.6")
    page.wait_for_selector("#preview .bad")
    page.locator("#preview", has_text="you have 0.4 left").wait_for()
    assert page.locator("#spend").count() == 0
    page.get_by_role("link", name="request more budget").click()
    page.get_by_label("New limit").fill("2")
    page.get_by_label("What for").fill("a second study")
    page.get_by_role("button", name="Request").click()
    page.locator("main", has_text="asks for a limit of 2: a second study").wait_for()
    assert page.evaluate("window.violations") == []
    assert alarms == []


def test_the_same_by_keyboard_alone(chromium, server):
    page, alarms = watched(chromium, server)
    page.goto(f"{server.url}/console/hospital/ask")  # leads back here after logging in

    def tab_to(name):
        for _ in range(40):
            page.keyboard.press("Tab")
            label = page.evaluate(
                "(document.activeElement.labels?.[0] ?? document.activeElement).innerText ?? ''"
            )
            if label.strip().startswith(name):
                return
        raise AssertionError(f"The keyboard does not reach {name}.")

    tab_to("Name")
    page.keyboard.type("ben")
    tab_to("Password")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("#ask")
    tab_to("Question, in SQL")
    page.keyboard.press("Control+A")
    page.keyboard.type("SELECT AVG(cos")
    page.wait_for_selector("#words li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    with page.expect_response("**/preview"):
        page.keyboard.type(") AS cost FROM visits")
    assert page.input_value("#sql") == "SELECT AVG(cost) AS cost FROM visits"
    page.keyboard.press("Escape")
    tab_to("Epsilon")
    page.keyboard.press("Control+A")
    with page.expect_response("**/preview"):
        page.keyboard.type("0.9")
    page.wait_for_selector("#spend:enabled")
    tab_to("Ask: spend 0.9")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-checked=yes]")
    tab_to("CSV")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.path().read_text().startswith("cost,cost_margin,cost_low,cost_high")
    tab_to("Ask again: free")
    page.keyboard.press("Enter")
    page.wait_for_selector("#preview .good")
    page.locator("#spend", has_text="Ask again: free").wait_for()
    tab_to("Question, in SQL")
    page.keyboard.press("Control+End")
    with page.expect_response("**/preview"):
        page.keyboard.type(" WHERE age > 40")
    page.locator("#preview .bad", has_text="you have 0.1 left").wait_for()
    tab_to("request more budget")
    page.keyboard.press("Enter")
    page.wait_for_url("**/budget")
    tab_to("New limit")
    page.keyboard.type("2")
    tab_to("What for")
    page.keyboard.type("a longer study")
    page.keyboard.press("Enter")
    page.locator("main", has_text="asks for a limit of 2: a longer study").wait_for()
    assert alarms == []


def test_every_page_is_accessible_and_small(chromium, server, size):
    in_the_dark = size(
        small=4, full=1000, what="pages of the console that axe sees in the dark"
    )
    more = size(small=0, full=len(STATES), what="more states of these pages")
    problems, sizes = {}, {}
    for name, page in visit_pages(chromium, server, states=bool(more)):
        ways = [("light", 1280, ()), ("dark", 320, ("color-contrast",))]
        for scheme, width, rules in ways[: 2 if len(sizes) < in_the_dark else 1]:
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.documentElement.scrollWidth")
            faults = violations(page, *rules) + ([] if wide <= width else [f"{wide} px wide"])
            problems |= {(name, scheme): faults} if faults else {}
        sizes[name] = len(page.content().encode())
    assert problems == {}
    assert len(sizes) >= 15
    assert max(sizes.values()) <= LARGEST_PAGE, sizes


def test_without_javascript_everything_works_but_the_live_preview(chromium, server):
    page = chromium.new_context(java_script_enabled=False).new_page()
    log_in(page, server.url, "olga")
    page.goto(f"{server.home}/ask")
    page.fill("#sql", "SELECT COUNT(*) AS n FROM visits WHERE age < 30")
    page.fill("#epsilon", "0.3")
    page.get_by_label("the epsilon counts").check()
    page.get_by_role("button", name="Show the price").click()
    page.get_by_role("button", name="Ask: spend 0.3").click()
    page.locator("h1", has_text="Answer").wait_for()
    page.get_by_role("button", name="Compute: free").click()
    page.locator("#over", has_text="Computed from the answer").wait_for()


def test_back_leads_to_a_page_and_not_to_a_form_to_send_again(chromium, server):
    page, alarms = watched(chromium, server)
    page.goto(f"{server.home}/budget")
    for password, shown in (("a guess", "main .bad"), (PASSWORD, "h1:text('Budget')")):
        page.get_by_label("Name").fill("olga")
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_selector(shown)
        assert page.url == f"{server.home}/budget"
    page.get_by_role("link", name="Releases", exact=True).click()
    page.wait_for_url("**/releases")
    page.go_back()
    assert page.get_by_role("heading", name="Budget", exact=True).is_visible()
    for path, button, result in (
        ("rehearse", "Rehearse: free", ".made-up"),
        ("policy", "Check the draft", "#result"),
        ("ledger", "Replay the ledger", ".good"),
        ("releases", "Search", "h1"),
    ):
        page.goto(f"{server.home}/{path}")
        with page.expect_response(lambda response: response.request.method == "POST"):
            page.get_by_role("button", name=button).click()
        page.wait_for_selector(result)
        page.get_by_role("link", name="Budget", exact=True).click()
        page.wait_for_url("**/budget")
        page.go_back()
        assert page.url == f"{server.home}/{path}"
        assert page.get_by_role("button", name=button).is_visible()
    page.goto(f"{server.home}/ask")
    page.get_by_text("Write the question with a form").click()
    page.get_by_label("Measure").select_option("units")
    page.get_by_role("button", name="Write the SQL").click()
    page.locator("#preview", has_text="DISTINCT patient").wait_for()
    with page.expect_response("**/preview"):  # its fields are linked as before
        page.fill("#epsilon", "0.25")
    page.locator("#spend", has_text="Ask: spend 0.25").wait_for()
    with page.expect_response("**/preview"):
        page.locator("#epsilon").press("Enter")
    page.wait_for_selector("#spend:enabled")
    page.locator("[name=expects]").evaluate("(x) => { x.value = 'an older plan'; }")
    page.click("#spend")  # of a page that is older than the policy, say
    page.locator("main > .bad", has_text="another plan than yours").wait_for()
    page.get_by_role("link", name="Budget", exact=True).click()
    page.wait_for_url("**/budget")
    page.go_back()
    assert page.url == f"{server.home}/ask"
    assert page.locator("#spend").is_visible()
    assert page.evaluate("window.violations") == []
    assert alarms == []


@contextmanager
def evil_page():
    """A page of somebody else, without any headers that would protect us."""

    class Evil(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<p>evil</p>")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Evil) as elsewhere:
        Thread(target=elsewhere.serve_forever, kwargs={"poll_interval": 0.02}).start()
        yield f"http://127.0.0.1:{elsewhere.server_port}/"
        elsewhere.shutdown()


SUBMIT = """
([address, token]) => {
  const form = document.body.appendChild(document.createElement("form"));
  Object.assign(form, { method: "POST", action: address });
  const fields = { form_token: token, act: "open", epsilon: "1", reason: "mine" };
  for (const [name, value] of Object.entries(fields)) {
    form.appendChild(Object.assign(document.createElement("input"), { name, value }));
  }
  form.submit();
}"""


def test_a_page_of_somebody_else_changes_nothing(chromium, server):
    page, _ = watched(chromium, server)
    enter(page, server.url, "olga")
    page.goto(f"{server.url}/console")
    token = page.input_value("[name=form_token]")  # as if it had leaked

    def state():
        paths = ("v1/hospital/ledger/head", "console/hospital/budget", "console")
        return [page.request.get(f"{server.url}/{path}").text() for path in paths]

    before = state()
    fill = {"policy": "hospital", "name": "x", "form": "csv", "provider": "x"}
    addresses = [
        server.url + path.format(**fill) for method, path in MATRIX if method == "POST"
    ]
    assert len(addresses) >= 10
    with evil_page() as evil:  # on another port of the same host: our cookie is sent along
        for address in addresses:
            page.goto(evil)
            with page.expect_navigation() as gone:
                page.evaluate(SUBMIT, [address, token])
            assert gone.value.status == 403, address
    assert state() == before  # also still logged in


PAYLOADS = [
    shape.format(number)
    for number in range(1, 26)
    for shape in (
        "<script>hit({0})</script>",
        '"><img src=x onerror=hit({0})>',
        "'-hit({0})-'",
        "<svg onload=hit({0})>",
        "</title></textarea><iframe srcdoc='<script>parent.hit({0})</script>'>",
        "=cmd|'/c {0}'!A1",
        "{{{{ {0} * 7 }}}}${{hit({0})}}",
        "```\n<b onmouseover=hit({0})>",
    )
]


PREVIEW_ALL = """
async (texts) => {
  const form = document.querySelector("#ask"), target = document.querySelector("#preview");
  for (const text of texts) {
    const fields = new URLSearchParams(new FormData(form));
    fields.set("sql", text);
    const got = await fetch(form.getAttribute("hx-post"), { method: "POST", body: fields });
    target.innerHTML = await got.text();
  }
  const made = target.querySelectorAll("img, svg, iframe, script, b").length;
  return [window.hits, window.violations, made];
}"""


def test_200_hostile_texts_run_nowhere(chromium, tmp_path):
    wards = tuple(text.replace("\n", " ") for text in PAYLOADS)
    file = write_small_hospital(tmp_path, wards=wards, rows=4000, columns=wards[:40])
    with serve_console(file) as server:
        page, alarms = watched(chromium, server)
        page.add_init_script("window.hits = []; window.hit = (n) => window.hits.push(n);")
        enter(page, server.url, "ann")
        hostile = wards[1].replace('"', "")
        sql = (
            f'SELECT ward AS "{hostile}", COUNT(*) AS "{wards[0]}" FROM visits WHERE ward IN ('
            + ", ".join("'" + text.replace("'", "''") + "'" for text in wards)
            + ") GROUP BY ward"
        )
        page.goto(f"{server.home}/ask")
        with page.expect_response("**/preview"):
            page.fill("#sql", sql)
        page.wait_for_selector("#spend:enabled")
        page.click("#spend")
        page.wait_for_selector("[data-checked=yes]")
        shown = page.locator("main table").first.locator("tbody th").all_inner_texts()
        assert [" ".join(text.split()) for text in shown] == [
            " ".join(text.split()) for text in sorted(wards)
        ] or len(shown) == 200
        address = page.url
        page.goto(f"{server.home}/releases")
        page.goto(f"{server.home}/ask")
        told = page.evaluate(PREVIEW_ALL, [f'SELECT "{text}" FROM visits' for text in PAYLOADS])
        assert told == [[], [], 0]
        assert alarms == []
        files = page.evaluate(
            """async ([csv, notebook]) => [await (await fetch(csv)).text(),
               await (await fetch(notebook)).text()]""",
            [
                address.replace("/console/", "/v1/") + ".csv",
                f"{address}/notebook",
            ],
        )
    cells = [cell for row in csv.reader(io.StringIO(files[0])) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "-c"))]
    assert sum(cell.startswith("'=cmd") for cell in cells) == 25
    notebook = json.loads(files[1])
    assert {cell["cell_type"] for cell in notebook["cells"]} == {"markdown", "code"}
    text = "".join(notebook["cells"][0]["source"])
    fence = text.split("\n")[2].removesuffix("sql")
    assert len(fence) > 3  # longer than any in the question
    assert text.count(fence) == 2
    assert text.index("<script>") > text.index(fence)
