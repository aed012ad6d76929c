"""How a ledger begins: a policy names its ledger by an id, and the key's mark knows that id.

The id is written into the policy when its first session opens. From then on a policy without
its ledger is refused, whether the ledger was lost, or the policy was renamed or copied. Only
the owner can begin another ledger, and has to say why. The reason is kept in its first entry.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deniable.errors import InvalidParameter, LedgerBroken, LedgerUnavailable
from deniable.ledger.amendments import Gift
from deniable.ledger.durable_ledger import DurableLedger, default_key_path
from deniable.ledger.floor_mark import NOT_BEGUN, Floor, FloorMark
from deniable.policy import Policy, load
from deniable.policy.ledger_id import new_ledger_id, write_ledger_id
from deniable.policy.ledger_settings import shown_store


def load_with_ledger(path: str | Path) -> Policy:
    """The policy in a file. A policy that is used for the first time gets a ledger's id."""
    policy = load(str(path))
    if policy.ledger is None or policy.ledger_id is not None:
        return policy
    mark = FloorMark(_key_path(policy))
    with _name_folder_in_errors(mark), mark.locked():
        policy = load(str(path))  # another process may have been first
        if policy.ledger_id is None:
            floor = mark.read()
            if floor is None or floor.number != NOT_BEGUN:
                _check_nothing_is_there(policy, mark)
                _check_no_other_is_orphaned(Path(path))
                floor = Floor(new_ledger_id())
                mark.write(floor)
            write_ledger_id(Path(path), floor.id)
    return load(str(path))


@contextmanager
def _name_folder_in_errors(mark: FloorMark) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise LedgerUnavailable(
            f"The ledger cannot begin: {str(mark.file.parent)!r} cannot be written "
            f"({problem.strerror}). The policy's [ledger] can name another place."
        ) from None


def mark_new_ledger(key: str | Path) -> str:
    """The id of a ledger that is to begin under a key; for a policy that is being drafted."""
    mark = FloorMark(key)
    with mark.locked():
        floor = mark.read()
        if floor is None:
            floor = Floor(new_ledger_id())
            mark.write(floor)
        return floor.id


def begin_ledger(path: str | Path, *, because: str = "") -> str:
    """Begins another ledger for a policy, and returns its id.

    The older ledger's file stays, under another name. `because` is the owner's reason. It is
    needed if there was a ledger before.
    """
    policy = load(str(path))
    if policy.ledger is None:
        raise InvalidParameter(
            "This policy keeps its ledger in memory: it has nothing to begin."
        )
    mark = FloorMark(_key_path(policy))
    with _name_folder_in_errors(mark), mark.locked():
        before = mark.read()
        had_one = policy.ledger_id or before or _exists(policy) or _orphan(Path(path))
        if had_one and not because.strip():
            raise InvalidParameter(
                "This policy had a ledger. What a new one grants is spent in addition, so its "
                'first entry records why it was begun. Give the reason:   --because "..."'
            )
        _set_aside(policy)
        floor = Floor(new_ledger_id())
        mark.write(floor)
        write_ledger_id(Path(path), floor.id)
    policy = load(str(path))
    DurableLedger(
        str(policy.ledger),
        policy,
        key=policy.ledger_key,
        ledger_id=floor.id,
        because=because.strip(),
    ).close()
    return floor.id


def amend_ledger(path: str | Path, *, because: str) -> tuple[Gift, ...]:
    """Puts an edited policy in force, and returns what that gives away.

    `because` is the owner's reason. It is recorded, if the policy gives away more than before.
    """
    policy = load(str(path))
    if policy.ledger is None or policy.ledger_id is None:
        raise InvalidParameter("This policy has no ledger yet: there is nothing to amend.")
    ledger = DurableLedger(
        policy.ledger,
        policy,
        key=policy.ledger_key,
        ledger_id=policy.ledger_id,
        because=because,
    )
    ledger.close()
    return ledger.given


def _key_path(policy: Policy) -> str | Path:
    return policy.ledger_key or default_key_path(str(policy.ledger))


def _exists(policy: Policy) -> bool:
    """Whether there is a ledger where the policy says."""
    from deniable.ledger.database_journal import DatabaseJournal

    where = str(policy.ledger)
    if "://" not in where:
        return Path(where).exists()
    journal = DatabaseJournal(where)
    try:
        return not journal.empty
    finally:
        journal.close()


def _check_nothing_is_there(policy: Policy, mark: FloorMark) -> None:
    """Refuses a policy without an id next to a ledger, a key or a mark."""
    found = [str(_key_path(policy))] if Path(_key_path(policy)).exists() else []
    found += [str(mark.file)] if mark.read() is not None else []
    found += [shown_store(str(policy.ledger))] if _exists(policy) else []
    if not found:
        return
    raise LedgerBroken(
        f"The policy has no id of a ledger, but {found[0]!r} exists: a ledger was begun here "
        "before. Nothing was spent. Restore the line   id = ...   of [ledger] in the policy "
        "(`deniable ledger verify --store` prints the id of a ledger). Or, as its owner, begin "
        "another one with   deniable ledger begin --because ..."
    )


def _check_no_other_is_orphaned(file: Path) -> None:
    """Refuses a policy without an id next to a ledger that no policy in its folder names."""
    if (orphan := _orphan(file)) is not None:
        raise LedgerBroken(
            f"The policy has no id of a ledger, and {str(orphan.file)!r} is the mark of a "
            "ledger that no policy in this folder names. If this policy was renamed, restore "
            "its line   id = ...   of [ledger]. Or, as its owner, begin another ledger with   "
            "deniable ledger begin --because ..."
        )


def _orphan(file: Path) -> FloorMark | None:
    """A mark in a policy's folder whose ledger was begun, and is named by no policy there."""
    folder = file.resolve().parent
    texts = [one.read_bytes() for one in folder.glob("*.toml") if one.is_file()]
    for path in sorted(folder.glob("*.mark")):
        mark = FloorMark(path.with_suffix(""))
        floor = mark.read()
        begun = floor is not None and floor.number != NOT_BEGUN
        if begun and floor and not any(floor.id.encode() in text for text in texts):
            return mark
    return None


def _set_aside(policy: Policy) -> None:
    """Gives the file of an older ledger another name."""
    where = str(policy.ledger)
    if not _exists(policy):
        return
    if "://" in where:
        raise InvalidParameter(
            f"There is a ledger in {shown_store(where)} already. Name another schema in the "
            'policy, after #, as in   store = "postgresql://user@host/database#second"'
        )
    file = Path(where)
    count = 1
    while (aside := file.with_name(f"{file.stem}.{count}{file.suffix}")).exists():
        count += 1
    file.rename(aside)
