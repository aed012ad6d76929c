"""A bar for those who watch, silence for those who do not."""

import io
import sys

from deniable.audit.test.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_nothing_is_drawn_where_nobody_watches(capsys):
    with progress(10, show_bar=None) as show:
        show(10)
    assert capsys.readouterr() == ("", "")


def test_a_bar_is_drawn_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress(10, show_bar=None, what="sets") as show:
        show(10)
    assert "10/10" in sys.stderr.getvalue()
    assert "sets" in sys.stderr.getvalue()


def test_it_can_be_kept_from_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress(10, show_bar=False) as show:
        show(10)
    assert sys.stderr.getvalue() == ""
