"""FOR POPULATION at the end of a question: it also measures what sampling errors need.

    SELECT ward, AVG(cost) AS cost FROM visits GROUP BY ward FOR POPULATION

Like WITHIN, the clause is not SQL: it is read from the tokens and removed before the SQL is
parsed. What it adds are outputs like any others, planned, checked and paid for with the rest.
If each unit has one row, an average gets its number of rows and its standard deviation, a sum
the sum of its squares, and a quantile the quantiles around it. If a unit may have several rows,
the question is asked about units: of each, Y is the sum of its values and N the number of its
rows, and the sums of Y * Y, Y * N and N * N are measured, which one unit moves by at most
(m B)**2, m**2 B and m**2. So rows of one unit may have anything in common. Quantiles stay over
rows, and the quantiles around them lie as far away as if rows were equal, m at a time.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlglot.errors import SqlglotError

from deniable.errors import InvalidParameter, InvalidQuery
from deniable.exact.rationals import decimal_text
from deniable.policy import Column, Policy, Table
from deniable.query.language.expressions import aggregates_in
from deniable.query.language.question import Question
from deniable.query.language.quoted_names import quote_names
from deniable.query.language.spellings.sql_parser import read_tokens
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Expression,
    Literal,
    Named,
    TableRef,
)
from deniable.query.plan.plan import Plan
from deniable.query.planner.population_levels import levels_around
from deniable.query.planner.population_units import (
    about_units,
    keys_of,
    no_extreme,
    not_for_population,
    ratio_of,
)

NOTE = "Asked FOR POPULATION: `population()` states the errors of noise and sampling."

_LONGEST = 100_000  # characters of the question
_ZERO_TO_ONE = (Fraction(0), Fraction(1))
_SUM_WEIGHT = 2  # sums are asked twice as accurately as sums of squares


def split_population_clause(text: str) -> tuple[str, bool]:
    """The question without FOR POPULATION at its end, and whether it was there.

    >>> split_population_clause("SELECT AVG(x) AS m FROM visits FOR POPULATION")
    ('SELECT AVG(x) AS m FROM visits ', True)
    """
    if not isinstance(text, str) or len(text) > _LONGEST or "population" not in text.lower():
        return text, False
    text = quote_names(text)
    try:
        tokens = list(read_tokens(text))
    except SqlglotError:
        return text, False
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    words = [text[token.start : token.end + 1].upper() for token in tokens[-2:]]
    if words != ["FOR", "POPULATION"]:
        return text, False
    return text[: tokens[-2].start], True


def asked_for_population(plan: Plan) -> bool:
    """Whether the question ended with FOR POPULATION."""
    return NOTE in plan.notes


def measure_for_population(
    question: Question, policy: Policy, options: dict[str, Any]
) -> tuple[Question, dict[str, Any]]:
    """The question with all that sampling errors need, and the options to plan it with."""
    if question.having is not None or question.limit is not None or question.distinct:
        raise InvalidQuery(
            "FOR POPULATION cannot be combined with HAVING, LIMIT or DISTINCT: groups that the "
            "noise chose are no fair sample of it. Ask for all groups, and choose afterwards."
        )
    table = _table_of(question, policy)
    _check_strata(question, table)
    # Half of a quantile's error is for its noise. Groups are compared in pairs, and each of a
    # pair has half of the error.
    error = 1 - Fraction(str(options.get("confidence", "0.95")))
    error = error / 2 if question.keys or question.by_all else error
    widened = _Widened(question, table, float(error / 4))
    wider_question = widened.question()
    weights = {**widened.weights, **(options.get("weights") or {})}
    options = {**options, "weights": weights} if weights else options
    if widened.quantiles:
        options = {**options, "confidence": 1 - error / 2}
    return wider_question, options


def refuse_accuracy() -> InvalidParameter:
    """FOR POPULATION with a margin."""
    return InvalidParameter(
        "FOR POPULATION takes a price, such as epsilon=1, and no accuracy: how far the "
        "population may be off also depends on the rows."
    )


def _table_of(question: Question, policy: Policy) -> Table:
    name = question.table.name if isinstance(question.table, TableRef) else question.table
    tables = {own.lower(): table for own, table in policy.tables.items()}
    if not isinstance(name, str) or name.lower() not in tables:
        raise InvalidQuery(
            "FOR POPULATION needs a question about one table: of joins and sub-queries nobody "
            "knows how the rows were sampled. Ask about the table that was sampled."
        )
    return tables[name.lower()]


def _check_strata(question: Question, table: Table) -> None:
    """Refuses a number of all strata together, before it is paid for."""
    by = None if table.sample is None else table.sample.by
    keys = keys_of(question, table)
    names = [key.name.lower() for key in keys if isinstance(key, ColumnRef)]
    if by is not None and by.lower() not in names:
        raise InvalidQuery(
            f"FOR POPULATION: the sample of {table.name} was drawn in strata of {by}. Group by "
            f"{by}, and take the strata together with dp.infer.weighted()."
        )


class _Widened:
    """A question while outputs are added to it."""

    def __init__(self, question: Question, table: Table, tail: float) -> None:
        self.original, self.table = question, table
        self.tail = tail  # of one end of a quantile's interval, by sampling
        self.cluster = 1 if table.unit is None else table.max_rows_per_unit_per_group
        self.by_unit = self.cluster > 1
        self.outputs: list[Named] = []
        self.inner: dict[Aggregate, str] = {}
        self.weights: dict[str, int] = {}
        self.quantiles = False
        ratios = (ratio_of(output.expression) for output in question.outputs)
        if any(ratio and ratio[1].name == "count" for ratio in ratios):
            self.by_unit = table.unit is not None
        if self.by_unit and any(map(_is_quantile, question.outputs)):
            self._check_rows()

    def _check_rows(self) -> None:
        """Of persons with several rows, quantiles are over rows, and averages over units."""
        self.by_unit = False
        for output in self.original.outputs:
            expression = output.expression
            name = expression.name if isinstance(expression, Aggregate) else ""
            if not aggregates_in(expression) or name == "count" or _is_quantile(output):
                continue
            if name in ("min", "max"):
                raise no_extreme(expression)
            if name not in ("avg", "sum") and ratio_of(expression) is None:
                raise not_for_population(expression)
            raise InvalidQuery(
                f"FOR POPULATION: one {self.table.unit} may have several rows, so "
                f"{expression} is measured over units, and quantiles are not. Ask for "
                "quantiles in a question of their own."
            )

    def question(self) -> Question:
        """The question with its new outputs."""
        for output in self.original.outputs:
            self._add(output)
        if not self.inner:
            return replace(self.original, outputs=tuple(self.outputs))
        return about_units(self.original, self.table, self.outputs, self.inner)

    def _add(self, output: Named) -> None:
        expression = output.expression
        if not aggregates_in(expression):
            self.outputs.append(output)
        elif isinstance(expression, Aggregate) and _is_quantile(output):
            self._add_quantiles(output, expression)
        elif isinstance(expression, Aggregate) and expression.name in ("min", "max"):
            raise no_extreme(expression)
        elif isinstance(expression, Aggregate) and expression.name == "avg":
            self._add_mean(output, expression)
        elif isinstance(expression, Aggregate) and expression.name in ("sum", "count"):
            self._add_total(output, expression)
        elif (ratio := ratio_of(expression)) is not None:
            self._add_ratio(output, *ratio)
        elif not self.by_unit:  # others are kept: STDDEV belongs to an AVG
            self.outputs.append(output)
        else:
            raise not_for_population(expression)

    def _add_mean(self, output: Named, mean: Aggregate) -> None:
        if self.by_unit:
            ratio = replace(mean, name="sum"), replace(mean, name="count")
            return self._add_ratio(output, *ratio)
        self.outputs.append(output)
        self._beside(f"{output.name}: rows", replace(mean, name="count"))
        if not self._is_share(mean.argument):
            self._beside(f"{output.name}: deviation", replace(mean, name="stddev_samp"))
        return None

    def _add_total(self, output: Named, total: Aggregate) -> None:
        if self.table.sample is None and total.name == "count" and self._has_mean():
            kept = Aggregate("sum", self._term(total)) if self.by_unit else total
            return self.outputs.append(replace(output, expression=kept))
        if self.table.sample is None:
            raise InvalidQuery(
                f"FOR POPULATION: {total} of the population cannot be told from a sample of "
                "unknown size. Declare the sample in the policy, for example   "
                f"[tables.{self.table.name}.sample] fraction = 0.1   or ask for averages."
            )
        if self.table.sample.fraction is None:
            return self._add_by_frame(output, total)
        if not self.by_unit:
            self.outputs.append(output)
            if total.name == "sum" and total.argument is not None:
                square = Call("*", (total.argument, total.argument))
                self._beside(f"{output.name}: squares", Aggregate("sum", square))
            return None
        term = self._term(total)
        self.outputs.append(replace(output, expression=Aggregate("sum", term)))
        self.weights[output.name] = _SUM_WEIGHT
        self._beside(f"{output.name}: squares", Aggregate("sum", Call("*", (term, term))))
        return None

    def _has_mean(self) -> bool:
        """Whether something is asked that needs no known sample; counts may stand beside it."""
        expressions = [output.expression for output in self.original.outputs]
        means = ("avg", "quantile", "quantiles")
        named = (isinstance(part, Aggregate) and part.name in means for part in expressions)
        return any(named) or any(map(ratio_of, expressions))

    def _add_by_frame(self, output: Named, total: Aggregate) -> None:
        """A number of the whole frame: its size times that of one sampled unit, or row."""
        self._check_frame(total)
        every = Aggregate("count", None)
        if not self.by_unit:
            self.outputs.append(output)
            if total.argument is not None and total.name == "sum":
                square = Call("*", (total.argument, total.argument))
                self._beside(f"{output.name}: squares", Aggregate("sum", square))
            self._beside(f"{output.name}: rows", every)
            return
        term = self._term(total)
        self.outputs.append(replace(output, expression=Aggregate("sum", term)))
        self.weights[output.name] = _SUM_WEIGHT
        self._beside(f"{output.name}: squares", Aggregate("sum", Call("*", (term, term))))
        self._beside(f"{output.name}: units", every)

    def _check_frame(self, total: Aggregate) -> None:
        """Refuses, before the charge, what the size of the frame does not tell."""
        sample, name = self.table.sample, self.table.name
        assert sample is not None
        strata = [] if sample.by is None else [sample.by.lower()]
        keys = keys_of(self.original, self.table)
        names = [key.name.lower() if isinstance(key, ColumnRef) else "" for key in keys]
        condition = "SUM(CASE WHEN ward = 'A' THEN cost ELSE 0 END)"
        if total.name == "count" or isinstance(total.argument, Literal):
            condition = "COUNT(CASE WHEN ward = 'A' THEN 1 END)"
        if self.original.where is not None or names != strata:
            raise InvalidQuery(
                f"FOR POPULATION: the `frame` of {name} is the size of its whole population"
                f"{f' in each stratum of {sample.by}' if strata else ''}, and not of some of "
                f"its rows. Instead of WHERE or of other keys, write into {total} what counts, "
                f"such as {condition}."
            )
        if self.cluster > 1 and sample.clustered and not self.by_unit:
            raise InvalidQuery(
                f"FOR POPULATION: {total} is counted over {self.table.unit}s, and quantiles "
                "are over rows. Ask for each in a question of its own."
            )
        if self.cluster > 1 and not sample.clustered:
            raise InvalidQuery(
                f"FOR POPULATION: {total} needs the `fraction` of the sample in "
                f"[tables.{name}.sample], or `clustered = true` and the number of units as its "
                "frame. With the number of rows alone, ask for sums with one row a unit, or "
                "for averages."
            )
        if not self.by_unit and total.argument is None:
            raise InvalidQuery(
                f"FOR POPULATION: {total} of the population is the `frame` of {name}, which is "
                "declared. Ask for sums, averages or COUNT(x) of a column."
            )

    def _add_ratio(self, output: Named, above: Aggregate, below: Aggregate) -> None:
        if not self.by_unit and below.name == "count":
            raise InvalidQuery(
                f"FOR POPULATION: write {output.expression} as an average, such as AVG(x) or "
                "AVG(CASE WHEN ... THEN 1 ELSE 0 END)."
            )
        y, n = self._term(above), self._term(below)
        over, under = Aggregate("sum", y), Aggregate("sum", n)
        self.outputs.append(replace(output, expression=Call("/", (over, under))))
        for name, total in ((f"{output.name}: sum", over), (f"{output.name}: rows", under)):
            self.weights[self._beside(name, total)] = _SUM_WEIGHT
        for name, pair in (("sum sum", (y, y)), ("sum rows", (y, n)), ("rows rows", (n, n))):
            self._beside(f"{output.name}: {name}", Aggregate("sum", Call("*", pair)))
        sample = self.table.sample
        if sample is not None and sample.clustered and sample.frame is not None:
            self._beside(f"{output.name}: units", Aggregate("count", None))

    def _add_quantiles(self, output: Named, aggregate: Aggregate) -> None:
        self.outputs.append(output)
        self.quantiles = True
        name = output.name
        for level in aggregate.levels:
            if aggregate.name == "quantiles":  # each has a column of its own
                name = f"{output.name}[{decimal_text(level)}]"
            for around in levels_around(level, self._rows(), self.tail):
                beside = replace(aggregate, name="quantile", levels=(around,))
                self._beside(f"{name}: {float(around):g}", beside)
        self._beside(f"{name}: rows", Aggregate("count", aggregate.argument))

    def _rows(self) -> int:
        """How many independent draws are expected in each group: rows of one unit may be
        equal."""
        rows = self.table.expected_rows
        if rows is None:
            raise InvalidQuery(
                "FOR POPULATION: where the ends of a quantile's interval lie depends on how "
                f"many rows there are. Declare expected_rows of {self.table.name}: a public "
                "guess."
            )
        for key in keys_of(self.original, self.table):
            column = self._column(key)
            declared = None if column is None else column.keys
            rows //= len(declared) if isinstance(declared, tuple) else 1
        return rows // self.cluster

    def _beside(self, name: str, expression: Expression) -> str:
        """Adds an output, unless it is asked for already; returns the name that it has."""
        outputs = (*self.outputs, *(self.original.outputs if not self.by_unit else ()))
        for output in outputs:
            if output.expression == expression:
                return output.name
        self.outputs.append(Named(name, expression))
        return name

    def _term(self, total: Aggregate) -> Expression:
        """What one row, or one unit, adds to a sum or to a count."""
        if not self.by_unit:
            assert total.argument is not None
            return total.argument
        count = self._inside(replace(total, name="count"))
        if total.name == "count":
            return count
        # The count is cut to what one unit may have, so the sum is that of that many rows.
        return Call("*", (self._inside(replace(total, name="avg")), count))

    def _inside(self, aggregate: Aggregate) -> ColumnRef:
        return ColumnRef(self.inner.setdefault(aggregate, f"(a{len(self.inner)})"))

    def _is_share(self, argument: Expression | None) -> bool:
        """Whether values are 0 or 1, so that their variance follows from their mean."""
        column = None if argument is None else self._column(argument)
        if column is None:
            return False
        return column.kind == "boolean" or (
            column.bounds == _ZERO_TO_ONE and (column.integer or column.step == 1)
        )

    def _column(self, expression: Expression) -> Column | None:
        columns = {name.lower(): column for name, column in self.table.columns.items()}
        if not isinstance(expression, ColumnRef):
            return None
        return columns.get(expression.name.lower())


def _is_quantile(output: Named) -> bool:
    expression = output.expression
    return isinstance(expression, Aggregate) and expression.name in ("quantile", "quantiles")
