"""A draft of a policy, compared with what is in force. Nothing is written and no row is read.

A draft from a browser may not name a source, a store or a key that the policy in force does not
name: otherwise who takes over a browser could make the server read any file. What a draft gives
away is what the ledger itself would record as the owner's consent.
"""

import difflib
from dataclasses import dataclass
from pathlib import Path

from deniable.errors import DeniableError, InvalidPolicy
from deniable.ledger.amendments import gifts
from deniable.ledger.opened_ledger import OpenedLedger
from deniable.ledger.terms import Terms
from deniable.policy.file import parse
from deniable.policy.policy import Policy
from deniable.policy.policy_lint import PolicyFinding, lint_policy
from deniable.policy.toml_lines import line_of
from deniable.privacy import ApproximateLoss
from deniable.privacy.losses.loss_in_words import LossInWords, explain_loss

NAME = "draft.toml"  # so that no mistake asks whether it is a data file


@dataclass(frozen=True, slots=True)
class DraftLine:
    """A line of the comparison: its kind (" ", "-", "+" or "@"), and its numbers."""

    kind: str
    old: int | None
    new: int | None
    text: str


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """What is wrong with a draft, or what it would change."""

    problem: str = ""
    line: int | None = None
    findings: tuple[PolicyFinding, ...] = ()
    changes: tuple[DraftLine, ...] = ()
    gives: tuple[str, ...] = ()  # what the owner must consent to, in epsilon
    refused: str = ""  # why the ledger would not take it, whatever the reason
    whole: tuple[LossInWords, ...] = ()  # what all answers together may tell, per unit


def check_draft(
    text: str, *, file: Path, written: str, in_force: Policy, ledger: OpenedLedger
) -> CheckedDraft:
    """The draft of the policy in a file, which was written so when it was put in force. Errors
    have the lines of the draft."""
    changes = compare_texts(written, text)
    try:
        draft = parse(text, NAME, policy_file=file)
        _refuse_new_places(text, draft, in_force)
    except InvalidPolicy as problem:
        line = line_of(text, problem.where) if problem.where else None
        return CheckedDraft(str(problem), line, changes=changes)
    old = Terms.from_json(ledger.terms_entry()["terms"])
    new = Terms.from_policy(draft)
    refused = ""
    gift_texts: tuple[str, ...] = ()
    try:
        old.check_change(new)
        gift_texts = tuple(map(str, gifts(old, new)))
    except DeniableError as problem:
        refused = str(problem)
    return CheckedDraft(
        findings=lint_policy(text, draft),
        changes=changes,
        gives=gift_texts,
        refused=refused,
        whole=explain_budgets(draft),
    )


def explain_budgets(policy: Policy) -> tuple[LossInWords, ...]:
    """What all answers together may tell about one unit, for each unit."""
    losses: dict[str | None, LossInWords] = {}
    for table in policy.tables.values():
        if table.public:
            continue
        unit = table.unit
        budget = policy.units.get((unit or "").lower(), policy.budget).at(None)
        loss = ApproximateLoss(budget.epsilon, budget.delta)
        losses[unit] = explain_loss(
            loss, unit=unit, whole="all answers together", delta=budget.delta
        )
    return tuple(losses.values())


def compare_texts(old: str, new: str) -> tuple[DraftLine, ...]:
    """The lines that differ, with three lines around each, numbered as in both texts.

    >>> [(line.kind, line.old, line.new) for line in compare_texts("a\\nb", "a\\nc")]
    [(' ', 1, 1), ('-', 2, None), ('+', None, 2)]
    """
    before, after = old.splitlines(), new.replace("\r\n", "\n").splitlines()
    lines: list[DraftLine] = []
    groups = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for number, group in enumerate(groups.get_grouped_opcodes(3)):
        if number:
            lines.append(DraftLine("@", None, None, "…"))
        for kind, i, i_end, j, j_end in group:
            if kind == "equal":
                lines += [
                    DraftLine(" ", i + k + 1, j + k + 1, before[i + k])
                    for k in range(i_end - i)
                ]
                continue
            lines += [DraftLine("-", k + 1, None, before[k]) for k in range(i, i_end)]
            lines += [DraftLine("+", None, k + 1, after[k]) for k in range(j, j_end)]
    return tuple(lines)


def _refuse_new_places(text: str, draft: Policy, in_force: Policy) -> None:
    known = {str(table.source) for table in in_force.tables.values()}
    for name, table in draft.tables.items():
        if str(table.source) not in known:
            raise _with_line(
                text,
                ("tables", name, "source"),
                f"A draft in a browser cannot name a new source, as table {name} does. Add the "
                "table to the file of the policy, on the server's own machine.",
            )
    if (draft.ledger, draft.ledger_key, draft.ledger_id) != (
        in_force.ledger,
        in_force.ledger_key,
        in_force.ledger_id,
    ):
        raise _with_line(
            text,
            ("ledger",),
            "A draft in a browser cannot change [ledger]: its id, its store or its key. "
            "Restore these lines.",
        )


def _with_line(text: str, where: tuple[str, ...], message: str) -> InvalidPolicy:
    line = line_of(text, where)
    place = NAME if line is None else f"{NAME}, line {line}"
    return InvalidPolicy(f"{place}: {message}", where=where)
