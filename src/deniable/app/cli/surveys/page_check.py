"""`deniable survey check`: does a server send the page and the manifest that it should?

The page is fetched as a browser fetches it, with every script and style that it names. All of
it is compared with hashes from a poster, from a file, or from the page that this version of
Deniable makes of the manifest. Nothing that the server says about itself is believed. What this
cannot show: a server may send another page to one person than to the others.
"""

import hashlib
import json
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urljoin

import typer

import deniable as dp

if TYPE_CHECKING:
    from deniable.app.cli.surveys.web_client import WebAnswer, WebClient
    from deniable.surveys.questionnaire.manifest import Manifest

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
_STRANGE = ("set-cookie", "refresh", "link", "service-worker-allowed")  # headers


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
    from deniable.app.server.survey_pages import hash_pages

    expected = _read_expected(manifest_hash, page_hash, hashes)
    with WebClient(url) as client:
        manifest = _fetch_manifest(client, expected["manifest"])
        actual_hashes, faults = fetch_hashes(client, manifest.languages)
        own = hash_pages(manifest)
        actual_hashes["files"]["manifest.json"] = manifest.hash
        named = {*own["files"], *expected.get("files", ())} - actual_hashes["files"].keys()
        actual_hashes["files"] |= _fetch_unlinked(client, named)
    if "page" not in expected:
        expected = own
    faults += compare_hashes(expected, actual_hashes)
    for fault in faults:
        print(fault)
    if faults:
        raise typer.Exit(1)
    listed = ", ".join(sorted(filter(None, actual_hashes["files"])))
    print(f"As expected: the page, {listed}, and the policy that the browser is told.")


def fetch_hashes(
    client: "WebClient", languages: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """The hashes of what a browser would load, and what no survey's page does."""
    hashes: dict[str, Any] = {"files": {}, "policies": set()}
    links: dict[str, None] = {}
    strange: list[str] = []
    for name in ["", *(f"?language={language}" for language in languages[1:])]:
        page = _fetch(client, client.path + name)
        hashes["files"][name] = hashlib.sha256(page.body).hexdigest()
        hashes["policies"].add(page.headers.get("content-security-policy", ""))
        strange += [header for header in _STRANGE if header in page.headers]
        links |= dict.fromkeys(find_links(page.body.decode("utf-8", "replace")))
    faults = [f"The page comes with the header {header!r}." for header in sorted({*strange})]
    here = f"{client.origin}{client.path}"
    for link in links:
        target = urljoin(here, link)
        if link.startswith(_HARMLESS):
            continue
        if not target.startswith(f"{here}/"):
            faults.append(f"The page loads something from elsewhere: {link[:100]!r}.")
            continue
        body = _fetch(client, target.removeprefix(client.origin)).body
        hashes["files"][target.removeprefix(f"{here}/")] = hashlib.sha256(body).hexdigest()
    return hashes, faults


def _fetch_unlinked(client: "WebClient", names: set[str]) -> dict[str, str]:
    """The hashes of files that no page loads by itself, such as the page to be saved."""
    answers = {name: client.get(f"{client.path}/{name}") for name in sorted(names)}
    return {
        name: hashlib.sha256(answer.body).hexdigest()
        for name, answer in answers.items()
        if answer.status == 200
    }


def compare_hashes(expected: dict[str, Any], hashes: dict[str, Any]) -> list[str]:
    """What differs from what is expected, in one sentence each."""
    from deniable.app.server.survey_pages import hash_together

    files = hashes["files"]
    if "files" not in expected:
        pages = {hash_together(files, policy) for policy in hashes["policies"]}
        if pages != {expected["page"]}:
            return [f"The page is another one: its hash is {', '.join(sorted(pages))}."]
        return []
    faults = []
    if hashes["policies"] != {expected["policy"]}:
        faults.append("The page comes with another Content-Security-Policy.")
    for name in sorted({*files, *expected["files"]}):
        label = f"The page {name}".strip() if name[:1] in ("", "?") else name
        if name not in files:
            faults.append(f"{label} is missing.")
        elif name not in expected["files"]:
            faults.append(f"{label} is loaded, but does not belong to the page.")
        elif files[name] != expected["files"][name]:
            faults.append(f"{label} was changed: its hash is {files[name]}.")
    return faults


def find_links(html: str) -> list[str]:
    """What a page loads.

    >>> find_links('<script src="s/a.js"></script><a href="elsewhere">not loaded</a>')
    ['s/a.js']
    """
    reader = _LinkReader()
    reader.feed(html)
    return reader.links


def _read_expected(
    manifest_hash: str | None, page_hash: str | None, hashes: Path | None
) -> dict[str, Any]:
    if hashes is not None:
        try:
            content = json.loads(hashes.read_text(encoding="utf-8"))
            names = ("manifest", "page", "files", "policy")
            expected = {name: content[name] for name in names}
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


def _fetch_manifest(client: "WebClient", expected: str) -> "Manifest":
    from deniable.surveys.questionnaire.manifest import read_manifest

    body = _fetch(client, f"{client.path}/manifest.json").body
    digest = hashlib.sha256(body).hexdigest()
    if digest != expected:
        print(f"The manifest is another one: its hash is {digest}.")
        raise typer.Exit(1)
    return read_manifest(body)


def _fetch(client: "WebClient", path: str) -> "WebAnswer":
    answer = client.get(path)
    if answer.status != 200:
        raise dp.InvalidData(f"{path} cannot be fetched: status {answer.status}.")
    return answer


class _LinkReader(HTMLParser):
    """Collects what a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value for name, value in attrs if name in _LINKS.get(tag, ()) and value]
