"""A newcomer who follows only links from the front page, with a CSV file of her own."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tools.pages.assembly import DOCS
from tools.pages.snippets import describe_difference

# Her table has other names than the lesson's. She puts them in its place.
HERS = {
    "visits.csv": "loans.csv",
    "patient": "reader",
    "ward": "branch",
    "north": "centre",
    "south": "harbour",
    "east": "hill",
    "visits": "loans",
}
FENCE = re.compile(
    r"^```(?P<kind>sh|toml)\n(?P<code>.*?)^```$(?:\s*?^```text\n(?P<shown>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)


def follow(page, words):
    """The page behind the first link with these words."""
    text = page.read_text(encoding="utf-8")
    link = re.search(rf"\[[^\]]*{words}[^\]]*\]\(([^)#]+)", text)
    assert link, f"{page.name} has no link {words!r}"
    return (page.parent / link[1]).resolve()


def hers(text):
    return re.sub("|".join(map(re.escape, HERS)), lambda match: HERS[match[0]], text)


def run(command, folder):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_she_gets_a_private_answer(tmp_path):
    rows = [f"{i % 500},{['centre', 'harbour', 'hill'][i % 3]},{i % 90}" for i in range(1500)]
    (tmp_path / "loans.csv").write_text("reader,branch,cost\n" + "\n".join(rows) + "\n")
    front = DOCS / "index.md"
    assert follow(front, "Install it").name == "install.md"
    lesson = follow(front, "from a CSV file of your own")
    told = []
    for block in FENCE.finditer(hers(lesson.read_text(encoding="utf-8"))):
        if block["kind"] == "toml":
            policy = tmp_path / "deniable.toml"
            ledger = re.search(r"\[ledger\].*?\nid = .*?\n", policy.read_text(), re.DOTALL)
            policy.write_text(block["code"] + ledger[0])
        else:
            told.append(run(block["code"], tmp_path))
            if block["shown"]:
                assert describe_difference(block["shown"], told[-1]) is None
    everything = "\n".join(told)
    assert re.search(r"^harbour +[\d,]+ ± \d+$", everything, re.MULTILINE)
    assert "Left: epsilon 1.5" in everything
    assert "signed with the key given" in everything
