"""Links under which an owner lets anybody see an answer, kept in the server's database.

A link is a random name: who does not have it cannot guess it. An answer is private no more, so
a link gives nothing away that the answer did not; it only says who may find it.
"""

import secrets

from deniable.app.server.accounts.server_database import ServerDatabase

_TABLE = (
    "CREATE TABLE IF NOT EXISTS public_links (link TEXT PRIMARY KEY, policy TEXT NOT NULL,"
    " job TEXT NOT NULL, UNIQUE (policy, job)) STRICT"
)


class PublicLinks:
    """The links of a server.

    >>> import tempfile, pathlib
    >>> links = PublicLinks(ServerDatabase(pathlib.Path(tempfile.mkdtemp()) / "server.sqlite"))
    >>> link = links.open("hospital", "1")
    >>> links.find(link), links.of("hospital", "1") == link
    (('hospital', '1'), True)
    >>> links.close("hospital", "1")
    >>> links.find(link) is None
    True
    """

    def __init__(self, database: ServerDatabase) -> None:
        self._database = database
        database.create(_TABLE)

    def open(self, policy: str, job: str) -> str:
        """The link of an answer, which is made the first time."""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO public_links VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (secrets.token_urlsafe(16), policy, job),
            )
        return self.of(policy, job) or ""

    def close(self, policy: str, job: str) -> None:
        """Ends the link of an answer. What was read by it is read."""
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM public_links WHERE policy = ? AND job = ?", (policy, job)
            )

    def of(self, policy: str, job: str) -> str | None:
        """The link of an answer."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT link FROM public_links WHERE policy = ? AND job = ?", (policy, job)
            ).fetchone()
        return None if row is None else str(row[0])

    def find(self, link: str) -> tuple[str, str] | None:
        """The policy and the answer behind a link."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT policy, job FROM public_links WHERE link = ?", (link,)
            ).fetchone()
        return None if row is None else (str(row[0]), str(row[1]))
