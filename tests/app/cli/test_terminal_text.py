"""A terminal shows what it is given, and obeys colours only; a file gets every character."""

import io
import sys

import pytest

from deniable.app.cli.terminal_text import EscapingOutput, escape_output, write_as_options


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("plain\n", "plain\n"),
        ("\x1b[1mbold\x1b[0m", "\x1b[1mbold\x1b[0m"),
        ("\x1b[2J\x1b]0;x\x07\r", "\\x1b[2J\\x1b]0;x\\x07\\r"),
        ("a\u202eb\tc", "a\\u202eb\\tc"),
    ],
)
def test_a_terminal_obeys_colours_only(written, shown):
    screen = io.StringIO()
    EscapingOutput(screen).write(written)
    assert screen.getvalue() == shown


@pytest.mark.parametrize("is_terminal", [True, False])
def test_only_a_terminal_is_protected(monkeypatch, is_terminal):
    screen = io.StringIO()
    screen.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stdout", screen)
    with escape_output():
        print("key\x1b[2J")
    assert screen.getvalue() == ("key\\x1b[2J\n" if is_terminal else "key\x1b[2J\n")


def test_the_key_of_a_policy_is_not_an_option():
    text = "Unknown key `max_groups` of table 'visits'."
    assert write_as_options(text) == text
    assert write_as_options("Give `max_groups` or `keys_epsilon`.") == (
        "Give --max-groups or --keys-epsilon."
    )
