"""The page for everyone: axe, keyboard, narrow screens, large fingers, long words, Arabic."""

import json

import pytest

from deniable.surveys import loads
from deniable.surveys.questionnaire.manifest import make_manifest
from tests.app.web.axe import violations
from tests.app.web.survey.stub_server import StubServer
from tests.app.web.survey.surveys_to_take import (
    ALL_KINDS,
    DOPED,
    EVERYTHING,
    answer,
    begin,
    manifest_of,
    open_page,
    send,
)

pytestmark = pytest.mark.needs("chromium")


def arabic():
    """A survey in two languages, one of which is written from right to left."""
    text = """
    id = "doping"
    title = { en = "Doping", ar = "المنشطات" }
    who = { en = "A group", ar = "مجموعة" }
    why = { en = "To know", ar = "للمعرفة" }
    epsilon = 2
    languages = ["en", "ar"]
    [[questions]]
    id = "doped"
    kind = "yes-no"
    text = { en = "Have you?", ar = "هل فعلت؟" }
    prefer_not_to_say = true
    """
    return make_manifest(loads(text), rehearsal=True)


def walk(page, truths):
    """Yields the name of each step while the page shows it."""
    page.wait_for_selector("[data-part=begin]:enabled")
    page.click("[data-throws='20']")
    page.click("[data-quiz=hint]")
    yield "welcome"
    begin(page)
    for details in page.locator("[data-question] details").all():
        details.evaluate("(x) => { x.open = true; }")
    yield "questions"
    page.click("[data-part=send]")
    yield "missing"
    answer(page, **truths)
    send(page)
    yield "done"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(chromium, scheme):
    with StubServer.of_survey(manifest_of(ALL_KINDS)) as server:
        page = open_page(chromium, server.address, color_scheme=scheme)
        for step in walk(page, EVERYTHING):
            assert violations(page) == [], step


def test_axe_finds_nothing_from_right_to_left(chromium):
    with StubServer.of_survey(arabic()) as server:
        page = open_page(chromium, f"{server.address}?language=ar")
        assert page.get_attribute("html", "dir") == "rtl"
        for step in walk(page, {"doped": 1}):
            assert violations(page) == [], step
        assert page.messages == []


def test_axe_finds_nothing_where_an_invitation_is_pasted(chromium):
    with StubServer.of_survey(manifest_of(mode="token")) as server:
        page = open_page(chromium, server.address)
        page.wait_for_selector("[data-part=take]:visible")
        assert violations(page) == []
        page.keyboard.press("Tab")
        page.keyboard.type("no invitation")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_function("document.querySelector('[data-part=pasted]').value === ''")
        assert page.locator("[data-step=refused] h2:focus").count() == 1


def test_axe_can_find_something(chromium):
    with StubServer({"/": b"<!doctype html><title>x</title><img src=x>"}) as server:
        page = open_page(chromium, server.origin)
        assert [name for name, _ in violations(page)] != []


def press_until(page, key, selector):
    """Presses a key until an element has the focus."""
    for _ in range(60):
        if page.evaluate("(s) => document.activeElement.matches(s)", selector):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{selector} cannot be reached with {key}.")


def test_the_keyboard_is_enough(chromium):
    """Tab, arrows, Space and Enter take the survey from the first word to the receipt."""
    rest = ALL_KINDS[ALL_KINDS.index('[[questions]]\nid = "supplier"') :]
    manifest = manifest_of(DOPED + rest)
    with StubServer.of_survey(manifest) as server:
        page = open_page(chromium, server.address)
        page.wait_for_selector("[data-part=begin]:enabled")
        press_until(page, "Tab", "[data-throws='20']")
        page.keyboard.press("Space")
        press_until(page, "Tab", "[data-quiz]")
        page.keyboard.press("ArrowDown")
        assert page.locator("[data-note=quiz-hint]").is_visible()
        press_until(page, "Tab", "[data-part=begin]")
        page.keyboard.press("Enter")
        assert page.evaluate("() => document.activeElement.tagName") == "H2"
        press_until(page, "Tab", "[name=q-doped]")
        page.keyboard.press("ArrowDown")
        press_until(page, "Tab", "[name=q-supplier]")
        page.keyboard.press("Space")
        press_until(page, "Tab", "[name=q-pressure]")
        page.keyboard.press("ArrowRight")
        press_until(page, "Tab", "[name=q-pay]")
        page.keyboard.type("1200")
        press_until(page, "Tab", "[name=q-hours][data-declines]")
        page.keyboard.press("Space")
        press_until(page, "Tab", "[data-part=send]")
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-part=receipt]:not([hidden])")
        assert page.evaluate("() => document.activeElement.textContent") == "Thank you"
        (body,) = server.sent()
        assert "age" not in manifest.read_report(json.loads(body)["report"].encode())


SMALL = """() => [...document.querySelectorAll(
    "button, select, input[type=text], label:has(input), summary, nav a, footer a"
)].filter((x) => x.offsetParent).filter((x) => {
    const box = x.getBoundingClientRect();
    return box.height < 44 || box.width < 44;
}).map((x) => x.outerHTML)"""


def test_a_phone_of_320_pixels_never_scrolls_sideways(chromium):
    """Also with words that have no end. The same width is a desktop at 400 per cent."""
    long = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverleihungsordnung"
    text = ALL_KINDS.replace("a coach", long).replace("Which sport?", f"{long}?")
    manifest = manifest_of(text.replace('"cycling"', f'"{long}"'), rehearsal=True)
    with StubServer.of_survey(manifest) as server:
        page = open_page(chromium, server.address)
        page.set_viewport_size({"width": 320, "height": 600})
        for step in walk(page, EVERYTHING):
            assert page.evaluate("() => document.documentElement.scrollWidth") == 320, step
            assert page.evaluate(SMALL) == [], step


def test_pictures_say_what_they_show(chromium):
    coins = DOPED.replace("prefer_not_to_say = true", 'design = "two-coins"')
    with StubServer.of_survey(manifest_of(coins)) as server:
        calm = {"reduced_motion": "reduce", "forced_colors": "active"}
        page = open_page(chromium, server.address, **calm)
        page.wait_for_selector("[data-part=begin]:enabled")
        names = [
            x.get_attribute("aria-label") for x in page.locator("figure svg:visible").all()
        ]
        assert names == [
            "Of 100 people whose true answer is “yes”, 75 send “yes”.",
            "Of 100 people with another answer, 25 send “yes”.",
        ]
        bar = page.locator(".bar").first
        assert bar.evaluate("(x) => getComputedStyle(x).transitionDuration") == "0s"
        assert violations(page) == []


def test_languages_change_without_losing_the_invitation(chromium):
    manifest = arabic()
    with StubServer.of_survey(manifest) as server:
        page = open_page(chromium, f"{server.address}#{'a' * 32}.{manifest.hash}")
        page.click("nav a[hreflang=ar]")
        page.wait_for_selector("html[lang=ar] [data-part=begin]:enabled")
        assert page.evaluate("() => invitation.token") == "a" * 32
