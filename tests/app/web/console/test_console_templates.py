import re

import pytest
from jinja2 import UndefinedError

from deniable.app.web.console.console_templates import environment, render, template_files


def test_no_template_trusts_a_value_or_holds_script_or_style():
    files = list(template_files())
    assert len(files) >= 4
    for file in files:
        text = file.read_text()
        assert not re.search(r"\|\s*safe|autoescape|Markup", text), file.name
        assert not re.search(r"<script(?! src=)|<style|\sstyle=|\son[a-z]+=", text), file.name
        assert not re.search(r"hx-on|hx-live|hx-vals|js:", text), file.name


def test_every_template_compiles():
    for file in template_files():
        environment().get_template(file.name)


def test_values_are_escaped_and_missing_ones_are_errors():
    shown = render("message.html", title="t", words="<script>alert(1)</script>'\"", page=None)
    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&#39;&#34;" in shown
    with pytest.raises(UndefinedError):
        render("message.html", title="t", page=None)
