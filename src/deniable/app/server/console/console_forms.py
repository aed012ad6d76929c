"""Forms that a browser sends: read strictly, and taken only from pages of this session.

The gate has already asked the browser where a form comes from. A form carries a token as well,
which is made from the session's secret: who cannot read a page of the session cannot write it.
"""

import hashlib
import hmac
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from deniable.app.server.accounts.browser_sessions import COOKIE
from deniable.errors import InvalidData

TOKEN = "form_token"
_MOST_FIELDS = 64


def form_token(request: Request) -> str:
    """The token of the forms on this session's pages."""
    session = request.cookies.get(COOKIE, "")
    secret = b"deniable form 1\n" + session.encode("utf-8", "surrogatepass")
    return hashlib.sha256(secret).hexdigest()[:32]


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form of ours, without its token; 403 for a form of somebody else."""
    fields = await read_fields(request)
    if not hmac.compare_digest(fields.pop(TOKEN, "").encode(), form_token(request).encode()):
        raise HTTPException(403)
    return fields


async def read_fields(request: Request) -> dict[str, str]:
    """The fields of a form; of those with one name the first."""
    try:
        pairs = parse_qsl(
            (await request.body()).decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError:
        raise InvalidData("This is not a form of the console.") from None
    return dict(reversed(pairs))


def read_whole(text: str, *, digits: int) -> int:
    """A whole number with a limit of digits; 0 for anything else.

    >>> [read_whole(text, digits=3) for text in ("120", "1200", "-1", "\u0661", "")]
    [120, 0, 0, 0, 0]
    """
    fits = text.isascii() and text.isdecimal() and len(text) <= digits
    return int(text) if fits else 0
