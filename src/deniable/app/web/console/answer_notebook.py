"""An answer as a Jupyter notebook: its rows, the check of its certificate, and a picture.

The release is part of the notebook as text, so that it opens without the server. Text of others
stands in strings and is never run, and Markdown shows it as code.
"""

import json

_KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def write_notebook(release: str, *, question: str, key: str) -> bytes:
    """The notebook of a release, given as `deniable verify` reads it.

    >>> json.loads(write_notebook("{}", question="SELECT 1", key="ab"))["nbformat"]
    4
    """
    fence = "`" * max(3, _longest_run(question, "`") + 1)
    block = f"{fence}sql\n{question}\n{fence}" if question else ""
    about = (
        "# A private answer\n\n"
        f"{block}\n\nThe numbers are noisy; beside each is its margin. The certificate is "
        "signed with the key below: compare it with the one that the data owner published."
    )
    cells = [
        ("markdown", about),
        ("code", "import json\n\nimport deniable as dp\nimport pandas as pd"),
        ("code", f"release = {json.dumps(release)}"),
        ("code", f"key = {json.dumps(key)}\ndp.verify(release.encode(), key=key)"),
        ("code", 'rows = pd.DataFrame(json.loads(release)["rows"])\nrows'),
    ]
    written = [_cell(number, *cell) for number, cell in enumerate(cells)]
    notebook = {"cells": written, "metadata": _KERNEL, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1).encode("ascii")


def _cell(number: int, kind: str, text: str) -> dict[str, object]:
    lines = text.splitlines(keepends=True)
    cell: dict[str, object] = {
        "cell_type": kind,
        "id": f"cell-{number}",
        "metadata": {},
        "source": lines,
    }
    return cell if kind == "markdown" else cell | {"execution_count": None, "outputs": []}


def _longest_run(text: str, letter: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == letter else 0
        longest = max(longest, run)
    return longest
