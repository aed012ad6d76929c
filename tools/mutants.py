"""Every guarantee broken on purpose, one at a time: a test must notice.

`mutants.toml` lists changes, each of which breaks a promise: noise left out, a limit dropped, a
charge forgotten, a signature not checked. An entry names a function and a change of its code
(tools/code_changes.py says how it is written):

    function = "query/relations/scope.py::Scope.clip"
    change = "clip($value, $*ends) => $value"

Each change is made in a copy of the project, and the test that is named beside it is run there.
It must pass without the change (asked once for each test file) and fail with it.

    make mutants                                    all of them
    python -m tools.mutants charge chain            some groups
    python -m tools.mutants --resume                not those that were caught before
    python -m tools.mutants --shard 2/4             the second quarter

What became of each is written to build/mutants.jsonl at once. `--resume` leaves out what was
caught while its entry, the file that it changes and the file of its test were as they are now.
"""

import argparse
import itertools
import os
import shutil
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tools import code_changes
from tools.code_changes import Gone
from tools.mutant_record import Record
from tools.warm_worker import FAILED, WarmWorker

ROOT = Path(__file__).parents[1]
LONGEST = 1200  # seconds that a test may take; one that a mutant hangs has not noticed
MEANINGS = {
    "SURVIVED": "no test failed",
    "BROKEN": "the test fails without the change too",
    "NOT RUN": "no test ran",
    "GONE": "the change cannot be made: the code is not there, or is written otherwise now",
    "NO END": f"the test died or took over {LONGEST} s",
}
_LEFT_OUT = ("*.pyc", "__pycache__", ".*", "build")
_SECONDS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one function (`file::name`) or file, and the test that must fail."""

    group: str
    what: str
    function: str
    change: str
    test: str

    @property
    def name(self) -> str:
        """What it breaks."""
        return f"{self.group}: {self.what}"

    @property
    def file(self) -> str:
        """The source file, relative to the package."""
        return self.function.partition("::")[0]

    @property
    def test_file(self) -> str:
        """The file of its test, relative to the project."""
        return self.test.partition("::")[0]

    def apply(self, source: str) -> str:
        """The source with the change made."""
        return code_changes.change(source, self.function.partition("::")[2], self.change)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant, and how many seconds that took."""

    outcome: str
    seconds: float = 0.0


Judged = tuple[Mutant, Verdict]


def read(path: Path) -> list[Mutant]:
    """The mutants of a table."""
    groups = tomllib.loads(path.read_text(encoding="utf-8"))
    return [Mutant(group, **entry) for group, entries in groups.items() for entry in entries]


def judge(mutant: Mutant, worker: WarmWorker) -> Verdict:
    """What became of one mutant in a worker's copy of the project; the copy is as before."""
    file = worker.folder / "src" / "deniable" / mutant.file
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    try:
        changed = mutant.apply(text)
    except (Gone, SyntaxError):
        return Verdict("GONE")
    before = file.stat()
    # Compiled code knows whole seconds, and what a test starts may write some: each mutant has
    # seconds of its own, so that none runs as an earlier one of the same file and length.
    _write(file, changed, before.st_mtime_ns + 2 * 10**9 * next(_SECONDS))
    try:
        reply = worker.run([mutant.test], first=True, longest=LONGEST)
    finally:
        _write(file, text, before.st_mtime_ns)  # so the compiled code of it is right again
    outcomes = {FAILED: "caught", 0: "SURVIVED", None: "NO END"}
    return Verdict(outcomes.get(reply.code, "NOT RUN"), reply.seconds)


def _write(file: Path, text: str, changed: int) -> None:
    """Writes a source file with a time of its last change."""
    file.write_text(text, encoding="utf-8")
    os.utime(file, ns=(changed, changed))


def judge_file(mutants: Sequence[Mutant], worker: WarmWorker) -> Iterable[Judged]:
    """What became of mutants whose tests are in one file."""
    outcomes = outcomes_without_change(sorted({mutant.test for mutant in mutants}), worker)
    for mutant in mutants:
        outcome = outcomes[mutant.test]
        yield mutant, judge(mutant, worker) if outcome == "passed" else Verdict(outcome)


def outcomes_without_change(tests: Sequence[str], worker: WarmWorker) -> dict[str, str]:
    """For each test `passed`, `BROKEN` or `NOT RUN`."""
    reply = worker.run(tests, first=False, longest=LONGEST)
    if not reply.tests and len(tests) > 1:  # one name that is wrong hides the others
        alone = [outcomes_without_change([test], worker) for test in tests]
        return {test: outcome for outcomes in alone for test, outcome in outcomes.items()}
    outcomes = {}
    for test in tests:
        cases = {
            outcome
            for name, outcome in reply.tests.items()
            if name == test or name.startswith((f"{test}::", f"{test}["))
        }
        failed = "failed" in cases or reply.code is None
        outcomes[test] = "BROKEN" if failed else "passed" if "passed" in cases else "NOT RUN"
    return outcomes


def judge_all(
    mutants: Iterable[Mutant], root: Path, workers: int, record: Record
) -> list[Judged]:
    """All mutants with what became of them, each printed and kept as soon as it is known."""
    files: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        files[mutant.test_file].append(mutant)
    free: SimpleQueue[WarmWorker] = SimpleQueue()

    def judge_some(some: Sequence[Mutant]) -> list[Judged]:
        worker, verdicts = free.get(), []
        try:
            for mutant, verdict in judge_file(some, worker):
                print(
                    f"{verdict.outcome:<9}{verdict.seconds:5.1f} s  {mutant.name}", flush=True
                )
                record.add(mutant, verdict.outcome, verdict.seconds)
                verdicts.append((mutant, verdict))
        finally:
            free.put(worker)
        return verdicts

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        started = [WarmWorker(copy_project(root, Path(folder), i)) for i in range(workers)]
        try:
            for worker in started:
                free.put(worker)
            with ThreadPoolExecutor(workers) as pool:
                return [
                    pair for pairs in pool.map(judge_some, files.values()) for pair in pairs
                ]
        finally:
            for worker in started:
                worker.close()


def copy_project(root: Path, folder: Path, number: int) -> Path:
    """A copy of the project's files, without what is made from them."""
    copy = folder / str(number)
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    return copy


def summary(judged: Sequence[Judged]) -> str:
    """How many were caught, and what is to be mended, by what is wrong."""
    counts = Counter(verdict.outcome for _, verdict in judged)
    seconds = sum(verdict.seconds for _, verdict in judged)
    lines = [f"{counts['caught']} of {len(judged)} mutants were caught, in {seconds:.0f} s."]
    for outcome, meaning in MEANINGS.items():
        names = [mutant for mutant, verdict in judged if verdict.outcome == outcome]
        lines += [f"{outcome} ({meaning}): {len(names)}"] if names else []
        lines += [f"  {mutant.name} ({mutant.function}; {mutant.test})" for mutant in names]
    return "\n".join(lines)


def choose(table: Sequence[Mutant], groups: Sequence[str], shard: str) -> list[Mutant]:
    """The mutants of some groups (of all, if none is named), or the part i of n of them."""
    chosen = [mutant for mutant in table if not groups or mutant.group in groups]
    part, _, parts = shard.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise ValueError(f"A shard is written i/n, with i from 1 to n. Found {shard!r}.")
    if unknown := set(groups) - {mutant.group for mutant in table}:
        raise ValueError(f"mutants.toml has no group {', '.join(sorted(unknown))}.")
    chosen.sort(key=lambda mutant: (mutant.test_file, mutant.file))  # a file is asked once
    start, end = (len(chosen) * i // int(parts) for i in (int(part) - 1, int(part)))
    return chosen[start:end]


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """How many mutants were not caught."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants")
    parser.add_argument("groups", nargs="*", help="groups of mutants.toml; else all")
    parser.add_argument("--resume", action="store_true", help="not what was caught before")
    parser.add_argument("--shard", default="1/1", help="the part i of n, as i/n")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    table = read(root / "tools" / "mutants.toml")
    try:
        mutants = choose(table, options.groups, options.shard)
    except ValueError as error:
        parser.error(str(error))
    record = Record(root, mutants)
    if options.resume:
        left = [mutant for mutant in mutants if not record.has_caught(mutant)]
        print(f"{len(mutants) - len(left)} of {len(mutants)} were caught before.", flush=True)
        mutants = left
    judged = judge_all(mutants, root, options.workers, record)
    print(summary(judged))
    return sum(verdict.outcome != "caught" for _, verdict in judged)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
