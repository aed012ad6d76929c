"""The tables of people: who they are, how they log in, and what they hold.

Secrets are stored as hashes: a password by argon2id, a token and a session by SHA-256 (they are
random and long). Only the secret of one-time codes must be kept as it is. The columns
`policies` and `tables` are what a person or a token may use, one name in a line; NULL: all.
"""

TABLES = (
    "CREATE TABLE IF NOT EXISTS people (name TEXT PRIMARY KEY, compared TEXT UNIQUE NOT NULL,"
    " role TEXT NOT NULL, password TEXT, code_secret TEXT,"
    " code_step INTEGER NOT NULL DEFAULT 0, disabled INTEGER NOT NULL DEFAULT 0,"
    " policies TEXT, tables TEXT) STRICT",
    "CREATE TABLE IF NOT EXISTS subjects (issuer TEXT NOT NULL, subject TEXT NOT NULL,"
    " person TEXT NOT NULL REFERENCES people (name), PRIMARY KEY (issuer, subject)) STRICT",
    "CREATE TABLE IF NOT EXISTS tokens (hash TEXT PRIMARY KEY, id TEXT UNIQUE NOT NULL,"
    " person TEXT NOT NULL REFERENCES people (name), policies TEXT, tables TEXT,"
    " read_only INTEGER NOT NULL, expires TEXT NOT NULL,"
    " revoked INTEGER NOT NULL DEFAULT 0) STRICT",
    "CREATE TABLE IF NOT EXISTS sessions (hash TEXT PRIMARY KEY,"
    " person TEXT NOT NULL REFERENCES people (name), begun TEXT NOT NULL,"
    " seen TEXT NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS tries (compared TEXT PRIMARY KEY, count INTEGER NOT NULL,"
    " since TEXT NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS logins (state TEXT PRIMARY KEY, browser TEXT NOT NULL,"
    " provider TEXT NOT NULL, nonce TEXT NOT NULL, verifier TEXT NOT NULL,"
    " expires TEXT NOT NULL) STRICT",
)
Names = tuple[str, ...] | None  # of policies or tables; None: all
_SEPARATOR = "\n"


def write_names(names: Names) -> str | None:
    """Names as they are stored.

    >>> read_names(write_names(("a", "b"))), read_names(write_names(None))
    (('a', 'b'), None)
    """
    return None if names is None else _SEPARATOR.join(names)


def read_names(written: str | None) -> Names:
    """The names that `write_names` wrote."""
    return None if written is None else tuple(filter(None, written.split(_SEPARATOR)))


def common_names(first: Names, second: Names) -> Names:
    """The names that both allow.

    >>> common_names(("a", "b"), ("b", "c")), common_names(None, ("a",))
    (('b',), ('a',))
    """
    if first is None or second is None:
        return second if first is None else first
    return tuple(name for name in first if name in second)
