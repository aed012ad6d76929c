"""One survey that is being taken: its manifest, its passes, and the store of its reports.

Everything stands in one folder next to the questionnaire. The manifest is written there once
and never changes: a changed questionnaire is another survey. The folder may be backed up,
except for `never-back-up`, which holds the key of reports that wait, unless that has another
place.
"""

import base64
import datetime
import hashlib
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeGuard

from deniable.errors import InvalidData, InvalidParameter, InvitationRefused
from deniable.exact.foreign_text import read_json
from deniable.surveys.collect.fixed_places import fix_sealing_key, fix_store
from deniable.surveys.collect.passes.blind_signatures import BlindPass, PublicPassKey
from deniable.surveys.collect.passes.pass_keys import SecretPassKey
from deniable.surveys.collect.passes.signer import PassSigner
from deniable.surveys.collect.private_files import read_private, write_once
from deniable.surveys.collect.store.report_store import (
    ClosingTotals,
    ReportStore,
    hash_token,
)
from deniable.surveys.questionnaire.manifest import (
    Manifest,
    Mode,
    make_manifest,
    read_manifest,
)
from deniable.surveys.questionnaire.questionnaire import Questionnaire

_TOKEN = re.compile("[0-9a-f]{32}")
_BASE64 = re.compile("[A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class CollectionChoices:
    """What is fixed when a survey begins. None: as it was fixed, or else as usual."""

    mode: Mode | None = None
    origin: str | None = None
    rehearsal: bool = False
    store: str | None = None
    sealing_key: Path | None = None


class SurveyCollection:
    """A survey that people can take. It takes reports and gives batches, without any HTTP.

    >>> import json, tempfile
    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=1\\n[[questions]]\\nid="a"\\nkind="yes-no"\\ntext="?"'
    ... )
    >>> folder = Path(tempfile.mkdtemp())
    >>> collection = SurveyCollection(survey, folder / "s", CollectionChoices(mode="open"))
    >>> report = collection.manifest.write_report({"a": 1}).decode()
    >>> message = {"report": report, "number": secrets.token_hex(16)}
    >>> collection.receive(json.dumps(message).encode())  # no batch is due
    False
    >>> collection.store.close_survey()
    >>> len(collection.store.batches()[0].bodies)
    1
    >>> collection.close()
    """

    def __init__(
        self,
        survey: Questionnaire | None,
        folder: Path,
        choices: CollectionChoices | None = None,
        *,
        check: Callable[[Manifest], object] | None = None,
    ) -> None:
        """`survey` None: one that has begun, by its manifest alone, to close or to read it.

        `check` sees the manifest of a new survey before it is fixed, and may refuse it.
        """
        choices = choices or CollectionChoices()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        secret = None
        if survey is None:
            self.manifest = read_manifest((folder / "manifest.json").read_bytes())
        else:
            if _mode(survey, choices, folder) == "pass":
                secret = SecretPassKey.read_or_create(folder / "pass.key")
            self.manifest = _fix_manifest(survey, folder, choices, secret, check)
        self.folder = folder
        self._signer = None if secret is None else PassSigner(secret)
        where = fix_store(folder, choices.store)
        key_file = fix_sealing_key(folder, choices.sealing_key)
        self.store = ReportStore(where, key_file, self.manifest.hash)

    @cached_property
    def results_secret(self) -> str:
        """The secret part of the link to the results, for the pollster."""
        file = self.folder / "results.link"
        if not file.exists():
            write_once(file, secrets.token_urlsafe(32).encode())
        return read_private(file).decode("ascii")

    def invite(self, people: int) -> list[str]:
        """New tokens, one for each person. They are shown once: the store keeps hashes only."""
        if self.manifest.mode == "open":
            raise InvalidParameter(
                "This survey has an open link: nobody needs an invitation. Begin it with "
                "--mode pass."
            )
        tokens = [secrets.token_bytes(16) for _ in range(people)]
        self.store.invite(tokens)
        return [token.hex() for token in tokens]

    def exchange(self, body: bytes) -> str:
        """The signature of a blinded pass, in base64, for the token of an invitation."""
        if self._signer is None:
            raise InvitationRefused("This survey has no passes.")
        content = _read_object(body, {"token", "blinded"})
        token, blinded = _read_token(content["token"]), read_base64(content["blinded"])
        self.close_in_time()
        self._signer.check(blinded)
        return write_base64(self.store.exchange(token, blinded, self._signer.sign))

    def receive(self, body: bytes) -> bool:
        """Takes one report as a page sends it; whether a batch is due.

        A pass that was spent changes nothing, and is answered like any other, whatever it
        carries. A report that no device could send is refused, and its pass stays good.
        """
        name = "number" if self.manifest.mode == "open" else self.manifest.mode
        content = _read_object(body, {"report", name})
        spend = self._read_credential(content)
        if self.store.is_spent(spend):
            return False
        self.close_in_time()
        if not isinstance(content["report"], str):
            raise InvalidData("The report is refused: it is not a text.")
        report = content["report"].encode("utf-8", "replace")
        self.manifest.read_report(report)
        return self.store.accept(report, spend=spend)

    def close(self) -> None:
        """Ends the process that signs, and closes the store. The survey goes on."""
        if self._signer is not None:
            self._signer.close()
        self.store.close()

    def totals(self) -> ClosingTotals:
        """What is published at closing. Spent tokens are counted and not listed: anyone who has
        the invitations would know who answered."""
        return self.store.totals(listed=self.manifest.mode == "pass")

    def _read_credential(self, content: dict[str, Any]) -> bytes:
        """The hash of what lets a report in once: a pass, a token, or a number that the device
        drew, so that a report which is sent twice through an open link counts once."""
        if self.manifest.mode == "open":
            if not _is_token(content["number"]):
                raise InvalidData("The number of a report has 32 hexadecimal digits.")
            return hashlib.sha256(b"deniable report\0" + content["number"].encode()).digest()
        if self.manifest.mode == "token":
            token = _read_token(content["token"])
            if not self.store.is_invited(token):
                raise InvitationRefused(
                    "This invitation is unknown. Was the link copied whole?"
                )
            return hash_token(token)
        ticket = _read_pass(content["pass"])
        if not public_key(self.manifest).is_valid(ticket):
            raise InvitationRefused("This pass is not valid for this survey.")
        return ticket.hash

    def close_in_time(self) -> None:
        """Closes the survey when the day that its manifest fixes is over, everywhere."""
        if self.manifest.closes is not None and not self.store.is_closed:
            last = datetime.date.fromisoformat(self.manifest.closes)
            westernmost = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=12)
            if westernmost.date() > last:
                self.store.close_survey()


def public_key(manifest: Manifest) -> PublicPassKey:
    """The key that checks the passes of a survey."""
    if manifest.key is None:
        raise InvalidData("This survey has no passes.")
    return PublicPassKey(int(manifest.key.n), int(manifest.key.e))


def write_base64(data: bytes) -> str:
    """Base64 for URLs, without padding.

    >>> write_base64(b"\\xff\\xfe")
    '__4'
    """
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def read_base64(text: object) -> bytes:
    """The bytes of base64 for URLs.

    >>> read_base64("__4")
    b'\\xff\\xfe'
    """
    if not isinstance(text, str) or not _BASE64.fullmatch(text) or len(text) % 4 == 1:
        raise InvalidData("A part of the message is not base64 for URLs.")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _is_token(text: object) -> TypeGuard[str]:
    return isinstance(text, str) and _TOKEN.fullmatch(text) is not None


def _read_token(text: object) -> bytes:
    if not _is_token(text):
        raise InvitationRefused("This is not an invitation. Was the link copied whole?")
    return bytes.fromhex(text)


def _read_pass(content: object) -> BlindPass:
    if not isinstance(content, dict) or set(content) != {"number", "randomizer", "signature"}:
        raise InvalidData("A pass has a number, a randomizer and a signature.")
    return BlindPass(**{name: read_base64(text) for name, text in content.items()})


def _read_object(body: bytes, names: set[str]) -> dict[str, Any]:
    try:
        content = read_json(body)
    except ValueError:
        raise InvalidData("The message is not JSON.") from None
    if not isinstance(content, dict) or set(content) != names:
        raise InvalidData(f"The message must hold {' and '.join(sorted(names))}.")
    return content


def _mode(survey: Questionnaire, choices: CollectionChoices, folder: Path) -> Mode:
    """How people are let in: as it was fixed, as is asked for, or as the questionnaire says."""
    file = folder / "manifest.json"
    return (
        read_manifest(file.read_bytes()).mode if file.exists() else choices.mode or survey.mode
    )


def _fix_manifest(
    survey: Questionnaire,
    folder: Path,
    choices: CollectionChoices,
    secret: SecretPassKey | None,
    check: Callable[[Manifest], object] | None,
) -> Manifest:
    """The manifest, which is written when the survey begins. Refuses to change it later.

    Sentences that Deniable itself writes may change with its version: people keep those that
    the survey began with.
    """
    file = folder / "manifest.json"
    key = None if secret is None else (secret.public.n, secret.public.e)
    if not file.exists():
        manifest = make_manifest(
            survey,
            mode=choices.mode,
            key=key,
            rehearsal=choices.rehearsal,
            origin=choices.origin,
        )
        if check is not None:
            check(manifest)
        write_once(file, manifest.canonical())
    fixed = read_manifest(file.read_bytes())
    again = make_manifest(
        survey,
        mode=fixed.mode,
        key=key,
        rehearsal=choices.rehearsal,
        origin=choices.origin or fixed.origin,
    )
    if _decided(again) != _decided(fixed) or choices.mode not in (None, fixed.mode):
        raise InvalidParameter(
            f"The survey in {folder.name!r} has begun with another questionnaire, mode, origin "
            "or pass key. What people were promised cannot change. Restore it, or begin "
            "another survey: rename the folder, and the `id` of the questionnaire."
        )
    return fixed


def _decided(manifest: Manifest) -> dict[str, Any]:
    """What the questionnaire decides: everything but the sentences that are made from it."""
    content = manifest.model_dump()
    for question in content["questions"]:
        del question["promise"]
    return content
