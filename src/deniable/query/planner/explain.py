"""A Plan as a tree of text, to read before anything is spent."""

from dataclasses import dataclass
from fractions import Fraction

from deniable.exact.html_tables import html_text
from deniable.exact.rationals import decimal_text
from deniable.exact.suggestions import pluralize
from deniable.exact.text_formats import percent
from deniable.mechanisms import Gaussian, QuantileIntervals, Quantiles
from deniable.query.plan.plan import (
    Block,
    Choice,
    KeyColumn,
    Output,
    Plan,
    Told,
)
from deniable.query.planner.notes import note_rows_without_key


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of the tree, and the branches below it."""

    text: str
    below: tuple["Branch", ...] = ()

    def __str__(self) -> str:
        return "\n".join(self._lines("", ""))

    def _repr_html_(self) -> str:
        return html_text(self)

    def _lines(self, first: str, rest: str) -> list[str]:
        lines = [first + self.text]
        for i, branch in enumerate(self.below):
            last = i == len(self.below) - 1
            lines += branch._lines(
                rest + ("└── " if last else "├── "), rest + ("    " if last else "│   ")
            )
        return lines


def explain(plan: Plan) -> Branch:
    """The plan as a tree; `print` it."""
    price = f"epsilon {decimal_text(plan.epsilon)}"
    if plan.delta:
        price += f", delta {decimal_text(plan.delta)}"
    missing = note_rows_without_key(plan)
    return Branch(
        f"Answer at {price}",
        (
            Branch(
                "outputs",
                tuple(
                    Branch(_output(output, plan.confidence))
                    for output in plan.outputs
                    if not isinstance(output.node, KeyColumn | Told)
                ),
            ),
            *_groups(plan),
            *_below("measured", [_block(block) for block in plan.blocks]),
            *_below("chosen", [_choice(choice, plan.confidence) for choice in plan.choices]),
            Branch(describe_unit(plan)),
            *_below("notes", [Branch(note) for note in (*plan.notes, *missing)]),
        ),
    )


def _below(text: str, lines: list[Branch]) -> tuple[Branch, ...]:
    """A branch with these lines below it, or nothing if the list is empty."""
    return (Branch(text, tuple(lines)),) if lines else ()


def _output(output: Output, confidence: Fraction) -> str:
    if output.margin is None:
        margin = "margin depends on the data (declare expected_rows for an estimate)"
    else:
        about = "about " if output.estimated else ""
        unit = f" {output.margin_in}" if output.margin_in else ""
        margin = f"± {about}{output.margin:,.6g}{unit} at {percent(confidence, '%')}"
        if output.likely is not None:
            margin += f", ± about {output.likely:,.6g} if rows are spread evenly"
    name = "" if output.name == output.about else f"{output.name} = "
    return f"{name}{output.about}: {margin}"


def _groups(plan: Plan) -> tuple[Branch, ...]:
    if not plan.keys:
        return ()
    lines = [
        Branch(
            f"{key.name}: private, a group needs enough units to be shown"
            if key.values is None
            else f"{key.name}: {len(key.values):,} declared, all shown"
        )
        for key in plan.keys
    ]
    if plan.thresholding is not None:
        rule = plan.thresholding
        lines.append(
            Branch(
                f"shown above {rule.threshold:,} noisy units, {rule.loss} "
                f"(units: ± {rule.margin(plan.confidence):,})"
            )
        )
    return (Branch("groups", tuple(lines)),)


def _block(block: Block) -> Branch:
    mechanism = block.mechanism
    norm = "L2" if isinstance(mechanism, Gaussian) else "L1"
    return Branch(
        block.about,
        (
            Branch(f"integers: {', '.join(block.features)}"),
            Branch(f"{norm} sensitivity {decimal_text(mechanism.sensitivity)} grid steps"),
            Branch(f"{type(mechanism).__name__} noise, {mechanism.loss}"),
        ),
    )


def _choice(choice: Choice, confidence: Fraction) -> Branch:
    mechanism = choice.mechanism
    ends: tuple[Branch, ...] = ()
    if isinstance(mechanism, Quantiles | QuantileIntervals):
        how = f"{mechanism.grid.size:,} cells, drawn by the {mechanism.method} method"
        steps = f"one unit is at most {pluralize(choice.changes, 'row')}"
        if isinstance(mechanism, QuantileIntervals) and mechanism.draws_both_ends:
            ends = (Branch(_intervals(mechanism, confidence)),)
    else:
        how = f"{len(choice.labels or ()):,} values, drawn by permute-and-flip"
        if choice.rounds > 1:
            how += f", {choice.rounds} times"
        steps = (
            f"one unit moves a count by at most {decimal_text(mechanism.sensitivity)}, in at "
            f"most {choice.changes:,} groups"
        )
    return Branch(choice.about, (Branch(how), *ends, Branch(steps), Branch(f"{choice.loss}")))


def _intervals(mechanism: QuantileIntervals, confidence: Fraction) -> str:
    """How far intervals reach, and what they cost: without them, values are sharper."""
    alone = mechanism.sharper_margin(confidence)
    return (
        f"intervals are aimed {mechanism.reach:,} ranks to either side; brackets=False: no "
        f"intervals, and values within {alone:,} ranks at {percent(confidence, '%')}"
    )


def describe_unit(plan: Plan) -> str:
    """What one privacy unit is, and what it may contribute."""
    tables = " and ".join(plan.tables)
    if plan.unit is None:
        return f"one unit is one row of {tables} ({plan.neighbors})"
    if plan.max_rows_per_unit is not None:
        return (
            f"one unit is all rows of one {plan.unit} in {tables} ({plan.neighbors}): at most "
            f"{pluralize(plan.max_rows_per_unit, 'row')}"
        )
    return (
        f"one unit is all rows of one {plan.unit} in {tables} ({plan.neighbors}): at most "
        f"{pluralize(plan.max_groups_per_unit, 'group')}, "
        f"{pluralize(plan.max_rows_per_unit_per_group, 'row')} in each"
    )
