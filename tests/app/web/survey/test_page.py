import hashlib
import re
import tomllib
from base64 import b64encode
from pathlib import Path

import pytest

from deniable.app.cli.commands.survey import DRAFT
from deniable.app.web.survey.page import (
    SCRIPTS,
    STYLES,
    build_page,
    content_policy,
    hash_files,
    page_files,
    page_headers,
    read_file,
)
from deniable.errors import InvalidParameter
from deniable.surveys import loads, make_manifest
from tests.app.web.survey.surveys_to_take import ALL_KINDS, DOPED, manifest_of

ORIGIN = "https://survey.example"


def test_scripts_and_pages_are_small():
    """What a respondent can read, and what a slow phone must load."""
    sizes = {name: len(read_file(name)) for name in (*SCRIPTS, *STYLES)}
    assert sizes["coins.js"] + sizes["passes.js"] <= 10_000
    assert sum(sizes[name] for name in SCRIPTS) <= 25_000
    draft = make_manifest(loads(DRAFT))
    assert len(build_page(draft)) + sum(sizes.values()) <= 60_000
    assert len(build_page(draft, origin=ORIGIN, saved=True)) <= 60_000


def test_the_same_manifest_gives_the_same_bytes():
    manifest = manifest_of(ALL_KINDS)
    assert build_page(manifest) == build_page(manifest, language="en")
    assert build_page(manifest) != build_page(manifest_of())


def test_scripts_come_with_their_hashes():
    text = build_page(manifest_of()).decode()
    for name in (*SCRIPTS, *STYLES):
        digest = b64encode(hashlib.sha384(read_file(name)).digest()).decode()
        assert f'"doping/{name}" integrity="sha384-{digest}"' in text


def test_a_saved_file_holds_its_scripts_and_names_them_in_its_policy():
    text = build_page(manifest_of(), origin=ORIGIN, saved=True).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    inline = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(inline) == len(SCRIPTS)
    for script in inline:
        digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"&#x27;sha256-{digest}&#x27;" in policy
    assert f"connect-src {ORIGIN}" in policy
    assert "self" not in policy
    assert f'data-address="{ORIGIN}/s/doping"' in text
    assert " src=" not in text
    assert 'rel="stylesheet"' not in text


def test_the_policy_forbids_all_that_is_not_needed():
    policy = content_policy()
    assert policy.startswith("default-src 'none'; ")
    assert "'unsafe" not in policy
    for part in (
        "form-action 'none'",
        "base-uri 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "trusted-types 'none'",
        "require-trusted-types-for 'script'",
    ):
        assert part in policy.split("; ")
    headers = page_headers()
    assert headers["Content-Security-Policy"] == f"{policy}; frame-ancestors 'none'"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("saved", [False, True])
def test_the_page_names_no_other_address(saved):
    text = build_page(manifest_of(ALL_KINDS), origin=ORIGIN, saved=saved).decode()
    addresses = set(re.findall(r"https?://[^\s\"'<;]*", text))
    assert addresses <= ({ORIGIN, f"{ORIGIN}/s/doping"} if saved else set())
    for name in (*SCRIPTS, *STYLES):
        assert "://" not in read_file(name).decode()


def test_scripts_use_nothing_that_lasts_or_guesses():
    """No cookie, no other random numbers, no markup, no eval."""
    for name in SCRIPTS:
        text = read_file(name).decode()
        for word in ("Math.random", "document.cookie", "innerHTML", "eval(", "new Function"):
            assert word not in text
    assert "crypto" not in read_file("report.js").decode()


def test_what_no_page_can_be_built_from():
    with pytest.raises(InvalidParameter, match="a language of this survey: en"):
        build_page(manifest_of(), language="de")
    with pytest.raises(InvalidParameter, match="needs `origin`"):
        build_page(manifest_of(), saved=True)
    birthday = DOPED.replace("prefer_not_to_say = true", 'design = { crosswise = "1/4" }')
    with pytest.raises(InvalidParameter, match="doped: crosswise"):
        build_page(manifest_of(birthday))
    with pytest.raises(InvalidParameter, match="no file"):
        read_file("page.py")


def test_a_rehearsal_is_marked():
    assert b"REHEARSAL" in build_page(manifest_of(rehearsal=True))
    assert b'<p class="rehearsal">' not in build_page(manifest_of())


def test_hashes_of_everything_that_a_browser_gets():
    manifest = manifest_of()
    hashes = hash_files(manifest)
    assert hashes.keys() == {"", "manifest.json", *SCRIPTS, *STYLES}
    assert hashes["manifest.json"] == manifest.hash
    assert hashes[""] == hashlib.sha256(build_page(manifest)).hexdigest()
    assert hashes["coins.js"] == hashlib.sha256(read_file("coins.js")).hexdigest()


def test_a_page_with_an_origin_can_be_saved():
    manifest = manifest_of(origin=ORIGIN)
    file, kind = page_files(manifest)["saved.html"]
    assert file == build_page(manifest, saved=True)
    assert kind == "text/html; charset=utf-8"
    assert b'href="doping/saved.html" download>' in build_page(manifest)
    assert b"saved.html" not in build_page(manifest_of())
    assert b"saved.html" not in file


def test_four_languages_have_a_page():
    text = (Path(__file__).parent / "four_languages.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["languages"] == ["en", "de", "fr", "es"]
    manifest = make_manifest(loads(text))
    begins = ("Begin", "Beginnen", "Commencer", "Empezar")
    for language, word in zip(manifest.languages, begins, strict=True):
        page = build_page(manifest, language=language).decode()
        assert f'<html lang="{language}" dir="ltr"' in page
        assert f">{word}</button>" in page
        assert "{" not in re.sub(r"<script.*</script>", "", page, flags=re.DOTALL)
