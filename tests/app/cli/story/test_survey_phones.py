"""Without the packages of a server the story goes on, and says what is missing."""

from contextlib import contextmanager

from rich.console import Console

import deniable as dp
from deniable.app.cli.story import survey_phones


def test_a_missing_server_is_told(tmp_path, monkeypatch):
    @contextmanager
    def no_server(_):
        raise dp.MissingExtra("Install it with   pip install 'deniable[server]'")
        yield

    monkeypatch.setattr(survey_phones, "serve_survey", no_server)
    console = Console(record=True, width=100)
    survey_phones.ask_phones(console, tmp_path)
    assert "No server, so no phones: Install it" in console.export_text()
