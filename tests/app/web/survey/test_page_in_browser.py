"""The page in a real browser: the truth leaves no trace, and the report arrives."""

import json
import re

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

from deniable.app.web.survey.page import build_page, read_file
from tests.app.web.survey.stub_server import StubServer
from tests.app.web.survey.surveys_to_take import (
    ALL_KINDS,
    DOPED,
    EVERYTHING,
    answer,
    begin,
    manifest_of,
    one_each,
    open_page,
    send,
)

pytestmark = pytest.mark.needs("chromium")

TRACES = """() => [
    document.documentElement.outerHTML, location.href, document.cookie, history.length,
    JSON.stringify(localStorage), JSON.stringify(sessionStorage), window.name,
    JSON.stringify([...document.querySelectorAll("input")].map((x) => [x.value, x.checked])),
]"""


@pytest.fixture
def survey():
    return manifest_of(ALL_KINDS)


@pytest.fixture
def server(survey):
    with StubServer.of_survey(survey) as stub:
        yield stub


def reports(server, manifest):
    return [manifest.read_report(json.loads(body)["report"].encode()) for body in server.sent()]


def test_a_person_takes_a_survey_of_all_kinds(chromium, server, survey):
    page = open_page(chromium, server.address)
    begin(page)
    answer(page, **EVERYTHING)
    send(page)
    (found,) = reports(server, survey)
    assert found.keys() == EVERYTHING.keys()
    assert found["age"] == 1  # a public answer is sent as it is
    assert page.inner_text("[data-part=bytes]") == json.loads(server.sent()[0])["report"]
    assert page.messages == []
    (headers,) = [headers for method, _, headers, _ in server.requests if method == "POST"]
    assert headers["Content-Type"] == "text/plain"
    assert not {"Cookie", "Referer", "Authorization"} & headers.keys()


def take(chromium, server, seed, truths):
    """All that anyone could see of a person: every request, and what the device keeps."""
    server.requests.clear()
    page = open_page(chromium, server.address, seed=seed)
    begin(page)
    answer(page, **truths)
    send(page)
    seen = page.evaluate(TRACES)
    page.context.close()
    return sorted(
        (m, path, tuple(h.items()), body) for m, path, h, body in server.requests
    ), seen


WEAK = (
    DOPED
    + """
odds = 1.1
[[questions]]
id = "pay"
kind = "number"
text = "Pay?"
low = 0
high = 9000
odds = 1.1
[[questions]]
id = "means"
kind = "multiple-choice"
text = "Which?"
options = ["A", "B", "C"]
odds = 1.1
"""
)


def test_two_truths_are_indistinguishable_when_the_coins_agree(chromium):
    """Requests byte for byte, storage, cookies, address and document: nothing differs."""
    manifest = manifest_of(WEAK)
    with StubServer.of_survey(manifest) as server:
        first = take(chromium, server, 42, {"doped": 0, "pay": "7319", "means": [0]})
        (report,) = reports(server, manifest)
        second = take(chromium, server, 42, {"doped": 1, "pay": "12", "means": [1, 2]})
        assert reports(server, manifest) == [report]  # the coins agree
    assert first == second
    assert "7319" not in json.dumps([str(part) for part in first])


def test_other_coins_do_make_a_difference(chromium):
    """So the comparison above sees what is sent."""
    manifest = manifest_of(WEAK)
    with StubServer.of_survey(manifest) as server:
        truths = {"doped": 0, "pay": "7319", "means": [0]}
        assert take(chromium, server, 5, truths) != take(chromium, server, 6, truths)


def test_every_report_has_the_same_length(chromium, server, survey):
    lengths = set()
    others = {"doped": 2, "sport": 0, "country": 3, "supplier": [], "means": [], "age": []}
    for truths in (EVERYTHING, {**EVERYTHING, **others, "pay": "0", "hours": "0"}):
        page = open_page(chromium, server.address)
        begin(page)
        answer(page, **truths)
        send(page)
        page.context.close()
    lengths = {len(body) for body in server.sent()}
    assert len(server.sent()) == 2
    assert len(lengths) == 1


TICKED = "() => [...document.querySelectorAll('[data-question] input:checked')].length"
TYPED = (
    "() => [...document.querySelectorAll('[data-question] input[type=text]')].map(x => x.value)"
)


def leave_and_return(page, how):
    if how == "reload":
        page.reload()
        return
    page.goto("about:blank")
    page.go_back()
    page.wait_for_selector("[data-part=begin]:enabled", state="attached")


@pytest.mark.parametrize("how", ["back", "reload"])
def test_nothing_is_ticked_after_back_or_reload(chromium, server, how):
    page = open_page(chromium, server.address)
    begin(page)
    answer(page, **EVERYTHING)
    assert page.evaluate(TICKED) > 5
    leave_and_return(page, how)
    assert page.evaluate(TICKED) == 0
    assert set(page.evaluate(TYPED)) == {""}
    assert (
        page.evaluate("() => JSON.stringify(localStorage) + JSON.stringify(sessionStorage)")
        == "{}{}"
    )


def test_without_autocomplete_off_the_browser_gives_answers_back(chromium, survey):
    """The danger is real: this browser restores the ticks of a page that does not forbid it."""
    with StubServer.of_survey(survey) as server:
        path = f"/s/{survey.survey}"
        plain = (
            read_file("page.js")
            .decode()
            .replace('addEventListener("pagehide", forgetAnswers);', "")
        )
        plain = plain.replace(
            '"use strict";', '"use strict"; addEventListener("unload", () => 0);', 1
        )
        text = server.pages[path].decode().replace('autocomplete="off"', "")
        server.pages[path] = re.sub(r' integrity="[^"]*"', "", text).encode()
        server.pages[f"{path}/page.js"] = plain.encode()
        page = open_page(chromium, server.address)
        begin(page)
        answer(page, **EVERYTHING)
        leave_and_return(page, "back")
        assert page.evaluate(TICKED) > 0


def test_after_sending_a_reload_asks_nothing_more(chromium, server):
    page = open_page(chromium, server.address)
    begin(page)
    answer(page, **EVERYTHING)
    send(page)
    page.reload()
    page.wait_for_selector("[data-note=sent-before]:not([hidden])")
    assert page.locator("[data-question]").count() == 0
    assert len(server.sent()) == 1


def test_no_request_goes_elsewhere(chromium, server):
    page = open_page(chromium, server.address)
    begin(page)
    answer(page, **EVERYTHING)
    send(page)
    assert len(page.asked) == 7  # the page, a style, four scripts, the report
    assert all(url.startswith(f"{server.origin}/s/doping") for url in page.asked)
    assert page.context.cookies() == []


def test_a_saved_file_sends_to_its_survey_and_nowhere_else(chromium, server, survey, tmp_path):
    file = tmp_path / "survey.html"
    file.write_bytes(build_page(survey, origin=server.origin, saved=True))
    page = open_page(chromium, file.as_uri())
    begin(page)
    answer(page, **EVERYTHING)
    send(page)
    assert page.asked == [file.as_uri(), f"{server.origin}/s/doping/report"]
    assert page.messages == []
    assert len(reports(server, survey)) == 1


def test_offline_it_sends_later_byte_for_byte(chromium, server):
    page = open_page(chromium, server.address)
    begin(page)
    answer(page, **EVERYTHING)
    page.context.set_offline(True)
    page.click("[data-part=send]")
    page.wait_for_selector("[data-note=sent-later]:not([hidden])")
    assert page.locator("[data-part=receipt]").is_hidden()  # nobody sees it before it is sent
    assert server.sent() == []
    kept = page.evaluate("() => recall().pending[0].body")
    page.context.set_offline(False)
    page.wait_for_selector("[data-part=receipt]:not([hidden])")
    assert server.sent() == [kept.encode()]
    assert page.evaluate("() => recall().pending") == []


def test_a_closed_tab_sends_at_the_next_opening(chromium, server):
    server.status = 503
    page = open_page(chromium, server.address)
    begin(page)
    answer(page, **EVERYTHING)
    page.click("[data-part=send]")
    page.wait_for_selector("[data-note=sent-later]:not([hidden])")
    page.close()
    server.status = 200
    again = page.context.new_page()
    again.goto(server.address)
    again.wait_for_selector("[data-part=receipt]:not([hidden])")
    first, second = server.sent()
    assert first == second


def test_a_survey_that_is_closed_says_so(chromium, server):
    server.status = 410
    page = open_page(chromium, server.address)
    begin(page)
    answer(page, **EVERYTHING)
    page.click("[data-part=send]")
    page.wait_for_selector("[data-note=sent-refused]:not([hidden])")
    assert page.locator("[data-part=receipt]").is_hidden()


def test_a_private_question_must_be_answered(chromium, server):
    page = open_page(chromium, server.address)
    begin(page)
    answer(page, **{**EVERYTHING, "pay": "9001"})
    page.click("[data-part=send]")
    pay = page.locator("fieldset[data-question=pay]")
    assert pay.locator("[data-missing]").is_visible()
    assert pay.locator("input").evaluate("(x) => x === document.activeElement")
    assert server.sent() == []
    answer(page, pay="8999,5")
    assert pay.locator("[data-missing]").is_hidden()
    send(page)


def test_prefer_not_to_say_empties_the_other_fields(chromium, server):
    page = open_page(chromium, server.address)
    begin(page)
    answer(page, supplier=[0, 1], hours="12")
    answer(page, supplier=2)
    page.locator("[data-question=hours] [data-declines]").check()
    ticked = page.locator("[data-question=supplier] input:checked")
    assert [ticked.nth(i).get_attribute("value") for i in range(ticked.count())] == ["2"]
    assert page.locator("[data-question=hours] input[type=text]").input_value() == ""
    answer(page, supplier=0, hours="3")
    assert page.locator("[data-question=supplier] [data-declines]").is_checked() is False
    assert page.locator("[data-question=hours] [data-declines]").is_checked() is False


def test_options_come_in_an_order_of_each_device(chromium, server):
    orders = set()
    for seed in range(4):
        page = open_page(chromium, server.address, seed=seed)
        page.wait_for_selector("[data-part=begin]:enabled")
        listed = page.locator("[data-question=sport] label").all_text_contents()
        assert sorted(listed) == sorted(
            ["cycling", "running", "swimming", "rowing", "skiing", "climbing", "chess"]
        )
        orders.add(tuple(listed))
        page.context.close()
    assert len(orders) > 1


def test_one_question_each_is_drawn_by_the_device_and_kept(chromium):
    manifest = one_each()
    with StubServer.of_survey(manifest) as server:
        drawn = set()
        for seed in (1, 2, 3):
            page = open_page(chromium, server.address, seed=seed)
            begin(page)
            shown = [
                x.get_attribute("data-question") for x in page.locator("[data-question]").all()
            ]
            assert len(shown) == 2
            assert shown[1] == "age"
            page.reload()
            begin(page)
            assert page.locator(f"[data-question={shown[0]}]").count() == 1
            answer(page, **{shown[0]: EVERYTHING[shown[0]]})
            send(page)
            drawn.add(shown[0])
            page.context.close()
        assert len(drawn) > 1
        assert {name for found in reports(server, manifest) for name in found} == drawn


CONDITION = (
    DOPED
    + """
[[questions]]
id = "club"
kind = "yes-no"
private = false
text = "Are you in a club?"
[[questions]]
id = "coach"
kind = "yes-no"
text = "Did a coach offer it?"
ask_if = { question = "club", answer = "yes" }
"""
)


def test_a_question_may_depend_on_a_public_answer(chromium):
    manifest = manifest_of(CONDITION)
    with StubServer.of_survey(manifest) as server:
        page = open_page(chromium, server.address)
        begin(page)
        assert page.locator("[data-question=coach]").is_hidden()
        answer(page, doped=0, club=1, coach=1)
        answer(page, club=0)
        assert page.locator("[data-question=coach]").is_hidden()
        send(page)
        (found,) = reports(server, manifest)
        assert found.keys() == {"doped", "club"}


def test_a_kiosk_forgets_everything_between_two_people(chromium):
    manifest = manifest_of(head="kiosk = true\n")
    with StubServer.of_survey(manifest) as server:
        page = open_page(chromium, server.address)
        for _ in range(2):
            begin(page)
            assert page.evaluate(TICKED) == 0
            answer(page, doped=1)
            send(page)
            page.click("[data-part=again]")
            assert page.locator("[data-step=welcome]").is_visible()
            assert page.evaluate("() => recall()") == {"pending": [], "sent": False}
            assert page.inner_text("[data-part=bytes]") == ""
        assert len(server.sent()) == 2


def test_a_kiosk_starts_again_when_nobody_touches_it(chromium):
    manifest = manifest_of(head="kiosk = true\n")
    with StubServer.of_survey(manifest) as server:
        page = chromium.new_context().new_page()
        page.clock.install()
        page.goto(server.address)
        begin(page)
        answer(page, doped=1)
        page.keyboard.press("Tab")
        page.clock.fast_forward(91_000)
        page.wait_for_selector("[data-step=welcome]:not([hidden])")
        assert page.evaluate(TICKED) == 0


def test_texts_of_the_owner_are_no_markup(chromium):
    attack = "</script><script>alert(1)</script><img src=x onerror=alert(1)>{odds}"
    text = DOPED.replace("Have you used a forbidden substance?", attack)
    manifest = manifest_of(text, f'words = {{ page_begin = "{attack}" }}\n')
    with StubServer.of_survey(manifest) as server:
        page = chromium.new_context().new_page()
        dialogs = []
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        page.goto(server.address)
        begin(page)
        assert attack in page.inner_text("[data-question=doped] legend")
        assert dialogs == []


def test_without_scripts_nothing_can_be_sent(chromium, server):
    page = open_page(chromium, server.address, java_script_enabled=False)
    assert "needs JavaScript" in page.inner_text("noscript")
    assert page.locator("[data-part=begin]").is_disabled()
    assert page.locator("[data-step=questions]").is_hidden()


def test_the_trial_uses_the_real_coins_and_sends_nothing(chromium, server):
    page = open_page(chromium, server.address)
    page.wait_for_selector("[data-part=begin]:enabled")
    for throws in (1, 20, 100):
        page.click(f"[data-throws='{throws}']")
    counts = [
        int(x)
        for x in page.locator("[data-part=tally] li span:nth-child(2)").all_text_contents()
    ]
    assert sum(counts) == 121
    page.click("[data-quiz=truth]")
    assert page.locator("[data-note=quiz-truth]").is_visible()
    page.click("[data-quiz=hint]")
    assert page.locator("[data-note=quiz-truth]").is_hidden()
    assert server.sent() == []


@pytest.fixture(scope="module")
def secret():
    return generate_private_key(65537, 2048).private_numbers()


class TestPasses:
    @pytest.fixture
    def invited(self, secret):
        key = secret.public_numbers.n, secret.public_numbers.e
        return manifest_of(mode="pass", key=key)

    @pytest.fixture
    def host(self, invited, secret):
        with StubServer.of_survey(invited, secret) as stub:
            yield stub

    def link(self, host, manifest, token="0123456789abcdef" * 2):
        return f"{host.address}#{token}.{manifest.hash}"

    def test_the_report_leaves_within_a_minute_with_a_pass(self, chromium, host, invited):
        page = chromium.new_context().new_page()
        page.clock.install()
        page.goto(self.link(host, invited))
        page.wait_for_selector("[data-part=begin]:enabled")
        assert page.url == host.address  # the invitation is gone from the address
        assert host.sent("exchange") == []  # opening a link uses nothing up
        begin(page)
        (exchange,) = map(json.loads, host.sent("exchange"))
        assert exchange["token"] == "0123456789abcdef" * 2
        answer(page, doped=1)
        page.click("[data-part=send]")
        page.wait_for_selector("[data-note=sent-waiting]:not([hidden])")
        page.clock.fast_forward(60_000)
        page.wait_for_selector("[data-part=receipt]:not([hidden])")
        (body,) = map(json.loads, host.sent())
        assert body.keys() == {"report", "pass"}
        assert body["pass"].keys() == {"number", "randomizer", "signature"}
        assert exchange["token"] not in json.dumps(body)
        assert not {*body["pass"].values()} & {*exchange.values()}
        assert page.evaluate("() => recall().pass") is None

    def test_a_lost_answer_asks_for_the_same_signature(self, chromium, host, invited):
        host.status = 503
        page = open_page(chromium, self.link(host, invited))
        page.click("[data-part=begin]:enabled")
        page.wait_for_selector("[data-note=begin-later]:not([hidden])")
        host.status = 200
        page.reload()
        begin(page)
        first, second = host.sent("exchange")
        assert first == second
        page.reload()
        begin(page)
        assert len(host.sent("exchange")) == 2  # the pass is here now

    def test_a_used_invitation_is_refused_in_words(self, chromium, host, invited):
        host.status = 409
        page = open_page(chromium, self.link(host, invited))
        page.click("[data-part=begin]:enabled")
        page.wait_for_selector("[data-note=begin-used]:not([hidden])")
        assert page.locator("[data-step=questions]").is_hidden()

    @pytest.mark.parametrize(
        ("fragment", "reason"),
        [("", "incomplete"), ("0" * 32, "incomplete"), (f"{'0' * 32}.{'0' * 64}", "changed")],
    )
    def test_another_manifest_is_refused(self, chromium, host, fragment, reason):
        page = open_page(chromium, f"{host.address}#{fragment}")
        page.wait_for_selector(f"[data-note=refused-{reason}]:not([hidden])")
        assert page.locator("[data-step=welcome]").is_hidden()

    def test_a_changed_manifest_is_refused(self, chromium, host, invited):
        path = f"/s/{invited.survey}"
        host.pages[path] = host.pages[path].replace(b'"kiosk":false', b'"kiosk":true')
        page = open_page(chromium, self.link(host, invited))
        page.wait_for_selector("[data-note=refused-changed]:not([hidden])")

    def test_another_invitation_on_the_same_device_is_another_person(
        self, chromium, host, invited
    ):
        page = open_page(chromium, self.link(host, invited))
        begin(page)
        second = page.context.new_page()
        second.goto(self.link(host, invited, "f" * 32))
        begin(second)
        tokens = [json.loads(body)["token"][:1] for body in host.sent("exchange")]
        assert tokens == ["0", "f"]


def test_a_token_is_sent_with_the_report(chromium):
    manifest = manifest_of(mode="token")
    with StubServer.of_survey(manifest) as server:
        page = open_page(chromium, f"{server.address}#{'a' * 32}.{manifest.hash}")
        begin(page)
        answer(page, doped=1)
        send(page)
        (body,) = map(json.loads, server.sent())
        assert body["token"] == "a" * 32
        page.goto(f"{server.address}#{'a' * 32}.{manifest.hash}")
        page.reload()
        page.wait_for_selector("[data-note=sent-before]:not([hidden])")
