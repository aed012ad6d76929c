"""Questionnaires for tests of the page, and how to take them."""

import json

from deniable.surveys import loads
from deniable.surveys.questionnaire.manifest import make_manifest
from tools.kept_page import VIEWPORT

HEAD = """
id = "doping"
title = "Doping in triathlon"
who = "Sports Research Group"
why = "To know how common doping is."
epsilon = 12
"""
DOPED = """
[[questions]]
id = "doped"
kind = "yes-no"
text = "Have you used a forbidden substance?"
prefer_not_to_say = true
"""
ALL_KINDS = (
    DOPED
    + """
[[questions]]
id = "coins"
kind = "yes-no"
text = "Has anyone offered you one?"
design = "two-coins"
[[questions]]
id = "sport"
kind = "single-choice"
text = "Which sport?"
shuffle_options = true
options = ["cycling", "running", "swimming", "rowing", "skiing", "climbing", "chess"]
[[questions]]
id = "country"
kind = "single-choice"
text = "Where do you live?"
options = [OPTIONS]
[[questions]]
id = "supplier"
kind = "multiple-choice"
text = "Who offered it?"
options = ["a coach", "a doctor"]
prefer_not_to_say = true
[[questions]]
id = "means"
kind = "multiple-choice"
text = "Which of these?"
options = ["A", "B", "C", "D", "E", "F", "G", "H"]
[[questions]]
id = "pressure"
kind = "scale"
text = "How much pressure do you feel?"
points = 5
[[questions]]
id = "pay"
kind = "number"
text = "What do you earn a month?"
low = 0
high = 9000
step = 0.5
[[questions]]
id = "hours"
kind = "number"
text = "How many hours a week do you train?"
low = 0
high = 40
prefer_not_to_say = true
[[questions]]
id = "age"
kind = "single-choice"
private = false
text = "How old are you?"
options = ["under 25", "25 to 39", "40 or more"]
""".replace("OPTIONS", ", ".join(f'"country {i}"' for i in range(40)))
)


def manifest_of(text=DOPED, head="", **more):
    """The manifest of a questionnaire."""
    return make_manifest(loads(HEAD + head + text), **more)


def one_each(text=ALL_KINDS):
    return manifest_of(text, 'collection = "one-question-each"\n')


FIXED_WORDS = """
(() => {
    let state = BigInt(SEED);
    const next = () => {  // any fixed stream will do
        state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
        return state ^ (state >> 29n);
    };
    crypto.getRandomValues = (array) => {
        for (let i = 0; i < array.length; i++) {
            array[i] = array instanceof BigUint64Array ? next() : Number(next() >> 32n) & 255;
        }
        return array;
    };
})();
"""


def open_page(browser, address, *, seed=None, **options):
    """A new person's page, with its console and its requests kept."""
    messages, addresses = [], []
    listeners = {
        "console": lambda message: messages.append(message.text),
        "pageerror": lambda problem: messages.append(str(problem)),
        "request": lambda request: addresses.append(request.url),
    }
    page = None if options or seed is not None else browser.kept.take(listeners)
    if page is None:
        context = browser.new_context(viewport=VIEWPORT, **options)
        if seed is not None:
            context.add_init_script(FIXED_WORDS.replace("SEED", str(seed)))
        page = context.new_page()
        for event, listener in listeners.items():
            page.on(event, listener)
    page.messages, page.addresses = messages, addresses
    page.goto(address)
    return page


def begin(page):
    page.click("[data-part=begin]:enabled")
    page.wait_for_selector("[data-step=questions]:not([hidden])")


def answer(page, **answers):
    """Taps or types answers, by question: a place, a list of places, or a text."""
    for name, given in answers.items():
        field = page.locator(f"fieldset[data-question={name}]")
        if isinstance(given, str):
            field.locator("input[type=text]").fill(given)
        elif field.locator("select").count():
            field.locator("select").select_option(str(given))
        else:
            for place in given if isinstance(given, list) else [given]:
                field.locator(f"input[value='{place}']").check()


def send(page):
    page.click("[data-part=send]")
    page.wait_for_selector("[data-part=receipt]:not([hidden])")


def read_reports(server, manifest):
    """What arrived at a server, one dict for each report."""
    return [manifest.read_report(json.loads(body)["report"].encode()) for body in server.sent()]


EVERYTHING = {
    "doped": 1,
    "coins": 0,
    "sport": 3,
    "country": 17,
    "supplier": [0, 1],
    "means": [2, 5],
    "pressure": 4,
    "pay": "4321.5",
    "hours": "12",
    "age": 1,
}
TICKED = "() => [...document.querySelectorAll('[data-question] input:checked')].length"
