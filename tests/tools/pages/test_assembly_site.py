"""The whole site: links, what a browser loads, what a search finds, whether all can read it."""

import hashlib
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.app.web.axe import violations
from tests.tools.pages.site import build, run_builder, served

QUESTIONS = tomllib.loads(Path(__file__).with_name("questions.toml").read_text())["questions"]
# One page of each kind, and the widest tables.
KINDS = ("index", "how-to/move-here", "reference/comparison", "tutorials/first-table")
KINDS += ("reference/api/noise", "reference/errors/budget-exhausted", "how-to/choose-epsilon")
KINDS += ("gallery", "reference/policy-keys")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return build(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def address(site):
    with served(site) as url:
        yield url


class Links(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.addresses, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors.update(value for name in ("id", "name") if (value := given.get(name)))
        for name in ("href", "src", "srcset", "data"):
            if given.get(name):
                self.addresses.append((tag, given[name]))


@pytest.fixture(scope="module")
def pages(site):
    return {path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_no_link_is_dead(site, pages):
    dead, seen = [], 0
    for page, links in pages.items():
        for _, link in links.addresses:
            parts = urlsplit(link)
            if parts.scheme or page.name == "404.html":
                continue
            aimed = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            aimed = aimed / "index.html" if aimed.is_dir() else aimed
            seen += 1
            fine = aimed.exists()
            anchored = not parts.fragment or aimed not in pages
            if not fine or not (anchored or unquote(parts.fragment) in pages[aimed].anchors):
                dead.append((page.relative_to(site).as_posix(), link))
    assert dead == []
    assert seen > 5_000


def test_nothing_is_loaded_from_elsewhere(site, pages):
    loading = ("script", "img", "link", "iframe", "source", "object")
    foreign = [
        (page.name, link)
        for page, links in pages.items()
        for tag, link in links.addresses
        if tag in loading and re.match("(https?:)?//", link)
    ]
    assert foreign == []
    styles = "".join(path.read_text() for path in site.rglob("*.css"))
    assert re.findall(r"url\((?:https?:)?//", styles) == []


def test_zensical_builds_the_same_pages(site):
    """A second witness, for the day on which Material is no longer kept."""
    other = run_builder(site.parent, "zensical")

    def names(folder):
        return {path.relative_to(folder).as_posix() for path in folder.rglob("*.html")}

    assert names(site) == names(other)


@pytest.mark.needs("chromium")
def test_a_browser_asks_nobody_else(chromium, address):
    context = chromium.new_context()
    urls = []
    context.on("request", lambda request: urls.append(request.url))
    page = context.new_page()
    for name in KINDS:
        page.goto(f"{address}/{name}.html", wait_until="networkidle")
    assert search(open_search(page, address), "epsilon")
    foreign = {url for url in urls if not url.startswith((address, "data:", "blob:"))}
    assert foreign == set()
    assert len(urls) > len(KINDS)
    context.close()


@pytest.mark.needs("chromium")
def test_everybody_can_read_it(chromium, address, size):
    faults = {}
    for width, scheme in ((320, "light"), (1280, "dark")):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        page = context.new_page()
        for name in KINDS[: size(small=3, full=len(KINDS), what="kinds of page, by axe")]:
            page.goto(f"{address}/{name}.html")
            for rule, nodes in violations(page):
                faults[name, width, rule] = [node[:120] for node in nodes[:2]]
        context.close()
    assert faults == {}


def open_search(page, address):
    """The box for words."""
    page.goto(f"{address}/index.html", wait_until="networkidle")
    box = page.locator("input.md-search__input")
    box.focus()
    return box


def search(box, words):
    """The pages of the first three results, as somebody who types the words sees them."""
    page = box.page
    page.evaluate("document.querySelector('.md-search-result__list').replaceChildren()")
    box.fill(words)
    box.press("End")  # the theme looks at the box when a key comes up
    page.wait_for_function("document.querySelector('.md-search-result__item')")
    links = page.locator(".md-search-result__item > a.md-search-result__link")
    shown = [links.nth(place).get_attribute("href") for place in range(min(3, links.count()))]
    return [urlsplit(link).path.strip("/").removesuffix(".html") for link in shown]


@pytest.mark.needs("chromium")
def test_pages_opened_as_files_are_searched(chromium, site):
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    schemes = []
    context.on("request", lambda request: schemes.append(urlsplit(request.url).scheme))
    results = search(open_search(context.new_page(), site.as_uri()), "budget exhausted")
    assert any(page.endswith("reference/errors/budget-exhausted") for page in results), results
    assert set(schemes) <= {"file", "data", "blob", "about"}
    context.close()


def test_the_shim_is_the_package_s_file(site):
    shim = (site / "vendor" / "iframe-worker-1.0.4.js").read_bytes()
    told = (site / "vendor" / "iframe-worker.txt").read_text()
    assert hashlib.sha256(shim).hexdigest() in told
    assert "MIT" in (site / "vendor" / "iframe-worker-LICENSE.txt").read_text()


@pytest.mark.needs("chromium")
def test_thirty_questions_are_found(chromium, address):
    assert len(QUESTIONS) == 30
    page = chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
    box = open_search(page, address)
    results = {words: search(box, words) for words in QUESTIONS}
    page.context.close()
    missed = {
        words: results[words]
        for words, wanted in QUESTIONS.items()
        if not set(results[words]) & set(wanted)
    }
    assert missed == {}, missed
