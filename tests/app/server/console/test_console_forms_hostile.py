"""Hostile texts in every field of the console's forms: they come back as text."""

import html
from html.parser import HTMLParser

import pytest

from tests.app.server.console.test_console_in_browser import PAYLOADS

FIELDS = {
    "/console/hospital/rehearse": ("sql", "olga", {"epsilon": "0.1"}),
    "/console/hospital/policy": ("draft", "olga", {"act": "check"}),
    "/console/hospital/ledger": ("head", "audrey", {}),
    "/console/hospital/calculator": ("operation", "olga", {}),
}
OURS = {"hit", "onerror", "onload", "onmouseover", "srcdoc"}


class Tags(HTMLParser):
    """The tags and the attributes of a page."""

    def __init__(self, text):
        super().__init__()
        self.names = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names |= {tag, *(name for name, _ in attrs)}


@pytest.mark.parametrize("path", FIELDS)
def test_what_is_typed_comes_back_as_text(hospital, path):
    field, person, others = FIELDS[path]
    visitor = hospital.visitor(person)
    token = visitor.token()
    fields = others | {"form_token": token}
    plain = Tags(visitor.post(path, fields | {field: "plain"}).text).names
    for start in range(0, 200, 8):  # one of each shape at a time
        typed = "\n".join(PAYLOADS[start : start + 8])
        shown = visitor.post(path, fields | {field: typed})
        assert shown.status_code == 200
        tags = Tags(shown.text).names
        assert not tags & OURS
        assert tags - plain <= {"div", "role", "ul", "li", "td", "tr", "table", "tbody"} | plain
        if field != "operation":
            assert html.escape(PAYLOADS[start], quote=False) in shown.text
