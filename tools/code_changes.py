"""One change of a function's code: `before => after`, found in its syntax tree.

The code before the arrow is looked up in the function, so line breaks, comments and brackets do
not matter. `$name` stands for any expression, `$*name` for any number of arguments, and may be
used after the arrow. It must be found exactly once.

>>> print(change("def f(m, n):\\n    return m.release(n + 1)", "f", "$m.release($x) => $x"))
def f(m, n):
    return (n + 1)
"""

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from functools import lru_cache

ARROW = " => "
_ANY, _MANY = "any_expression_", "any_arguments_"

Bindings = dict[str, ast.AST | list[ast.AST]]


class Gone(Exception):
    """The code that is to be changed is not there once, or stays what it is."""


def change(source: str, function: str, pair: str) -> str:
    """The source with a change made in a function, or anywhere if none is named."""
    before, _, after = pair.partition(ARROW)
    scope = _find_function(_read_source(source), function)
    pattern = _parse(before)
    matches = [
        (nodes, bindings)
        for nodes in _candidates(scope, pattern)
        if (bindings := _match_all(pattern, nodes)) is not None
    ]
    if len(matches) != 1:
        raise Gone(f"`{before}` occurs {len(matches)} times in {function or 'the file'}.")
    return _replace(source, *matches[0], after)


@lru_cache(maxsize=8)
def _read_source(source: str) -> ast.Module:
    return ast.parse(source)


def _find_function(tree: ast.Module, name: str) -> ast.AST:
    scope: ast.AST = tree
    for part in filter(None, name.split(".")):
        body = getattr(scope, "body", [])
        named = [node for node in body if getattr(node, "name", None) == part]
        if not named:
            raise Gone(f"There is no function {name}.")
        scope = named[-1]  # the last of several is the one after its overloads
    return scope


def _parse(code: str) -> list[ast.AST]:
    """A pattern: one expression, or statements."""
    code = re.sub(r"\$\*(\w+)", rf"*{_MANY}\1", code)
    code = re.sub(r"\$(\w+)", rf"{_ANY}\1", code)
    body: list[ast.stmt] = ast.parse(textwrap.dedent(code)).body
    if len(body) == 1 and isinstance(body[0], ast.Expr):
        return [body[0].value]
    return list(body)


def _candidates(scope: ast.AST, pattern: Sequence[ast.AST]) -> Iterator[Sequence[ast.AST]]:
    if len(pattern) == 1 and isinstance(pattern[0], ast.expr):
        yield from ([node] for node in ast.walk(scope) if isinstance(node, ast.expr))
        return
    for node in ast.walk(scope):
        for block in ("body", "orelse", "finalbody"):
            statements = getattr(node, block, None)
            if isinstance(statements, list):
                for i in range(len(statements) - len(pattern) + 1):
                    yield statements[i : i + len(pattern)]


def _match_all(pattern: Sequence[ast.AST], nodes: Sequence[ast.AST]) -> Bindings | None:
    bindings: Bindings = {}
    if len(pattern) != len(nodes):
        return None
    matched = all(_match(p, n, bindings) for p, n in zip(pattern, nodes, strict=True))
    return bindings if matched else None


def _match(pattern: object, node: object, bindings: Bindings) -> bool:
    if isinstance(pattern, ast.Name) and pattern.id.startswith(_ANY):
        return isinstance(node, ast.expr) and _bind(pattern.id, node, bindings)
    if isinstance(pattern, list) and isinstance(node, list):
        return _match_lists(pattern, node, bindings)
    if not isinstance(pattern, ast.AST):
        return bool(pattern == node)
    return type(pattern) is type(node) and all(
        _match(value, getattr(node, field, None), bindings)
        for field, value in ast.iter_fields(pattern)
        if field not in ("ctx", "type_comment", "kind")
    )


def _match_lists(pattern: list[object], nodes: list[object], bindings: Bindings) -> bool:
    if pattern and (name := _many(pattern[-1])):
        head, rest = pattern[:-1], nodes[len(pattern) - 1 :]
        if not all(isinstance(node, ast.AST) for node in rest) or len(nodes) < len(head):
            return False
        bindings[name] = [node for node in rest if isinstance(node, ast.AST)]
        pattern, nodes = head, nodes[: len(head)]
    return len(pattern) == len(nodes) and all(
        _match(p, n, bindings) for p, n in zip(pattern, nodes, strict=True)
    )


def _many(pattern: object) -> str:
    match pattern:
        case ast.Starred(value=ast.Name(id=name)) if name.startswith(_MANY):
            return name
    return ""


def _bind(name: str, node: ast.AST, bindings: Bindings) -> bool:
    """Whether the name is free, or stands for the same code already."""
    held = bindings.setdefault(name, node)
    return isinstance(held, ast.AST) and ast.dump(held) == ast.dump(node)


def _replace(source: str, nodes: Sequence[ast.AST], bindings: Bindings, after: str) -> str:
    """The source with the lines of `nodes` replaced by `after`, its `$names` filled in."""

    def fill(match: re.Match[str]) -> str:
        binding = bindings[(_MANY if match[1] else _ANY) + match[2]]
        if isinstance(binding, list):
            return ", ".join(map(ast.unparse, binding))
        return f"({ast.unparse(binding)})"

    code = re.sub(r"\$(\*?)(\w+)", fill, after)
    if list(map(ast.dump, _parse(code))) == list(map(ast.dump, nodes)):
        raise Gone(f"`{after}` is what stands there already.")
    first, last = nodes[0], nodes[-1]
    assert isinstance(first, ast.expr | ast.stmt)
    assert isinstance(last, ast.expr | ast.stmt)
    lines = source.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: first.lineno - 1])) + first.col_offset
    end = sum(map(len, lines[: (last.end_lineno or 0) - 1])) + (last.end_col_offset or 0)
    if isinstance(first, ast.stmt):
        code = textwrap.indent(textwrap.dedent(code), " " * first.col_offset).lstrip()
    return (source.encode()[:start] + code.encode() + source.encode()[end:]).decode()
