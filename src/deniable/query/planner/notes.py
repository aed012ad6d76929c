"""What a reader of the answer should know: clipping, rounding, limits, defaults."""

import math
from fractions import Fraction

from deniable.exact.rationals import decimal_text
from deniable.exact.suggestions import pluralize
from deniable.exact.text_formats import percent
from deniable.mechanisms import QuantileIntervals
from deniable.policy import Policy
from deniable.query.language.expressions import tables_in, walk
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import Call, TableRef
from deniable.query.margins.formula_parts import jumps
from deniable.query.margins.linear_forms import form
from deniable.query.plan.plan import Plan
from deniable.query.planner.draft import Draft
from deniable.query.relations.value_ranges import ValueRange
from deniable.query.statements.statistics import Statistic

WARNING = "Warning: "  # begins a note that a caller must see before the charge
_VALUES = {"distinct": "COUNT", "distinct sum": "SUM"}
_SUMMED = ("sum", "distinct sum", "mean", "moments", "pair")


def write_notes(draft: Draft) -> None:
    """A step of the planner: the plan's notes."""
    draft.notes = (
        *draft.name_notes,
        *_about_statistics(draft),
        *_about_choices(draft),
        *_about_keys(draft),
        *_about_jumps(draft),
        *_about_spans(draft),
        *_about_limits(draft),
    )


def note_names(question: Question, resolved: Question, policy: Policy) -> tuple[str, ...]:
    """Notes on names that do not mean what was written: schemas, and outputs of one name."""
    source = TableRef(question.table) if isinstance(question.table, str) else question.table
    parts = (source, *([] if question.where is None else [question.where]))
    tables = [table.name for part in parts for table in tables_in(part)]
    known = {name.lower() for name in policy.tables}
    notes = [
        f"{name} is the table {name.rpartition('.')[2]} of the policy; the schema is ignored."
        for name in dict.fromkeys(tables)
        if "." in name and name.lower() not in known
    ]
    read = {name.rpartition(".")[2].lower() for name in tables}
    notes += [
        f"Rows of {table.name} whose {table.path.column} leads to no {table.unit} are left out."
        for table in policy.tables.values()
        if table.path is not None and table.name.lower() in read
    ]
    for old, new in zip(question.outputs, resolved.outputs, strict=True):
        if old.name != new.name:
            notes.append(f"Two columns are called {old.name}: the later one is {new.name}.")
    return tuple(notes)


def _about_jumps(draft: Draft) -> list[str]:
    return [
        f"{output.name} has no margin: where a noisy number is close to a limit, it may jump."
        for output in draft.outputs
        if form(output.node) is None and jumps(output.node)
    ]


def note_rows_without_key(plan: Plan) -> tuple[str, ...]:
    """Whether rows are left out because they have no declared key. It follows from the plan, so
    it is not one of its notes."""
    if plan.other or plan.max_rows_per_unit is not None:
        return ()
    declared = [key for key in plan.keys if key.values is not None]
    texts = [key for key in declared if key.kind == "text"]
    which = " or ".join(key.name for key in texts or declared)
    nulls = any(key.nulls for key in declared)
    if not declared or (nulls and not texts):
        return ()
    if nulls:
        return (f"Rows with another {which} than these are left out.",)
    if not texts:
        return (f"Rows without {which} (NULL) are left out; nulls=True adds a group.",)
    return (
        f"Rows without a declared {which} (also NULL) are left out; other=True adds a group "
        "for them, nulls=True one for NULL.",
    )


def _about_spans(draft: Draft) -> list[str]:
    """Warns of spans of time that no limit narrows: their noise is that of the calendar."""
    notes = []
    for statistic in draft.statistics:
        for part in (statistic, statistic.second):
            if part is None or part.argument is None or statistic.kind not in _SUMMED:
                continue
            spans = [
                call
                for call in walk(part.argument)
                if isinstance(call, Call) and call.name.endswith("s between")
            ]
            width = part.width * part.step
            if any(width >= _width(draft.scope.value_range(span)) for span in spans):
                low, high = (decimal_text(end * part.step) for end in (part.low, part.high))
                notes.append(
                    f"{WARNING}{part.argument} may be {low} to {high}, because no limits are "
                    "declared for it, and the noise is that large. Put limits that you know "
                    f"around it, such as CLAMP({part.argument}, 0, 365)."
                )
    return list(dict.fromkeys(notes))


def _width(values: ValueRange) -> Fraction:
    assert values.low is not None
    assert values.high is not None  # the calendar has ends
    return values.high - values.low


def _about_keys(draft: Draft) -> list[str]:
    return [
        f"Groups of {key.name} are whole seconds."
        for key, expression in zip(draft.keys, draft.key_expressions, strict=True)
        if key.kind == "moment"
        and not (isinstance(expression, Call) and expression.name.startswith("start of "))
    ]


def _about_statistics(draft: Draft) -> list[str]:
    statistics, table = draft.statistics, draft.table
    seconds = (statistic.second for statistic in statistics if statistic.second is not None)
    notes = [
        _about_grid(statistic)
        for statistic in (*statistics, *seconds)
        if statistic.kind in _SUMMED
    ]
    if any(statistic.kind == "pair" for statistic in statistics):
        notes.append(
            "Correlations, covariances and slopes are computed from noisy means and products "
            "of both columns, where both are known."
        )
    notes += [
        f"{_VALUES[statistic.kind]}(DISTINCT {statistic.argument}) counts at most "
        f"{table.max_rows_per_unit_per_group:,} values of one unit in a group."
        for statistic in statistics
        if statistic.kind in _VALUES and table.unit is not None
    ]
    if draft.delta and draft.request.delta_by_default:
        notes.append(f"Delta is {decimal_text(draft.delta)}, a hundredth of the budget's.")
    if draft.request.nonnegative:
        notes.append("Negative counts are shown as 0.")
    return notes


def _about_grid(statistic: Statistic) -> str:
    low, high = statistic.low * statistic.step, statistic.high * statistic.step
    return (
        f"{statistic.argument} is cut to {decimal_text(low)} to {decimal_text(high)} and "
        f"rounded to {decimal_text(statistic.step)}."
    )


def _about_choices(draft: Draft) -> list[str]:
    notes: list[str] = []
    for aggregate, choice in draft.choice_of.items():
        if aggregate.name in ("min", "max"):
            reach = draft.choices[draft.unpriced.index(choice)].margin
            beyond = "below" if aggregate.name == "min" else "above"
            notes.append(
                f"{aggregate} is aimed at the value with {reach:,} rows {beyond} it, which the "
                "noise can reach: the very last value is one person's own."
            )
    for unpriced, priced in zip(draft.unpriced, draft.choices, strict=True):
        if unpriced.levels:
            low, high = (decimal_text(end) for end in unpriced.bounds)
            notes.append(
                f"Quantiles of {unpriced.argument} are multiples of "
                f"{decimal_text(unpriced.step)} from {low} to {high}."
            )
        mechanism = priced.mechanism
        if isinstance(mechanism, QuantileIntervals) and mechanism.brackets:
            notes.append(_about_intervals(str(unpriced.argument), mechanism, draft))
    return notes


def _about_intervals(argument: str, mechanism: QuantileIntervals, draft: Draft) -> str:
    level = percent(draft.request.confidence)
    promise = f"Intervals of quantiles of {argument} hold at {level}, all of a group together"
    if mechanism.method == "tree":
        return f"{promise}, for the rows after limits and cuts."
    return (
        f"{promise}, for the rows after limits and cuts. On smooth data the value itself is "
        f"typically about {pluralize(math.ceil(mechanism.typical), 'rank')} off."
    )


def _about_limits(draft: Draft) -> list[str]:
    """What the contribution bounds may leave out, which no margin covers."""
    origin, table = draft.scope.origin, draft.table
    unit = origin.unit or "row"
    notes = []
    if origin.most_joined is not None:
        notes.append(
            f"Tables are joined with at most {pluralize(origin.most_joined, 'row')} of one "
            f"{unit} each: margins do not cover what is left out."
        )
    only_units = not draft.keys and all(
        aggregate.name == "count_units" for aggregate in draft.aggregates
    )
    if table.unit is None or origin.one_row_per_unit or only_units:
        return notes
    rows = pluralize(table.max_rows_per_unit_per_group, "row")
    limit = f"with at most {rows}"
    if draft.keys:
        limit = f"in at most {pluralize(draft.groups, 'group')}, with {rows} in each"
    notes.append(f"One {unit} counts {limit}: margins do not cover what is left out.")
    return notes
