"""The page in a real browser: people answer, and reports arrive, once."""

import json

import pytest

from tests.app.web.survey.stub_server import StubServer
from tests.app.web.survey.surveys_to_take import (
    ALL_KINDS,
    DOPED,
    EVERYTHING,
    TICKED,
    answer,
    begin,
    manifest_of,
    one_each,
    open_page,
    read_reports,
    send,
)
from tools.browser import OPTIONS
from tools.system import find

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture
def survey():
    return manifest_of(ALL_KINDS)


@pytest.fixture
def server(survey):
    with StubServer.of_survey(survey) as stub:
        yield stub


@pytest.fixture
def short():
    """The server of a survey with one question."""
    with StubServer.of_survey(manifest_of()) as stub:
        yield stub


def test_a_person_takes_a_survey_of_all_kinds(chromium, server, survey):
    page = open_page(chromium, server.address)
    begin(page)
    answer(page, **EVERYTHING)
    send(page)
    (report,) = read_reports(server, survey)
    assert report.keys() == EVERYTHING.keys()
    assert report["age"] == 1  # a public answer is sent as it is
    assert page.inner_text("[data-part=bytes]") == server.sent()[0].decode()
    assert page.messages == []
    (headers,) = [headers for method, _, headers, _ in server.requests if method == "POST"]
    assert headers["Content-Type"] == "text/plain"
    assert not {"Cookie", "Referer", "Authorization"} & headers.keys()


def test_offline_it_sends_later_byte_for_byte(chromium, short):
    page = open_page(chromium, short.address)
    begin(page)
    answer(page, doped=1)
    page.context.set_offline(True)
    page.click("[data-part=send]")
    page.wait_for_selector("[data-note=sent-later]:not([hidden])")
    assert page.locator("[data-part=receipt]").is_hidden()  # nobody sees it before it is sent
    assert short.sent() == []
    kept = page.evaluate("() => waiting()[0].body")
    page.context.set_offline(False)
    page.wait_for_selector("[data-part=receipt]:not([hidden])")
    assert short.sent() == [kept.encode()]
    assert page.evaluate("() => waiting()") == []


def test_a_closed_tab_sends_at_the_next_opening(chromium, short):
    short.status = 503
    page = open_page(chromium, short.address)
    begin(page)
    answer(page, doped=1)
    page.click("[data-part=send]")
    page.wait_for_selector("[data-note=sent-later]:not([hidden])")
    page.close()
    short.status = 200
    again = page.context.new_page()
    again.goto(short.address)
    again.wait_for_selector("[data-part=receipt]:not([hidden])")
    first, second = short.sent()
    assert first == second


def test_a_survey_that_is_closed_says_so(chromium, short):
    short.status = 410
    page = open_page(chromium, short.address)
    begin(page)
    answer(page, doped=1)
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
        assert {name for report in read_reports(server, manifest) for name in report} == drawn


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
        (report,) = read_reports(server, manifest)
        assert report.keys() == {"doped", "club"}


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
            assert page.evaluate("() => [recall(), waiting()]") == [{}, []]
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


def test_a_browser_that_blocks_site_data_can_still_answer(chromium, tmp_path):
    """Then storage throws, and every request for a lock is rejected."""
    settings = {"profile": {"default_content_setting_values": {"cookies": 2}}}
    (tmp_path / "Default").mkdir()
    (tmp_path / "Default" / "Preferences").write_text(json.dumps(settings))
    launch = chromium.browser_type.launch_persistent_context
    manifest = manifest_of()
    with (
        StubServer.of_survey(manifest) as server,
        launch(tmp_path, executable_path=find("chromium"), args=OPTIONS) as context,
    ):
        page = context.new_page()
        page.goto(server.address)
        blocked = "() => navigator.locks.request('x', () => 0).catch((problem) => problem.name)"
        assert page.evaluate(blocked) == "SecurityError"
        begin(page)
        answer(page, doped=1)
        send(page)
        assert len(server.sent()) == 1


def test_a_kiosk_that_is_offline_keeps_no_order_and_no_times(chromium):
    manifest = manifest_of(head="kiosk = true\n")
    with StubServer.of_survey(manifest) as server:
        server.status = 503
        page = open_page(chromium, server.address, seed=3)
        came = []
        for _ in range(8):
            begin(page)
            answer(page, doped=1)
            page.click("[data-part=send]")
            came.append(page.evaluate("() => mine"))
            page.click("[data-part=again]")
        kept = page.evaluate("() => waiting()")
        assert {report["due"] for report in kept} == {0}
        order = [report["body"] for report in kept]
        assert sorted(order) == sorted(came)
        assert order != came
