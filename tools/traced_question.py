"""How many files one question passes through: `python -m tools.traced_question`.

Runs `deniable sql` on a small table and counts the files of src/deniable that a call reached,
and the different pairs of files (a call from one into another). What happens while modules are
imported does not count. With `--files` each file is listed with the calls that it got and the
files that they came from, least used first: a file with one small caller may belong into it.
"""

import argparse
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

PACKAGE = Path(__file__).parents[1] / "src" / "deniable"
QUESTION = "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY ward"
POLICY = """
[tables.visits]
source = "visits.csv"
unit = "patient"
max_rows_per_unit_per_group = 1
max_groups_per_unit = 1

[tables.visits.columns]
ward = { keys = ["A", "B"] }
cost = { bounds = [0, 100], step = 1 }

[budget]
epsilon = 1
"""


class Calls:
    """A profile function that counts the calls from each of our files to each."""

    def __init__(self) -> None:
        self.pairs: Counter[tuple[str, str]] = Counter()
        self._files: dict[CodeType, str] = {}
        self._prefix = f"{PACKAGE}{os.sep}"

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not (called := self._file(frame.f_code)):
            return
        caller = frame.f_back
        while caller is not None and not self._file(caller.f_code):
            caller = caller.f_back
        if caller is not None and not _imports(frame):
            self.pairs[self._file(caller.f_code), called] += 1

    def _file(self, code: CodeType) -> str:
        """The file of ours that holds this code, or nothing."""
        if code not in self._files:
            name = code.co_filename
            self._files[code] = name.removeprefix(self._prefix) if self._prefix in name else ""
        return self._files[code]

    @property
    def files(self) -> set[str]:
        """The files that some call reached."""
        return {called for _, called in self.pairs}

    @property
    def changes(self) -> int:
        """The different pairs of a file and another that it calls."""
        return sum(caller != called for caller, called in self.pairs)


def _imports(frame: FrameType | None) -> bool:
    """Whether a module is being imported, of which this call is a part."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and "__spec__" in frame.f_globals:
            return bool(frame.f_globals["__name__"] != "__main__")
        frame = frame.f_back
    return False


def trace(action: Callable[[], object]) -> Calls:
    """The calls that an action makes within our package."""
    calls = Calls()
    sys.setprofile(calls)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


def ask() -> None:
    """`deniable sql` in a folder of its own."""
    from deniable.app.cli import main

    with tempfile.TemporaryDirectory() as folder:
        policy, data = Path(folder) / "deniable.toml", Path(folder) / "visits.csv"
        policy.write_text(POLICY)
        rows = [f"{i},{'AB'[i % 2]},{i % 100}" for i in range(1000)]
        data.write_text("\n".join(["patient,ward,cost", *rows]))
        sys.argv = ["deniable", "sql", QUESTION, "--epsilon", "1", "--policy", str(policy)]
        try:
            main()
        except SystemExit as ended:
            if ended.code:
                raise


def main() -> int:
    """Prints both figures, and each file if that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tools.traced_question")
    parser.add_argument("--files", action="store_true", help="list each file and its callers")
    listed = parser.parse_args().files
    calls = trace(ask)
    print(f"{len(calls.files)} files, {calls.changes} different changes of file")
    if listed:
        callers: dict[str, Counter[str]] = defaultdict(Counter)
        for (caller, called), count in calls.pairs.items():
            callers[called][caller] += count
        for file in sorted(callers, key=lambda file: (len(callers[file]), file)):
            seen = ", ".join(f"{name} {count}" for name, count in callers[file].most_common())
            print(f"{file}: {seen}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
