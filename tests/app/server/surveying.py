"""Surveys for the tests of the server: sixteen answers make every report unique."""

import json
import secrets

from deniable.app.server.application import make_application
from deniable.app.server.survey_routes import PageFile, SurveyPages, survey_router
from deniable.surveys.collect.collection import (
    CollectionChoices,
    SurveyCollection,
    public_key,
    write_base64,
)
from deniable.surveys.collect.passes.pass_keys import SecretPassKey
from deniable.surveys.questionnaire.questionnaire import loads

QUESTIONS = 16
TEXT = 'id = "s"\ntitle = "Test"\nwho = "A club"\nwhy = "To test"\nepsilon = 16\n' + "".join(
    f'[[questions]]\nid = "q{i}"\nkind = "yes-no"\ntext = "Question {i}?"\n'
    for i in range(QUESTIONS)
)


def results(batches):
    count = sum(len(batch.bodies) for batch in batches)
    page = PageFile(f"results of {count}".encode(), "text/html")
    return {"": page, "results.csv": PageFile(b"x,y", "text/plain")}


PAGES = SurveyPages(
    {
        "": PageFile(b"<script src=s/a.js></script>", "text/html"),
        "?language=de": PageFile(b"<html lang=de>", "text/html"),
        "a.js": PageFile(b"'use strict';", "text/javascript"),
    },
    {"Content-Security-Policy": "script-src 'self'"},
    lambda manifest, batches, closed: results(batches),
    {"Content-Security-Policy": "img-src data:"},
)


def open_survey(folder, mode, *, text=TEXT, **choices):
    return SurveyCollection(
        loads(text), folder / "survey", CollectionChoices(mode=mode, **choices)
    )


def application(collection, *, reports_per_hour=10**6):
    router = survey_router(collection, PAGES, reports_per_hour=reports_per_hour)
    return make_application(router, https=False)


def report(manifest, number):
    """A report that no other number has."""
    bits = {f"q{i}": number >> i & 1 for i in range(QUESTIONS)}
    return manifest.write_report(bits).decode()


def number_of(manifest, body):
    return sum(bit << int(name[1:]) for name, bit in manifest.read_report(body).items())


def blind(collection):
    """A blinded pass, and how it is asked for."""
    return public_key(collection.manifest).blind()


def exchange_body(token, waiting):
    return json.dumps({"token": token, "blinded": write_base64(waiting.blinded)})


def pass_of(ticket):
    return {
        name: write_base64(getattr(ticket, name))
        for name in ("number", "randomizer", "signature")
    }


def make_pass(collection, secret=None):
    """A pass as the page would send it, signed here."""
    secret = secret or SecretPassKey.read_or_create(collection.folder / "pass.key")
    waiting = secret.public.blind()
    return pass_of(secret.public.finish(waiting, secret.sign(waiting.blinded)))


def report_body(collection, number, **credential):
    if collection.manifest.mode == "open":
        credential = {"number": token()} | credential
    return json.dumps({"report": report(collection.manifest, number), **credential})


def collected(collection):
    """The numbers of all reports, when the survey has closed."""
    collection.store.close_survey()
    return sorted(
        number_of(collection.manifest, body)
        for batch in collection.store.batches()
        for body in batch.bodies
    )


def token():
    return secrets.token_hex(16)
