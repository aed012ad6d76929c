import csv
import re

import pytest

from deniable.surveys.questionnaire.manifest import read_manifest

ORIGIN = ["--origin", "https://survey.example.org"]


def rows(file):
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_links_with_tokens_in_the_fragment(run, folder):
    status, said, _ = run(
        "survey", "invite", "s.toml", "--people", "4", "--out", "i.csv", *ORIGIN
    )
    assert status == 0
    assert "4 invitations" in said
    manifest = read_manifest((folder / "s.collected" / "manifest.json").read_bytes())
    assert manifest.mode == "pass"
    invitations = rows(folder / "i.csv")
    form = re.compile(r"https://survey\.example\.org/s/s#([0-9a-f]{32})\.([0-9a-f]{64})")
    matches = [form.fullmatch(row["link"]) for row in invitations]
    assert len({each[1] for each in matches}) == 4
    assert {each[2] for each in matches} == {manifest.hash}
    assert all(row["qr_svg"].startswith("data:image/svg+xml") for row in invitations)
    assert (folder / "i.csv").stat().st_mode & 0o777 == 0o600


def test_qr_codes_as_files(run, folder):
    (folder / "codes").mkdir(mode=0o755)
    (folder / "codes" / "000001.png").write_bytes(b"of another survey")
    words = ["--people", "2", "--out", "i.csv", "--qr-codes", "codes", *ORIGIN]
    assert run("survey", "invite", "s.toml", *words)[0] == 0
    for row in rows(folder / "i.csv"):
        assert (folder / row["qr_file"]).read_bytes().startswith(b"\x89PNG")
        assert (folder / row["qr_file"]).stat().st_mode & 0o777 == 0o600


def test_a_file_is_not_overwritten_and_nobody_is_invited(run, folder):
    (folder / "i.csv").write_text("mine")
    status, _, problem = run(
        "survey", "invite", "s.toml", "--people", "2", "--out", "i.csv", *ORIGIN
    )
    assert status == 2
    assert "exists already" in problem
    assert not (folder / "s.collected").exists()


@pytest.mark.parametrize(
    ("options", "words"), [([], "needs --origin"), ([*ORIGIN, "--mode", "open"], "open link")]
)
def test_what_cannot_invite(run, options, words):
    status, _, problem = run(
        "survey", "invite", "s.toml", "--people", "2", "--out", "i.csv", *options
    )
    assert status == 2
    assert words in problem


def test_more_can_be_invited_later_to_the_same_survey(run, folder):
    first = ["--people", "2", "--out", "i.csv", *ORIGIN]
    assert run("survey", "invite", "s.toml", *first)[0] == 0
    assert run("survey", "invite", "s.toml", "--people", "3", "--out", "j.csv")[0] == 0
    said = run("survey", "close", "s.toml")[1]
    assert "Given out: 5 invitations" in said
