"""The lesson about a first server: its commands are run as they are written."""

from contextlib import ExitStack

from tests.app.cli.serving.test_serve_operated import FENCE, ROOT, run, served
from tools.pages.snippets import snippets

PAGE = ROOT / "docs" / "tutorials" / "first-server.md"


def test_every_command_of_the_lesson_works(tmp_path, monkeypatch):
    text = PAGE.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for snippet in snippets(text):
        exec(snippet.code, {})
    told, address = [], ""
    with ExitStack() as running:
        for block in FENCE.finditer(text):
            if block["kind"] == "background":
                # A longer slot, so that an engine on a busy machine is never late for it.
                command = block["code"].strip().replace("--port 8000", "--port 0 --slot 15")
                log = tmp_path / "log"
                _, address = running.enter_context(served(command, tmp_path, log))
            else:
                here = f"export HOME={tmp_path}\n{block['code']}"
                told.append(run(here.replace("http://127.0.0.1:8000", address), tmp_path))
    everything = "\n".join(told)
    assert "north" in everything
    assert "Left: epsilon 0.5" in everything  # of Ann's
