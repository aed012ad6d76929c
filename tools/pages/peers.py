"""Other libraries' side of `docs/how-to/move-here.md`, as programs that can be run.

    python tools/pages/peers.py opendp | ENVIRONMENT/bin/python -

It prints the code of a tab, after the table that the page takes for all examples. Here only the
standard library is needed; the environment needs the library, pandas, and for Tumult Java 17.
"""

import re
import sys
import textwrap
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "move-here.md"
_TAB = re.compile(
    r'^=== "(?!Deniable)([^"]+)"\n\n    ```text\n(.*?)^    ```$', re.DOTALL | re.MULTILINE
)
_TABLE = """\
import pandas as pd

visits = pd.DataFrame({
    "patient": [i % 900 for i in range(2400)],
    "ward": ["north", "south", "east"] * 800,
    "cost": [20 + i * 7 % 80 for i in range(2400)],
})
"""
_SPARK = """\
import os
import sys

from pyspark.sql import SparkSession

os.environ["PYSPARK_PYTHON"] = sys.executable
spark = SparkSession.builder.getOrCreate()
"""


def programs() -> dict[str, str]:
    """The program of each tab, by the first word of its heading in small letters.

    >>> sorted(programs())
    ['diffprivlib', 'opendp', 'smartnoise', 'tumult']
    """
    by_name = {}
    for heading, code in _TAB.findall(PAGE.read_text(encoding="utf-8")):
        name = heading.split()[0].lower()
        before = _TABLE + _SPARK if "spark." in code else _TABLE
        by_name[name] = f"{before}\n{textwrap.dedent(code)}\nprint('It ran: {heading}')\n"
    return by_name


def main(names: list[str]) -> int:
    """Prints the programs that are named."""
    known = programs()
    if not names or set(names) - known.keys():
        print(f"Name one of {', '.join(known)}.", file=sys.stderr)
        return 2
    for name in names:
        print(known[name])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
