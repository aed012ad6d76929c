"""HTML that is escaped by construction: text becomes markup only through `element`."""

from html import escape

_VOID = {"input", "link", "meta"}


class Html(str):
    """Markup. Any other text is escaped when it is put into an element."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | int | bool | None) -> Html:
    """An element. `class_` and `data_step` become `class` and `data-step`; True is an attribute
    without a value; None and False leave it out.

    >>> element("p", "a < b", element("b", "!"), class_="x", hidden=True)
    '<p class="x" hidden>a &lt; b<b>!</b></p>'
    """
    inside = "".join(child if isinstance(child, Html) else escape(child) for child in children)
    opened = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{opened}>")
    return Html(f"<{name}{opened}>{inside}</{name}>")


def beside(text: str, english: str) -> str:
    """A text of the page, with its English original if there is one.

    >>> beside("tak", "yes"), beside("yes", "")
    ('tak <span class="english" lang="en" dir="ltr">yes</span>', 'yes')
    """
    if not english:
        return text
    original = element("span", english, class_="english", lang="en", dir="ltr")
    return Html(f"{escape(text)} {original}")


def join(*parts: Html) -> Html:
    """Elements one after the other."""
    return Html("".join(parts))


def raw_script(text: str, **attributes: str | int | bool | None) -> Html:
    """A script or a block of data, whose text is not escaped. It must not end itself.

    >>> raw_script("1 < 2", id="a")
    '<script id="a">1 < 2</script>'
    """
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError("a script must not hold its own end, or a comment of HTML")
    return Html(element("script", **attributes).replace("></script>", f">{text}</script>"))


def _attribute(key: str, value: str | int | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
