"""A sign of life: on a terminal alone, on standard error alone, with the share that is done."""

import contextlib
import io

import pytest

from deniable.app.cli.progress import show_progress
from deniable.engines.duckdb.engine import DuckDB

ASK = ("sql", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "--epsilon", "1")


class Screen(io.StringIO):
    """What a terminal was told."""

    def isatty(self):
        return True


@pytest.fixture
def watching(monkeypatch):
    """`with watching() as screen`: a terminal in place of standard error."""
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    return lambda: contextlib.redirect_stderr(Screen())


@pytest.fixture
def telling(monkeypatch):
    """DuckDB tells that it is half done, whenever it reads."""
    rows = DuckDB._run_statement

    def read(engine, statement):
        if engine.progress is not None:
            engine.progress(0.5)
        yield from rows(engine, statement)

    monkeypatch.setattr(DuckDB, "_run_statement", read)


def test_a_terminal_is_told_how_far_the_engine_is(run, telling, watching):
    with watching() as screen:
        status, out, _ = run(*ASK)
    assert status == 0
    assert "asking" in screen.getvalue()
    assert "50%" in screen.getvalue()
    assert "Cost: epsilon 1" in out  # where it belongs, though the bar was on
    assert "asking" not in out


def test_before_anything_is_known_there_is_no_share(watching):
    with watching() as screen, show_progress("opening") as tell:
        assert callable(tell)
    assert "opening" in screen.getvalue()
    assert "%" not in screen.getvalue()


def test_a_pipe_is_told_nothing(run, telling, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    status, out, err = run(*ASK)
    assert (status, err) == (0, "")
    assert "Cost: epsilon 1" in out
    assert "asking" not in out


def test_an_explanation_is_an_answer_too(run, watching):
    with watching() as screen:
        status, out, _ = run("explain", *ASK[1:])
    assert status == 0
    assert "epsilon" in out
    assert "planning" in screen.getvalue()
