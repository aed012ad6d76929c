"""The policy file: TOML, read strictly, with the line of every mistake.

    [budget]
    epsilon = 3
    delta = 1e-6

    [tables.visits]
    source = "visits.parquet"
    unit = "patient"
    max_groups_per_unit = 4

    [tables.visits.columns]
    cost = { bounds = [0, 10000], step = 0.01 }
    ward = { keys = ["A", "B", "C"] }
    diagnosis = { keys = "private" }

What was spent is kept in a ledger beside the policy, unless `[ledger]` names another place.
Budgets of units, analysts and tables are further tables of the same keys:

    [budget]
    epsilon = 3
    delta = 1e-6
    filters = ["pure", "zcdp", "gdp"]
    schedule = { start = 2026-01-01, every = 30, epsilon = 0.5, times = 12 }

    [analysts.ann]
    epsilon = 1

    [ledger]
    store = "postgresql://ledger@db.example/ledgers"
    key = "ledger.key"

Numbers are read as decimals, so 0.1 means one tenth. An unknown key is an error: a misspelt
limit that is silently ignored would be a limit that does not hold.
"""

import datetime
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from deniable.errors import InvalidPolicy
from deniable.policy.addresses import checked, is_address
from deniable.policy.budget import Budget, Schedule, Sums
from deniable.policy.column import Column, KeyValue
from deniable.policy.draft import MARK
from deniable.policy.ledger_store import stored
from deniable.policy.policy import Policy
from deniable.policy.suggestions import nearest
from deniable.policy.table import ROW_CEILING, Malformed, Table
from deniable.policy.toml_lines import line_of
from deniable.policy.value_kinds import Kind
from deniable.privacy.neighbors import Neighbors


def _key(value: object) -> object:
    """A key as groups have it: TOML's dates as text, decimals as floats."""
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else value


Amount = Decimal | int
KeyInFile = Annotated[KeyValue, BeforeValidator(_key)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Column(_Strict):
    kind: Kind | None = None
    bounds: Annotated[list[Amount], Field(min_length=2, max_length=2)] | None = None
    step: Amount | None = None
    keys: list[KeyInFile] | str | None = None


class _Schedule(_Strict):
    start: datetime.date
    every: int
    epsilon: Amount
    delta: Amount = 0
    times: int


class _Allowance(_Strict):
    epsilon: Amount
    delta: Amount = 0
    schedule: _Schedule | None = None


class _Budget(_Allowance):
    filters: list[Sums] = ["pure"]


class _Ledger(_Strict):
    store: str | None = None
    key: str | None = None


class _Engine(_Strict):
    memory: int | str | None = None


class _Table(_Strict):
    source: str
    unit: str | None = None
    neighbors: Neighbors = "add-remove"
    max_groups_per_unit: int | None = None
    max_rows_per_unit_per_group: int | None = None
    row_ceiling: int = ROW_CEILING
    expected_rows: int | None = None
    public: bool = False
    malformed: Malformed = "report"
    epsilon: Amount | None = None
    delta: Amount | None = None
    version: str = ""
    columns: dict[str, _Column] = {}


class _File(_Strict):
    budget: _Budget
    tables: dict[str, _Table]
    units: dict[str, _Allowance] = {}
    analysts: dict[str, _Allowance] = {}
    ledger: _Ledger = _Ledger()
    engine: _Engine = _Engine()


# What may stand inside each part of the file; * is any name.
_INSIDE: dict[tuple[str, ...], type[BaseModel]] = {
    (): _File,
    ("budget",): _Budget,
    ("budget", "schedule"): _Schedule,
    ("ledger",): _Ledger,
    ("engine",): _Engine,
    ("tables", "*"): _Table,
    ("tables", "*", "columns", "*"): _Column,
    ("units", "*"): _Allowance,
    ("units", "*", "schedule"): _Schedule,
    ("analysts", "*"): _Allowance,
    ("analysts", "*", "schedule"): _Schedule,
}
_NAMED = ("tables", "columns", "units", "analysts")  # what holds names of the owner's choice


def load(path: str | Path) -> Policy:
    """The policy in a file; its sources are taken relative to the file's folder."""
    if not isinstance(path, str | Path):
        raise InvalidPolicy(f"A policy is named by its file. Found {path!r}.")
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")  # a mark in front is taken off by `parse`
    except FileNotFoundError:
        raise InvalidPolicy(
            f"There is no policy file {str(path)!r}. Draft one from your data's schema with   "
            "deniable init FILE"
        ) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidPolicy(f"The policy {str(path)!r} cannot be read: {problem}.") from None
    return parse(text, str(path), beside=file)


def parse(text: str, name: str = "deniable.toml", *, beside: Path | None = None) -> Policy:
    """The policy in TOML text, which errors call `name`; files are looked for beside it."""
    text = text.removeprefix("\ufeff")  # which some editors put in front of UTF-8
    try:
        tree = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as problem:
        raise InvalidPolicy(f"{name} is not TOML: {problem}.") from None
    except (ValueError, RecursionError):
        raise InvalidPolicy(
            f"{name} holds a number of thousands of digits, or lists within lists that nest "
            "as deeply. No policy needs either: mend the line."
        ) from None
    try:
        _check_filled(tree)
        return _policy(_File.model_validate(tree), beside)
    except ValidationError as problem:
        path, told = _first(problem)
    except InvalidPolicy as problem:
        path, told = problem.where, str(problem)
    raise _placed(text, name, path, told)


@contextmanager
def located(path: str | Path) -> Iterator[None]:
    """Complaints about the policy in a file, which come later, name its line too."""
    try:
        yield
    except InvalidPolicy as problem:
        if not problem.where or str(problem).startswith(str(path)):
            raise
        text = Path(path).read_text(encoding="utf-8")
        raise _placed(text, str(path), problem.where, str(problem)) from None


def _placed(text: str, name: str, path: tuple[str, ...], told: str) -> InvalidPolicy:
    line = line_of(text, path)
    place = name if line is None else f"{name}, line {line}"
    return InvalidPolicy(f"{place}: {told}", where=path)


def _check_filled(tree: object, path: tuple[str, ...] = ()) -> None:
    """A draft is no policy until its owner has decided what only the owner can."""
    if tree == MARK:
        raise InvalidPolicy(f"`{path[-1]}` is still to be filled in.", where=path)
    if isinstance(tree, dict):
        for key, below in tree.items():
            _check_filled(below, (*path, key))


def _policy(file: _File, beside: Path | None) -> Policy:
    budget = _allowance(file.budget, ("budget",))
    return Policy(
        [_table(name, table, beside) for name, table in file.tables.items()],
        epsilon=budget.epsilon,
        delta=budget.delta,
        schedule=budget.schedule,
        filters=file.budget.filters,
        units={name: _allowance(one, ("units", name)) for name, one in file.units.items()},
        analysts={
            name: _allowance(one, ("analysts", name)) for name, one in file.analysts.items()
        },
        memory=file.engine.memory,
        **stored(file.ledger.store, file.ledger.key, beside),
    )


def _table(name: str, table: _Table, beside: Path | None) -> Table:
    rest = _fields(table)
    own = {key: rest.pop(key) for key in ("epsilon", "delta")}
    try:
        if own["epsilon"] is None and own["delta"] is not None:
            raise InvalidPolicy("A table's own limit needs an `epsilon`.", where=("delta",))
        if own["epsilon"] is not None:
            rest["budget"] = Budget(own["epsilon"], own["delta"] or 0)
        rest["columns"] = {
            column: Column(column, **_fields(declared))
            for column, declared in table.columns.items()
        }
        folder = None if beside is None else beside.parent
        rest["source"] = _placed_source(table.source, folder)
        return Table(name, **rest)
    except InvalidPolicy as problem:
        raise InvalidPolicy(str(problem), where=("tables", name, *problem.where)) from None


def _allowance(read: _Allowance, where: tuple[str, ...]) -> Budget:
    grows, inside = read.schedule, where
    try:
        schedule = None
        if grows is not None:
            inside = (*where, "schedule")
            schedule = Schedule(**_fields(grows))
            inside = where
        return Budget(read.epsilon, read.delta, schedule=schedule)
    except InvalidPolicy as problem:
        raise InvalidPolicy(str(problem), where=(*inside, *problem.where)) from None


def _fields(model: BaseModel) -> dict[str, Any]:
    return {name: getattr(model, name) for name in type(model).model_fields}


def _placed_source(source: str, folder: Path | None) -> str:
    """A source's path, taken from the folder of the policy; an address as it is."""
    if is_address(source):
        try:
            return checked(source)
        except InvalidPolicy as problem:
            raise InvalidPolicy(str(problem), where=("source",)) from None
    return source if folder is None else str(folder / source)


def _first(problem: ValidationError) -> tuple[tuple[str, ...], str]:
    """The path and the words of the first mistake that a person would look for.

    A misspelt key comes before the missing one that it caused.
    """
    mistakes = problem.errors(include_url=False)
    unknown = [one for one in mistakes if one["type"] == "extra_forbidden"]
    mistake: Any = (unknown or mistakes)[0]
    path = _keys_only(mistake["loc"])
    if unknown:
        hint = nearest(path[-1], _known(path[:-1]), "Known keys here are")
        return path, f"`{path[-1]}` is not a key of {_called(path[:-1])}. {hint}"
    if mistake["type"] == "missing":
        return path[:-1], f"{_called(path[:-1])} needs `{path[-1]}`.".capitalize()
    found = mistake["input"]
    shown = f" Found {found!r}." if isinstance(found, int | str) else ""
    shown = f" Found {found}." if isinstance(found, Decimal) else shown
    told = "must be a number" if mistake["type"] == "is_instance_of" else mistake["msg"]
    told = told.replace("Input should", "should").replace("List", "the list")
    return path, f"`{path[-1]}` of {_called(path[:-1])}: {told}.{shown}"


def _keys_only(loc: tuple[int | str, ...]) -> tuple[str, ...]:
    """The path without places in lists and names of alternatives."""
    path: tuple[str, ...] = ()
    for one in loc:
        inside = _INSIDE.get(_pattern(path))
        if not isinstance(one, str) or (inside is None and _pattern(path)[-1] not in _NAMED):
            break
        path = (*path, one)
    return path


def _pattern(path: tuple[str, ...]) -> tuple[str, ...]:
    """The path with * for names of the owner's choice.

    >>> _pattern(("tables", "columns", "columns", "cost"))
    ('tables', '*', 'columns', '*')
    """
    found: tuple[str, ...] = ()
    for key in path:
        free = bool(found) and found[-1] in _NAMED
        found = (*found, "*" if free else key)
    return found


def _known(path: tuple[str, ...]) -> list[str]:
    return list(_INSIDE[_pattern(path)].model_fields)


def _called(path: tuple[str, ...]) -> str:
    if not path:
        return "the policy"
    kind = {"tables": "table", "columns": "column", "analysts": "analyst", "units": "unit"}
    if len(path) > 1 and path[-2] in kind:
        return f"{kind[path[-2]]} {path[-1]!r}"
    return f"[{'.'.join(path)}]"
