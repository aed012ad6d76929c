"""Divides a statement into private questions and SQL over their answers.

A SELECT that is a private question by itself becomes one: it is asked, and its place is taken
by its answer. Another SELECT may still read such answers: by sub-queries, by WITH, and
by aggregates inside of window functions. Everything above the private questions is SQL over
released rows, which costs nothing. Each question is asked once, however often it is used.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.parse import parse_tree
from deniable.query.outer.date_extremes import split_date_extremes
from deniable.query.outer.format_split import split_formats
from deniable.query.outer.level_split import LevelSplit, has_levels, split_levels
from deniable.query.outer.outer_sql import check_outer, write_outer, write_total
from deniable.query.outer.window_split import split_windows

_OUTER_PARTS = (
    exp.Rollup,
    exp.Cube,
    exp.GroupingSets,
    exp.Window,
    exp.Qualify,
    exp.Offset,
    exp.Pivot,
    exp.SetOperation,
)
_MOST_NAMED = 50
_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery)


@dataclass(frozen=True, slots=True)
class DividedQuestion:
    """SQL over released tables, and the private question behind each of their names."""

    outer: str
    inner: Mapping[str, str]
    tree: exp.Expr = field(compare=False, repr=False)  # of the outer SQL
    # Of answers that are the finest groups of several levels: the keys of each, by places.
    levels: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    wanted: bool = True  # whether the statement has a part that only released rows can have


@dataclass(frozen=True, slots=True)
class _Scope:
    """The named sub-queries that a SELECT may read."""

    ctes: tuple[exp.CTE, ...] = ()

    def find(self, name: str) -> exp.CTE | None:
        return next((c for c in reversed(self.ctes) if c.alias.lower() == name.lower()), None)

    def before(self, cte: exp.CTE) -> "_Scope":
        return _Scope(self.ctes[: next(i for i, c in enumerate(self.ctes) if c is cte)])


def divide(
    text: str, ask: Callable[[str], None], refusal: InvalidQuery | None = None
) -> DividedQuestion:
    """The parts of a statement. `ask` refuses what is not a private question by itself.

    `refusal` says why the whole statement is not one. It is raised again if the statement
    cannot be divided, unless the statement asks for what only released rows have.

    >>> inner = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    >>> def ask(text):
    ...     if text != inner:
    ...         raise InvalidQuery("not a question")
    >>> parts = divide(f"SELECT ward, n / SUM(n) OVER () AS share FROM ({inner}) AS g", ask)
    >>> parts.outer
    'SELECT ward, n / SUM(n) OVER () AS share FROM (SELECT * FROM released_1) AS g'
    >>> parts.inner["released_1"] == inner
    True
    """
    tree = parse_tree(text)
    nodes = list(tree.walk())
    wanted = any(isinstance(node, _OUTER_PARTS) for node in nodes)
    nested = any(isinstance(node, exp.Subquery | exp.CTE) for node in nodes)
    divider = _Divider(ask, _unused_prefix(nodes))
    try:
        outer = divider.top(tree, refusal)
        check_outer(outer, {*divider.inner.values(), *divider.ctes})
        if not divider.inner:
            raise InvalidQuery("The statement asks for no aggregate of a private table.")
    except InvalidQuery as deepest:
        raise (deepest if wanted or refusal is None else refusal) from None
    inner = {name: question for question, name in divider.inner.items()}
    text = write_total(outer)
    return DividedQuestion(text, inner, outer, divider.levels_alone(), wanted or nested)


class _Divider:
    def __init__(self, ask: Callable[[str], None], prefix: str) -> None:
        self.ask, self.prefix = ask, prefix
        self.inner: dict[str, str] = {}  # the name of each question's answer
        self.ctes: dict[str, exp.CTE] = {}  # named sub-queries over answers, by name
        self.written: dict[str, exp.CTE] = {}  # the same, as they were written
        self.uses: Counter[str] = Counter()  # how often each answer is read
        self.sets: dict[str, list[tuple[tuple[int, ...], ...]]] = {}  # those read by levels

    def top(self, tree: exp.Expr, refusal: InvalidQuery | None) -> exp.Expr:
        """The whole statement over answers, with the named sub-queries that it uses.

        With a `refusal` it was asked before, as a whole: that is not done again.
        """
        outer = self.query(tree, _Scope(), refusal)
        if self.ctes:
            outer.set("with_", exp.With(expressions=list(self.ctes.values())))
        return outer

    def query(
        self, node: exp.Expr, scope: _Scope, earlier_refusal: InvalidQuery | None = None
    ) -> exp.Expr:
        """A query over answers. Refuses what reads private rows and cannot be asked."""
        clause = node.args.get("with_")
        if clause is not None:
            if clause.args.get("recursive"):
                raise InvalidQuery("WITH RECURSIVE is not supported. Use WITH.")
            scope = _Scope((*scope.ctes, *clause.expressions))
            if len(scope.ctes) > _MOST_NAMED:  # each is planned with all those before it
                raise InvalidQuery(f"WITH may name at most {_MOST_NAMED} sub-queries.")
            node.set("with_", None)
        if not isinstance(node, exp.Select):
            return self.rewrite(node, scope, None)
        if has_levels(node) and _reads_named(node):
            return self.levels(split_levels(node), scope)
        before = dict(self.inner), dict(self.ctes)
        try:
            if earlier_refusal is not None:
                raise earlier_refusal
            return self.answer(node, scope)
        except InvalidQuery as refusal:
            for split in (split_formats, split_windows, split_date_extremes):
                parts = split(node)
                if parts is None:
                    continue
                inner, outer = parts
                try:
                    answer = self.answer(inner, scope)
                except InvalidQuery:
                    self.inner, self.ctes = before
                else:
                    outer.set("from_", exp.From(this=_aliased(answer, "groups")))
                    return self.rewrite(outer, scope, refusal)
            return self.rewrite(node, scope, refusal)

    def levels(self, split: LevelSplit, scope: _Scope) -> exp.Expr:
        """All levels of ROLLUP and the like: over the finest groups, or each by itself."""
        if split.finest is None:
            queries = [self.query(level, scope) for level in split.levels]
        else:
            finest = self.query(split.finest, scope)
            read = [table.name for table in finest.find_all(exp.Table)]
            if len(read) == 1 and read[0] in self.inner.values():
                self.sets.setdefault(read[0], []).append(split.sets)
            queries = [level.from_(_aliased(finest.copy(), "finest")) for level in split.levels]
        whole: exp.Expr = queries[0]
        for level in queries[1:]:
            whole = exp.Union(this=whole, expression=level, distinct=False)
        select = exp.select("*").from_(_aliased(whole, "levels"))
        for name in ("order", "limit", "offset"):
            select.set(name, getattr(split, name))
        return select

    def levels_alone(self) -> dict[str, tuple[tuple[int, ...], ...]]:
        """The levels of the finest groups that nothing but levels reads: the levels say less
        about a single one of these groups than an answer of its own would."""
        alone = {name for name, sets in self.sets.items() if self.uses[name] == len(sets)}
        return {
            name: tuple(sorted(set().union(*sets)))
            for name, sets in self.sets.items()
            if name in alone
        }

    def answer(self, select: exp.Select, scope: _Scope) -> exp.Expr:
        """The answer to a SELECT that is a private question by itself."""
        question = select.copy()
        for node in select.find_all(exp.Fetch, exp.Lock):
            if isinstance(node, exp.Lock) or node.args.get(
                "limit_options"
            ):  # they would be lost
                raise InvalidQuery("FOR UPDATE, PERCENT and WITH TIES are not supported.")
        if scope.ctes and question.find(exp.Table):
            question.set("with_", exp.With(expressions=[cte.copy() for cte in scope.ctes]))
        text = write_outer(question, copy=False)
        if text not in self.inner:
            self.ask(text)
            self.inner[text] = f"{self.prefix}{len(self.inner) + 1}"
        self.uses[self.inner[text]] += 1
        return exp.select("*").from_(exp.to_table(self.inner[text]))

    def rewrite(self, node: exp.Expr, scope: _Scope, refusal: InvalidQuery | None) -> exp.Expr:
        """The node with every query below it over answers."""
        for child in list(node.iter_expressions()):
            if isinstance(child, exp.Table):
                self.read(child, scope, refusal)
                self.rewrite(child, scope, refusal)
            elif isinstance(child, _QUERIES):
                replacement = self.query(child, scope)
                if replacement is not child:
                    child.replace(replacement)
            else:
                self.rewrite(child, scope, refusal)
        return node

    def read(self, table: exp.Table, scope: _Scope, refusal: InvalidQuery | None) -> None:
        """Makes a table that is read a named sub-query over answers."""
        name = table.name.lower()
        if name in self.inner.values() or not isinstance(table.this, exp.Identifier):
            return
        cte = None if table.args.get("db") else scope.find(name)
        if cte is None:
            raise refusal or InvalidQuery(f"{table.name} is not the name of an answer.")
        if self.written.setdefault(name, cte.copy()) != cte:
            raise InvalidQuery(f"WITH defines {cte.alias} twice. Give each a name of its own.")
        if name in self.ctes:
            return
        body = self.query(cte.this.copy(), scope.before(cte))
        self.ctes[name] = exp.CTE(this=body, alias=cte.args["alias"].copy())


def _reads_named(select: exp.Select) -> bool:
    """Whether a SELECT reads tables: levels of sub-queries over answers are left to DuckDB."""
    source = select.args.get("from_")
    return source is not None and isinstance(source.this, exp.Table)


def _aliased(select: exp.Expr, alias: str) -> exp.Expr:
    return exp.Subquery(this=select, alias=exp.TableAlias(this=exp.to_identifier(alias)))


def _unused_prefix(nodes: list[exp.Expr]) -> str:
    """What the names of answers begin with: no name of the statement begins like this."""
    prefix = "released_"
    names = [node.name.lower() for node in nodes if isinstance(node, exp.Identifier)]
    while any(name.startswith(prefix) for name in names):
        prefix += "_"
    return prefix
