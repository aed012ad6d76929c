"""How long one statement may take: `?timeout=` seconds in a source's address."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from deniable.errors import InvalidPolicy

TIMEOUT_SECONDS = 600


def split_time_limit(address: str) -> tuple[str, int]:
    """The address without its time limit, and the limit in seconds.

    >>> split_time_limit("postgresql://reader@db/hospital?timeout=60&sslmode=require")
    ('postgresql://reader@db/hospital?sslmode=require', 60)
    """
    parts = urlsplit(address)
    options = dict(parse_qsl(parts.query))
    seconds = options.pop("timeout", None)
    if seconds is None:
        return address, TIMEOUT_SECONDS
    if not seconds.isdigit() or int(seconds) < 1:
        raise InvalidPolicy(
            f"`timeout` must be a positive whole number of seconds. Found {seconds!r}."
        )
    return urlunsplit(parts._replace(query=urlencode(options))), int(seconds)
