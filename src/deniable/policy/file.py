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

The ledger is a file next to the policy, unless `[ledger]` names another place. Units, analysts
and tables may have budgets of their own, with the same keys:

    [budget]
    epsilon = 3
    filters = ["pure", "zcdp", "gdp"]
    schedule = { start = 2026-01-01, every = 30, epsilon = 0.5, times = 12 }

    [analysts.ann]
    epsilon = 1

    [ledger]
    store = "postgresql://ledger@db.example/ledgers"
    key = "ledger.key"

The file may name its format (`format = 1`, the first line). Without it, the format is 1.
Numbers are read as decimals, so 0.1 means exactly one tenth. An unknown key is an error:
otherwise a misspelt limit would be ignored without a warning.
"""

import datetime
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from deniable.errors import InvalidPolicy
from deniable.exact.suggestions import suggest
from deniable.policy.budget import Budget, FilterName, Schedule
from deniable.policy.column import Column, DeclaredKind, KeyValue
from deniable.policy.draft import MARK
from deniable.policy.ledger_settings import locate_ledger, looks_like_settings
from deniable.policy.policy import Policy
from deniable.policy.source_addresses import check_address, is_address
from deniable.policy.table import ROW_CEILING, Malformed, Table
from deniable.policy.toml_lines import line_of
from deniable.privacy.neighbors import Neighbors


def _key(value: object) -> object:
    """A key as it appears in answers: TOML dates become text, decimals become floats."""
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else value


FORMAT = 1  # of policy files
Amount = Decimal | int
KeyInFile = Annotated[KeyValue, BeforeValidator(_key)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Column(_Strict):
    kind: DeclaredKind | None = None
    bounds: Annotated[list[Amount], Field(min_length=2, max_length=2)] | None = None
    step: Amount | None = None
    keys: list[KeyInFile] | str | None = None
    length: int | None = None


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
    filters: list[FilterName] = ["pure"]


class _Ledger(_Strict):
    id: str | None = None
    store: str | None = None
    key: str | None = None


class _Engine(_Strict):
    memory: int | str | None = None


class _Table(_Strict):
    source: str
    unit: str | None = None
    unit_column: str | None = None
    unit_path: str | None = None
    unique: list[str] = []
    neighbors: Neighbors = "add-remove"
    max_groups_per_unit: int | None = None
    max_rows_per_unit_per_group: int | None = None
    row_ceiling: int = ROW_CEILING
    expected_rows: int | None = None
    public: bool = False
    malformed: Malformed = "refuse"
    epsilon: Amount | None = None
    delta: Amount | None = None
    version: str = ""
    sample: dict[str, Any] | None = None
    columns: dict[str, _Column] = {}


class _File(_Strict):
    format: int = FORMAT
    budget: _Budget
    tables: dict[str, _Table]
    units: dict[str, _Allowance] = {}
    analysts: dict[str, _Allowance] = {}
    ledger: _Ledger = _Ledger()
    engine: _Engine = _Engine()


# The keys of each part of the file; * is any name.
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
_NAMED = ("tables", "columns", "units", "analysts")  # their keys are names the owner chooses


def load(path: str | Path) -> Policy:
    """The policy in a file. Sources are relative to the file's folder."""
    if not isinstance(path, str | Path):
        raise InvalidPolicy(f"A policy must be the path of a TOML file. Found {path!r}.")
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")  # `parse` removes a byte order mark
    except FileNotFoundError:
        raise InvalidPolicy(
            f"There is no policy file {str(path)!r}. Draft one from the schema of your data "
            "with   deniable init FILE"
        ) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidPolicy(f"The policy {str(path)!r} cannot be read: {problem}.") from None
    return parse(text, str(path), policy_file=file)


def parse(text: str, name: str = "deniable.toml", *, policy_file: Path | None = None) -> Policy:
    """The policy in TOML text. Errors use `name`; paths are relative to `policy_file`."""
    text = text.removeprefix("\ufeff")  # the byte order mark that some editors write
    try:
        tree = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as problem:
        raise InvalidPolicy(f"{name} is not valid TOML: {problem}.{_data_hint(name)}") from None
    except (ValueError, RecursionError):
        raise InvalidPolicy(
            f"{name} has a number with thousands of digits, or lists nested thousands of "
            "levels deep. A policy needs neither: shorten it."
        ) from None
    try:
        _check_format(tree.get("format", FORMAT))
        _check_filled(tree)
        return _policy(_File.model_validate(tree), policy_file)
    except ValidationError as problem:
        path, message = _first_mistake(problem)
    except InvalidPolicy as problem:
        path, message = problem.where, str(problem)
    raise _with_line(text, name, path, message)


@contextmanager
def name_line_in_errors(path: str | Path) -> Iterator[None]:
    """Adds the line of the policy file to policy errors that are raised later."""
    try:
        yield
    except InvalidPolicy as problem:
        if not problem.where or str(problem).startswith(str(path)):
            raise
        text = Path(path).read_text(encoding="utf-8")
        raise _with_line(text, str(path), problem.where, str(problem)) from None


def _with_line(text: str, name: str, path: tuple[str, ...], message: str) -> InvalidPolicy:
    line = line_of(text, path)
    place = name if line is None else f"{name}, line {line}"
    return InvalidPolicy(f"{place}: {message}", where=path)


def _check_format(number: object) -> None:
    """Refuses a policy of another format, before its keys are read."""
    if type(number) is not int or not 1 <= number <= FORMAT:
        raise InvalidPolicy(
            f"This version of Deniable reads policies of format {FORMAT}. Found {number!r}. A "
            "later format needs a newer version of Deniable.",
            where=("format",),
        )


def _check_filled(tree: object, path: tuple[str, ...] = ()) -> None:
    """Refuses a draft that still has the mark of a decision for the owner."""
    if tree == MARK:
        raise InvalidPolicy(
            f'`{path[-1]}` still has the value "{MARK}". Replace it: the comment on its line '
            "says what is needed.",
            where=path,
        )
    if isinstance(tree, dict):
        for key, below in tree.items():
            _check_filled(below, (*path, key))


def _policy(file: _File, policy_file: Path | None) -> Policy:
    budget = _allowance(file.budget, ("budget",))
    return Policy(
        [_table(name, table, policy_file) for name, table in file.tables.items()],
        epsilon=budget.epsilon,
        delta=budget.delta,
        schedule=budget.schedule,
        filters=file.budget.filters,
        units={name: _allowance(own, ("units", name)) for name, own in file.units.items()},
        analysts={
            name: _allowance(own, ("analysts", name)) for name, own in file.analysts.items()
        },
        memory=file.engine.memory,
        ledger_id=_ledger_id(file.ledger.id),
        **locate_ledger(file.ledger.store, file.ledger.key, _real_file(policy_file)),
    )


def _real_file(policy_file: Path | None) -> Path | None:
    """The file that a link leads to: a policy has one ledger, whatever its name."""
    is_link = policy_file is not None and policy_file.is_symlink()
    return policy_file.resolve() if policy_file is not None and is_link else policy_file


def _ledger_id(ledger_id: str | None) -> str | None:
    if ledger_id is not None and not re.fullmatch("[0-9a-f]{32}", ledger_id):
        raise InvalidPolicy(
            "`id` must be the id of a ledger: 32 digits from 0-9 and a-f. Deniable writes it. "
            "Restore the line as it was.",
            where=("ledger", "id"),
        )
    return ledger_id


def _table(name: str, table: _Table, policy_file: Path | None) -> Table:
    rest = _fields(table)
    own = {key: rest.pop(key) for key in ("epsilon", "delta")}
    try:
        if own["epsilon"] is None and own["delta"] is not None:
            raise InvalidPolicy(
                f"Table {name!r} has a `delta` without an `epsilon`. Add `epsilon` to give the "
                "table a budget of its own, or remove `delta`.",
                where=("delta",),
            )
        if own["epsilon"] is not None:
            rest["budget"] = Budget(own["epsilon"], own["delta"] or 0)
        rest["columns"] = {
            column: Column(column, **_fields(declared))
            for column, declared in table.columns.items()
        }
        folder = None if policy_file is None else policy_file.parent
        rest["source"] = _resolve_source(table.source, folder)
        return Table(name, **rest)
    except InvalidPolicy as problem:
        raise InvalidPolicy(str(problem), where=("tables", name, *problem.where)) from None


def _allowance(allowance: _Allowance, where: tuple[str, ...]) -> Budget:
    grows, inside = allowance.schedule, where
    try:
        schedule = None
        if grows is not None:
            inside = (*where, "schedule")
            schedule = Schedule(**_fields(grows))
            inside = where
        return Budget(allowance.epsilon, allowance.delta, schedule=schedule)
    except InvalidPolicy as problem:
        raise InvalidPolicy(str(problem), where=(*inside, *problem.where)) from None


def _fields(model: BaseModel) -> dict[str, Any]:
    return {name: getattr(model, name) for name in type(model).model_fields}


def _resolve_source(source: str, folder: Path | None) -> str:
    """A path, relative to the policy's folder; an address stays as it is."""
    if is_address(source):
        try:
            return check_address(source)
        except InvalidPolicy as problem:
            raise InvalidPolicy(str(problem), where=("source",)) from None
    if looks_like_settings(source):
        raise InvalidPolicy(
            "`source` must be the path of a file, or an address that begins with spark://, "
            "postgresql:// or ibis://. This is neither. It is not shown here, because it may "
            "hold a password.",
            where=("source",),
        )
    return source if folder is None else str(folder / source)


def _data_hint(name: str) -> str:
    if name.lower().endswith(".toml"):
        return ""
    return (
        " A policy is a TOML file. If this is a data file, use dp.protect, or draft a policy "
        f"with   deniable init {name}"
    )


def _first_mistake(problem: ValidationError) -> tuple[tuple[str, ...], str]:
    """The path and the message of the mistake to report first.

    A misspelt key comes before the missing key that it caused.
    """
    mistakes = problem.errors(include_url=False)
    unknown = [error for error in mistakes if error["type"] == "extra_forbidden"]
    mistake: Any = (unknown or mistakes)[0]
    path = _keys_only(mistake["loc"])
    if unknown:
        hint = suggest(path[-1], _keys_of(path[:-1]), "Known keys are")
        return path, f"Unknown key `{path[-1]}` of {_title(path[:-1])}. {hint}"
    if mistake["type"] == "missing":
        title = _title(path[:-1])
        return path[:-1], f"{title[0].upper()}{title[1:]} needs the key `{path[-1]}`."
    value = mistake["input"]
    quote = f" Found {value!r}." if isinstance(value, int | str) else ""
    quote = f" Found {value}." if isinstance(value, Decimal | datetime.date) else quote
    message = "must be a number" if mistake["type"] == "is_instance_of" else mistake["msg"]
    message = message.replace("Input should", "must").replace("List should", "the list must")
    message = message.replace("a valid list", "a list, in square brackets")
    return path, f"`{path[-1]}` of {_title(path[:-1])}: {message}.{quote}"


def _keys_only(loc: tuple[int | str, ...]) -> tuple[str, ...]:
    """The path without indices of lists and names of alternatives."""
    path: tuple[str, ...] = ()
    for key in loc:
        inside = _INSIDE.get(_pattern(path))
        if not isinstance(key, str) or (inside is None and _pattern(path)[-1] not in _NAMED):
            break
        path = (*path, key)
    return path


def _pattern(path: tuple[str, ...]) -> tuple[str, ...]:
    """The path with * for names that the owner chooses.

    >>> _pattern(("tables", "columns", "columns", "cost"))
    ('tables', '*', 'columns', '*')
    """
    pattern: tuple[str, ...] = ()
    for key in path:
        free = bool(pattern) and pattern[-1] in _NAMED
        pattern = (*pattern, "*" if free else key)
    return pattern


def _keys_of(path: tuple[str, ...]) -> list[str]:
    return list(_INSIDE[_pattern(path)].model_fields)


def _title(path: tuple[str, ...]) -> str:
    if not path:
        return "the policy"
    kind = {"tables": "table", "columns": "column", "analysts": "analyst", "units": "unit"}
    if len(path) > 1 and path[-2] in kind:
        return f"{kind[path[-2]]} {path[-1]!r}"
    return f"[{'.'.join(path)}]"
