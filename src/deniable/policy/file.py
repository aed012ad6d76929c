"""The policy file: TOML, read strictly, with the line of every mistake.

    [budget]
    epsilon = 3
    delta = 1e-6

    [tables.visits]
    source = "visits.parquet"
    unit = "patient"
    max_groups = 4

    [tables.visits.columns]
    cost = { bounds = [0, 10000], step = 0.01 }
    ward = { keys = ["A", "B", "C"] }
    diagnosis = { keys = "private" }

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
from deniable.policy.column import Column, KeyValue
from deniable.policy.draft import MARK
from deniable.policy.kinds import Kind
from deniable.policy.lines import line_of
from deniable.policy.policy import Policy
from deniable.policy.spelling import nearest
from deniable.policy.table import ROW_CEILING, Table
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


class _Table(_Strict):
    source: str
    unit: str | None = None
    neighbors: Neighbors = "add-remove"
    max_groups: int | None = None
    max_rows: int | None = None
    row_ceiling: int = ROW_CEILING
    expected_rows: int | None = None
    public: bool = False
    columns: dict[str, _Column] = {}


class _Budget(_Strict):
    epsilon: Amount
    delta: Amount = 0


class _File(_Strict):
    budget: _Budget
    tables: dict[str, _Table]


def load(path: str | Path) -> Policy:
    """The policy in a file; its sources are taken relative to the file's folder."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidPolicy(
            f"There is no policy file {str(path)!r}. Draft one from your data's schema with   "
            "deniable init FILE"
        ) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidPolicy(f"The policy {str(path)!r} cannot be read: {problem}.") from None
    return parse(text, str(path), folder=file.parent)


def parse(text: str, name: str = "deniable.toml", *, folder: Path | None = None) -> Policy:
    """The policy in TOML text, which errors call `name`."""
    try:
        tree = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as problem:
        raise InvalidPolicy(f"{name} is not TOML: {problem}.") from None
    try:
        _check_filled(tree)
        return _policy(_File.model_validate(tree), folder)
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


def _policy(file: _File, folder: Path | None) -> Policy:
    tables = []
    for name, table in file.tables.items():
        try:
            columns = {
                column: Column(column, **_fields(declared))
                for column, declared in table.columns.items()
            }
            rest = _fields(table) | {
                "columns": columns,
                "source": _beside(table.source, folder),
            }
            tables.append(Table(name, **rest))
        except InvalidPolicy as problem:
            raise InvalidPolicy(str(problem), where=("tables", name, *problem.where)) from None
    return Policy(tables, epsilon=file.budget.epsilon, delta=file.budget.delta)


def _fields(model: BaseModel) -> dict[str, Any]:
    return {name: getattr(model, name) for name in type(model).model_fields}


def _beside(source: str, folder: Path | None) -> str:
    """A source's path, taken from the folder of the policy."""
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
    depth = 2 if loc[0] == "budget" else 5 if "columns" in loc[2:3] else 3
    return tuple(str(one) for one in loc[:depth] if isinstance(one, str))


def _known(path: tuple[str, ...]) -> list[str]:
    models: dict[int, type[BaseModel]] = {0: _File, 1: _Budget, 2: _Table}
    return list(models.get(len(path), _Column).model_fields)


def _called(path: tuple[str, ...]) -> str:
    return {
        0: "the policy",
        1: f"[{path[0] if path else ''}]",
        2: f"table {path[-1]!r}" if path else "",
    }.get(len(path), f"column {path[-1]!r}" if path else "")
