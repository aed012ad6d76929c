"""Invitations in a real browser: blind passes, tokens, and pages that are refused."""

import hashlib
import json
from base64 import urlsafe_b64decode

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

from tests.app.web.survey.stub_server import StubServer
from tests.app.web.survey.surveys_to_take import answer, begin, manifest_of, open_page, send

pytestmark = pytest.mark.needs("chromium")


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
        number = urlsafe_b64decode(body["pass"]["number"] + "=")
        assert page.inner_text("[data-part=mark]") == hashlib.sha256(number).hexdigest()
        assert page.inner_text("[data-part=bytes]") == host.sent()[0].decode()
        kept = page.evaluate("() => JSON.stringify([{...localStorage}, {...sessionStorage}])")
        assert exchange["token"] not in kept
        assert body["pass"]["number"] not in kept
        # All that stays: that this invitation was answered, by 64 bits of a hash, and the mark.
        short = hashlib.sha256(exchange["token"].encode()).hexdigest()[:16]
        left = page.evaluate("() => ({...localStorage})")
        own = json.loads(left.pop(f"deniable {invited.hash} {short}"))
        assert own.keys() <= {"turn", "sent", "mark"}
        assert {name: json.loads(text) for name, text in left.items()} == {
            f"deniable {invited.hash} waiting": {"reports": []}
        }

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
        host.status = 403
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
        # Each tab sends with the pass of its own person, also after both have begun.
        own = [tab.evaluate("() => recall().pass.number") for tab in (page, second)]
        for tab in (page, second):
            answer(tab, doped=1)
            tab.click("[data-part=send]")
        # A report waits for a random part of a minute: some have gone already when we look.
        kept = page.evaluate("() => waiting().map((report) => report.body)")
        sent = {json.loads(body)["pass"]["number"] for body in [*kept, *host.sent()]}
        assert sent == set(own)
        assert own[0] != own[1]

    def test_the_first_person_keeps_a_pass_when_a_second_one_opens_a_link(
        self, chromium, host, invited
    ):
        page = open_page(chromium, self.link(host, invited))
        begin(page)
        page.goto(self.link(host, invited, "f" * 32))
        page.reload()
        begin(page)
        page.goto(self.link(host, invited))
        page.reload()
        begin(page)
        assert len(host.sent("exchange")) == 2

    def test_the_bare_address_is_incomplete(self, chromium, host, invited):
        page = open_page(chromium, self.link(host, invited))
        page.wait_for_selector("[data-part=begin]:enabled")
        page = page.context.new_page()
        page.goto(host.address)
        page.wait_for_selector("[data-note=refused-incomplete]:not([hidden])")

    def test_a_closed_survey_is_not_a_used_invitation(self, chromium, host, invited):
        host.status = 410
        page = open_page(chromium, self.link(host, invited))
        page.click("[data-part=begin]:enabled")
        page.wait_for_selector("[data-note=begin-closed]:not([hidden])")


def test_a_report_of_someone_else_that_waits_is_sent_and_blocks_nobody(chromium):
    manifest = manifest_of(mode="token")
    with StubServer.of_survey(manifest) as server:
        server.status = 503
        page = open_page(chromium, f"{server.address}#{'a' * 32}.{manifest.hash}")
        begin(page)
        answer(page, doped=1)
        page.click("[data-part=send]")
        page.wait_for_selector("[data-note=sent-later]:not([hidden])")
        page.close()
        server.status = 200
        second = page.context.new_page()
        second.goto(f"{server.address}#{'b' * 32}.{manifest.hash}")
        begin(second)
        answer(second, doped=0)
        send(second)
        tokens = {json.loads(body)["token"][0] for body in server.sent()}
        assert tokens == {"a", "b"}
        assert second.evaluate("() => waiting()") == []


def test_after_a_refusal_no_second_report_is_drawn(chromium):
    """A host that refuses reports must not get other coins for the same answer."""
    manifest = manifest_of(mode="token")
    with StubServer.of_survey(manifest) as server:
        server.status = 403
        page = open_page(chromium, f"{server.address}#{'a' * 32}.{manifest.hash}")
        begin(page)
        answer(page, doped=1)
        page.click("[data-part=send]")
        page.wait_for_selector("[data-note=sent-refused]:not([hidden])")
        page.reload()
        page.wait_for_selector("[data-note=sent-before]:not([hidden])")
        assert len(server.sent()) == 1


@pytest.mark.parametrize(
    ("status", "refusal", "note"),
    [
        (404, b'{"problem":"?"}', "later"),
        (403, b"<html>a proxy</html>", "later"),
        (200, b"<html>a proxy</html>", "later"),
        (429, b'{"problem":"?"}', "busy"),
    ],
)
def test_what_may_pass_keeps_the_report(chromium, status, refusal, note):
    manifest = manifest_of(mode="token")
    with StubServer.of_survey(manifest) as server:
        server.status, server.refusal = status, refusal
        server.answer = lambda path, body: refusal
        page = open_page(chromium, f"{server.address}#{'a' * 32}.{manifest.hash}")
        begin(page)
        answer(page, doped=1)
        page.click("[data-part=send]")
        page.wait_for_selector(f"[data-note=sent-{note}]:not([hidden])")
        del server.answer
        server.status = 200
        page.reload()
        page.wait_for_selector("[data-part=receipt]:not([hidden])")
        first, second = server.sent()
        assert first == second
        kept = page.evaluate("() => JSON.stringify([{...localStorage}, {...sessionStorage}])")
        assert "a" * 32 not in kept


def test_a_server_that_never_answers_is_given_up(chromium):
    """The page limits how long it waits; here the limit is over at once."""
    with StubServer.of_survey(manifest_of()) as server:
        context = chromium.new_context()
        context.add_init_script("AbortSignal.timeout = () => AbortSignal.abort()")
        page = context.new_page()
        page.goto(server.address)
        begin(page)
        answer(page, doped=1)
        page.click("[data-part=send]")
        page.wait_for_selector("[data-note=sent-later]:not([hidden])")


NO_SUBTLE = "Object.defineProperty(crypto, 'subtle', { value: undefined })"


@pytest.mark.parametrize(("mode", "works"), [("open", True), ("token", False)])
def test_without_encryption_only_an_open_survey_works(chromium, mode, works):
    """A browser hides `crypto.subtle` from pages that came without encryption."""
    manifest = manifest_of(mode=mode)
    with StubServer.of_survey(manifest) as server:
        context = chromium.new_context()
        context.add_init_script(NO_SUBTLE)
        page = context.new_page()
        page.goto(f"{server.address}#{'a' * 32}.{manifest.hash}")
        shown = "[data-part=begin]:enabled" if works else "[data-note=refused-insecure]"
        page.wait_for_selector(f"{shown}:not([hidden])")


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
