"""Docstrings and signatures as Markdown."""

import inspect
import re
from collections.abc import Callable
from typing import Any

_LONGEST = 88
_MODULES = re.compile(
    r"\b(?:deniable|typing|fractions|collections|pathlib|builtins)(?:\.[a-z_]+)*\."
)


def write_docstring(text: str | None) -> str:
    r"""A docstring as Markdown: examples and indented code become fenced blocks.

    Examples are run where they are written, so the fence is not one that is run again.

    >>> write_docstring("Adds.\n\n    >>> 1 + 1\n    2\n\nOften.")
    'Adds.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nOften.'
    """
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(text or ""))
    written: list[str] = []
    for block in blocks:
        example = block.lstrip().startswith(">>>")
        if example or (written and block.startswith("    ")):
            code = inspect.cleandoc(block)
            fence = "pycon" if example else "text"
            if example and written and written[-1].startswith("```pycon"):
                written[-1] = written[-1].removesuffix("\n```") + f"\n\n{code}\n```"
            else:
                written.append(f"```{fence}\n{code}\n```")
        elif block:
            written.append(_escape(block))
    return "\n\n".join(written)


def _escape(text: str) -> str:
    """Text whose angle brackets and asterisks are not read as markup, outside of `code`."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else part.replace("<", "&lt;").replace("**", r"\*\*")
        for part in parts
    )


def write_signature(name: str, called: Callable[..., Any] | type) -> str:
    """How something is called, on one line or with one line for each argument.

    >>> def add(a: int, *, b: int = 2) -> int: ...
    >>> write_signature("add", add)
    'add(a: int, *, b: int = 2) -> int'
    """
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):  # built in, without one
        return f"{name}(...)"
    parameters = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    if isinstance(called, type):
        signature = signature.replace(return_annotation=inspect.Signature.empty)
    if any(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters) or len(
        parameters
    ) < len(signature.parameters):
        signature = signature.replace(parameters=parameters)
    line = f"{name}{_shorten(str(signature))}"
    if len(line) <= _LONGEST:
        return line
    arguments = [_shorten(str(parameter)) for parameter in parameters]
    starts = [
        place
        for place, parameter in enumerate(parameters)
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    variadic = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    if starts and not variadic:
        arguments.insert(starts[0], "*")
    returned = signature.return_annotation
    end = "" if returned is inspect.Signature.empty else f" -> {_annotation(returned)}"
    inside = "".join(f"    {argument},\n" for argument in arguments)
    return f"{name}(\n{inside}){end}"


def _annotation(annotation: Any) -> str:
    return _shorten(inspect.formatannotation(annotation)).strip("'")


def _shorten(text: str) -> str:
    text = re.sub(r"<function [\w.<>]+ at 0x\w+>", "...", text)
    text = re.sub(r"<[\w. ]+ object at 0x\w+>|<factory>", "...", text)
    text = _MODULES.sub("", text).replace("NoneType", "None")
    text = re.sub(
        r"numpy\.ndarray\[tuple\[Any, \.\.\.\], numpy\.dtype\[[\w.]+\]\]", "ndarray", text
    )
    return text.replace("int | float | Fraction | decimal.Decimal", "Number")
