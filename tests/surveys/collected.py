"""A survey with every kind of question, and batches of reports from made-up people."""

import json

from deniable.surveys import loads, simulate
from deniable.surveys.questionnaire.manifest import make_manifest

EVERY_KIND = """
id = "training"
title = "Training"
epsilon = 8
planned_people = 400
[[questions]]
id = "doping"
kind = "yes-no"
text = "Doped?"
design = "two-coins"
expected = [0.7, 0.3]
[[questions]]
id = "offer"
kind = "single-choice"
text = "Who offered it?"
options = ["a coach", "=cmd()", "<b>someone"]
prefer_not_to_say = true
[[questions]]
id = "pressure"
kind = "scale"
text = "Pressure?"
points = 5
[[questions]]
id = "means"
kind = "multiple-choice"
text = "Which?"
options = ["pills", "injections"]
[[questions]]
id = "hours"
kind = "number"
text = "Hours?"
low = 0
high = 30
prefer_not_to_say = true
[[questions]]
id = "weight"
kind = "number"
text = "Weight?"
low = 40
high = 120
[[questions]]
id = "age"
kind = "single-choice"
text = "Age?"
private = false
options = ["under 25", "25 or more"]
"""
ONE_QUESTION = """
id = "one"
title = "One question"
epsilon = 1.1
planned_people = 1000
[[questions]]
id = "doping"
kind = "yes-no"
text = "Doped?"
design = "two-coins"
"""


def manifest_of(text, **more):
    return make_manifest(loads(text), **more)


def simulated(text, people, *, batch=50, **more):
    """The manifest, and batches of made-up people: one batch a day."""
    survey = loads(text)
    manifest = make_manifest(survey, **more)
    lines = simulate(survey, people).collected.lines()
    bodies = [manifest.write_report(json.loads(line)) for line in lines]
    batches = [
        (f"2026-11-{1 + start // batch:02}", bodies[start : start + batch])
        for start in range(0, people, batch)
    ]
    return manifest, batches


def answered(manifest, yes, no, day="2026-11-17"):
    """One batch of a survey with one question."""
    sent = [manifest.write_report({"doping": answer}) for answer in (1, 0)]
    return day, [sent[0]] * yes + [sent[1]] * no
