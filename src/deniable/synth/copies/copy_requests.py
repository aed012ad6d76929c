"""Reads what is asked of a copy. Every fault of a request is found here, before the charge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, positive, whole
from deniable.exact.suggestions import suggest
from deniable.policy import Table
from deniable.privacy import ConcentratedLoss
from deniable.release.session.door import Door
from deniable.synth.copies.aim_limits import AIM_CELLS
from deniable.synth.copies.copy_budget import CopyBudget
from deniable.synth.copies.copy_plans import MOST_KEYS, CopyPlan, CopySource
from deniable.synth.copies.copy_rules import CopyRules, read_rules
from deniable.synth.copies.joint_memory import check_memory
from deniable.synth.crosstabs.crosstab_plans import find_table, read_delta, read_level
from deniable.synth.domain.column_cells import ColumnCells, cells_of
from deniable.synth.domain.date_cells import cells_between, read_edges, read_range
from deniable.synth.domain.quantile_cuts import grid_step

_MOST_COLUMNS, _MOST_CELLS = 60, 5 * 10**6  # cells of all pairs together
MOST_ROWS = 10**8  # of a copy
_LISTED = 40  # a number with fewer grid points needs no cuts
_AIM_COLUMNS = 24  # with more columns, "auto" takes MST: AIM's time grows with all pairs
METHODS = ("auto", "mst", "aim")
WEIGHT = 64  # the largest weight, in whole parts
Scored = tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]


def plan_copy(session: Door, table: str | None, **options: Any) -> CopyPlan:
    """A copy of one table, before it is charged."""
    source = CopySource.of(find_table(session.policy, table))
    return plan_source(session, source, **options)


def plan_source(
    session: Door,
    source: CopySource,
    *,
    epsilon: Number,
    delta: Number | None,
    **options: Any,
) -> CopyPlan:
    """A copy of a table or relation, before it is charged."""
    request = _CopyRequest(**_known(options))
    subject = source.table
    price, spare = positive(epsilon, "epsilon"), read_delta(session.policy, delta)
    names = _read_columns(subject, request.columns)
    ranges = {
        name: read_range(subject.columns[name], ends)
        for name, ends in _by_name(request.dates, names, "dates").items()
    }
    cells = request.find_cells(subject, names, ranges)
    rules = read_rules(request.depends, request.impossible, names, cells)
    scored, weights = _read_workload(request.workload, names)
    kinds = [subject.columns[name].kind for name in names]
    cut = sum(own is None and kind != "text" for own, kind in zip(cells, kinds, strict=True))
    method, why = _choose_method(request.method, cells, rules, scored)
    count = len(names) - len(rules.derived)
    copy_plan = CopyPlan(
        source=source,
        columns=names,
        cells=cells,
        budget=CopyBudget.split(columns=count, cut=cut, scored=True, method=method),
        rho=ConcentratedLoss.calibrated(epsilon=price, delta=spare).rho,
        epsilon=price,
        delta=spare,
        confidence=read_level(request.confidence),
        missing=request.missing,
        scored=scored,
        rows=None if request.rows is None else _read_rows(request.rows),
        method=method,
        why=why,
        keys_epsilon=request.price_of_keys,
        weights=weights,
        dates=ranges,
        rules=rules,
    )
    _check_sizes(copy_plan, session.policy.memory)
    return copy_plan


@dataclass(frozen=True, slots=True)
class _CopyRequest:
    """The options of `CopyOptions`, as they were given."""

    columns: Sequence[str] | None = None
    cuts: Mapping[str, Sequence[Any]] | None = None
    dates: Mapping[str, Sequence[Any]] | None = None
    workload: Any = None
    rows: int | None = None
    method: str = "auto"
    keys_epsilon: Number | None = None
    depends: Mapping[str, Any] | None = None
    impossible: Sequence[Mapping[str, Any]] | None = None
    missing: bool = True
    confidence: Number = 0.95

    @property
    def price_of_keys(self) -> Fraction:
        """What finding keys costs; 0 if none are found."""
        given = self.keys_epsilon
        return Fraction(0) if given is None else positive(given, "keys_epsilon")

    def find_cells(
        self, table: Table, names: Sequence[str], ranges: Mapping[str, tuple[date, date]]
    ) -> tuple[ColumnCells | None, ...]:
        """The cells of all columns, as far as they are known."""
        cuts_by_name, finds = _by_name(self.cuts, names, "cuts"), self.keys_epsilon is not None
        cells: list[ColumnCells | None] = []
        unknown: dict[str, InvalidParameter] = {}
        for name in names:
            arguments = table, name, cuts_by_name.get(name), ranges
            try:
                cells.append(_find_cells(*arguments, missing=self.missing, finds=finds))
            except InvalidParameter as problem:
                unknown[name] = problem
        if unknown:
            raise _say_all(unknown, [name for name in names if name not in unknown])
        return tuple(cells)


def _say_all(unknown: Mapping[str, InvalidParameter], rest: Sequence[str]) -> InvalidParameter:
    """What is wrong with the first of some columns, and which others cannot be copied."""
    first, *others = unknown.values()
    if not others:
        return first
    names = ", ".join(list(unknown)[1:])
    left = f" Without all of these: columns={list(rest)!r}." if rest else ""
    return InvalidParameter(f"{first} Nor can {names} be copied as declared.{left}")


def _known(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, if copies have them; and a method that there is."""
    names = [field.name for field in fields(_CopyRequest)]
    for name in options:
        if name not in names:
            hint = suggest(name, names, "The options are")
            raise TypeError(f"copy() has no option {name!r}. {hint}")
    if (method := options.get("method", "auto")) not in METHODS:
        raise InvalidParameter(f'`method` must be "auto", "mst" or "aim". Found {method!r}.')
    return dict(options)


def _choose_method(
    method: str,
    cells: Sequence[ColumnCells | None],
    rules: CopyRules,
    scored: Sequence[tuple[int, ...]],
) -> tuple[str, str]:
    """The method, and why. It depends on nothing but public sizes."""
    sizes = [MOST_KEYS if own is None else own.size for own in cells]
    measured = [i for i in range(len(sizes)) if i not in rules.derived]
    modelled = [[i for i in places if i in measured] for places in scored]
    pairs = [prod(sizes[i] for i in p) for places in modelled for p in combinations(places, 2)]
    tree, model = (
        "method mst: columns depend on each other along a tree",
        "method aim: round by round, the table that the model describes worst",
    )
    if len(measured) < 3:
        return "mst", f"{tree}; with fewer than three columns there is nothing to choose"
    fits = bool(pairs) and min(pairs) <= AIM_CELLS // 4
    if method == "aim" and not fits:
        raise InvalidParameter(
            "AIM needs a workload with some table of two columns whose cells, "
            f'{min(pairs, default=0):,}, fit its model. Take method="mst", or coarser cuts. '
            "Nothing was spent."
        )
    if method == "mst":
        return "mst", tree
    if method == "aim":
        return "aim", model
    if len(measured) > _AIM_COLUMNS:
        return "mst", f"{tree}; chosen because {len(measured)} columns take AIM very long"
    if not fits or max(pairs) > AIM_CELLS // 4:
        return "mst", f"{tree}; chosen because some pair has too many cells for AIM's model"
    return "aim", f"{model}; chosen because all pairs fit its model, and it is more accurate"


def _by_name(
    given: Mapping[str, Any] | None, names: Sequence[str], what: str
) -> dict[str, Any]:
    """What is given for some columns, by their names as the table spells them."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidParameter(f"`{what}` maps columns to values. Found {given!r}.")
    spelt = {name.lower(): name for name in names}
    for name in given or {}:
        if str(name).lower() not in spelt:
            hint = suggest(str(name), names, "The columns are")
            raise InvalidParameter(f"`{what}` names {name!r}, which is not copied. {hint}")
    return {spelt[str(name).lower()]: values for name, values in (given or {}).items()}


def _read_rows(rows: int) -> int:
    if whole(rows, "rows") > MOST_ROWS:
        raise InvalidParameter(f"`rows` must be at most {MOST_ROWS:,}. Found {rows:,}.")
    return rows


def _read_columns(table: Table, columns: Sequence[str] | None) -> tuple[str, ...]:
    spelt = {name.lower(): name for name in table.columns}
    unit = (table.unit or "").lower()
    if columns is None:
        if not (others := tuple(name for folded, name in spelt.items() if folded != unit)):
            raise InvalidParameter(f"{table.name} has only its unit: there is nothing to copy.")
        return others
    if isinstance(columns, str) or not columns:
        raise InvalidParameter(f"`columns` must be a list of columns. Found {columns!r}.")
    names = []
    for name in columns:
        if str(name).lower() not in spelt or str(name).lower() == unit:
            cells_of(table, name)  # says what is wrong with it
        names.append(spelt[str(name).lower()])
    if len(set(names)) < len(names):
        raise InvalidParameter(f"`columns` names a column twice: {', '.join(names)}.")
    return tuple(names)


def _find_cells(
    table: Table,
    name: str,
    cuts: Sequence[Any] | None,
    ranges: Mapping[str, tuple[date, date]],
    *,
    missing: bool,
    finds: bool,
) -> ColumnCells | None:
    """The cells of a column; None for a number or date that is cut at private quantiles, and
    for a text whose keys are found."""
    column = table.columns[name]
    listed = isinstance(column.keys, tuple)
    if column.kind == "text" and not listed and finds:
        return None
    if column.kind == "date" and not listed:
        if cuts is not None:
            return cells_between(column, read_edges(column, cuts), missing=missing)
        if name in ranges:
            return None
    bounded = column.kind == "number" and column.bounds is not None
    if cuts is not None and not bounded:
        raise InvalidParameter(
            f"`cuts` are for numbers with declared bounds, so that values can be drawn between "
            f"them. Declare the bounds of {name}, or its keys. Nothing was spent."
        )
    if bounded and cuts is None and not listed:
        assert column.bounds is not None
        low, high = column.bounds
        if (high - low) / grid_step(column) >= _LISTED:
            return None
    try:
        return cells_of(table, name, cuts=cuts, missing=missing)
    except InvalidParameter as problem:
        if listed:
            raise  # declared keys are not looked for
        kinds = {"text": " Or find its keys with `keys_epsilon`."}
        kinds["date"] = f' Or give its range: dates={{"{name}": ("2020-01-01", "2020-12-31")}}.'
        find = kinds.get(column.kind or "", "")
        raise InvalidParameter(f"{problem}{find} Or leave it out with `columns`.") from None


def _read_workload(workload: Any, names: Sequence[str]) -> Scored:
    """The tables that are scored, with their weights: all pairs, or those that are named."""
    if workload is None:
        pairs = tuple(combinations(range(len(names)), min(2, len(names))))
        return pairs, (WEIGHT,) * len(pairs)
    if isinstance(workload, str):
        workload = [workload]  # is refused as a whole, and not letter by letter
    known = {name.lower(): place for place, name in enumerate(names)}
    weighed = isinstance(workload, Mapping)
    scored, weights = [], []
    for table in workload:
        places = [known.get(str(name).lower(), -1) for name in table]
        if isinstance(table, str) or -1 in places or not 1 <= len(set(places)) <= 3:
            raise InvalidParameter(
                "`workload` is a list of tables of one to three columns of the copy, such as "
                '[["age", "sex"]], or maps them to weights, such as {("age", "sex"): 2}. '
                f"Found {table!r}."
            )
        scored.append(tuple(sorted(set(places))))
        weights.append(positive(workload[table], "workload") if weighed else positive(1, "1"))
    if not scored or len(set(scored)) < len(scored):
        raise InvalidParameter("`workload` needs one or more different tables.")
    most = max(weights)
    return tuple(scored), tuple(max(1, round(WEIGHT * own / most)) for own in weights)


def _check_sizes(copy_plan: CopyPlan, memory: int | None) -> None:
    count = len(copy_plan.columns)
    if count > _MOST_COLUMNS:
        raise InvalidParameter(
            f"The copy would have {count} columns. At most {_MOST_COLUMNS} are possible: name "
            "some with `columns`. Nothing was spent."
        )
    sizes = copy_plan.sizes
    tables = {*combinations(range(count), 2), *copy_plan.scored}
    cells = sum(prod(sizes[place] for place in places) for places in tables)
    if cells > _MOST_CELLS:
        raise InvalidParameter(
            f"The tables of the copy have {cells:,} cells together. At most {_MOST_CELLS:,} "
            "are possible: leave out columns with many keys. Nothing was spent."
        )
    check_memory(copy_plan.table, sizes, memory)
