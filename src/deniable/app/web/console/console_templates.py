"""The templates of the console's pages.

Every value is escaped, and a value that is missing is an error. No template marks text as safe:
charts are templates too, so that a table's content can never become a tag.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from deniable.app.web.console.console_files import address_of
from deniable.exact.rationals import decimal_text

TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, **values: object) -> str:
    """A page, or a part of one.

    >>> "&lt;b&gt;" in render("message.html", title="<b>", words="", page=None)
    True
    """
    return environment().get_template(template).render(**values)


@cache
def environment() -> Environment:
    """The templates, compiled once for a process."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.globals["file"] = address_of
    templates.filters["amount"] = amount_text
    return templates


def amount_text(amount: object) -> str:
    """An amount, or its exact text, as people read it: a decimal if that is exact.

    >>> amount_text("1/2"), amount_text("1/10000000"), amount_text(Fraction(1, 7))
    ('0.5', '1e-07', '1/7')
    """
    exact = Fraction(str(amount))
    short = decimal_text(exact)
    return short if Fraction(short) == exact else str(exact)


def template_files() -> Iterator[Path]:
    """Every template, for checks.

    >>> "page.html" in {file.name for file in template_files()}
    True
    """
    return TEMPLATES.rglob("*.html")
