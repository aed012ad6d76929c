"""`deniable survey simulate --send URL`: made-up people answer through the real endpoint."""

import csv
import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

import deniable as dp
from deniable.app.cli.surveys.web_client import WebClient
from deniable.surveys.collect.collection import public_key, read_base64, write_base64
from deniable.surveys.questionnaire.manifest import Manifest, make_manifest, read_manifest
from deniable.surveys.questionnaire.questionnaire import Questionnaire

_LINK = re.compile(r"#([0-9a-f]{32})\.([0-9a-f]{64})$")


def send_simulated(
    survey: Questionnaire, people: int, url: str, invitations: Path | None
) -> None:
    """Answers for as many made-up people, each with an invitation where the survey has them.

    Only a rehearsal takes them: made-up answers among real ones could never be removed again.
    """
    with WebClient(url) as client:
        manifest = _fetch_manifest(client, survey)
        tokens = _read_tokens(manifest, people, invitations)
        simulation = dp.surveys.simulate(survey, people)
        for line, token in zip(simulation.collected.lines(), tokens, strict=False):
            report = manifest.write_report(json.loads(line)).decode("ascii")
            message: dict[str, object] = {"report": report}
            if manifest.mode == "open":
                message["number"] = secrets.token_hex(16)
            elif manifest.mode == "token":
                message["token"] = token
            elif manifest.mode == "pass":
                message["pass"] = _get_pass(client, manifest, token)
            answer = client.post(f"{client.path}/report", json.dumps(message).encode())
            if answer.status != 200:
                raise _refusal("report", answer.status)


def _fetch_manifest(client: WebClient, survey: Questionnaire) -> Manifest:
    answer = client.get(f"{client.path}/manifest.json")
    if answer.status != 200:
        raise _refusal("manifest", answer.status)
    manifest = read_manifest(answer.body)
    if not manifest.rehearsal:
        raise dp.InvalidParameter(
            "This survey is not a rehearsal. Made-up answers among real ones could never be "
            "removed again. Serve it with --rehearsal."
        )
    key = None if manifest.key is None else (int(manifest.key.n), int(manifest.key.e))
    own = make_manifest(
        survey, mode=manifest.mode, key=key, rehearsal=True, origin=manifest.origin
    )
    if own.hash != manifest.hash:
        raise dp.InvalidParameter(
            "The server's manifest is not the one of this questionnaire. Give the file that "
            "is being served."
        )
    return manifest


def _read_tokens(manifest: Manifest, people: int, invitations: Path | None) -> Iterator[str]:
    if manifest.mode == "open":
        return iter([""] * people)
    if invitations is None:
        raise dp.InvalidParameter(
            "People of this survey need invitations. Make some with `deniable survey invite "
            "--rehearsal`, and give the file as --invitations."
        )
    with invitations.open(encoding="utf-8", newline="") as file:
        matches = [_LINK.search(row["link"]) for row in csv.DictReader(file)]
    tokens = [each[1] for each in matches if each and each[2] == manifest.hash]
    if len(tokens) < people:
        raise dp.InvalidParameter(
            f"{people} people need as many invitations to this survey. {invitations.name} has "
            f"{len(tokens)}."
        )
    return iter(tokens)


def _get_pass(client: WebClient, manifest: Manifest, token: str) -> dict[str, str]:
    key = public_key(manifest)
    waiting = key.blind()
    request = {"token": token, "blinded": write_base64(waiting.blinded)}
    answer = client.post(f"{client.path}/exchange", json.dumps(request).encode())
    if answer.status != 200:
        raise _refusal("invitation", answer.status)
    ticket = key.finish(waiting, read_base64(json.loads(answer.body)["signature"]))
    parts = {"number": ticket.number, "randomizer": ticket.randomizer}
    parts["signature"] = ticket.signature
    return {name: write_base64(part) for name, part in parts.items()}


def _refusal(what: str, status: int) -> dp.DeniableError:
    why = {403: "unknown or used already", 410: "closed", 429: "too many from this address"}
    return dp.InvalidData(
        f"The server refused a {what} ({why.get(status, f'status {status}')})."
    )
