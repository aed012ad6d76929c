"""What `lint` finds."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A problem, and how to solve it."""

    level: Literal["error", "warning"]
    question: str
    what: str
    mend: str

    def __str__(self) -> str:
        where = f" {self.question}:" if self.question else ""
        return f"{self.level}:{where} {self.what} {self.mend}"
