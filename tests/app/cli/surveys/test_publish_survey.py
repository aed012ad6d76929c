import json

from deniable.surveys.questionnaire.manifest import read_manifest


def test_page_manifest_and_hashes(run, folder):
    options = ["--origin", "https://survey.example.org", "--out", "public"]
    status, said, _ = run("survey", "publish", "s.toml", *options)
    assert status == 0
    public = folder / "public"
    assert {file.name for file in public.iterdir()} == {
        "page.html",
        "manifest.json",
        "hashes.json",
    }
    manifest = read_manifest((public / "manifest.json").read_bytes())
    hashes = json.loads((public / "hashes.json").read_text())
    assert hashes["manifest"] == manifest.hash
    assert hashes["page"] in said
    assert "connect-src https://survey.example.org" in (public / "page.html").read_text()


def test_a_saved_page_needs_an_origin(run, folder):
    status, _, problem = run("survey", "publish", "s.toml", "--out", "public")
    assert status == 2
    assert "--origin" in problem
    assert not (folder / "public").exists()
