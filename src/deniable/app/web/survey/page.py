"""Builds the page of a survey: served with its files, or saved as one HTML file.

The page makes no request but to the survey's own origin. Its policy allows no inline script and
no markup made by scripts. A saved file holds its scripts, and its policy names their hashes and
the one address that it may send to.
"""

import hashlib
from base64 import b64encode
from functools import cache
from importlib.resources import files

from deniable.app.web.survey.html_elements import Html, element, join, raw_script
from deniable.app.web.survey.page_sections import PageSections
from deniable.errors import InvalidParameter
from deniable.surveys.questionnaire.manifest import Manifest
from deniable.surveys.questionnaire.phrases import Phrases

SCRIPTS = ("coins.js", "passes.js", "report.js", "page.js")
STYLES = ("page.css",)
CONTENT_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
}
_RIGHT_TO_LEFT = {"ar", "arc", "ckb", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"}
_ALWAYS = {
    "default-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "img-src": "data:",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}


def build_page(
    manifest: Manifest,
    *,
    language: str | None = None,
    origin: str | None = None,
    saved: bool = False,
) -> bytes:
    """The page as bytes. The same arguments give the same bytes, so that anyone can check them.

    `origin` is where a saved file sends its report, such as https://survey.example.
    """
    page_language = language or manifest.languages[0]
    if page_language not in manifest.languages:
        raise InvalidParameter(
            f"`language` must be a language of this survey: {', '.join(manifest.languages)}. "
            f"Found {page_language!r}."
        )
    absent = [question.id for question in manifest.private if not question.device]
    if absent:
        raise InvalidParameter(
            f"{', '.join(absent)}: crosswise and unrelated questions are for paper. A page "
            "needs a design that a device draws, such as two-coins."
        )
    target = origin or manifest.origin
    if saved and target is None:
        raise InvalidParameter("A saved page needs `origin`: where it sends the report.")
    page = element(
        "html",
        _head(manifest, page_language, target if saved else None),
        element(
            "body",
            _header(manifest, page_language, saved=saved),
            _body(manifest, page_language, saved),
        ),
        lang=page_language,
        dir="rtl" if is_right_to_left(page_language) else "ltr",
        data_hash=manifest.hash,
        data_address=f"{target}/s/{manifest.survey}" if saved else manifest.survey,
    )
    return f"<!doctype html>\n{page}\n".encode()


def page_headers() -> dict[str, str]:
    """The headers with which every file of a survey is served."""
    return {
        "Content-Security-Policy": f"{content_policy()}; frame-ancestors 'none'",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }


def content_policy(origin: str | None = None) -> str:
    """The content security policy of the served page, or of a file saved for an origin."""
    if origin is None:
        sources = {"script-src": "'self'", "style-src": "'self'", "connect-src": "'self'"}
    else:
        sources = {
            "script-src": " ".join(_quoted_hash(name) for name in SCRIPTS),
            "style-src": " ".join(_quoted_hash(name) for name in STYLES),
            "connect-src": origin,
        }
    return "; ".join(f"{name} {source}" for name, source in (_ALWAYS | sources).items())


@cache
def read_file(name: str) -> bytes:
    """One of the page's scripts or styles.

    >>> len(read_file("coins.js")) < 10_000
    True
    """
    if name not in (*SCRIPTS, *STYLES):
        raise InvalidParameter(f"A survey's page has no file {name!r}.")
    return files("deniable.app.web.survey").joinpath(name).read_bytes()


def page_files(manifest: Manifest) -> dict[str, tuple[bytes, str]]:
    """Everything that a browser may get, with its content type, by its path below the survey's
    address.

    "" is the page in its first language, "?language=de" in another. With an origin, there are
    also the pages to be saved: "saved.html", "saved-de.html".
    """
    html = CONTENT_TYPES[".html"]
    resources = {"manifest.json": (manifest.canonical(), CONTENT_TYPES[".json"])}
    for name in (*SCRIPTS, *STYLES):
        resources[name] = read_file(name), CONTENT_TYPES[f".{name.rpartition('.')[2]}"]
    for language in manifest.languages:
        resources[_query(manifest, language)] = build_page(manifest, language=language), html
        if manifest.origin is not None:
            file = build_page(manifest, language=language, saved=True)
            resources[_saved_name(manifest, language)] = file, html
    return resources


def hash_files(manifest: Manifest) -> dict[str, str]:
    """The SHA-256 of everything that a browser may get, by its path: see `page_files`."""
    return {
        name: hashlib.sha256(content).hexdigest()
        for name, (content, _) in page_files(manifest).items()
    }


def is_right_to_left(language: str) -> bool:
    """Whether a language is written from right to left.

    >>> is_right_to_left("ar-EG"), is_right_to_left("de")
    (True, False)
    """
    return language.lower().replace("_", "-").split("-")[0] in _RIGHT_TO_LEFT


def _head(manifest: Manifest, language: str, origin: str | None) -> Html:
    title = manifest.title[language]
    style = (
        element("style", Html(read_file("page.css").decode()))
        if origin
        else element(
            "link",
            rel="stylesheet",
            href=f"{manifest.survey}/page.css",
            integrity=_integrity("page.css"),
        )
    )
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=content_policy(origin)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="robots", content="noindex"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("link", rel="icon", href="data:,"),
        style,
    )


def _header(manifest: Manifest, language: str, *, saved: bool) -> Html:
    words = Phrases(manifest.words)
    rehearsal = element("p", words.say("page_rehearsal", language), class_="rehearsal")
    links = [
        element(
            "a",
            code,
            href=manifest.survey + _query(manifest, code),
            hreflang=code,
            lang=code,
            aria_current="true" if code == language else None,
        )
        for code in manifest.languages
    ]
    switch = element("nav", *links, aria_label=words.say("page_language", language))
    return element(
        "header",
        *([rehearsal] if manifest.rehearsal else []),
        *([switch] if len(links) > 1 and not saved else []),
        element("h1", manifest.title[language]),
    )


def _body(manifest: Manifest, language: str, saved: bool) -> Html:
    words = Phrases(manifest.words)
    links = [("page_code", "coins.js", False)]
    if manifest.origin is not None:
        links.append(("page_save", _saved_name(manifest, language), True))
    listed = [
        element(
            "li",
            element(
                "a",
                words.say(text, language),
                href=f"{manifest.survey}/{name}",
                download=download,
            ),
        )
        for text, name, download in links
    ]
    footer = element(
        "footer",
        element("h2", words.say("page_check", language)),
        element("p", words.say("page_check_text", language)),
        element("p", element("code", manifest.hash)),
        *([] if saved else [element("ul", *listed)]),
    )
    data = raw_script(
        manifest.canonical().decode("ascii"), type="application/json", id="manifest"
    )
    scripts = [
        raw_script(read_file(name).decode())
        if saved
        else element(
            "script", src=f"{manifest.survey}/{name}", integrity=_integrity(name), defer=True
        )
        for name in SCRIPTS
    ]
    return join(PageSections(manifest, language, saved=saved).write(), footer, data, *scripts)


def _query(manifest: Manifest, language: str) -> str:
    return "" if language == manifest.languages[0] else f"?language={language}"


def _saved_name(manifest: Manifest, language: str) -> str:
    return "saved.html" if language == manifest.languages[0] else f"saved-{language}.html"


def _integrity(name: str) -> str:
    digest = hashlib.sha384(read_file(name)).digest()
    return f"sha384-{b64encode(digest).decode()}"


def _quoted_hash(name: str) -> str:
    digest = hashlib.sha256(read_file(name)).digest()
    return f"'sha256-{b64encode(digest).decode()}'"
