"""A column of the answer of SQL over released rows: what its margins are computed from."""

from dataclasses import dataclass, replace

from sqlglot import exp

from deniable.query.outer.float_sizes import count_operations, float_size, may_cancel
from deniable.query.outer.noise_dependence import DependenceReader, Kind, NoiseDependence
from deniable.query.outer.ratio_parts import RatioReader
from deniable.query.outer.rounded_numbers import remove_rounding
from deniable.query.outer.row_formula import FormulaReader, RowFormula


@dataclass(frozen=True, slots=True)
class RepeatedColumn:
    """A column of the answer: how it depends on noise, and where its draws are."""

    dependence: NoiseDependence
    values: tuple[str, ...] = ()  # one column; or two, if it is a ratio
    rounding: float = 0.0  # how far rounding may move it
    own_margin: str | None = None  # the column with the margin of a number, or a multiple of it
    formulas: tuple[RowFormula, ...] = ()  # of its values, if draws need no SQL
    size: str | None = None  # the column with the size of what it was computed from
    operations: int = 0  # how many of them may have rounded
    adds_rows: bool = False  # whether each row that is added up is one more of them


def drawn_column(
    place: int,
    output: exp.Expr,
    dependence: NoiseDependence,
    formulas: FormulaReader,
    drawn: list[exp.Expr],
) -> RepeatedColumn:
    """What a column's draws are made of. Lists in `drawn` what SQL must say for every draw,
    if formulas do not."""
    if dependence.kind in (Kind.PUBLIC, Kind.JUMPS):
        return RepeatedColumn(dependence)
    reader = formulas.reader
    value, rounding = remove_rounding(output)
    rounding += reader.read(value).rounding
    ratio = RatioReader(reader).read(value) if dependence.kind == Kind.SMOOTH else None
    parts = [value] if ratio is None else list(ratio)
    names = tuple(f"_value_{place}_{i}" for i in range(len(parts)))
    named = zip(parts, names, strict=True)
    drawn += [exp.alias_(part.copy(), name, quoted=True) for part, name in named]
    return RepeatedColumn(dependence, names, rounding, None, formulas.read_all(parts))


def add_size(
    tree: exp.Select,
    place: int,
    output: exp.Expr,
    column: RepeatedColumn,
    reader: DependenceReader,
    written: tuple[int, bool],
) -> RepeatedColumn:
    """A column of the answer with how large the numbers are that it is computed from. `written`
    is how many operations the whole statement has, and whether it adds up rows."""
    shown = column.own_margin is not None or column.values
    if not shown or not may_cancel(output, reader):
        return column
    size = float_size(output, reader)
    if size is None:
        return RepeatedColumn(column.dependence.at_least(Kind.JUMPS))
    name = f"_size_{place}"
    tree.append("expressions", exp.alias_(size, name, quoted=True))
    alone = column.own_margin is not None  # it is one released number times public ones
    operations = count_operations(output) if alone else written[0]
    adds_rows = not alone and written[1]
    return replace(column, size=name, operations=operations, adds_rows=adds_rows)
