import hashlib
import json

import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.surveys import loads, make_manifest, read_manifest, simulate

HEAD = """
id = "s"
title = "T <script>"
who = "We"
why = "To know"
epsilon = 12
"""
QUESTIONS = """
[[questions]]
id = "a"
kind = "yes-no"
text = "A & B?"
design = "two-coins"
[[questions]]
id = "b"
kind = "single-choice"
text = "B?"
options = ["x", "y", "z"]
prefer_not_to_say = true
[[questions]]
id = "c"
kind = "single-choice"
text = "C?"
options = ["o0", "o1", "o2", "o3", "o4", "o5", "o6", "o7", "o8", "o9", "o10", "o11", "o12"]
epsilon = 1
[[questions]]
id = "d"
kind = "multiple-choice"
text = "D?"
options = ["x", "y"]
prefer_not_to_say = true
[[questions]]
id = "e"
kind = "scale"
text = "E?"
points = 5
[[questions]]
id = "f"
kind = "number"
text = "F?"
low = 0
high = 10
step = 0.5
prefer_not_to_say = true
[[questions]]
id = "g"
kind = "yes-no"
private = false
text = "G?"
[[questions]]
id = "h"
kind = "number"
private = false
text = "H?"
low = 1
high = 9
step = 0.25
"""
ONE_EACH = 'collection = "one-question-each"\n'
KEY = (1 << 2047) + 1, 65537


def manifest_of(text=QUESTIONS, head="", **more):
    return make_manifest(loads(HEAD + head + text), **more)


def test_the_hash_is_that_of_the_canonical_text():
    manifest = manifest_of()
    text = manifest.canonical()
    assert manifest.hash == hashlib.sha256(text).hexdigest()
    assert text.isascii()
    assert not {*b"<>&"} & {*text}
    assert json.loads(text)["title"] == {"en": "T <script>"}


def test_what_it_says():
    content = json.loads(manifest_of(rehearsal=True, origin="https://a.example").canonical())
    assert content["format"] == 1
    assert content["epsilon"] == "12"
    assert content["rehearsal"] is True
    coins, number = content["questions"][0], content["questions"][5]
    assert coins["channel"] == {"table": [["3", "1"], ["1", "3"]]}
    assert coins["paper"] == "two-coins"
    assert coins["epsilon"] == "1098612288669/1000000000000"
    assert coins["promise"]["en"].startswith("Of 100 people whose true answer is yes, 75")
    assert number["channel"]["dither"] == "20"
    assert content["questions"][6]["channel"] is None


def test_a_change_makes_another_manifest():
    plain = manifest_of()
    others = [
        manifest_of(rehearsal=True),
        manifest_of(QUESTIONS.replace("A & B?", "A?")),
        manifest_of(QUESTIONS.replace('"two-coins"', '"die"')),
        manifest_of(head="closes = 2030-01-01\n"),
        manifest_of(head="planned_people = 100\n"),
        manifest_of(head='words = { page_begin = "Go" }\n'),
        manifest_of(mode="token"),
    ]
    assert len({plain.hash, *(other.hash for other in others)}) == 8
    assert manifest_of().hash == plain.hash


@pytest.mark.parametrize("head", ["", ONE_EACH])
def test_it_is_read_again_and_so_are_its_reports(head):
    survey = loads(HEAD + head + QUESTIONS)
    manifest = make_manifest(survey)
    assert read_manifest(manifest.canonical()) == manifest
    lengths = set()
    for line in simulate(survey, 40).collected.lines():
        row = json.loads(line)
        body = manifest.write_report(row)
        lengths.add(len(body))
        report = manifest.read_report(body)
        assert report.pop("h") == pytest.approx(row.pop("h"), abs=0.126)  # on the grid
        assert report == row
    assert lengths == {manifest.report_length}


def test_a_report_answers_what_was_asked():
    every = manifest_of()
    with pytest.raises(InvalidData, match="b is missing"):
        every.write_report({"a": 1})
    with pytest.raises(InvalidData, match="one private question"):
        manifest_of(head=ONE_EACH).write_report({"a": 1, "b": 0})
    with pytest.raises(InvalidData, match="one private question"):
        manifest_of(head=ONE_EACH).write_report({"g": 1})


CONDITION = """
[[questions]]
id = "g"
kind = "yes-no"
private = false
text = "G?"
[[questions]]
id = "a"
kind = "yes-no"
text = "A?"
ask_if = { question = "g", answer = "yes" }
"""


def test_a_condition_on_a_public_answer():
    manifest = manifest_of(CONDITION)
    assert manifest.write_report({"g": 1, "a": 0})
    assert manifest.write_report({"g": 0})
    with pytest.raises(InvalidData, match="a was not asked"):
        manifest.write_report({"g": 0, "a": 1})
    with pytest.raises(InvalidData, match="a is missing"):
        manifest.write_report({"g": 1})


@pytest.mark.parametrize(
    ("text", "head", "more", "told"),
    [
        (QUESTIONS, "", {"mode": "pass"}, "need a key"),
        (QUESTIONS, "", {"key": KEY}, "need a key"),
        (QUESTIONS, "", {"mode": "pass", "key": (15, 3)}, "key"),
        (QUESTIONS, "", {"mode": "pass", "key": (KEY[0], 4)}, "odd"),
        (QUESTIONS, "", {"mode": "pass", "key": (1 << 2050, 3)}, "whole bytes"),
        (QUESTIONS, "", {"origin": "https://a.example/path"}, "origin"),
        (QUESTIONS, "", {"origin": "https://a.example; script-src *"}, "origin"),
        (QUESTIONS, "kiosk = true\n", {"mode": "token"}, "kiosk"),
        (CONDITION, ONE_EACH, {}, "cannot be drawn"),
        (CONDITION.replace('"yes" }', '"maybe" }'), "", {}, "no answer 'maybe'"),
        (CONDITION.replace("private = false\n", ""), "", {}, "public question"),
        (QUESTIONS.split("[[questions]]")[7].join(["[[questions]]", ""]), "", {}, "private"),
        ('[[questions]]\nid = "t"\nkind = "text"\ntext = "?"\n', "", {}, "free text"),
    ],
)
def test_what_has_no_manifest(text, head, more, told):
    with pytest.raises(InvalidParameter, match=told):
        manifest_of(text, head, **more)


def test_a_key_for_blind_passes():
    assert manifest_of(mode="pass", key=KEY).key.e == "65537"


def rewritten(change):
    content = json.loads(manifest_of().canonical())
    change(content)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    for sign, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(sign, code)
    return text.encode()


def cheapen(content):
    content["questions"][0]["channel"] = {"table": [["4", "1"], ["1", "4"]]}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (cheapen, "costs more than stated"),
        (lambda c: c.update(epsilon="3"), "more than the epsilon of one person"),
        (lambda c: c["questions"][1].update(channel=c["questions"][0]["channel"]), "fit"),
        (lambda c: c["questions"][5]["channel"].update(dither="21"), "fit"),
        (lambda c: c["questions"][0].update(channel=None), "channel"),
        (lambda c: c["questions"][6].update(channel={"table": [["1", "1"]]}), "channel"),
        (lambda c: c["questions"][0].update(kind="text"), "free text"),
        (lambda c: c["questions"][1].update(id="a"), "same id"),
        (lambda c: c["languages"].append("de"), "language"),
        (lambda c: c["questions"][0].update(design="die"), "design"),
        (lambda c: c["questions"][0].update(design="roulette"), "design"),
        (lambda c: c["questions"][0].update(design="crosswise"), "design"),
        (lambda c: c["questions"][0].update(device=False), "design"),
        (lambda c: c["questions"][1].update(design="two-coins"), "design"),
        (lambda c: c["questions"][0].update(paper="spinner"), "paper"),
        (lambda c: c["questions"][0].update(paper=None), "paper"),
        (lambda c: c["questions"][2].update(paper="two-dice"), "paper"),
        (lambda c: c["questions"][0].update(promise=None), "promise"),
        (lambda c: c["questions"][0].update(promise={"fr": "Rien."}), "promise"),
        (lambda c: c["questions"][7].update(step="3"), "`step` must divide"),
        (lambda c: c["questions"][7].update(step="0"), "`step` must divide"),
        (lambda c: c["questions"][7].update(high="1"), "`step` must divide"),
        (lambda c: c["questions"][7].update(high=None), "a number has"),
        (lambda c: c["questions"][7].update(step="x"), "rational|number"),
        (lambda c: c.update(format=2), "format"),
        (lambda c: c.update(more=1), "more"),
        (lambda c: c.update(kiosk="no"), "kiosk"),
    ],
)
def test_a_manifest_that_keeps_less_than_it_promises_is_refused(change, told):
    with pytest.raises(InvalidData, match=told):
        read_manifest(rewritten(change))


def test_only_canonical_bytes_are_read():
    good = manifest_of().canonical()
    assert read_manifest(rewritten(lambda content: None)).canonical() == good
    for bad in (good + b" ", b" " + good, good.replace(b'":', b'": ', 1)):
        with pytest.raises(InvalidData, match="canonical"):
            read_manifest(bad)
    for bad in (b"", b"{", b"\xff", b'{"a":NaN}', good[:-1]):
        with pytest.raises(InvalidData, match="not JSON"):
            read_manifest(bad)


def test_limits_come_before_parsing():
    for bad in (b" " * 256_001, b"[" * 13 + b"]" * 13):
        with pytest.raises(InvalidData, match="too long, or nests"):
            read_manifest(bad)
