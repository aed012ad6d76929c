"""A statement as a tree, which is also its text in DuckDB's dialect.

A plan holds its statements in this form. The text is what a certificate states and what DuckDB
runs; other engines write their own text from the tree. So no text of ours is parsed again. That
tree and text say the same is checked before each charge (`says_what_it_reads`).
"""

import re
from typing import NoReturn

import sqlglot
from sqlglot import exp

from deniable.errors import InvalidParameter

_MARKS = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[()]|\bCASE\b|\bEND\b")
_WORD = re.compile(r"\w+(\.\w+)?([-+]\w+)?")  # a name or a number: no blank, bracket or comment


class StatementText(str):
    """The text of a tree. The tree must not be changed: copy it first.

    >>> text = StatementText(exp.Select(expressions=[exp.Literal.number(1)]))
    >>> text, tree_of(text) is text.tree
    ('SELECT 1', True)
    """

    __slots__ = ("_tree",)

    _tree: exp.Query

    def __new__(cls, tree: exp.Query) -> "StatementText":
        text = super().__new__(cls, tree.sql(dialect="duckdb"))
        object.__setattr__(text, "_tree", tree)
        return text

    @property
    def tree(self) -> exp.Query:
        """The tree whose text this is."""
        return self._tree

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("A statement cannot be changed: make a new one from a tree.")

    def __reduce__(self) -> tuple[object, tuple[exp.Query, str]]:
        return _read_again, (self.tree, str(self))


def _read_again(tree: exp.Query, text: str) -> str:
    """A statement from a file. If another version of sqlglot renders its tree in another way,
    the text remains: a plan's hash depends on it."""
    again = StatementText(tree)
    return again if again == text else text


def tree_of(sql: str) -> exp.Query:
    """The tree of a statement. Text from elsewhere, such as a file's, is parsed."""
    if type(sql) is StatementText:
        return sql.tree
    try:
        trees = sqlglot.parse(sql, dialect="duckdb")
    except RecursionError:
        raise
    except Exception:  # sqlglot has errors of its own, and others where it is wrong
        trees = []
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise InvalidParameter(
            "A statement of this plan is not one query in DuckDB's SQL. Make a new plan with "
            "plan(...). Nothing was spent."
        )
    return trees[0]


def says_what_it_reads(sql: str) -> bool:
    """Whether a statement's text and its tree say the same, so that it does not matter which
    of the two is judged and which is run.

    A tree renders to this text, and every name and number in it is a single word. Otherwise a
    name could hold a whole query that only DuckDB sees.

    >>> says_what_it_reads("SELECT 1"), says_what_it_reads("SELECT 1 -- and more")
    (True, False)
    """
    tree = tree_of(sql)
    try:
        text = tree.sql(dialect="duckdb")
    except RecursionError:
        raise
    except Exception:  # a tree that sqlglot cannot render is not ours
        return False
    if type(sql) not in (str, StatementText) or text != sql:
        return False
    return all(_is_plain(node) for node in tree.walk())


def levels_of(sql: str) -> int:
    """How deeply brackets and CASE nest in a statement.

    >>> levels_of("SELECT (CASE WHEN (a) THEN '((((' END) FROM t")
    3
    """
    deepest = depth = 0
    for mark in _MARKS.findall(sql):
        depth += (mark in ("(", "CASE")) - (mark in (")", "END"))
        deepest = max(deepest, depth)
    return deepest


def _is_plain(node: exp.Expr) -> bool:
    if isinstance(node, exp.Identifier) and node.quoted:
        return True
    if isinstance(node, exp.Literal) and node.is_string:
        return True
    if isinstance(node, exp.JSONPathKey):  # inside a text
        return not set("'\"\\") & set(node.this)
    texts = (value for value in node.args.values() if isinstance(value, str))
    return not node.comments and all(_WORD.fullmatch(text) for text in texts)
