"""`deniable survey check`: does a server send the page and the manifest that it should?

The page is fetched as a browser fetches it, with every script and style that it names. All of
it is compared with hashes from a poster, from a file, or from the page that this version of
Deniable makes of the manifest. Nothing that the server says about itself is believed. What this
cannot show: a server may send another page to one person than to the others.
"""

import hashlib
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urljoin

import typer

import deniable as dp

if TYPE_CHECKING:
    from deniable.app.cli.surveys.web_client import WebAnswer, WebClient

_LINKS = {  # the attributes by which a page loads something
    "script": ("src",),
    "link": ("href",),
    "img": ("src", "srcset"),
    "iframe": ("src", "srcdoc"),
    "object": ("data",),
    "embed": ("src",),
    "base": ("href",),
    "form": ("action",),
    "audio": ("src",),
    "video": ("src", "poster"),
    "source": ("src", "srcset"),
}
_HARMLESS = ("data:image/", "data:,")


def check(
    url: Annotated[str, typer.Argument(help="The survey's URL, without an invitation.")],
    manifest_hash: Annotated[
        str | None, typer.Option(help="The manifest's hash, from a poster.", metavar="HASH")
    ] = None,
    page_hash: Annotated[
        str | None, typer.Option(help="The page's hash, from a poster.", metavar="HASH")
    ] = None,
    hashes: Annotated[
        Path | None,
        typer.Option(help="A file that `serve --print-hashes` printed.", metavar="FILE"),
    ] = None,
) -> None:
    """Check from elsewhere that a server sends the page that it should; status 1 if not."""
    from deniable.app.cli.surveys.web_client import WebClient

    expected = _read_expected(manifest_hash, page_hash, hashes)
    with WebClient(url) as client:
        found, faults = fetch_hashes(client)
        manifest = _fetch(client, f"{client.path}/manifest.json").body
    faults += compare_hashes(expected, found, manifest)
    for fault in faults:
        print(fault)
    if faults:
        raise typer.Exit(1)
    named = ", ".join(name or "HTML" for name in sorted(found))
    print(f"As expected: manifest, {named}, and the policy that the browser is told.")


def fetch_hashes(client: "WebClient") -> tuple[dict[str, Any], list[str]]:
    """The hashes of what a browser would load, by name, and what no survey's page does."""
    page = _fetch(client, client.path)
    found, faults = {"": _describe(page)}, []
    reader = _LinkReader()
    reader.feed(page.body.decode("utf-8", "replace"))
    here = f"{client.origin}{client.path}"
    for link in reader.links:
        target = urljoin(here, link)
        if link.startswith(_HARMLESS):
            continue
        if not target.startswith(f"{here}/"):
            faults.append(f"The page loads something from elsewhere: {link[:100]!r}.")
            continue
        name = target.removeprefix(f"{here}/")
        found[name] = _describe(_fetch(client, target.removeprefix(client.origin)))
    return found, faults


def compare_hashes(
    expected: dict[str, Any], found: dict[str, Any], manifest: bytes
) -> list[str]:
    """What differs from what is expected, in one sentence each."""
    faults = []
    manifest_hash = hashlib.sha256(manifest).hexdigest()
    if manifest_hash != expected["manifest"]:
        return [f"The manifest is another one: its hash is {manifest_hash}."]
    files = expected.get("files")
    if files is None and "page" not in expected:
        files = _own_files(manifest)
    if files is None:
        page_hash = _hash_described(found)
        if page_hash != expected["page"]:
            faults.append(f"The page is another one: its hash is {page_hash}.")
        return faults
    for name in sorted({*files, *found}):
        shown = name or "HTML"
        if name not in found:
            faults.append(f"{shown} is missing: the page does not load it.")
        elif name not in files:
            faults.append(f"{shown} is loaded, but does not belong to the page.")
        elif found[name]["sha256"] != files[name]["sha256"]:
            faults.append(f"{shown} was changed: its hash is {found[name]['sha256']}.")
        elif files[name]["policy"] not in (None, found[name]["policy"]):
            faults.append(f"{shown} comes with another Content-Security-Policy.")
    return faults


def _read_expected(
    manifest_hash: str | None, page_hash: str | None, hashes: Path | None
) -> dict[str, Any]:
    if hashes is not None:
        try:
            content = json.loads(hashes.read_text(encoding="utf-8"))
            expected = {name: content[name] for name in ("manifest", "page", "files")}
        except (OSError, ValueError, KeyError, TypeError):
            raise dp.InvalidParameter(
                f"{hashes.name} is not what `deniable survey serve --print-hashes` prints."
            ) from None
    elif manifest_hash is None:
        raise dp.InvalidParameter(
            "Give --manifest-hash, or --hashes with a file. A hash that the server itself "
            "shows would prove nothing."
        )
    else:
        expected = {"manifest": manifest_hash.lower()}
    if page_hash is not None:
        expected = {"manifest": expected["manifest"], "page": page_hash.lower()}
    return expected


def _own_files(manifest: bytes) -> dict[str, Any]:
    """The hashes of the page that this version makes of a manifest."""
    from deniable.app.server.survey_pages import hash_pages, respondent_files
    from deniable.surveys.questionnaire.manifest import read_manifest

    read = read_manifest(manifest)
    files: dict[str, Any] = hash_pages(read, respondent_files(read))["files"]
    return files


def _fetch(client: "WebClient", path: str) -> "WebAnswer":
    answer = client.get(path)
    if answer.status != 200:
        raise dp.InvalidData(f"{path} cannot be fetched: status {answer.status}.")
    return answer


def _describe(answer: "WebAnswer") -> dict[str, str | None]:
    is_page = answer.headers.get("content-type", "").startswith("text/html")
    policy = answer.headers.get("content-security-policy") if is_page else None
    return {"sha256": hashlib.sha256(answer.body).hexdigest(), "policy": policy}


def _hash_described(described: dict[str, Any]) -> str:
    text = json.dumps(described, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class _LinkReader(HTMLParser):
    """Collects what a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value for name, value in attrs if name in _LINKS.get(tag, ()) and value]
