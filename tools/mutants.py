"""Every guarantee broken on purpose, one at a time: a test must notice.

`mutants.toml` lists changes of a line or two, each of which breaks a promise: noise left out, a
limit dropped, a charge forgotten, a signature not checked. Each is made in a copy of the
project, and the test that is named beside it is run there. It must pass without the change and
fail with it. Run all with `make mutants`, or some with `python tools/mutants.py charge chain`.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
LONGEST = 1200  # seconds that a test may take; one that a mutant hangs has not noticed
FAILED = 1  # what pytest returns if tests ran and some failed; not if it could not even start
_LEFT_OUT = ("*.pyc", "__pycache__", ".*", "build")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: `find` becomes `put` in a file of the package, and `test` must fail."""

    group: str
    what: str
    file: str
    find: str
    put: str
    test: str

    @property
    def name(self) -> str:
        """What it breaks, in words."""
        return f"{self.group}: {self.what}"


def read(path: Path) -> list[Mutant]:
    """The mutants of a table."""
    groups = tomllib.loads(path.read_text(encoding="utf-8"))
    return [Mutant(group, **one) for group, listed in groups.items() for one in listed]


def verdict(mutant: Mutant, copy: Path) -> str:
    """What became of one mutant in a copy of the project; the copy is as before."""
    file = copy / "src" / "deniable" / mutant.file
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    if text.count(mutant.find) != 1:
        return "GONE"  # what it changes is written otherwise now: bring the table up to date
    file.write_text(text.replace(mutant.find, mutant.put), encoding="utf-8")
    try:
        return "caught" if passed(copy, [mutant.test]) == FAILED else "SURVIVED"
    finally:
        file.write_text(text, encoding="utf-8")


def passed(copy: Path, tests: Sequence[str], longest: int | None = LONGEST) -> int:
    """What pytest returns for some tests of a copy, which it runs with that copy's code."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    known = os.environ | {"PYTHONPATH": str(copy / "src")}
    try:
        done = subprocess.run(
            command, cwd=copy, env=known, capture_output=True, timeout=longest, check=False
        )
    except subprocess.TimeoutExpired:
        return -1
    return done.returncode


def judged(mutants: Iterable[Mutant], root: Path, workers: int) -> list[tuple[Mutant, str]]:
    """All mutants with what became of them, each printed as soon as it is known."""
    with tempfile.TemporaryDirectory() as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for i in range(workers):
            copy = Path(folder) / str(i)
            shutil.copytree(root, copy, ignore=shutil.ignore_patterns(*_LEFT_OUT))
            copies.put(copy)

        def judge(mutant: Mutant) -> tuple[Mutant, str]:
            copy = copies.get()
            try:
                found = verdict(mutant, copy)
            finally:
                copies.put(copy)
            print(f"{found:<9}{mutant.name}", flush=True)
            return mutant, found

        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(judge, mutants))


def main(groups: Sequence[str], root: Path = ROOT) -> int:
    """How many mutants no test noticed."""
    listed = read(root / "tools" / "mutants.toml")
    mutants = [one for one in listed if not groups or one.group in groups]
    if passed(root, sorted({one.test for one in mutants}), longest=None):
        print("Some of these tests fail as things are: mend that first.")
        return 1
    found = judged(mutants, root, os.cpu_count() or 1)
    left = [one for one, became in found if became != "caught"]
    print(f"{len(mutants) - len(left)} of {len(mutants)} mutants were caught.")
    for one in left:
        print(f"  not caught: {one.name} ({one.file}; {one.test})")
    return len(left)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
