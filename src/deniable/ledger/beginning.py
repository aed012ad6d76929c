"""How a ledger begins: a policy names its ledger by an id, and the key's mark knows that id.

The id is written into the policy when its first session opens. From then on a policy without
its ledger is refused, whether the ledger was lost, or the policy was renamed or copied. So is a
policy without an id where a ledger may have been before: if one of its files, or a policy about
the same rows, is in the folder. Only the owner can begin another ledger, and has to say why.
The reason is kept in its first entry.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Literal

from deniable.errors import InvalidParameter, InvalidPolicy, LedgerBroken, LedgerUnavailable
from deniable.ledger.amendments import Gift
from deniable.ledger.durable_ledger import DurableLedger, default_key_path
from deniable.ledger.floor_mark import NOT_BEGUN, Floor, FloorMark, locked_folder
from deniable.ledger.stores.signing_keys import SigningKey
from deniable.ledger.terms import ANY_ANALYST, Terms
from deniable.policy import Policy, load
from deniable.policy.analyst_limit import with_analyst_limit
from deniable.policy.folder_neighbors import (
    NamedPolicy,
    names_of,
    neighbors_of,
    read_names,
)
from deniable.policy.ledger_id import (
    FileChanged,
    check_id_can_be_written,
    new_ledger_id,
    replace_text,
    write_ledger_id,
)
from deniable.policy.ledger_settings import locate_ledger, shown_store
from deniable.policy.names import compared_name

_EDITED = (
    "The policy in the file was edited just now. Nothing was granted, and the edit is kept. "
    "Look at the policy, then try again."
)


def load_with_ledger(path: str | Path) -> Policy:
    """The policy in a file. A policy that is used for the first time gets a ledger's id."""
    policy, file = load(str(path)), Path(path)
    if policy.ledger_id is not None:
        return policy
    if policy.ledger is None:
        _check_nothing_is_there(file, policy)
        return policy
    with _locked(file, mark := FloorMark(_key_path(policy))):
        policy = load(str(path))  # another process may have been first
        if policy.ledger_id is None:
            floor = mark.read()
            if floor is None or floor.number != NOT_BEGUN or not floor.id:
                _check_nothing_is_there(file, policy)
                floor = Floor(new_ledger_id())
                mark.write(floor)
            write_ledger_id(file, floor.id)
    return load(str(path))


def name_draft(file: Path, older: str | None = None) -> Path:
    """Writes the id of a ledger into a policy that is being drafted; returns its key's file.

    A draft that takes the place of an older policy keeps the id that was in that one.
    """
    key = Path(str(locate_ledger(None, None, file)["ledger_key"]))
    if older is not None:
        write_ledger_id(file, older)
        return key
    with _locked(file, mark := FloorMark(key)):
        floor = mark.read()
        if floor is None or not floor.id:
            if (trace := _find_trace(file, read_names(file.resolve()))) is not None:
                raise _trace_error(trace)
            floor = Floor(new_ledger_id())
            mark.write(floor)
        write_ledger_id(file, floor.id)
        SigningKey.read_or_create(key)
    return key


def begin_ledger(path: str | Path, *, because: str = "") -> str:
    """Begins another ledger for a policy, and returns its id.

    The older ledger's file stays, under another name. `because` is the owner's reason. It is
    needed if there was a ledger before. First the mark names the new ledger and the reason,
    then the policy names it. After that, the next session completes the step.
    """
    policy, file = load(str(path)), Path(path)
    if policy.ledger is None:
        raise InvalidParameter(
            "This policy keeps its ledger in memory: it has nothing to begin."
        )
    with _locked(file, mark := FloorMark(_key_path(policy))):
        before = mark.read()
        trace = _find_trace(file, names_of(file, policy))
        had_one = policy.ledger_id or before or _exists(policy) or trace
        if had_one and not because.strip():
            raise InvalidParameter(
                "There was a ledger for these data before. What a new one grants is spent in "
                "addition, so its first entry records why it was begun. Give the reason:   "
                '--because "..."'
            )
        _check_can_begin(file, policy)
        new = new_ledger_id()
        mark.write(replace(before or Floor(""), next_id=new, next_because=because.strip()))
        write_ledger_id(file, new)
    policy = load(str(path))
    DurableLedger(
        str(policy.ledger), policy, key=policy.ledger_key, ledger_id=policy.ledger_id
    ).close()
    return new


def amend_ledger(
    path: str | Path, *, because: str, only_if: str | None = None
) -> tuple[Gift, ...]:
    """Puts an edited policy in force, and returns what that gives away.

    `because` is the owner's reason. It is recorded, if the policy gives away more than before.
    With `only_if`, only if the policy's file still has that text.
    """
    with _open_with_reason(path, "amend", because, only_if) as ledger:
        return ledger.given


def grant_limit(
    path: str | Path, analyst: str, epsilon: Fraction, *, because: str, in_force: Terms
) -> None:
    """Gives an analyst another limit: a line of the policy, and the owner's consent to it.

    The policy in the file must have the terms in force, so that nothing else is consented to.
    If the ledger refuses, the file is as it was.
    """
    file = Path(path)
    with locked_folder(file.resolve().parent):
        text = file.read_bytes().decode()
        if in_force != Terms.from_policy(load(str(path))).with_tables_of(in_force):
            raise InvalidPolicy(
                "The policy in the file is not the one in force: it was edited, or something "
                "else is being granted. Put it in force first, or try again."
            )
        account = f"analyst:{compared_name(analyst)}"
        if account == ANY_ANALYST:
            raise InvalidPolicy(f"{analyst} stands for all analysts. Rename the account.")
        delta = _delta_of(in_force, account)
        changed = with_analyst_limit(text, analyst, epsilon, delta)
        _replace_if(file, text, changed)
        try:
            amend_ledger(path, because=because, only_if=changed)
        except BaseException:
            with suppress(FileChanged):  # what was edited meanwhile stays, and is not in force
                replace_text(file, text, only_if=changed)
            raise


def _replace_if(file: Path, before: str, after: str) -> None:
    """Writes the policy, unless somebody else has written it since it was read."""
    try:
        replace_text(file, after, only_if=before)
    except FileChanged:
        raise InvalidPolicy(_EDITED) from None
    except OSError as problem:
        raise InvalidPolicy(
            f"The server cannot write the policy ({problem.strerror}). Nothing was granted."
        ) from None


def _delta_of(terms: Terms, account: str) -> Fraction:
    """The delta that an analyst's account keeps; what has no limit to raise is refused."""
    if not any(name.startswith("analyst:") for name in terms.budgets):
        raise InvalidPolicy(
            "This policy limits no analyst. All of them share the budgets of units and tables."
        )
    if not terms.has_budget(account):
        return Fraction(0)
    budget = terms.budget(account)
    if budget.schedule is not None and account in terms.budgets:
        raise InvalidPolicy(
            "This limit grows by a schedule. Edit the policy, and consent with   deniable "
            "ledger amend"
        )
    return budget.at(None).delta


def accept_ledger(path: str | Path, *, because: str) -> int:
    """Uses a ledger on this host as it is, if its mark is missing or is of another ledger.

    Returns the number of its entries. Every entry is checked. `because` is the owner's reason:
    a ledger that is not the latest copy forgets what was spent since.
    """
    with _open_with_reason(path, "accept", because) as ledger:
        return ledger.head.number + 1


@contextmanager
def _open_with_reason(
    path: str | Path,
    act: Literal["amend", "accept"],
    because: str,
    only_if: str | None = None,
) -> Iterator[DurableLedger]:
    """The ledger of a policy, opened for an act of its owner."""
    policy = load(str(path))
    if only_if is not None and Path(path).read_bytes() != only_if.encode():
        raise InvalidPolicy(_EDITED)
    if policy.ledger is None or policy.ledger_id is None:
        raise InvalidParameter(f"This policy has no ledger yet: there is nothing to {act}.")
    if act == "accept" and not because.strip():
        raise InvalidParameter(
            "Without its mark nobody can tell whether this ledger is the latest copy, so the "
            'reason to use it is recorded. Give it:   --because "..."'
        )
    ledger = DurableLedger(
        policy.ledger,
        policy,
        key=policy.ledger_key,
        ledger_id=policy.ledger_id,
        because=because,
        accept=act == "accept",
    )
    try:
        yield ledger
    finally:
        ledger.close()


@contextmanager
def _locked(file: Path, mark: FloorMark) -> Iterator[None]:
    """One process at a time begins a ledger, here and for other policies in the folder."""
    with mark.locked_to_begin(), locked_folder(file.resolve().parent):
        yield


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


def _check_can_begin(file: Path, policy: Policy) -> None:
    """Refuses what would stop a new ledger half way."""
    key, where = Path(_key_path(policy)), str(policy.ledger)
    if key.exists():
        SigningKey.read(key)
    check_id_can_be_written(file)
    if "://" in where and _exists(policy):
        raise InvalidParameter(
            f"There is a ledger in {shown_store(where)} already. Name another schema in the "
            'policy, after #, as in   store = "postgresql://user@host/database#second"'
        )


def _check_nothing_is_there(file: Path, policy: Policy) -> None:
    """Refuses a policy without an id where a ledger may have been begun before."""
    trace = _find_trace(file, names_of(file, policy))
    if trace is None and "://" in str(policy.ledger) and _exists(policy):
        trace = f"there is a ledger in {shown_store(str(policy.ledger))}"
    if trace is not None:
        raise _trace_error(trace)


def _trace_error(trace: str) -> LedgerBroken:
    return LedgerBroken(
        f"The policy has no id of a ledger, but {trace}. Nothing was spent. If the line   "
        "id = ...   of [ledger] was lost, restore it (`deniable ledger verify` prints the id "
        "of a ledger). Or, as the owner of the data, begin another ledger with   deniable "
        "ledger begin --because ...   What that one grants is spent in addition."
    )


def _find_trace(file: Path, named: NamedPolicy | None) -> str | None:
    """What shows that a ledger was begun before, in this folder or for the same rows."""
    file = file.resolve()
    others = neighbors_of(file)
    usual = (Path(str(place)) for place in locate_ledger(None, None, file).values())
    for place in sorted({*usual, *(named.places if named else ())}):
        if os.path.lexists(place) and not _is_unused_key(place):
            return f"{str(place)!r} exists, so a ledger may have been begun here before"
    if (orphan := _find_orphan(file.parent, others)) is not None:
        return f"{str(orphan)!r} belongs to a ledger that no policy in this folder names"
    for other in others:
        if named and other.ledger_id is not None and other.addresses & named.addresses:
            return f"{str(other.file)!r} is a policy about the same rows that has a ledger"
    return None


def _is_unused_key(place: Path) -> bool:
    """Whether a file is a key whose ledger has no entry yet."""
    floor = FloorMark(place).read()
    return floor is not None and floor.number == NOT_BEGUN


def _find_orphan(folder: Path, policies: tuple[NamedPolicy, ...]) -> Path | None:
    """A file of a ledger in a folder that none of the policies names."""
    ids = {policy.ledger_id for policy in policies}
    places = {place for policy in policies for place in policy.places}
    for path in sorted(folder.glob("*.mark")):
        key = path.with_suffix("")
        try:
            floor = FloorMark(key).read()
        except LedgerUnavailable:
            if key.exists():
                return path
            continue  # a file of another program
        if floor is not None and floor.number != NOT_BEGUN and floor.id not in ids:
            return path
    for path in sorted((*folder.glob("*.ledger.key"), *folder.glob("*.ledger.sqlite"))):
        if path not in places and not _is_unused_key(path):
            return path
    return None
