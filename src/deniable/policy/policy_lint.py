"""What a policy allows and its owner may not want, with the line that says so.

A mistake stops a policy from being read. What is found here does not: it is legal, and costs
protection or precision. Only what the owner wrote is looked at, and no row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from deniable.exact.text_formats import percent
from deniable.policy.policy import Policy
from deniable.policy.table import Table
from deniable.policy.toml_lines import line_of

_LARGE_EPSILON = Fraction(4)  # odds of more than 50 to 1


@dataclass(frozen=True, slots=True)
class PolicyFinding:
    """One thing to look at. `line` is None if the policy has no line for it."""

    line: int | None
    message: str

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


def lint_policy(text: str, policy: Policy) -> tuple[PolicyFinding, ...]:
    """What to look at in a policy that was read from this text, by line.

    >>> from deniable.policy.file import parse
    >>> text = '[budget]\\nepsilon = 9\\n[tables.visits]\\nsource = "visits.csv"'
    >>> print(*lint_policy(text, parse(text)), sep="\\n")  # doctest: +ELLIPSIS
    line 2: All answers together may cost epsilon 9, ...
    line 3: visits has no `unit`, so each row is protected by itself. ...
    """
    findings = [
        PolicyFinding(line_of(text, where), message)
        for where, message in (*_lint_budget(policy), *_lint_tables(policy))
    ]
    return tuple(sorted(findings, key=lambda finding: finding.line or 0))


def _lint_budget(policy: Policy) -> Iterator[tuple[tuple[str, ...], str]]:
    whole = policy.budget.at(None)
    if whole.epsilon > _LARGE_EPSILON:
        yield (
            ("budget", "epsilon"),
            f"All answers together may cost epsilon {float(whole.epsilon):g}, so a guess about "
            "one person may become nearly sure. Most owners stay below 4.",
        )
    rows = [table.expected_rows for table in policy.tables.values() if table.expected_rows]
    if rows and whole.delta * min(rows) >= 1:
        yield (
            ("budget", "delta"),
            f"`delta` is {float(whole.delta):g}, which is at least one in the "
            f"{min(rows):,} rows that are expected. Use a much smaller one.",
        )


def _lint_tables(policy: Policy) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, table in policy.tables.items():
        here = ("tables", name)
        if table.public:
            yield (
                (*here, "public"),
                f"{name} is public: its rows are not protected at all.",
            )
            continue
        if table.unit is None:
            yield (
                here,
                f"{name} has no `unit`, so each row is protected by itself. A person with "
                "several rows is protected less. Name the column that says who.",
            )
        yield from _lint_columns(policy, table, here)


def _lint_columns(
    policy: Policy, table: Table, here: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, column in table.columns.items():
        where = (*here, "columns", name)
        if column.keys == "private" and not policy.delta:
            yield (
                where,
                f"The keys of {name} are private, which needs a `delta` in [budget]. Without "
                "it, nobody can group by this column.",
            )
        if column.bounds is not None and column.step is not None:
            width = column.bounds[1] - column.bounds[0]
            if width and column.step > width / 10:
                yield (
                    where,
                    f"Values of {name} are rounded to steps of {float(column.step):g}: that is "
                    f"{percent(round(float(column.step / width), 3))} of its range. Answers "
                    "can be off by half a step, and no margin says so.",
                )
