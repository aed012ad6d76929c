"""Findings stay with the owner: heading, no pickle, no certificate, pages of mode 0600."""

import copy
import json
import os
import pickle
import re
from pathlib import Path

import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit import attack
from deniable.audit.attack.findings import HEADING, MADE_UP, write_privately

PEOPLE = pa.table({"zip": [1, 1, 2, 2], "sex": ["f", "m", "f", "f"]})


@pytest.fixture
def finding():
    return attack.linkage(PEOPLE)


def test_it_prints_with_its_heading(finding):
    assert str(finding).startswith(HEADING)
    assert "A low figure proves nothing" in str(finding)


def test_its_repr_holds_no_fact(finding):
    assert repr(finding) == (
        "<Linkage: which columns single people out: print it to see exact facts>"
    )


@pytest.mark.parametrize("leave", [pickle.dumps, copy.copy, copy.deepcopy])
def test_it_cannot_be_pickled_or_copied(finding, leave):
    with pytest.raises(TypeError, match="exact facts about real people"):
        leave(finding)


@pytest.mark.parametrize(
    "publish",
    [
        json.dumps,
        dp.verify,
        lambda finding: dp.protect(finding, epsilon=1),
    ],
    ids=["json", "verify", "protect"],
)
def test_it_cannot_be_published_or_certified(finding, publish):
    with pytest.raises((TypeError, dp.DeniableError, AttributeError)):
        publish(finding)


def test_a_page_is_readable_by_its_owner_only(finding, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("older and longer " * 1000)
    page.chmod(0o644)
    finding.save(page)
    assert page.stat().st_mode & 0o777 == 0o600
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert text.endswith("</html>\n")
    assert HEADING in text


def test_a_new_page_is_never_readable_by_others(tmp_path):
    before = os.umask(0)
    try:
        write_privately(tmp_path / "new.html", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "new.html").stat().st_mode & 0o777 == 0o600


def test_a_page_does_not_follow_links(finding, tmp_path):
    target = tmp_path / "elsewhere"
    target.write_text("kept")
    (tmp_path / "link.html").symlink_to(target)
    with pytest.raises(dp.InvalidParameter, match="cannot be written"):
        finding.save(tmp_path / "link.html")
    assert target.read_text() == "kept"


def test_made_up_findings_may_be_shown_around(tmp_path):
    finding = attack.reconstruction(8, noises=[0])
    assert str(finding).startswith(MADE_UP)
    assert HEADING not in str(finding)
    finding.save(tmp_path / "page.html")
    assert MADE_UP in (tmp_path / "page.html").read_text()


def test_no_server_and_no_session_knows_attacks():
    house = Path(dp.__file__).parent
    allowed = ("audit/", "figures/", "app/cli/attacking/", "app/cli/command_table.py")
    allowed += ("app/cli/story/attack_story.py", "app/cli/commands/demo.py")  # made-up people
    knowing = {
        path.relative_to(house).as_posix()
        for path in house.rglob("*.py")
        if re.search(r"\battacking\b|audit\.attack|audit import attack", path.read_text())
    }
    assert [path for path in sorted(knowing) if not path.startswith(allowed)] == []
    assert "app/cli/attacking/attack.py" in knowing
