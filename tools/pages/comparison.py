"""What other tools have, and whether it still holds.

    python tools/pages/comparison.py [PACKAGE ...]

Run it with the Python of an environment in which the package is installed; nothing else is
needed. Each row of `comparison.toml` is looked up in the package's own source. The page
of the site is made from the same file.
"""

import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_name("comparison.toml")
PATH = "reference/comparison.md"
_INTRODUCTION = """# Comparison with other tools

As of **{date}**, from the source of the versions in the heading. Tools change: each row is
checked by a command, which looks for the row's answer in the installed source of that package
and says what no longer holds:

```text
pip install opendp
python tools/pages/comparison.py opendp
```

Run it in an environment of its own. A search in source text can show that something has
appeared or is gone; it does not measure how good it is. Our own column is checked by
[guarantees](guarantees.md). Speed is compared in [how fast](speed.md), models in
[models compared](learning-compared.md), code side by side in
[moving here](../how-to/move-here.md).

"""
_STRENGTHS = """
## What they do that we do not

- **OpenDP** has a core in Rust with written proofs of its parts, and bindings for R.
- **Tumult Analytics** runs transformations by user functions, in Spark.
- **PipelineDP** runs on Apache Beam, and tunes parameters.
- **diffprivlib** works on arrays without any declaration of a table, and has random forests.
- **SmartNoise** has graphical tools and synthesizers with neural networks around it.
"""


def read() -> dict[str, Any]:
    """The date, the tools and the rows."""
    return tomllib.loads(DATA.read_text(encoding="utf-8"))


def write_pages() -> dict[str, str]:
    """The page, by its path below docs/."""
    data = read()
    heads = [f"{tool['name']} {tool['version']}" for tool in data["tools"].values()]
    lines = [
        f"| question | Deniable | {' | '.join(heads)} |",
        f"|---|---|{'---|' * len(heads)}",
        *(
            f"| {row['question']} | {row['deniable']} | "
            + " | ".join(row[package][0] for package in data["tools"])
            + " |"
            for row in data["rows"]
        ),
        "| **checked by** `tools/pages/comparison.py` with | [guarantees](guarantees.md) | "
        + " | ".join(f"`{package}`" for package in data["tools"])
        + " |",
    ]
    table = "\n".join(lines) + "\n"
    return {PATH: _INTRODUCTION.format(date=data["date"]) + table + _STRENGTHS}


def check(package: str, source: str) -> list[str]:
    """What no longer holds for a package whose source is this text.

    >>> check("opendp", "nothing at all")[0]
    'Tables in Python: Polars; databases by Ibis (looked for /class LazyFrameQuery/)'
    """
    wrong = []
    for row in read()["rows"]:
        answer, pattern = row[package]
        is_present = re.search(pattern, source, re.IGNORECASE) is not None
        if is_present == (answer.split(":")[0] == "no"):
            wrong.append(f"{row['question']}: {answer} (looked for /{pattern}/)")
    return wrong


def read_source(package: str) -> str:
    """The text of all Python files of an installed package, without its tests."""
    folder = read()["tools"][package]["folder"]
    files = metadata.files(package) or []
    paths = [
        file
        for file in files
        if file.suffix == ".py"
        and file.as_posix().startswith(folder)
        and "test" not in file.name
    ]
    return "\n".join(Path(str(file.locate())).read_text(encoding="utf-8") for file in paths)


def main(packages: list[str]) -> int:
    """Checks the packages and prints what it found; the status is the number of faults."""
    faults = 0
    for package in packages or list(read()["tools"]):
        stated = read()["tools"][package]["version"]
        wrong = check(package, read_source(package))
        faults += len(wrong)
        print(f"{package} {metadata.version(package)} (the page: {stated}): {len(wrong)} wrong")
        for line in wrong:
            print(f"  {line}")
    return faults


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
