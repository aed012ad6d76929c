"""The Python and `console` blocks of a page, run in order, and what it shows of their output.

    python -m tools.pages.snippets docs/how-to/limits.md ...

A Python block with `>>>` is a doctest; any other is executed; a page is one namespace and one
folder. A `text` block right below a block is what that block prints. Lines below a command of a
`console` block (`console_blocks.py`) are what it prints. The command above writes such outputs
again, with fresh noise; `tests/test_docs.py` compares them with what is printed, except digits.

What has to be there first, and would only be in a reader's way, stands in a comment that begins
with `<!-- first` and holds Python.
"""

import contextlib
import doctest
import io
import os
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.notebook_shell import Shell
from tools.pages.console_blocks import commands, run_command

FENCE = re.compile(
    r"^<!-- first\n(?P<first>.*?)^-->$"
    r"|^(?P<indent> *)```(?P<kind>python|console|console background)\n(?P<code>.*?)^ *```$"
    r"(?:\s*?^ *```text\n(?P<shown>.*?)^ *```$)?",
    re.DOTALL | re.MULTILINE,
)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_LEFT_OUT = "..."  # a line of its own: any lines, or none; at the end of a line: its rest


@dataclass(frozen=True)
class Snippet:
    """A Python block or a command: its code, its first line, what is shown, and where."""

    code: str
    line: int
    shown: str | None
    span: tuple[int, int]
    kind: str = "python"  # or "console", or "console background"
    indent: str = ""


def snippets(text: str) -> list[Snippet]:
    """The Python blocks of a page, and the commands of its console blocks.

    >>> snippets("# Page\\n```python\\nprint(1)\\n```\\n\\n```text\\n1\\n```\\n")[0].span
    (39, 41)
    >>> [one.code for one in snippets("```console\\n$ ls\\n$ ls -l\\n```\\n")]
    ['ls', 'ls -l']
    """
    blocks = []
    for block in FENCE.finditer(text):
        name = "first" if block["first"] is not None else "code"
        indent = block["indent"] or ""
        code = re.sub(rf"^{indent}", "", block[name], flags=re.MULTILINE)
        line = text.count("\n", 0, block.start(name)) + 1
        if block["kind"] in (None, "python"):
            output = None if ">>>" in code else block["shown"]  # a doctest shows its own output
            blocks.append(Snippet(code, line, output, block.span("shown"), indent=indent))
            continue
        start = block.start("code")
        for command in commands(block["code"]):
            span = start + command.span[0], start + command.span[1]
            blocks.append(Snippet(command.text, line, command.shown, span, block["kind"]))
    return blocks


def run_page(text: str, name: str) -> Iterator[tuple[Snippet, str]]:
    """Runs a page's blocks, and hands out each with what it printed."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with Shell.opened() as shell:
        for snippet in snippets(text):
            if snippet.kind == "console":
                yield snippet, run_command(snippet.code, shell)
            elif snippet.kind == "console background":
                lines = (snippet.shown or "one line").strip().count("\n") + 1
                yield snippet, shell.start(snippet.code, lines)
            else:
                yield snippet, _run_python(snippet, name, namespace)


def _run_python(snippet: Snippet, name: str, namespace: dict[str, Any]) -> str:
    printed = io.StringIO()
    if ">>>" in snippet.code:
        # A copy goes in, because doctest clears what it is given; what it learnt comes out.
        test = doctest.DocTestParser().get_doctest(
            snippet.code, namespace, name, name, snippet.line - 1
        )
        doctest.DebugRunner(optionflags=OPTIONS).run(test, clear_globs=False)
        namespace.update(test.globs)
    else:
        # Blank lines before the code make a traceback name the page's own line.
        code = compile("\n" * (snippet.line - 1) + snippet.code, name, "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
    return printed.getvalue()


def describe_difference(shown: str, printed: str) -> str | None:
    """How a shown output differs from the printed one, except for digits and widths; None if it
    does not. A line of three dots stands for lines that are left out.

    >>> describe_difference("about 3,411 ± 6\\n...\\nend", "about -7 ± 41\\nmore\\nend\\n")
    >>> describe_difference("3 left", "3 more left")
    'shown:\\n# left\\nprinted:\\n# more left'
    """
    wanted, lines = _shapes(shown), _shapes(printed)
    pattern = "".join(
        r"(?:.*\n)*" if line == _LEFT_OUT else _line_pattern(line) for line in wanted
    )
    if re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)):
        return None
    return "\n".join(["shown:", *wanted, "printed:", *lines])


def _shapes(text: str) -> list[str]:
    """The lines of an output without digits, column widths, and blank lines at its ends."""
    plain = re.sub(r"\b[0-9a-f]{16,}\b", "#", text.strip())  # a key
    plain = re.sub(r"(?=-*\w)[\w-]{40,}", "#", plain)  # the secret part of a link
    plain = re.sub(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?", "#", plain)
    plain = re.sub(r" +", " ", re.sub(r"-{3,}", "-", plain))
    return [line.strip() for line in plain.split("\n")]


def _line_pattern(line: str) -> str:
    start = line.removesuffix(_LEFT_OUT)
    return re.escape(start) + (".*" if start != line else "") + r"\n"


def write_outputs(page: Path) -> int:
    """Writes the outputs that a page shows again, and returns how many changed."""
    text, changed = page.read_text(encoding="utf-8"), 0
    path, home = page.resolve(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            ran = list(run_page(text, str(path)))
        finally:
            os.chdir(home)
    for snippet, printed in reversed(ran):
        if snippet.shown is None or not describe_difference(snippet.shown, printed):
            continue
        start, end = snippet.span
        written = textwrap.indent(printed.rstrip(), snippet.indent)  # it may be part of a list
        text = f"{text[:start]}{written}\n{text[end:]}"
        changed += 1
    path.write_text(text, encoding="utf-8")
    return changed


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: {write_outputs(Path(name))} outputs written again")
