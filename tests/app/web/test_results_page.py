"""The page of results: complete, marked, and harmless under a strict policy."""

import re

import pytest

from deniable.app.web.page_styles import RESULTS_POLICY
from deniable.app.web.results_page import build_results_page
from deniable.surveys.results.survey_results import find_results
from tests.app.web.axe import violations
from tests.surveys.collected import EVERY_KIND, ONE_QUESTION, answered, manifest_of, simulated


@pytest.fixture(scope="module")
def page():
    return build_results_page(find_results(*simulated(EVERY_KIND, 450))).decode()


def one_question(yes=400, no=600, **more):
    manifest = manifest_of(ONE_QUESTION, **more)
    results = find_results(manifest, [answered(manifest, yes, no)])
    return build_results_page(results).decode()


def test_the_page_stands_alone(page):
    assert page.startswith("<!DOCTYPE html>")
    assert "<script" not in page
    assert "<link" not in page
    assert not re.search(r"""\sstyle=|\son[a-z]+=|url\(|@import|(?:src|href)=["']http""", page)
    assert RESULTS_POLICY.replace("'", "&#x27;") in page


def test_every_number_of_a_picture_stands_in_a_table(page):
    tables = " ".join(re.findall("<table>.*?</table>", page, flags=re.DOTALL))
    assert " %</td>" not in tables  # a number and its per cent are not torn apart
    tables = tables.replace("&nbsp;", " ")
    pictures = re.findall("<desc[^>]*>(.*?)</desc>", page)
    assert len(pictures) > 10
    for described in pictures:
        for stated in described.split("; "):
            value, _, interval = stated.rpartition(": ")[2].partition(", ")
            assert value in tables
            assert interval in tables


def test_foreign_texts_are_only_text(page):
    assert "<b>someone" not in page
    assert "&lt;b&gt;someone" in page


def test_planned_and_later_intervals_are_both_there(page):
    assert "look that was fixed before the first answer" in page
    assert "50 later reports" in page
    assert "at the planned look" in page
    early = one_question(40, 60)
    assert "hold whenever you look" in early
    assert "at the planned look" not in early


def test_rehearsals_are_marked_everywhere():
    marked = one_question(rehearsal=True)
    assert "<title>REHEARSAL" in marked
    for part in re.findall("<table>.*?</table>|<svg.*?</svg>", marked, flags=re.DOTALL):
        assert "REHEARSAL" in part or "guesses" in part or "Local differential" in part
    assert "REHEARSAL" not in one_question()


def test_open_links_say_what_false_reports_could_do():
    page = one_question()
    for shift in ("± 0.2 points", "± 1.5 points", "± 15.0 points"):
        assert shift in page
    assert "could move a number" not in one_question(mode="token")
    few = one_question(20, 25)
    assert "100 false reports" not in few  # there are only 45
    assert "Fewer than 50 reports" in few


def test_epsilon_is_explained_by_people_then_by_number():
    page = one_question()
    sentence, array, number = (
        page.index(text)
        for text in ("at most 75 guess right", "guesses-title", "at most epsilon 1.099")
    )
    assert sentence < array < number
    assert "anonym" not in page


def test_right_to_left_and_downloads():
    text = 'languages = ["ar"]\n' + ONE_QUESTION
    manifest = manifest_of(text)
    results = find_results(manifest, [answered(manifest, 30, 30)])
    page = build_results_page(results, downloads={"CSV": "results.csv?a&b"}).decode()
    assert '<h1 lang="ar" dir="rtl">' in page
    assert '<a href="results.csv?a&amp;b">CSV</a>' in page


@pytest.mark.needs("chromium")
def test_a_browser_shows_it_without_a_violation(page, chromium, tmp_path):
    file = tmp_path / "results.html"
    for width in (320, 1200):
        for broken in (False, True):  # power: a style attribute is a violation
            text = page.replace("<h1>", '<h1 style="color:red">') if broken else page
            file.write_text(text, encoding="utf-8")
            context = chromium.new_context(viewport={"width": width, "height": 800})
            tab, messages, requests = context.new_page(), [], []
            tab.on("console", lambda message, seen=messages: seen.append(message.text))
            tab.on("request", lambda request, seen=requests: seen.append(request.url))
            tab.goto(file.as_uri())
            violations = [text for text in messages if "Content Security Policy" in text]
            assert bool(violations) == broken
            assert requests == [file.as_uri()]
            sideways = "document.documentElement.scrollWidth > window.innerWidth"
            assert tab.evaluate(sideways) is False
            assert tab.evaluate("getComputedStyle(document.body).margin") == "0px"
            context.close()


def in_arabic(**more):
    """The results of a survey in a language that is written from right to left."""
    text = ONE_QUESTION.replace('title = "One', 'languages = ["ar"]\ntitle = "One')
    text = text.replace('text = "Doped?"', 'text = "هل تعاطيت المنشطات؟"')
    text += '[[questions]]\nid="age"\nkind="single-choice"\ntext="العمر؟"\nprivate=false\n'
    text += 'options=["أقل من 25", "25 أو أكثر"]\n'
    manifest = manifest_of(text, **more)
    bodies = [manifest.write_report({"doping": i % 3 == 0, "age": i % 2}) for i in range(1200)]
    results = find_results(manifest, [("2026-11-17", bodies)])
    return build_results_page(results, downloads={"results.csv": "r/results.csv"})


def test_the_page_is_english_and_the_survey_speaks_its_own_language():
    page = in_arabic().decode()
    assert '<html lang="en" dir="ltr">' in page
    for own in ("هل تعاطيت المنشطات؟", "25 أو أكثر"):
        assert re.search(f'lang="ar" dir="rtl">[^<]*{own}', page)
    assert "lang=" not in one_question().split("<head>")[1]


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_results_page(chromium, tmp_path, scheme):
    pages = {"right to left": in_arabic(rehearsal=True)}
    if scheme == "light":
        pages["every kind"] = build_results_page(find_results(*simulated(EVERY_KIND, 450)))
    context = chromium.new_context(
        viewport={"width": 320, "height": 600}, color_scheme=scheme, reduced_motion="reduce"
    )
    tab = context.new_page()
    for name, content in pages.items():
        file = tmp_path / f"{name}.html"
        file.write_bytes(content)
        tab.goto(file.as_uri())
        for details in tab.locator("details").all():
            details.evaluate("(x) => { x.open = true; }")
        assert violations(tab) == [], name
        wide = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, name
    context.close()
