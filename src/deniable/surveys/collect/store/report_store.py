"""Reports, kept so that no report can be joined to the pass or the invitation it came with.

What arrives is sealed and waits. When a hundred wait, fifty of them, chosen at random, are
opened and written together, under random keys and in random order. The others are sealed again,
with a new key. At closing the rest is written at once. So the database, its log and its backups
show at most that a person's report is one of fifty. Against somebody who knows the other
forty-nine reports this is no protection: they isolate the fiftieth.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from deniable.errors import (
    CollectionClosed,
    CollectionUnavailable,
    InvalidData,
    InvalidParameter,
    InvitationRefused,
)
from deniable.surveys.collect.store import collection_tables as tables
from deniable.surveys.collect.store.batches import (
    ReportBatch,
    insert_batch,
    insert_waiting,
    read_batches,
    shuffle,
)
from deniable.surveys.collect.store.database import CollectionDatabase
from deniable.surveys.collect.store.sealing_keys import SealingKey, SealingKeyFile

FULL = 100  # reports that wait when a batch is due
BATCH_SIZE = 50


@dataclass(frozen=True, slots=True)
class ClosingTotals:
    """What is published when a survey has closed. Anyone whose pass was accepted finds its
    hash among `passes`; nobody can tell whose it is."""

    invited: int
    exchanged: int
    accepted: int
    passes: tuple[str, ...]
    reports: int


class ReportStore:
    """The reports of one survey, in a database, and the key file beside it.

    >>> from pathlib import Path
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> store = ReportStore(folder / "s.sqlite", folder / "keys" / "sealing.key", "f00d")
    >>> store.accept(b"a report", spend=b"hash of a pass")  # no batch is due
    False
    >>> store.accept(b"another", spend=b"hash of a pass")  # a pass counts once
    False
    >>> store.batches()  # it waits for others
    []
    >>> store.close_survey()
    >>> [batch.bodies for batch in store.batches()]
    [(b'a report',)]
    >>> store.close()
    """

    def __init__(self, where: str | Path, key_file: Path, manifest_hash: str) -> None:
        self._database = CollectionDatabase(where)
        self._keys = SealingKeyFile(key_file)
        self._manifest_hash = manifest_hash
        try:
            self._keys.make_folder()
            self._database.create()
            self._begin()
        except BaseException:
            self.close()
            raise

    @property
    def is_closed(self) -> bool:
        """Whether the survey has ended."""
        with self._database.reading() as connection:
            return bool(connection.execute(tables.READ_STATE).one().closed)

    def invite(self, tokens: Iterable[bytes]) -> None:
        """Adds invitations. Only hashes of their tokens are kept, in order of the hashes."""
        hashes = sorted(hash_token(token) for token in tokens)
        with self._database.writing() as connection:
            _refuse_closed(_lock_state(connection))
            connection.execute(
                tables.INVITATION.insert(), [{"token_hash": each} for each in hashes]
            )

    def is_invited(self, token: bytes) -> bool:
        """Whether this token was given out."""
        with self._database.reading() as connection:
            return _invitation(connection, token) is not None

    def exchange(self, token: bytes, blinded: bytes, sign: Callable[[bytes], bytes]) -> bytes:
        """The signature of a blinded pass, once for each token.

        The token is checked before anything is computed. The same message gets the same
        signature again; another one is refused.
        """
        blinded_hash = hashlib.sha256(blinded).digest()
        with self._database.reading() as connection:
            known = self._earlier_signature(connection, token, blinded_hash)
            if known is None:
                _refuse_closed(connection.execute(tables.READ_STATE).one())
        if known is not None:
            return known
        signature = sign(blinded)
        with self._database.writing() as connection:
            _refuse_closed(_lock_state(connection))
            known = self._earlier_signature(connection, token, blinded_hash)
            if known is not None:
                return known
            connection.execute(
                tables.INVITATION.update().where(
                    tables.INVITATION.c.token_hash == hash_token(token)
                ),
                {"blinded_hash": blinded_hash, "signature": signature},
            )
        return signature

    def is_spent(self, spend: bytes) -> bool:
        """Whether a pass or token (by its hash) has brought its report."""
        with self._database.reading() as connection:
            return _is_spent(connection, spend)

    def accept(self, body: bytes, *, spend: bytes | None = None) -> bool:
        """Takes one report; whether a batch is due. With a pass (by its hash) that was spent
        before, nothing happens.

        The pass and the sealed report are one transaction: a crash leaves both or neither.
        """
        with self._database.writing() as connection:
            state = _lock_state(connection)
            if spend is not None and _is_spent(connection, spend):
                return False
            _refuse_closed(state)
            key = self._keys.find(state.sealing_key)
            if spend is not None:
                connection.execute(tables.SPENT.insert(), {"hash": spend})
            insert_waiting(connection, [body], key)
            waiting: int = connection.execute(tables.COUNT_WAITING).scalar_one()
        return waiting >= FULL

    def write_batches(self) -> int:
        """Writes a batch for as long as a hundred wait; the number of batches."""
        written = 0
        while self._write_batch():
            written += 1
        return written

    def close_survey(self, *, without_waiting: bool = False) -> None:
        """Ends the survey: all reports that wait are written at once, and the key is deleted.

        `without_waiting` gives up those that cannot be opened, because their key is lost.
        """
        with self._keys.changing():
            with self._database.writing() as connection:
                state = _lock_state(connection)
                if not state.closed:
                    bodies = self._open_waiting(connection, state, lossy=without_waiting)
                    insert_batch(connection, bodies)
                    connection.execute(tables.WAITING.delete())
                    _update_state(connection, closed=1, sealing_key="")
            self._keys.keep_only("")

    def batches(self) -> list[ReportBatch]:
        """All batches in their order; the reports of each in random order."""
        with self._database.reading() as connection:
            return read_batches(connection)

    def totals(self, *, listed: bool) -> ClosingTotals:
        """What is published at closing; refused before, when it would show who answers when.

        `listed` gives the hashes of what was spent: of passes, never of tokens.
        """
        with self._database.reading() as connection:
            if not connection.execute(tables.READ_STATE).one().closed:
                raise InvalidParameter("These totals are published when the survey has closed.")
            spent = connection.execute(tables.READ_SPENT).scalars().all()
            return ClosingTotals(
                connection.execute(tables.COUNT_INVITED).scalar_one(),
                connection.execute(tables.COUNT_EXCHANGED).scalar_one(),
                len(spent),
                tuple(each.hex() for each in spent) if listed else (),
                connection.execute(
                    sa.select(sa.func.count()).select_from(tables.REPORT)
                ).scalar_one(),
            )

    def close(self) -> None:
        """Closes the connections; the survey goes on."""
        self._database.close()

    def _begin(self) -> None:
        """Makes the survey's row and its first key; after a crash, removes a key left over."""
        with self._keys.changing():
            with self._database.writing() as connection:
                state = connection.execute(tables.LOCK_STATE).first()
                if state is None:
                    key = next(iter(self._keys.read().values()), None) or SealingKey.new()
                    self._keys.write(key)
                    row = {"id": 1, "manifest_hash": self._manifest_hash}
                    row |= {"closed": 0, "sealing_key": key.name}
                    connection.execute(tables.SURVEY.insert(), row)
                    return
                if state.manifest_hash != self._manifest_hash:
                    raise InvalidParameter(
                        "This database holds the reports of another survey, or of another "
                        "version of this one. Give each its own database."
                    )
            self._keys.keep_only(state.sealing_key)

    def _write_batch(self) -> bool:
        """Writes fifty reports, seals the others with a new key and removes the old one.

        Should the server be killed in between: before the commit the old key is in use, after
        it the new one. Both are in the file until the commit has lasted.
        """
        with self._keys.changing():
            with self._database.writing() as connection:
                state = _lock_state(connection)
                if connection.execute(tables.COUNT_WAITING).scalar_one() < FULL:
                    return False
                bodies = shuffle(self._open_waiting(connection, state))
                old, new = self._keys.find(state.sealing_key), SealingKey.new()
                self._keys.write(old, new)
                insert_batch(connection, bodies[:BATCH_SIZE])
                connection.execute(tables.WAITING.delete())
                insert_waiting(connection, bodies[BATCH_SIZE:], new)
                _update_state(connection, sealing_key=new.name)
            self._keys.keep_only(new.name)
        return True

    def _open_waiting(
        self, connection: sa.Connection, state: Any, *, lossy: bool = False
    ) -> list[bytes]:
        """The reports that wait; `lossy` leaves out those that cannot be opened."""
        bodies = []
        for sealed in connection.execute(tables.READ_WAITING).scalars().all():
            try:
                bodies.append(self._keys.find(state.sealing_key).open(sealed))
            except CollectionUnavailable:
                if not lossy:
                    raise
        return bodies

    @staticmethod
    def _earlier_signature(
        connection: sa.Connection, token: bytes, blinded_hash: bytes
    ) -> bytes | None:
        """The signature that a token has got for this message; None if it has got none yet."""
        row = _invitation(connection, token)
        if row is None:
            raise InvitationRefused("This invitation is unknown. Was the link copied whole?")
        if row.signature is None:
            return None
        if not hmac.compare_digest(row.blinded_hash, blinded_hash):
            raise InvitationRefused(
                "This invitation was used already, on another device or in another browser."
            )
        signature: bytes = row.signature
        return signature


def hash_token(token: bytes) -> bytes:
    """What is kept of an invitation's token: 128 random bits cannot be guessed from it."""
    if len(token) != 16:
        raise InvalidData("A token has 16 bytes.")
    return hashlib.sha256(b"deniable invitation\0" + token).digest()


def _lock_state(connection: sa.Connection) -> Any:
    return connection.execute(tables.LOCK_STATE).one()


def _refuse_closed(state: Any) -> None:
    if state.closed:
        raise CollectionClosed("This survey has closed. Nothing was sent or used up.")


def _invitation(connection: sa.Connection, token: bytes) -> Any:
    return connection.execute(tables.READ_INVITATION, {"token_hash": hash_token(token)}).first()


def _is_spent(connection: sa.Connection, spend: bytes) -> bool:
    return connection.execute(tables.FIND_SPENT, {"hash": spend}).first() is not None


def _update_state(connection: sa.Connection, **values: object) -> None:
    connection.execute(tables.SURVEY.update().where(tables.SURVEY.c.id == 1), values)
