"""What became of each mutant, at which commit: lines of JSON in build/mutants.jsonl."""

import hashlib
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol


class Recorded(Protocol):
    """A mutant, as far as its record needs it."""

    @property
    def name(self) -> str: ...
    @property
    def function(self) -> str: ...
    @property
    def change(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def test(self) -> str: ...
    @property
    def test_file(self) -> str: ...


class Record:
    """The record of one project. Lines are only added, so that several runs may write it."""

    def __init__(self, root: Path, mutants: Iterable[Recorded]) -> None:
        # Read now: the files may be edited while mutants are tried in copies of them.
        self.commit = _commit(root)
        self.digests = {mutant.name: _digest(root, mutant) for mutant in mutants}
        self.path = root / "build" / "mutants.jsonl"
        self.caught: set[str] = set()
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                known = self.caught.add if entry["outcome"] == "caught" else self.caught.discard
                known(entry["of"])

    def add(self, mutant: Recorded, outcome: str, seconds: float) -> None:
        """Writes what became of a mutant."""
        entry = {"mutant": mutant.name, "outcome": outcome, "seconds": seconds}
        entry |= {"commit": self.commit, "of": self.digests[mutant.name]}
        self.path.parent.mkdir(exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def has_caught(self, mutant: Recorded) -> bool:
        """Whether it was caught last, with the same change, source file and test file."""
        return self.digests[mutant.name] in self.caught


def _digest(root: Path, mutant: Recorded) -> str:
    """Names a mutant together with the files that it is about."""
    files = [root / "src" / "deniable" / mutant.file, root / mutant.test_file]
    texts = [file.read_text(encoding="utf-8") if file.exists() else "" for file in files]
    parts = [mutant.name, mutant.function, mutant.change, mutant.test, *texts]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _commit(root: Path) -> str:
    """The commit that is looked at, with a `+` if files were changed since."""
    command = ["git", "describe", "--always", "--dirty=+"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "unknown"
    return done.stdout.strip() or "unknown"
